package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// links is how many connections p has to e.
func links(p *Pool, e Endpoint) int {
	r := p.route(routeKey{Endpoint: e})
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.links)
}

func TestMaxSessions(t *testing.T) {
	t.Parallel()
	for _, max := range []int{10, 1} {
		t.Run(strconv.Itoa(max), func(t *testing.T) {
			t.Parallel()
			s := startServer(t, "MaxSessions "+strconv.Itoa(max))
			e := s.endpoint()
			p := newPool(t, Options{})
			var wg sync.WaitGroup
			for i := range 34 {
				wg.Go(func() {
					res, err := p.Conn(e).Run(within(t, time.Minute), Script{Text: fmt.Sprintf("sleep 0.2; echo %d", i)})
					if err != nil || string(res.Stdout) != fmt.Sprintf("%d\n", i) {
						t.Errorf("%d: %q, %v", i, res.Stdout, err)
					}
				})
			}
			wg.Wait()
			if n := links(p, e); n < 2 || n > 8 {
				t.Errorf("%d connections", n)
			}
		})
	}
	t.Run("0", func(t *testing.T) { // a server for forwarding only
		refusal(t, newPool(t, Options{}), startServer(t, "MaxSessions 0").endpoint(), KindSession)
	})
}

// TestMaxStartups logs in to one server under 40 names at once, of which it
// suffers three at a time and drops half of those beyond; directly, and through
// a bastion that is as narrow, by each of the ways.
func TestMaxStartups(t *testing.T) {
	t.Parallel()
	const narrow = "MaxStartups 3:50:10"
	for _, tc := range []struct {
		name   string
		config func(t *testing.T) (s *server, lines []string, more string)
	}{
		{"direct", func(t *testing.T) (*server, []string, string) { return startServer(t, narrow), nil, "" }},
		{"bastion", func(t *testing.T) (*server, []string, string) {
			hop := startServer(t, narrow)
			return startServer(t, narrow), []string{"ProxyJump hop"}, hop.block("hop")
		}},
		{"bastion by command", func(t *testing.T) (*server, []string, string) {
			hop := startServer(t, narrow)
			return startServer(t), []string{"ProxyCommand ssh -F " + hop.endpoint().ConfigFile + " -W %h:%p box"}, ""
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, lines, more := tc.config(t)
			p := newPool(t, Options{})
			ctx := within(t, 4*time.Minute)
			var wg sync.WaitGroup
			for i := range 40 {
				alias := fmt.Sprintf("box%d", i)
				e := Endpoint{Destination: alias, ConfigFile: s.configFile(s.block(alias, lines...), more)}
				wg.Go(func() {
					if res, err := p.Conn(e).Run(ctx, Script{Text: "echo ok"}); err != nil || string(res.Stdout) != "ok\n" {
						t.Errorf("%s: %q, %v", alias, res.Stdout, err)
					}
				})
			}
			wg.Wait()
		})
	}
}

// TestDroppedLogins is the server that hangs up on everybody, which no patience
// helps.
func TestDroppedLogins(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	var tries atomic.Int32
	go func() { // ends with the listener
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			tries.Add(1)
			_ = c.Close()
		}
	}()
	s := startServer(t)
	e := s.endpoint(fmt.Sprintf("Port %d", l.Addr().(*net.TCPAddr).Port))
	terr := refusal(t, newPool(t, Options{}), e, KindConnect)
	wantText(t, terr.Hint, "MaxStartups")
	if n := tries.Load(); n != int32(dropPolicy.alone)+1 {
		t.Errorf("tried %d times", n)
	}
	// The caller's end is the end of it.
	tries.Store(0)
	ctx, cancel := context.WithCancel(within(t, time.Minute))
	p := newPool(t, Options{})
	got := make(chan error, 1)
	go func() {
		_, err := p.Conn(e).Run(ctx, Script{Text: ":"})
		got <- err
	}()
	eventually(t, "it tries", func() bool { return tries.Load() > 0 })
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) || Started(err) {
		t.Errorf("got %v, started %t", err, Started(err))
	}
	r := p.route(routeKey{Endpoint: e})
	eventually(t, "the dial is given up", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.dial == nil
	})
}

func TestRetryPolicy(t *testing.T) {
	p := retryPolicy{alone: 2, crowded: 4, first: time.Second, longest: 3 * time.Second}
	for try, want := range []struct {
		alone, crowded bool
		most           time.Duration
	}{{true, true, 1500 * time.Millisecond}, {true, true, 3 * time.Second}, {false, true, 4500 * time.Millisecond}, {false, true, 4500 * time.Millisecond}, {false, false, 4500 * time.Millisecond}} {
		if p.again(try, false) != want.alone || p.again(try, true) != want.crowded {
			t.Errorf("try %d: alone %t, crowded %t", try, p.again(try, false), p.again(try, true))
		}
		seen := map[time.Duration]bool{}
		for range 50 {
			d := p.wait(try)
			seen[d] = true
			if d < want.most/3 || d > want.most {
				t.Errorf("try %d waits %v of at most %v", try, d, want.most)
			}
		}
		if len(seen) < 2 {
			t.Errorf("try %d has no jitter", try)
		}
	}
}

func TestOneDial(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	e := s.endpoint()
	p := newPool(t, Options{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { succeed(t, p, e) })
	}
	wg.Wait()
	if n := links(p, e); n != 1 {
		t.Errorf("8 calls made %d connections", n)
	}
}

// startScript runs text, which must begin by making file, and gives its error
// through the channel once it has begun.
func startScript(ctx context.Context, t *testing.T, c Conn, s Script, file string) <-chan error {
	t.Helper()
	got := make(chan error, 1)
	go func() {
		res, err := c.Run(ctx, s)
		if err == nil && res.ExitCode != 0 {
			err = fmt.Errorf("exit code %d", res.ExitCode)
		}
		got <- err
	}()
	eventually(t, "the script has begun", func() bool { _, err := os.Stat(file); return err == nil })
	return got
}

func TestBrokenLink(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	e := s.endpoint()
	breakLinks := func() {
		for _, pid := range s.forks(s.cmd.Process.Pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	// The first run makes the file and lingers; a second one ends at once.
	text := func(file string) string {
		return fmt.Sprintf("echo x >>%s; if [ $(wc -l <%s) -gt 1 ]; then exit 0; fi; sleep 5; exit 9", file, file)
	}
	runs := func(file string) int {
		b, _ := os.ReadFile(file)
		return strings.Count(string(b), "x")
	}

	t.Run("repeatable", func(t *testing.T) {
		p, file := newPool(t, Options{}), filepath.Join(t.TempDir(), "runs")
		got := startScript(within(t, 20*time.Second), t, p.Conn(e), Script{Text: text(file), Repeatable: true}, file)
		breakLinks()
		if err := <-got; err != nil || runs(file) != 2 {
			t.Errorf("got %v after %d runs", err, runs(file))
		}
	})
	t.Run("not repeatable", func(t *testing.T) {
		p, file := newPool(t, Options{}), filepath.Join(t.TempDir(), "runs")
		got := startScript(within(t, 20*time.Second), t, p.Conn(e), Script{Text: text(file)}, file)
		breakLinks()
		err := <-got
		if k, _ := KindOf(err); k != KindConnect || !Started(err) || runs(file) != 1 {
			t.Errorf("got %v, started %t, after %d runs", err, Started(err), runs(file))
		}
	})
	t.Run("replaced once only", func(t *testing.T) {
		p, file := newPool(t, Options{}), filepath.Join(t.TempDir(), "runs")
		always := fmt.Sprintf("echo x >>%s; sleep 5", file)
		got := startScript(within(t, 20*time.Second), t, p.Conn(e), Script{Text: always, Repeatable: true}, file)
		breakLinks()
		eventually(t, "it runs again", func() bool { return runs(file) == 2 })
		breakLinks()
		if k, _ := KindOf(<-got); k != KindConnect || runs(file) != 2 {
			t.Errorf("got %v after %d runs", k, runs(file))
		}
	})
	t.Run("between two calls", func(t *testing.T) {
		p := newPool(t, Options{})
		succeed(t, p, e)
		s.stop()
		s.start()
		succeed(t, p, e) // not repeatable, but never begun on the dead one
	})
}

func TestKeepAlive(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	e := s.endpoint()
	p := newPool(t, Options{KeepAlive: 100 * time.Millisecond})
	file := filepath.Join(t.TempDir(), "begun")
	begin := time.Now()
	got := startScript(within(t, 20*time.Second), t, p.Conn(e), Script{Text: "touch " + file + "; sleep 2"}, file)
	if err := <-got; err != nil || time.Since(begin) < 2*time.Second {
		t.Fatalf("twenty beats of a live server: %v", err)
	}
	file += "2"
	got = startScript(within(t, 20*time.Second), t, p.Conn(e), Script{Text: "touch " + file + "; sleep 5"}, file)
	s.signal(syscall.SIGSTOP)
	defer s.signal(syscall.SIGCONT)
	if err := <-got; !Started(err) {
		t.Errorf("got %v", err)
	} else if k, _ := KindOf(err); k != KindConnect {
		t.Errorf("got %v", err)
	}
	eventually(t, "the dead connection is forgotten", func() bool { return links(p, e) == 0 })
}

func TestIdle(t *testing.T) {
	t.Parallel()
	s, hop := startServer(t), startServer(t)
	e := Endpoint{Destination: "box", ConfigFile: s.configFile(s.block("box", "ProxyJump hop"), hop.block("hop"))}
	p := newPool(t, Options{IdleTimeout: 300 * time.Millisecond})
	file := filepath.Join(t.TempDir(), "begun")
	// Neither the connection in use nor the one it runs through is idle.
	got := startScript(within(t, 20*time.Second), t, p.Conn(e), Script{Text: "touch " + file + "; sleep 1"}, file)
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	hopKey := Endpoint{Destination: "hop", ConfigFile: e.ConfigFile}
	eventually(t, "both are closed", func() bool { return links(p, e) == 0 && links(p, hopKey) == 0 })
	succeed(t, p, e)
}

// TestCancelDuringStartUp gives up while the login shell's start-up file still
// runs, where sshd passes signals on to nobody.
func TestCancelDuringStartUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := startServer(t, fmt.Sprintf(`ForceCommand [ -e %s/slow ] && touch %s/up && sleep 1; exec sh -c "$SSH_ORIGINAL_COMMAND"`, dir, dir))
	p := newPool(t, Options{})
	conn := p.Conn(s.endpoint())
	write(t, filepath.Join(dir, "slow"), "")
	ctx, cancel := context.WithCancel(within(t, time.Minute))
	got := startScript(ctx, t, conn, Script{Text: fmt.Sprintf("echo $$ >%s/pid.new; mv %s/pid.new %s/pid; sleep 60; :", dir, dir, dir)}, filepath.Join(dir, "up"))
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "slow")); err != nil {
		t.Fatal(err)
	}
	// Once the start-up file is through, the script begins and is ended, or
	// does not begin at all.
	p.ending.Wait()
	if text, err := os.ReadFile(filepath.Join(dir, "pid")); err == nil {
		pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		eventually(t, "the process is gone", func() bool { return pid > 0 && !alive(pid) })
	}
	succeed(t, p, s.endpoint())
}

func TestForcedCommand(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, command, want string }{
		{"a banner instead of a shell", "echo 'Only git here.\x1b[31m'; exit 1", "Only git here.␛[31m"},
		{"a shell that is none", "/bin/false", "status 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := startServer(t, "ForceCommand "+tc.command)
			_, err := newPool(t, Options{}).Conn(s.endpoint()).Run(within(t, 20*time.Second), Script{Text: "echo a", Repeatable: true})
			if k, _ := KindOf(err); k != KindProtocol {
				t.Fatalf("got %v", err)
			}
			wantText(t, err.Error(), tc.want)
		})
	}
}

func TestLocalForgetsTmux(t *testing.T) {
	t.Setenv("TMUX", "/tmp/elsewhere,1,0")
	t.Setenv("TMUX_PANE", "%7")
	t.Setenv("TMUX_OTHER", "kept")
	res, err := newPool(t, Options{}).Conn(Endpoint{Local: true}).Run(within(t, 10*time.Second), Script{Text: `echo "${TMUX-no}${TMUX_PANE-no}$TMUX_OTHER"`})
	if err != nil || string(res.Stdout) != "nonokept\n" {
		t.Errorf("got %q, %v", res.Stdout, err)
	}
}
