package transport

import (
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// spareOf is the spare of the one link that p has to e, or nil.
func spareOf(p *Pool, e Endpoint) *channel {
	r := p.route(routeKey{Endpoint: e})
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.links) != 1 {
		return nil
	}
	return r.links[0].spare
}

// shells lists the shells that run for the server's connections.
func (s *server) shells() []int {
	forks := s.forks(s.cmd.Process.Pid)
	shown, _ := exec.Command("ps", "-eo", "pid=,ppid=,args=").Output()
	var out []int
	for line := range strings.Lines(string(shown)) {
		f := strings.Fields(line)
		pid, _ := strconv.Atoi(f[0])
		if parent, _ := strconv.Atoi(f[1]); slices.Contains(forks, parent) && strings.Contains(line, readScript) {
			out = append(out, pid)
		}
	}
	return out
}

// polled gives a pool that has run repeatable scripts on e, and so has a spare.
func polled(t *testing.T, o Options, e Endpoint) *Pool {
	t.Helper()
	p := newPool(t, o)
	eventually(t, "there is a spare", func() bool {
		poll(t, p, e)
		return spareOf(p, e) != nil
	})
	return p
}

func poll(t *testing.T, p *Pool, e Endpoint) {
	t.Helper()
	res, err := p.Conn(e).Run(within(t, time.Minute), Script{Text: "echo ok; echo err >&2; exit 3", Repeatable: true})
	if err != nil || string(res.Stdout) != "ok\n" || string(res.Stderr) != "err\n" || res.ExitCode != 3 {
		t.Fatalf("got %q, %q, %d, %v", res.Stdout, res.Stderr, res.ExitCode, err)
	}
}

func TestSpare(t *testing.T) {
	t.Parallel()
	t.Run("serves repeatable scripts alone", func(t *testing.T) {
		t.Parallel()
		e := startServer(t).endpoint()
		p := newPool(t, Options{})
		for range 3 {
			succeed(t, p, e) // not repeatable
		}
		poll(t, p, e)
		if spareOf(p, e) != nil {
			t.Error("one script was enough for a spare")
		}
		p = polled(t, Options{}, e)
		was := spareOf(p, e)
		succeed(t, p, e)
		if spareOf(p, e) != was {
			t.Error("a script that is not repeatable took it")
		}
		poll(t, p, e)
		if !was.frames.begun() {
			t.Error("a repeatable one left it")
		}
		eventually(t, "there is another", func() bool { ch := spareOf(p, e); return ch != nil && ch != was })
	})
	t.Run("ends with its pool, and when it is idle", func(t *testing.T) {
		t.Parallel()
		s := startServer(t)
		p := polled(t, Options{}, s.endpoint())
		eventually(t, "it has started", func() bool { return len(s.shells()) == 1 })
		shell := s.shells()[0]
		_ = p.Close()
		eventually(t, "it is gone", func() bool { return !alive(shell) })
		p = polled(t, Options{IdleTimeout: 500 * time.Millisecond}, s.endpoint())
		eventually(t, "the connection is closed", func() bool { return links(p, s.endpoint()) == 0 && len(s.shells()) == 0 })
	})
	t.Run("that the host has ended", func(t *testing.T) {
		t.Parallel()
		s := startServer(t)
		e := s.endpoint()
		p := polled(t, Options{}, e)
		eventually(t, "it has started", func() bool { return len(s.shells()) == 1 })
		_ = syscall.Kill(s.shells()[0], syscall.SIGKILL)
		poll(t, p, e)
	})
	t.Run("whose connection has died", func(t *testing.T) {
		t.Parallel()
		s := startServer(t)
		e := s.endpoint()
		p := polled(t, Options{}, e)
		s.stop()
		s.start()
		poll(t, p, e)
	})
	for _, max := range []int{1, 2, 10} {
		t.Run(fmt.Sprintf("with MaxSessions %d", max), func(t *testing.T) {
			t.Parallel()
			e := startServer(t, fmt.Sprintf("MaxSessions %d", max)).endpoint()
			p := newPool(t, Options{})
			for range 4 {
				var wg sync.WaitGroup
				for range 4 {
					wg.Go(func() { poll(t, p, e) })
					wg.Go(func() { succeed(t, p, e) })
				}
				if code, screen := attach(t, p.Conn(e), "exit 5"); code != 5 {
					t.Errorf("attached: %d, %q", code, screen)
				}
				wg.Wait()
				poll(t, p, e)
				poll(t, p, e)
			}
			r := p.route(routeKey{Endpoint: e})
			eventually(t, "every slot is given back", func() bool {
				r.mu.Lock()
				defer r.mu.Unlock()
				for _, ln := range r.links {
					if ln.used != 0 {
						return false
					}
				}
				return true
			})
		})
	}
}
