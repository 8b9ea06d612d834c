package transport

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestShellCancel is the caller who does not wait for a script in the persistent
// shell: both are ended, and the connection is not.
func TestShellCancel(t *testing.T) {
	t.Parallel()
	for _, tc := range lasting {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t)
			e := s.endpoint()
			p := polled(t, Options{}, e)
			shell := shellID(t, p, e)
			file := filepath.Join(t.TempDir(), "pid")
			ctx, cancel := context.WithCancel(within(t, time.Minute))
			got := startScript(ctx, t, p.Conn(e), Script{Text: idsText(file) + tc.text, Repeatable: true}, file)
			if pid := idFrom(t, file); pid != shell {
				t.Fatalf("it runs in %d and not in %d", pid, shell)
			}
			cancel()
			if err := <-got; !errors.Is(err, context.Canceled) || !Started(err) {
				t.Errorf("got %v, started %t", err, Started(err))
			}
			poll(t, p, e)
			wantGroupGone(t, shell)
			if shellID(t, p, e) == shell {
				t.Error("the shell was not replaced")
			}
			wantSlots(t, p, e)
			if n := s.logins(); n != 1 {
				t.Errorf("%d logins", n)
			}
		})
	}
	t.Run("by the pool's end", func(t *testing.T) {
		t.Parallel()
		e := startServer(t).endpoint()
		p := polled(t, Options{}, e)
		file := filepath.Join(t.TempDir(), "pid")
		got := startScript(within(t, time.Minute), t, p.Conn(e), Script{Text: idsText(file) + lasting[2].text, Repeatable: true}, file)
		pid := idFrom(t, file)
		_ = p.Close()
		if err := <-got; !errors.Is(err, ErrPoolClosed) {
			t.Errorf("got %v", err)
		}
		wantGroupGone(t, pid)
	})
	t.Run("too much output", func(t *testing.T) {
		t.Parallel()
		s := startServer(t)
		e := s.endpoint()
		p := polled(t, Options{}, e)
		shell := shellID(t, p, e)
		_, err := p.Conn(e).Run(within(t, time.Minute), Script{Text: "yes", Repeatable: true})
		if k, _ := KindOf(err); k != KindProtocol || !Started(err) {
			t.Errorf("got %v", err)
		}
		poll(t, p, e)
		wantGroupGone(t, shell)
		if n := s.logins(); n != 1 {
			t.Errorf("%d logins", n)
		}
	})
}

// runFor runs a repeatable script within d.
func runFor(t *testing.T, p *Pool, e Endpoint, d time.Duration, text string) error {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	_, err := p.Conn(e).Run(ctx, Script{Text: text, Repeatable: true})
	return err
}

// TestShellWedged is the shell that stands still, idle or under a script: it is
// replaced and ended. Under a script, its caller's time runs out first.
func TestShellWedged(t *testing.T) {
	t.Parallel()
	for _, amid := range []bool{false, true} {
		for how, config := range map[string]string{"": "", ", without signals": `ForceCommand exec sh -c "$SSH_ORIGINAL_COMMAND"`} {
			t.Run(fmt.Sprintf("under a script %t%s", amid, how), func(t *testing.T) {
				t.Parallel()
				s := startServer(t, config)
				e := s.endpoint()
				p := polled(t, Options{}, e)
				shell := shellID(t, p, e)
				if !amid { // another shell is had in time
					_ = syscall.Kill(shell, syscall.SIGSTOP)
				} else {
					err := runFor(t, p, e, 2*time.Second, "kill -s STOP $$; echo ok")
					if k, _ := KindOf(err); k != KindTimeout || !Started(err) {
						t.Errorf("got %v, started %t", err, Started(err))
					}
				}
				poll(t, p, e)
				wantGroupGone(t, shell)
				wantSlots(t, p, e)
				if n := s.logins(); n != 1 {
					t.Errorf("%d logins", n)
				}
			})
		}
	}
}

// TestShellLost breaks what the persistent shell hangs on, under a script.
func TestShellLost(t *testing.T) {
	t.Parallel()
	// The first run makes the file and lingers; a second one ends at once.
	text := func(file string) string {
		return fmt.Sprintf("echo x >>%[1]s; if [ $(wc -l <%[1]s) -gt 1 ]; then exit 0; fi; touch %[1]s.begun; sleep 2; exit 9", file)
	}
	for name, end := range map[string]func(s *server, shell int){
		"the shell is killed": func(_ *server, shell int) { _ = syscall.Kill(shell, syscall.SIGKILL) },
		"the connection is": func(s *server, _ int) {
			for _, pid := range s.forks(s.cmd.Process.Pid) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		},
		"the server is restarted": func(s *server, _ int) { s.stop(); s.start() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t)
			e := s.endpoint()
			p := polled(t, Options{}, e)
			shell := shellID(t, p, e)
			file := filepath.Join(t.TempDir(), "runs")
			got := startScript(within(t, time.Minute), t, p.Conn(e), Script{Text: text(file), Repeatable: true}, file+".begun")
			end(s, shell)
			err := <-got
			runs, _ := os.ReadFile(file)
			// The script may be run again before the new server listens.
			kind, _ := KindOf(err)
			early := name == "the server is restarted" && kind == KindConnect && string(runs) == "x\n"
			if !early && (err != nil || string(runs) != "x\nx\n") {
				t.Errorf("got %v; runs: %q", err, runs)
			}
			wantGroupGone(t, shell)
			poll(t, p, e)
		})
	}
	for _, tc := range lasting {
		t.Run("cut, "+tc.name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t)
			s.knowAlias()
			e, link := proxied(t, s)
			p := polled(t, Options{}, e)
			file := filepath.Join(t.TempDir(), "pid")
			got := startScript(within(t, time.Minute), t, p.Conn(e), Script{Text: idsText(file) + tc.text, Repeatable: true}, file)
			pid := idFrom(t, file)
			if err := link.Refuse(true); err != nil {
				t.Fatal(err)
			}
			link.Cut()
			err := <-got
			if k, _ := KindOf(err); k != KindConnect || !Started(err) {
				t.Errorf("got %v, started %t", err, Started(err))
			}
			wantGroupGone(t, pid)
		})
	}
}

// TestShellOperator kills the caller's process outright, under a script in the
// persistent shell and behind it.
func TestShellOperator(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]Endpoint{"local": {Local: true}, "ssh": startServer(t).endpoint()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shellOperator(t, e)
		})
	}
}

func shellOperator(t *testing.T, e Endpoint) {
	for _, tc := range lasting {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pid")
			_, kill := startOperator(t, e, Script{Text: idsText(file) + tc.text, Repeatable: true})
			pid := idFrom(t, file)
			kill()
			wantGroupGone(t, pid)
		})
	}
	t.Run("after the script's end", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "pid")
		said, kill := startOperator(t, e, Script{Repeatable: true,
			Text: "echo $$; sh -c 'echo $$ >" + file + "; exec sleep 600' & while ! [ -s " + file + " ]; do sleep 0.1; done"})
		pid := idFrom(t, file)
		defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
		var shell int
		eventually(t, "the script is over", func() bool {
			n, _ := fmt.Sscan(said.String(), &shell)
			return n == 1 && strings.HasSuffix(said.String(), " <nil>\n")
		})
		if !alive(shell) {
			t.Fatal("the shell has not stayed")
		}
		kill()
		eventually(t, "the shell is gone", func() bool { return !alive(shell) })
		if left := inGroup(shell); !alive(pid) || len(left) != 1 {
			t.Errorf("left running: %q", left)
		}
	})
}
