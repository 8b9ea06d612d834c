package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// pidFrom waits for a process id that a command wrote into a file of the home.
func (m *machine) pidFrom(name string) (pid int) {
	m.t.Helper()
	m.eventually(name+" has a process id", func() (bool, string) {
		raw, err := os.ReadFile(m.home + "/" + name)
		if err == nil {
			pid, err = strconv.Atoi(strings.TrimSpace(string(raw)))
		}
		return err == nil && pid > 0, string(raw)
	})
	return pid
}

// runs tells whether a process runs, which a zombie does not.
func runs(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	return !strings.HasPrefix(string(raw[strings.LastIndexByte(string(raw), ')')+1:]), " Z")
}

// identified is the process, which has to run on the pane's terminal.
func (m *machine) identified(pane string, pid int) Process {
	m.t.Helper()
	p, ok, err := Identify(m.t.Context(), m, pane, pid, false)
	if err != nil || !ok || p.PID != pid || p.Started == "" {
		m.t.Fatalf("identify %d in %s: %+v, %v, %v", pid, pane, p, ok, err)
	}
	return p
}

const (
	victim   = `sh -c 'echo $$ > victim; exec sleep 1000'`
	deaf     = `sh -c 'trap "" TERM; echo $$ > victim; sleep 1000 & echo $! > child; while :; do wait; sleep 1; done'`
	stopping = `sh -c 'echo $$ > victim; kill -STOP $$; exec sleep 1000'`
	again    = "echo again >> out; exec sleep 1000"
)

// TestReplace ends what a pane runs in each of the ways in which a session may have
// come to run it, and launches another there.
func TestReplace(t *testing.T) {
	for _, c := range []struct {
		name   string
		open   func(m *machine) (pane string)
		killed bool
		child  bool // the victim has one, which goes with it
	}{
		{name: "launched", open: func(m *machine) string { return m.start("work", Launch{Dir: "~", Command: victim}) }},
		{name: "deaf to SIGTERM", killed: true, child: true, open: func(m *machine) string { return m.start("work", Launch{Dir: "~", Command: deaf}) }},
		{name: "suspended", open: func(m *machine) string { return m.start("work", Launch{Dir: "~", Command: stopping}) }},
		{name: "the pane's own process", open: func(m *machine) string { return m.pane("work", "cd; exec "+victim) }},
		{name: "from a person's shell", open: func(m *machine) string {
			m.pane("work", "cd; PS1='prompt> ' exec sh")
			m.tmux("send-keys", "-t", "=work:", victim, "Enter")
			return m.only("work").ID
		}},
		{name: "behind a wrapper", open: func(m *machine) string { return m.pane("work", "cd; "+victim+"; true") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, "")
			pane := c.open(m)
			pid := m.pidFrom("victim")
			p := m.identified(pane, pid)
			before := m.only("work")
			done, err := Replace(t.Context(), m, Replacement{Pane: pane, Victim: p, Alone: true, Term: 3 * time.Second, Kill: 5 * time.Second, Launch: Launch{Dir: "~", Command: again}})
			if err != nil || !done.Ended || done.Killed != c.killed || len(done.Left) > 0 {
				t.Fatalf("%+v, %v", done, err)
			}
			if runs(pid) {
				t.Error("it runs on")
			}
			if c.child && runs(m.pidFrom("child")) {
				t.Error("its child runs on")
			}
			m.eventually("the other runs", func() (bool, string) { s := m.wrote("out"); return s == "again", s })
			if now := m.only("work"); now.ID != before.ID || now.PID == before.PID || now.Dead || now.Ended || now.Launched.IsZero() || now.Sender != "" {
				t.Errorf("%+v", now)
			}
			if on := m.tmux("show-options", "-p", "-t", pane, "-v", "-q", "remain-on-exit"); on != "" {
				t.Errorf("remain-on-exit is %q", on)
			}
		})
	}
}

// TestReplaceNothing holds what must leave the process alone.
func TestReplaceNothing(t *testing.T) {
	m := newMachine(t, "")
	pane := m.start("work", Launch{Dir: "~", Command: victim})
	pid := m.pidFrom("victim")
	p := m.identified(pane, pid)
	other := m.pane("other", "exec sleep 1000")
	good := GuardOf(m.only("work"))
	changed := good
	changed.Screen = []byte("something else")
	if _, ok, err := Identify(t.Context(), m, other, pid, true); ok || err != nil {
		t.Errorf("it is found in another pane: %v", err)
	}
	for name, q := range map[string]struct {
		r    Replacement
		want error
	}{
		// The id is another's by now: of one that began at another time, or elsewhere.
		"another of that id":     {Replacement{Pane: pane, Victim: Process{pid, p.Started + "1"}}, ErrChanged},
		"of another terminal":    {Replacement{Pane: other, Victim: p}, ErrChanged},
		"beneath another pane":   {Replacement{Pane: other, Victim: p, Beneath: true}, ErrChanged},
		"outside of tmux":        {Replacement{Pane: pane, Victim: outside(t)}, ErrChanged},
		"gone":                   {Replacement{Pane: pane, Victim: Process{deadPID(t), "123"}}, ErrChanged},
		"the screen changed":     {Replacement{Pane: pane, Victim: p, Guard: &changed}, ErrChanged},
		"not what it was":        {Replacement{Pane: pane, Victim: p, Check: "echo other"}, ErrChanged},
		"no pane":                {Replacement{Pane: "%99", Victim: p}, ErrNoSession},
		"no process":             {Replacement{Pane: pane}, ErrNoSession},
		"hostile":                {Replacement{Pane: "%0'; touch pwned; '", Victim: p}, ErrNoSession},
		"nowhere to launch from": {Replacement{Pane: pane, Victim: p, Launch: Launch{Dir: "~/none"}}, ErrNoDirectory},
	} {
		q.r.Term, q.r.Kill = 3*time.Second, 3*time.Second
		if q.r.Launch.Dir == "" {
			q.r.Launch = Launch{Dir: "~", Command: again}
		}
		if done, err := Replace(t.Context(), m, q.r); !errors.Is(err, q.want) || done.Ended {
			t.Errorf("%s: %+v, %v, want %v", name, done, err, q.want)
		}
	}
	held := &machine{t, m.home, m.Conn}
	held.tmux("set-option", "-p", "-t", pane, LockOption, holder(t, os.Getpid()))
	if done, err := Replace(t.Context(), m, Replacement{Pane: pane, Victim: p, Term: time.Second, Kill: time.Second, Launch: Launch{Dir: "~"}}); !errors.Is(err, ErrLocked) || done.Ended {
		t.Errorf("locked: %+v, %v", done, err)
	}
	held.tmux("set-option", "-p", "-u", "-t", pane, LockOption)
	if !runs(pid) || m.only("work").PID != good.PID {
		t.Error("it was touched")
	}
	// The same with nothing in its way.
	if done, err := Replace(t.Context(), m, Replacement{Pane: pane, Victim: p, Guard: &good, Check: ":", Term: 9 * time.Second, Kill: time.Second, Launch: Launch{Dir: "~", Command: again}}); err != nil || !done.Ended {
		t.Errorf("%+v, %v", done, err)
	}
}

// outside is a process of this account that no tmux knows.
func outside(t *testing.T) Process {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, "sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !runs(cmd.Process.Pid) {
			t.Error("a process outside of tmux was ended")
		}
		cancel()
		_ = cmd.Wait()
	})
	_, since, _ := strings.Cut(holder(t, cmd.Process.Pid), "-")
	return Process{cmd.Process.Pid, since}
}

// TestReplaceStays holds that what the victim ran in is not ended with it, unless
// that is forced.
func TestReplaceStays(t *testing.T) {
	m := newMachine(t, "")
	m.write("keeper", "#!/usr/bin/env perl\nopen F, '>', \"$ENV{HOME}/keeper.pid\"; print F $$; close F; system q("+victim+"); sleep 1000;\n")
	m.mkdir("")
	if err := os.Chmod(m.home+"/keeper", 0o700); err != nil {
		t.Fatal(err)
	}
	pane := m.pane("work", "cd; exec ./keeper")
	keeper, pid := m.pidFrom("keeper.pid"), m.pidFrom("victim")
	r := Replacement{Pane: pane, Victim: m.identified(pane, pid), Holders: []int{keeper}, Term: 5 * time.Second, Kill: 5 * time.Second, Launch: Launch{Dir: "~", Command: again}}
	if done, err := Replace(t.Context(), m, r); !errors.Is(err, ErrStays) || !done.Ended || runs(pid) || !runs(keeper) {
		t.Errorf("%+v, %v; the keeper runs: %v", done, err, runs(keeper))
	}
	r.Victim, r.Holders, r.Force = m.identified(pane, keeper), nil, true
	if done, err := Replace(t.Context(), m, r); err != nil || !done.Ended || runs(keeper) {
		t.Errorf("forced: %+v, %v", done, err)
	}
	m.eventually("the other runs", func() (bool, string) { s := m.wrote("out"); return s == "again", s })
}

// TestReplaceCancelled holds that a caller who goes leaves nobody without a client:
// what was begun is finished, and what was not is not begun.
func TestReplaceCancelled(t *testing.T) {
	m := newMachine(t, "")
	pane := m.start("work", Launch{Dir: "~", Command: victim})
	pid := m.pidFrom("victim")
	r := Replacement{Pane: pane, Victim: m.identified(pane, pid), Term: 5 * time.Second, Kill: 5 * time.Second, Launch: Launch{Dir: "~", Command: again}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if done, err := Replace(ctx, m, r); err == nil || done.Ended {
		t.Errorf("%+v, %v", done, err)
	}
	if !runs(pid) {
		t.Error("it was ended")
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Error(err)
	}
}

// within is a runner whose scripts a process of a pane runs.
type within struct{ *machine }

func (w within) Run(_ context.Context, s transport.Script) (transport.Result, error) {
	w.write("part", s.Text)
	if err := os.Rename(w.home+"/part", w.home+"/script"); err != nil {
		return transport.Result{}, err
	}
	return transport.Result{Stdout: []byte(w.wrote("said") + "\n")}, nil
}

// TestReplaceInside holds that a process which runs the script itself is not ended:
// the script would end with it.
func TestReplaceInside(t *testing.T) {
	m := newMachine(t, "")
	pane := m.start("work", Launch{Dir: "~", Command: `sh -c 'echo $$ > victim; while :; do [ ! -e script ] || { sh script > part; rm script; mv part said; }; sleep 0.1; done'`})
	pid := m.pidFrom("victim")
	r := Replacement{Pane: pane, Victim: m.identified(pane, pid), Term: 5 * time.Second, Kill: 5 * time.Second, Launch: Launch{Dir: "~", Command: again}}
	if done, err := Replace(t.Context(), within{m}, r); !errors.Is(err, ErrInside) || done.Ended || !runs(pid) {
		t.Errorf("%+v, %v; it runs: %v", done, err, runs(pid))
	}
	if done, err := Replace(t.Context(), m, r); err != nil || !done.Ended || runs(pid) {
		t.Errorf("from outside: %+v, %v", done, err)
	}
}
