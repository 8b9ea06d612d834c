package transport

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// repeated is a Conn that runs repeatable scripts alone.
type repeated struct{ Conn }

func (c repeated) Run(ctx context.Context, s Script) (Result, error) {
	s.Repeatable = true
	return c.Conn.Run(ctx, s)
}

// shellOf is the persistent shell that p has on e, or nil.
func shellOf(p *Pool, e Endpoint) *shell {
	if e.Local {
		p.local.mu.Lock()
		defer p.local.mu.Unlock()
		if p.local.g == nil {
			return nil
		}
		return &p.local.g.shell
	}
	r := p.route(routeKey{Endpoint: e})
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shell == nil {
		return nil
	}
	return &r.shell.shell
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

// polled gives a pool that has a persistent shell on e.
func polled(t *testing.T, o Options, e Endpoint) *Pool {
	t.Helper()
	p := newPool(t, o)
	for range shellAfter + 1 {
		poll(t, p, e)
	}
	if shellOf(p, e) == nil {
		t.Fatal("there is no persistent shell")
	}
	return p
}

func poll(t *testing.T, p *Pool, e Endpoint) {
	t.Helper()
	res, err := p.Conn(e).Run(within(t, time.Minute), Script{Text: "echo ok; echo err >&2; exit 3", Repeatable: true})
	if err != nil || string(res.Stdout) != "ok\n" || string(res.Stderr) != "err\n" || res.ExitCode != 3 {
		t.Fatalf("got %q, %q, %d, %v", res.Stdout, res.Stderr, res.ExitCode, err)
	}
}

// shellID is the process id of the shell that answers a repeatable script.
func shellID(t *testing.T, p *Pool, e Endpoint) int {
	t.Helper()
	res, err := p.Conn(e).Run(within(t, time.Minute), Script{Text: "echo $$", Repeatable: true})
	pid, _ := strconv.Atoi(strings.TrimSpace(string(res.Stdout)))
	if err != nil || pid < 2 {
		t.Fatalf("got %q, %v", res.Stdout, err)
	}
	return pid
}

// wantSlots waits until no channel of e holds a slot.
func wantSlots(t *testing.T, p *Pool, e Endpoint) {
	t.Helper()
	r := p.route(routeKey{Endpoint: e})
	eventually(t, "every slot is given back", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return !slices.ContainsFunc(r.links, func(ln *link) bool { return ln.used != 0 })
	})
}

func TestShell(t *testing.T) {
	t.Parallel()
	t.Run("serves repeatable scripts alone", func(t *testing.T) {
		t.Parallel()
		s := startServer(t)
		e := s.endpoint()
		p := newPool(t, Options{})
		for range 3 {
			succeed(t, p, e) // not repeatable
		}
		poll(t, p, e)
		if shellOf(p, e) != nil {
			t.Error("one script was enough for a persistent shell")
		}
		eventually(t, "who has asked once leaves no shell", func() bool { return len(s.shells()) == 0 })
		p = polled(t, Options{}, e)
		shell := shellID(t, p, e)
		for _, script := range []Script{{Text: "echo $$"}, {Text: "echo $$", Repeatable: true, Finish: true}, {Text: "echo $$", Repeatable: true, Alone: true}} {
			res, err := p.Conn(e).Run(within(t, time.Minute), script)
			if err != nil || strings.TrimSpace(string(res.Stdout)) == strconv.Itoa(shell) {
				t.Errorf("%+v had the persistent shell; %v", script, err)
			}
		}
		if got := shellID(t, p, e); got != shell {
			t.Errorf("a repeatable script was run by %d, and the one before by %d", got, shell)
		}
		if n := s.logins(); n != 2 {
			t.Errorf("%d logins of two pools", n)
		}
		wantSlots(t, p, e)
	})
	t.Run("serves one script at a time", func(t *testing.T) {
		t.Parallel()
		s := startServer(t)
		e := s.endpoint()
		p := polled(t, Options{}, e)
		shell := shellID(t, p, e)
		file := s.path("begun")
		under := startScript(within(t, time.Minute), t, p.Conn(e), Script{Text: "touch " + file + "; while [ -e " + file + " ]; do sleep 0.1; done", Repeatable: true}, file)
		if other := shellID(t, p, e); other == shell {
			t.Error("two scripts at once in one shell")
		}
		if err := exec.Command("rm", file).Run(); err != nil {
			t.Fatal(err)
		}
		if err := <-under; err != nil {
			t.Error(err)
		}
		if got := shellID(t, p, e); got != shell {
			t.Errorf("the shell has not come back: %d, not %d", got, shell)
		}
		eventually(t, "the other shell is gone", func() bool { return slices.Equal(s.shells(), []int{shell}) })
	})
	t.Run("of a connection that was given up", func(t *testing.T) {
		t.Parallel()
		e := startServer(t).endpoint()
		p := polled(t, Options{}, e)
		r := p.route(routeKey{Endpoint: e})
		r.mu.Lock()
		ln := r.links[0]
		r.mu.Unlock()
		// What watch does, before it closes the connection.
		if !r.dropIdle(ln, 0) {
			t.Fatal("the connection is in use")
		}
		if r.takeShell() != nil {
			t.Error("its shell is taken")
		}
		poll(t, p, e)
	})
	t.Run("of a head that reads on", func(t *testing.T) {
		t.Parallel()
		e := startServer(t, "SetEnv SHLVL=2 PATH="+headThatReadsOn(t)+":"+os.Getenv("PATH")).endpoint()
		p := polled(t, Options{}, e)
		shell := shellID(t, p, e)
		for _, before := range []string{"", "#" + strings.Repeat("x", inlineSize) + "\n"} {
			res, err := p.Conn(e).Run(within(t, time.Minute), Script{Text: before + "command -v head; echo $$", Repeatable: true})
			if err != nil || !strings.HasSuffix(string(res.Stdout), fmt.Sprint("001/head\n", shell, "\n")) {
				t.Errorf("got %q, %v", res.Stdout, err)
			}
		}
	})
	t.Run("ends with its pool, and with an idle connection", func(t *testing.T) {
		t.Parallel()
		s := startServer(t)
		e := s.endpoint()
		p := polled(t, Options{}, e)
		shell := shellID(t, p, e)
		_ = p.Close()
		eventually(t, "it is gone", func() bool { return !alive(shell) && len(s.shells()) == 0 })
		p = polled(t, Options{IdleTimeout: 500 * time.Millisecond}, e)
		eventually(t, "the connection is closed", func() bool { return links(p, e) == 0 && len(s.shells()) == 0 })
		if shellOf(p, e) != nil {
			t.Error("the shell of a closed connection is kept")
		}
	})
	t.Run("that the host has ended", func(t *testing.T) {
		t.Parallel()
		s := startServer(t)
		e := s.endpoint()
		p := polled(t, Options{}, e)
		for range 3 {
			shell := shellID(t, p, e)
			_ = syscall.Kill(shell, syscall.SIGKILL)
			poll(t, p, e) // whether that is known here by now or not
			if shellID(t, p, e) == shell {
				t.Error("a dead shell answered")
			}
		}
		if n := s.logins(); n != 1 {
			t.Errorf("the connection was given up with the shell: %d logins", n)
		}
	})
	t.Run("whose connection has died", func(t *testing.T) {
		t.Parallel()
		s := startServer(t)
		e := s.endpoint()
		p := polled(t, Options{}, e)
		s.stop()
		s.start()
		shell := shellID(t, p, e)
		if got := shellID(t, p, e); got != shell {
			t.Error("who was a poller before is none any more")
		}
	})
}

// TestShellRoom has callers of all kinds want channels where there are few.
func TestShellRoom(t *testing.T) {
	t.Parallel()
	for _, max := range []int{1, 2, 10} {
		t.Run(fmt.Sprintf("MaxSessions %d", max), func(t *testing.T) {
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
			wantSlots(t, p, e)
		})
	}
	for name, want := range map[string]func(*testing.T, Conn){
		"a script": func(t *testing.T, c Conn) {
			if _, err := c.Run(within(t, 20*time.Second), Script{Text: ":"}); err != nil {
				t.Error(err)
			}
		},
		"a terminal": func(t *testing.T, c Conn) {
			if code, screen := attach(t, c, "exit 5"); code != 5 {
				t.Errorf("attached: %d, %q", code, screen)
			}
		},
	} {
		t.Run("gives way to "+name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, "MaxSessions 1")
			e := s.endpoint()
			var p *Pool
			eventually(t, "it has the only channel", func() bool {
				// sshd may take a while to find that the first script's is free.
				p = newPool(t, Options{MaxConns: 1})
				poll(t, p, e)
				wantSlots(t, p, e)
				poll(t, p, e)
				return shellOf(p, e) != nil
			})
			connections := func() int {
				log, _ := os.ReadFile(s.path("log"))
				return strings.Count(string(log), "Connection from")
			}
			before := connections()
			p.opts.MaxConns = 8
			want(t, p.Conn(e))
			p.opts.MaxConns = 1
			if connections() != before {
				t.Error("another connection was begun")
			}
			if n := links(p, e); n != 1 || shellOf(p, e) != nil {
				t.Errorf("%d connections; the shell is kept: %t", n, shellOf(p, e) != nil)
			}
			for range 2 {
				poll(t, p, e)
				want(t, p.Conn(e))
			}
			wantSlots(t, p, e)
		})
	}
}
