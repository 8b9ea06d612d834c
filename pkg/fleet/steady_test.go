package fleet

import (
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
)

// TestTorn holds which verdicts are looked at again: none that is sure.
func TestTorn(t *testing.T) {
	made := func(state detect.State, rule string, proc detect.Process, status, screen string) seen {
		s := seen{pane: &tmux.Pane{Screen: []byte(screen)}}
		s.State, s.Rule, s.evidence.Process = state, rule, proc
		if status != "" {
			s.evidence.Client = &detect.Client{Status: status}
		}
		return s
	}
	for _, c := range []struct {
		name   string
		s      seen
		before string // the screen of the look before; "" for no such look
		want   bool
	}{
		{"no rule knows it", made(detect.Unknown, "none", detect.ProcessRunning, "idle", "a"), "", true},
		{"another one than before", made(detect.Unknown, "none", detect.ProcessRunning, "idle", "a"), "b", true},
		{"the same as before", made(detect.Unknown, "none", detect.ProcessRunning, "idle", "a"), "a", false},
		{"an empty capture", made(detect.Unknown, "screen.empty", detect.ProcessUnknown, "", ""), "", true},
		{"a shell's screen over a client that runs", made(detect.Unknown, "witness.running", detect.ProcessRunning, "", "$ "), "", true},
		{"no client is there to draw the rest", made(detect.Unknown, "none", detect.ProcessUnseen, "", "a"), "", false},
		{"no pane", seen{Status: Status{Verdict: detect.Verdict{State: detect.Unknown, Rule: "tmux-error"}}}, "", false},
		{"the viewer is known", made(detect.Unknown, "viewer.transcript", detect.ProcessRunning, "idle", "a"), "", false},
		{"a launch takes longer", made(detect.Unknown, "starting", detect.ProcessUnknown, "", "a"), "", false},
		{"a dialog in a turn, says the screen alone", made(detect.Gate, "gate.dialog", detect.ProcessRunning, "busy", "a"), "", true},
		{"a dialog at rest, says the screen alone", made(detect.Gate, "gate.dialog", detect.ProcessRunning, "idle", "a"), "", true},
		{"a dialog under a client that tells no status", made(detect.Gate, "gate.dialog", detect.ProcessRunning, "-", "a"), "", false},
		{"the same dialog again", made(detect.Gate, "gate.dialog", detect.ProcessRunning, "busy", "a"), "a", false},
		{"a dialog that the client waits at", made(detect.Gate, "gate.dialog", detect.ProcessRunning, "waiting", "a"), "", false},
		{"a dialog before there is a session file", made(detect.Gate, "gate.dialog", detect.ProcessRunning, "", "a"), "", false},
		{"ready", made(detect.Ready, "ready.box", detect.ProcessRunning, "idle", "a"), "", false},
		{"busy", made(detect.Busy, "busy.glyph", detect.ProcessRunning, "busy", "a"), "", false},
	} {
		var before seen
		if c.before != "" {
			before.pane = &tmux.Pane{Screen: []byte(c.before)}
		}
		if got := torn(c.s, before); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestJittered holds the pause to a quarter around its mean.
func TestJittered(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 1000 {
		d := jittered(time.Second)
		if d < 750*time.Millisecond || d >= 1250*time.Millisecond {
			t.Fatal(d)
		}
		seen[d] = true
	}
	if len(seen) < 100 {
		t.Errorf("%d pauses of 1000 differ", len(seen))
	}
}
