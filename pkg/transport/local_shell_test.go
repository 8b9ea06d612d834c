package transport

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestLocalShell(t *testing.T) {
	t.Parallel()
	e := Endpoint{Local: true}
	t.Run("serves repeatable scripts alone, one at a time", func(t *testing.T) {
		t.Parallel()
		p := newPool(t, Options{})
		for range 3 {
			succeed(t, p, e)
		}
		poll(t, p, e)
		if shellOf(p, e) != nil {
			t.Error("one script was enough for a persistent shell")
		}
		poll(t, p, e)
		shell := shellID(t, p, e)
		if got := shellID(t, p, e); got != shell {
			t.Errorf("two shells: %d, %d", shell, got)
		}
		file := filepath.Join(t.TempDir(), "begun")
		under := startScript(within(t, time.Minute), t, p.Conn(e), Script{Text: "touch " + file + "; while [ -e " + file + " ]; do sleep 0.1; done", Repeatable: true}, file)
		if other := shellID(t, p, e); other == shell {
			t.Error("two scripts at once in one shell")
		}
		succeed(t, p, e)
		res, err := p.Conn(e).Run(within(t, time.Minute), Script{Text: "echo $$", Repeatable: true, Alone: true})
		if err != nil || strings.TrimSpace(string(res.Stdout)) == strconv.Itoa(shell) {
			t.Errorf("a script that is to be alone had the persistent shell; %v", err)
		}
		if res, err := p.Conn(e).Run(within(t, time.Minute), Script{Text: "rm " + file}); err != nil || res.ExitCode != 0 {
			t.Fatalf("%+v, %v", res, err)
		}
		if err := <-under; err != nil {
			t.Error(err)
		}
		if got := shellID(t, p, e); got != shell {
			t.Errorf("the shell has not come back: %d, not %d", got, shell)
		}
		_ = p.Close()
		if alive(shell) {
			t.Error("it outlives its pool")
		}
	})
	t.Run("many callers", func(t *testing.T) {
		t.Parallel()
		p := polled(t, Options{}, e)
		done := make(chan bool)
		for range 20 {
			go func() { poll(t, p, e); done <- true }()
		}
		for range 20 {
			<-done
		}
		shell := shellID(t, p, e)
		_ = p.Close()
		wantGroupGone(t, shell)
	})
	t.Run("that was ended", func(t *testing.T) {
		t.Parallel()
		p := polled(t, Options{}, e)
		for range 3 {
			shell := shellID(t, p, e)
			_ = syscall.Kill(shell, syscall.SIGKILL)
			poll(t, p, e)
			if shellID(t, p, e) == shell {
				t.Error("a dead shell answered")
			}
		}
	})
	t.Run("that its script ends", func(t *testing.T) {
		t.Parallel()
		p := polled(t, Options{}, e)
		_, err := p.Conn(e).Run(within(t, time.Minute), Script{Text: "kill -s KILL $$", Repeatable: true})
		if k, _ := KindOf(err); k != KindProtocol || !Started(err) {
			t.Errorf("got %v", err)
		}
		poll(t, p, e)
	})
	t.Run("that stands still", func(t *testing.T) {
		t.Parallel()
		p := polled(t, Options{}, e)
		shell := shellID(t, p, e)
		_ = syscall.Kill(shell, syscall.SIGSTOP)
		poll(t, p, e)
		wantGroupGone(t, shell)
		shell = shellID(t, p, e)
		_ = syscall.Kill(shell, syscall.SIGSTOP)
		_ = p.Close()
		if alive(shell) {
			t.Error("it outlives its pool")
		}
	})
	for _, tc := range lasting {
		t.Run("cancel, "+tc.name, func(t *testing.T) {
			t.Parallel()
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
		})
	}
	t.Run("what it leaves behind holds nobody up", func(t *testing.T) {
		t.Parallel()
		p := polled(t, Options{}, e)
		shell := shellID(t, p, e)
		if res, err := p.Conn(e).Run(within(t, time.Minute), Script{Text: "exec 2>&1; sleep 600 &", Repeatable: true}); err != nil || res.ExitCode != 0 {
			t.Fatalf("%+v, %v", res, err)
		}
		poll(t, p, e)
		begin := time.Now()
		_ = p.Close()
		if d := time.Since(begin); d > drainGrace/2 {
			t.Errorf("closing took %v", d)
		}
		if left := inGroup(shell); !slices.Equal(left, []string{"sleep 600"}) {
			t.Errorf("left running: %q", left)
		}
		_ = syscall.Kill(-shell, syscall.SIGKILL)
	})
}
