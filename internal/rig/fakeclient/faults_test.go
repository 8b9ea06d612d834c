package fakeclient_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig/fakeclient"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

// one is a script with one fault.
func one(f fakeclient.Fault) fakeclient.Script {
	return fakeclient.Script{Turn: time.Hour, Faults: []fakeclient.Fault{f}}
}

// TestFaults brings about each fault and holds what it does, beside the same
// input without it where that is not in TestKeys.
func TestFaults(t *testing.T) {
	question := func(on string) fakeclient.Script {
		return one(fakeclient.Fault{On: on, Dialog: fakeclient.DialogQuestion})
	}
	send := func(b *bench) { b.paste("hello"); b.keys("Enter") }
	midway := one(fakeclient.Fault{On: fakeclient.OnPaste, Byte: 3, Dialog: fakeclient.DialogQuestion})
	b := start(t, fakeclient.Script{})
	for _, d := range []deed{
		{"an Enter is missed once", fakeclient.Script{DeafEnters: 1}, func(b *bench) { send(b); b.keys("Enter") },
			[]string{"enter-deaf by count", "submitted hello", "ended hello"}},
		{"Enter is missed for long after a paste", fakeclient.Script{DeafAfterPaste: time.Hour}, send, []string{"enter-deaf after a paste"}},
		{"and not after typing", fakeclient.Script{DeafAfterPaste: time.Hour}, func(b *bench) { b.keys("hello", "Enter") }, []string{"submitted hello", "ended hello"}},
		{"the screen stands still after Enter", fakeclient.Script{Turn: time.Hour, LateRedraw: time.Hour}, func(b *bench) {
			b.paste("hello")
			b.shows("❯\u00a0hello")
			b.keys("Enter")
			b.eventually("it to be submitted", func() bool { return len(b.events(fakeclient.Submitted)) > 0 })
			b.shows("❯\u00a0hello")
		}, []string{"submitted hello"}},
		{"the middle of a paste is lost", fakeclient.Script{Drop: fakeclient.Span{From: 1, To: 3}}, send, []string{"submitted hlo", "ended hlo"}},
		{"but not that of a shorter one", fakeclient.Script{Drop: fakeclient.Span{From: 1, To: 6}}, send, []string{"submitted hello", "ended hello"}},

		{"a dialog at the start", question(fakeclient.OnStart), func(b *bench) { b.shows("SQLite"); b.keys("2") }, []string{"opened question", "answered Postgres"}},
		{"a dialog in a paste takes it", midway, func(b *bench) { b.paste("hello"); b.shows("3. hello"); b.keys("Enter") }, []string{"opened question", "answered hello"}},
		{"but not one that is too short", midway, func(b *bench) { b.paste("he"); b.keys("Enter") }, []string{"submitted he"}},
		{"a permission in a paste takes it and does nothing", one(fakeclient.Fault{On: fakeclient.OnPaste, Byte: 3, Dialog: fakeclient.DialogPermission}),
			func(b *bench) { b.paste("2"); b.paste("hello 2"); b.keys("no"); b.shows("Esc to cancel") }, []string{"opened permission"}},
		{"and an Enter behind it says yes", one(fakeclient.Fault{On: fakeclient.OnPasted, Dialog: fakeclient.DialogPermission}), send, []string{"opened permission", "answered Yes"}},
		{"a dialog upon the second paste", one(fakeclient.Fault{On: fakeclient.OnPasted, Nth: 2, Dialog: fakeclient.DialogQuestion}), func(b *bench) {
			b.paste("one")
			b.paste("two")
			b.escape()
		}, []string{"opened question", "cancelled question"}},
		{"a dialog behind a paste leaves it in the box", one(fakeclient.Fault{On: fakeclient.OnTaken, Dialog: fakeclient.DialogQuestion}), func(b *bench) {
			send(b)
			b.shows("Answered")
			b.keys("Enter")
		}, []string{"opened question", "answered SQLite", "submitted hello"}},
		{"a dialog upon Enter gets it", question(fakeclient.OnEnter), send, []string{"opened question", "answered SQLite"}},
		{"a dialog in a turn", question(fakeclient.OnTurn), func(b *bench) { send(b); b.shows("SQLite"); b.escape() },
			[]string{"submitted hello", "opened question", "cancelled question", "interrupted hello"}},
		{"a turn ends once its dialog is answered", fakeclient.Script{Turn: time.Millisecond, Faults: []fakeclient.Fault{{On: fakeclient.OnTurn, Dialog: fakeclient.DialogPermission}}},
			func(b *bench) { send(b); b.shows("proceed?"); b.keys("1") }, []string{"submitted hello", "opened permission", "answered Yes", "ended hello"}},
		{"a permission that is refused ends the turn", one(fakeclient.Fault{On: fakeclient.OnTurn, After: time.Millisecond, Dialog: fakeclient.DialogPermission}),
			func(b *bench) { send(b); b.shows("proceed?"); b.keys("Down", "Down", "Down", "Enter") },
			[]string{"submitted hello", "opened permission", "answered No", "interrupted hello"}},
		{"a file opens a dialog, as often as it is made", asking(fakeclient.DialogQuestion), func(b *bench) { b.ask(); b.escape(); b.ask() },
			[]string{"opened question", "cancelled question", "opened question"}},
		{"a file ends a turn", one(fakeclient.Fault{On: fakeclient.OnFile, File: "ask", EndTurn: true}), func(b *bench) {
			send(b)
			b.eventually("a turn", func() bool { return len(b.events(fakeclient.Submitted)) > 0 })
			b.ask()
		},
			[]string{"submitted hello", "ended hello"}},

		{"a digit answers the survey", one(fakeclient.Fault{On: fakeclient.OnStart, Survey: true}), func(b *bench) {
			b.shows("0: Dismiss")
			b.keys("2")
			b.eventually("the answer", func() bool { return len(b.events(fakeclient.Rated)) > 0 }) // both at once are a text
			b.keys("2", "Enter")
		},
			[]string{"surveyed", "rated 2", "submitted 2"}},
		{"a pasted digit too", one(fakeclient.Fault{On: fakeclient.OnStart, Survey: true}), func(b *bench) { b.shows("0: Dismiss"); b.paste("1"); b.keys("Enter") },
			[]string{"surveyed", "rated 1"}},
		{"and no other text", one(fakeclient.Fault{On: fakeclient.OnStart, Survey: true}), func(b *bench) { b.shows("0: Dismiss"); b.paste("1."); b.keys("Enter") },
			[]string{"surveyed", "submitted 1."}},
		{"a person types between a paste and its Enter", one(fakeclient.Fault{On: fakeclient.OnEnter, Keys: " there\r"}), send, []string{"submitted hello there"}},
		{"the terminal is not read for a while", one(fakeclient.Fault{On: fakeclient.OnPaste, Byte: 2, Stall: 300 * time.Millisecond}), send, []string{"stalled 300ms", "submitted hello"}},
	} {
		d.check(b)
	}
}

// TestFaultBefore holds that a fault shows before a command of tmux begins, and
// comes before no other command.
func TestFaultBefore(t *testing.T) {
	b := start(t, asking(fakeclient.DialogQuestion))
	if err := b.host.FaultBefore("paste-buffer", "ask"); err != nil {
		t.Fatal(err)
	}
	cmd := b.host.Command(t.Context(), "tmux", "send-keys", "-t", b.pane, "C-e")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("send-keys: %v: %s", err, out)
	}
	b.paste("hello")
	b.shows("3. hello")
	if got := b.did(); !slices.Equal(got, []string{"opened question"}) || !slices.Equal(b.events(fakeclient.DialogPaste), []string{"hello"}) {
		t.Errorf("did %q", got)
	}
}

// TestUnread holds that what comes while the terminal is not read stays there.
func TestUnread(t *testing.T) {
	b := start(t, one(fakeclient.Fault{On: fakeclient.OnPaste, Stall: time.Hour}))
	b.paste("hello")
	b.eventually("the reading to stop", func() bool { return len(b.events(fakeclient.Stalled)) > 0 })
	b.keys("Enter")
	b.judged(detect.Ready)
	if got := b.events(fakeclient.Key); len(got) > 0 {
		t.Errorf("keys %q were read", got)
	}
	if s := b.screen(); strings.Contains(s, "hello") {
		t.Errorf("the paste shows:\n%s", s)
	}
}

// TestKill holds that a client that is killed leaves its session file and the
// alternate screen behind, and one that is told to end does not.
func TestKill(t *testing.T) {
	b := start(t, one(fakeclient.Fault{On: fakeclient.OnEnter, Kill: true}))
	b.must("set-option", "-t", b.pane, "remain-on-exit", "on")
	sessions := func() []string {
		files, err := filepath.Glob(filepath.Join(b.host.Home, ".claude", "sessions", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	dead := func() bool {
		return strings.TrimSpace(b.must("display-message", "-p", "-t", b.pane, "#{pane_dead}")) == "1"
	}
	b.judged(detect.Ready)
	b.paste("hello")
	b.keys("Enter")
	b.eventually("the client to be dead", dead)
	if got := b.deeds(); !slices.Equal(got, []string{"killed"}) || len(sessions()) != 1 {
		t.Errorf("killed: did %q, left %q", got, sessions())
	}
	if err := os.Remove(sessions()[0]); err != nil {
		t.Fatal(err)
	}
	b.relaunch(fakeclient.Script{})
	b.keys("C-c")
	b.shows("Press Ctrl-C again")
	b.keys("C-c")
	b.eventually("the client to end", dead)
	if got := b.events(fakeclient.Exited); len(got) != 1 || len(sessions()) != 0 {
		t.Errorf("ended: exited %q, left %q", got, sessions())
	}
	b.shows("Resume this session with:", "--resume")
}

// TestTerm holds that SIGTERM ends a client in order, late where it is told so, and
// not at all where it is deaf to it.
func TestTerm(t *testing.T) {
	b := start(t, fakeclient.Script{})
	b.must("set-option", "-t", b.pane, "remain-on-exit", "on")
	said := func(what string) int { return len(b.events(what)) }
	for _, s := range []fakeclient.Script{{}, {TermLate: 700 * time.Millisecond}, {DeafTerm: true}} {
		b.relaunch(s)
		b.judged(detect.Ready)
		pid, err := strconv.Atoi(strings.TrimSpace(b.must("display-message", "-p", "-t", b.pane, "#{pane_pid}")))
		if err != nil {
			t.Fatal(err)
		}
		at := time.Now()
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		b.eventually("SIGTERM to come", func() bool { return said(fakeclient.Terminated) == 1 })
		if s.DeafTerm {
			b.paste("hello") // it goes on
			b.shows("hello")
			if said(fakeclient.Exited) > 0 {
				t.Error("the deaf one ended")
			}
			continue
		}
		b.eventually("the client to end", func() bool { return said(fakeclient.Exited) == 1 })
		if d := time.Since(at); d < s.TermLate {
			t.Errorf("it ended in %s, before %s", d, s.TermLate)
		}
	}
}

// TestRestless holds that the footer of a restless client changes by itself, and
// that of another does not.
func TestRestless(t *testing.T) {
	b := start(t, fakeclient.Script{})
	screens := func() int {
		seen := map[string]bool{}
		for range 10 {
			seen[b.screen()] = true
		}
		return len(seen)
	}
	b.judged(detect.Ready)
	if n := screens(); n != 1 {
		t.Errorf("%d screens of an idle client", n)
	}
	b.relaunch(fakeclient.Script{Restless: time.Millisecond})
	rigtest.Eventually(t, within, "the screen to change", func() (bool, string) { return screens() > 5, b.screen() })
}
