package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestUnreachable(t *testing.T) {
	t.Parallel()
	s := startServer(t)

	t.Run("refused", func(t *testing.T) {
		e := s.endpoint(fmt.Sprintf("Port %d", freePort(t)))
		err := refusal(t, newPool(t, Options{}), e, KindConnect)
		if !errors.Is(&err, syscall.ECONNREFUSED) || !strings.Contains(err.Hint, "sshd") {
			t.Errorf("%v; hint %q", &err, err.Hint)
		}
	})
	t.Run("no such host", func(t *testing.T) {
		refusal(t, newPool(t, Options{}), s.endpoint("HostName no-such-host.invalid"), KindResolve)
	})
	t.Run("no such config file", func(t *testing.T) {
		refusal(t, newPool(t, Options{}), Endpoint{Destination: "box", ConfigFile: "/nonexistent/config"}, KindConfig)
	})
	t.Run("a destination that is none", func(t *testing.T) {
		for _, d := range []string{"", "-oProxyCommand=x", "a b", "u@-x", "@h", "h:0", "h:99999", "h:", "h;id", "a\nb"} {
			refusal(t, newPool(t, Options{}), Endpoint{Destination: d}, KindConfig)
		}
	})
	t.Run("a listener that never speaks", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		e := s.endpoint(fmt.Sprintf("Port %d", l.Addr().(*net.TCPAddr).Port))
		ctx, cancel := context.WithTimeout(context.Background(), 400*time.Millisecond)
		defer cancel()
		begin := time.Now()
		_, err = newPool(t, Options{}).Conn(e).Run(ctx, Script{Text: ":"})
		if k, _ := KindOf(err); k != KindTimeout || Started(err) || time.Since(begin) > 2*time.Second {
			t.Errorf("got %v after %v", err, time.Since(begin))
		}
		wantText(t, err.Error(), "greeting")
		// The pool's own limit, where the caller has none.
		begin = time.Now()
		_, err = newPool(t, Options{DialTimeout: 300 * time.Millisecond}).Conn(e).Run(context.Background(), Script{Text: ":"})
		if k, _ := KindOf(err); k != KindTimeout || time.Since(begin) > 5*time.Second {
			t.Errorf("got %v after %v", err, time.Since(begin))
		}
	})
	t.Run("a listener that speaks something else", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = fmt.Fprintf(c, "HTTP/1.1 400 Bad Request\x1b[2J\r\n\r\n")
				_ = c.Close()
			}
		}()
		e := s.endpoint(fmt.Sprintf("Port %d", l.Addr().(*net.TCPAddr).Port))
		_, err = newPool(t, Options{}).Conn(e).Run(within(t, 20*time.Second), Script{Text: ":"})
		if k, _ := KindOf(err); (k != KindProtocol && k != KindConnect) || Started(err) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("one caller's end is not another's", func(t *testing.T) {
		// The first caller starts the dial and gives up while the server is
		// frozen; the second has waited on the same dial and gets its answer.
		s := startServer(t)
		p := newPool(t, Options{})
		s.signal(syscall.SIGSTOP)
		first, cancel := context.WithCancel(within(t, 20*time.Second))
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := p.Conn(s.endpoint()).Run(first, Script{Text: ":"}); err == nil {
				t.Error("the first call succeeded on a frozen server")
			}
		})
		e := s.endpoint()
		for range 2 {
			wg.Go(func() {
				if _, err := p.Conn(e).Run(within(t, 20*time.Second), Script{Text: ":"}); err != nil {
					t.Error(err)
				}
			})
		}
		r := p.route(routeKey{Endpoint: e})
		eventually(t, "both wait on one dial", func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.dial != nil && r.dial.waiters == 2
		})
		wg.Go(func() {
			if _, err := p.Conn(e).Run(first, Script{Text: ":"}); !errors.Is(err, context.Canceled) {
				t.Errorf("the cancelled call: %v", err)
			}
		})
		eventually(t, "a third joins", func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.dial != nil && r.dial.waiters == 3
		})
		cancel()
		eventually(t, "the third leaves", func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.dial != nil && r.dial.waiters == 2
		})
		s.signal(syscall.SIGCONT)
		wg.Wait()
	})
}

func TestProxyErrors(t *testing.T) {
	t.Parallel()
	box, hop := startServer(t), startServer(t)
	through := func(blocks ...string) Endpoint {
		return Endpoint{Destination: "box", ConfigFile: box.configFile(append([]string{box.block("box", "ProxyJump hop")}, blocks...)...)}
	}
	t.Run("hop works", func(t *testing.T) {
		succeed(t, newPool(t, Options{}), through(hop.block("hop")))
	})
	t.Run("hop refuses", func(t *testing.T) {
		err := refusal(t, newPool(t, Options{}), through(hop.block("hop", fmt.Sprintf("Port %d", freePort(t)))), KindProxy)
		wantText(t, err.Error(), "hop: connect")
	})
	t.Run("hop is unknown", func(t *testing.T) {
		err := refusal(t, newPool(t, Options{}), through(hop.block("hop", "UserKnownHostsFile /dev/null")), KindProxy)
		wantText(t, err.Error(), "hop: host key unknown")
	})
	t.Run("the end is unknown", func(t *testing.T) {
		e := Endpoint{Destination: "box", ConfigFile: box.configFile(
			box.block("box", "ProxyJump hop", "UserKnownHostsFile /dev/null"), hop.block("hop"))}
		refusal(t, newPool(t, Options{}), e, KindHostKeyUnknown)
	})
	t.Run("the end refuses", func(t *testing.T) {
		e := Endpoint{Destination: "box", ConfigFile: box.configFile(
			box.block("box", "ProxyJump hop", fmt.Sprintf("Port %d", freePort(t))), hop.block("hop"))}
		err := refusal(t, newPool(t, Options{}), e, KindProxy)
		wantText(t, err.Error(), "hop cannot reach")
	})
	t.Run("a circle", func(t *testing.T) {
		err := refusal(t, newPool(t, Options{}), through(hop.block("hop", "ProxyJump box")), KindProxy)
		wantText(t, err.Error(), "circle")
	})
	t.Run("a chain in one line", func(t *testing.T) {
		third := startServer(t)
		e := Endpoint{Destination: "box", ConfigFile: box.configFile(
			box.block("box", "ProxyJump hop,third"), hop.block("hop"), third.block("third"))}
		succeed(t, newPool(t, Options{}), e)
		log, err := os.ReadFile(third.path("log"))
		if err != nil || !strings.Contains(string(log), "Accepted") {
			t.Errorf("the second hop was left out: %v", err)
		}
	})
	t.Run("the command fails", func(t *testing.T) {
		err := refusal(t, newPool(t, Options{}), box.endpoint("ProxyCommand sh -c 'echo no way there >&2; exit 3'"), KindProxy)
		wantText(t, err.Error(), "no way there", "exit status 3")
	})
	t.Run("the command says nothing", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
		defer cancel()
		_, err := newPool(t, Options{}).Conn(box.endpoint("ProxyCommand sleep 60")).Run(ctx, Script{Text: ":"})
		if k, _ := KindOf(err); k != KindTimeout {
			t.Errorf("got %v", err)
		}
	})
}
