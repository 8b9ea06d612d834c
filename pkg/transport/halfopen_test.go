package transport

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
)

// halfOpen are the ways in, each with a proxy where it can fall silent: before
// the server itself, before its bastion, and within the ProxyCommand.
var halfOpen = []struct {
	name  string
	reach func(t *testing.T) (e, beside Endpoint, p *rig.Proxy)
}{
	{"ssh", func(t *testing.T) (Endpoint, Endpoint, *rig.Proxy) {
		s := startServer(t)
		s.knowAlias()
		e, p := proxied(t, s)
		beside := e
		beside.ConfigFile = s.configFile(s.block("box", "Port "+port(p), "HostKeyAlias "+s.alias()))
		return e, beside, p
	}},
	{"jump", func(t *testing.T) (Endpoint, Endpoint, *rig.Proxy) {
		s, other, hop := startServer(t), startServer(t), startServer(t)
		hop.knowAlias()
		_, p := proxied(t, hop)
		file := s.configFile(s.block("box", "ProxyJump hop"), other.block("other", "ProxyJump hop"),
			hop.block("hop", "Port "+port(p), "HostKeyAlias "+hop.alias()))
		return Endpoint{Destination: "box", ConfigFile: file}, Endpoint{Destination: "other", ConfigFile: file}, p
	}},
	{"proxy command", func(t *testing.T) (Endpoint, Endpoint, *rig.Proxy) {
		s := startServer(t)
		_, p := proxied(t, s)
		command := "ProxyCommand env " + proxyEnv + "=1 " + os.Args[0] + " 127.0.0.1 " + port(p)
		return s.endpoint(command), s.endpoint(command), p
	}},
}

func port(p *rig.Proxy) string {
	_, port, _ := strings.Cut(p.Addr(), ":")
	return port
}

// TestHalfOpen is the link that falls silent without a word: what waits on it
// ends when its context does, everybody else is served meanwhile, and when the
// link is back, so is the endpoint.
func TestHalfOpen(t *testing.T) {
	t.Parallel()
	for _, way := range halfOpen {
		for _, tc := range []struct {
			name   string
			script func(file string) string
		}{
			{"idle", func(file string) string { return "touch " + file + "; sleep 600" }},
			{"data both ways", func(file string) string {
				return ": " + strings.Repeat("x", 1<<20) + "\ntouch " + file + "; while :; do echo some more of it; done | head -c 30000000; sleep 600"
			}},
		} {
			t.Run(way.name+", "+tc.name, func(t *testing.T) {
				t.Parallel()
				e, beside, link := way.reach(t)
				healthy := startServer(t).endpoint()
				p := newPool(t, Options{})
				for _, e := range []Endpoint{e, beside, healthy} {
					succeed(t, p, e)
				}
				file := filepath.Join(t.TempDir(), "begun")
				ctx, cancel := context.WithCancel(within(t, 2*time.Minute))
				under := startScript(ctx, t, p.Conn(e), Script{Text: tc.script(file)}, file)
				link.Stall()
				defer link.Resume()

				// A script that has yet to be sent, on the endpoint and on another that
				// comes in by the same link: both end by their own deadline.
				for _, e := range []Endpoint{e, beside} {
					short, done := context.WithTimeout(context.Background(), 300*time.Millisecond)
					_, err := p.Conn(e).Run(short, Script{Text: ": " + strings.Repeat("x", 1<<20)})
					done()
					if k, _ := KindOf(err); k != KindTimeout || !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("a call with a deadline: %v", err)
					}
				}
				for i := range 5 {
					res, err := p.Conn(healthy).Run(within(t, time.Minute), Script{Text: fmt.Sprint("echo ", i)})
					if err != nil || string(res.Stdout) != fmt.Sprintln(i) {
						t.Errorf("another endpoint: %q, %v", res.Stdout, err)
					}
				}
				select {
				case err := <-under:
					t.Errorf("the call under way ended by itself: %v", err)
				default:
				}
				cancel()
				if err := <-under; !errors.Is(err, context.Canceled) || !Started(err) {
					t.Errorf("the call under way: %v, started %t", err, Started(err))
				}

				link.Resume()
				succeed(t, p, e)
				succeed(t, p, beside)
			})
		}
	}
}

// TestDeadBastion is the bastion that falls silent for good, while a new
// connection to it can be had: after one call that ran into its deadline, the
// old connection is checked and replaced, long before its keepalives would.
func TestDeadBastion(t *testing.T) {
	t.Parallel()
	s, hop := startServer(t), startServer(t)
	e := Endpoint{Destination: "box", ConfigFile: s.configFile(s.block("box", "ProxyJump hop"), hop.block("hop"))}
	p := newPool(t, Options{KeepAlive: time.Hour})
	succeed(t, p, e)
	hop.stopForks()
	for tries, end := 1, time.Now().Add(time.Minute); ; tries++ {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		_, err := p.Conn(e).Run(ctx, Script{Text: ":"})
		cancel()
		switch {
		case err == nil && tries == 1:
			t.Fatal("the first call was served by a connection that stands still")
		case err == nil:
			return
		case time.Now().After(end):
			t.Fatalf("not reached through a new connection in %d tries: %v", tries, err)
		}
	}
}
