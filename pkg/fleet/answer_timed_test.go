package fleet_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig/fakeclient"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// TestAnswerTimed answers dialogs at which something comes at one moment. Whatever
// that is, no key reaches another dialog than Down and Up, Enter is pressed once at
// most, and Answer says how far it came.
func TestAnswerTimed(t *testing.T) {
	t.Parallel()
	swap := fakeclient.Fault{On: fakeclient.OnFile, File: "now", Dialog: fakeclient.DialogQuestion, About: "Which one shall be deleted?"}
	ask := fakeclient.Fault{On: fakeclient.OnFile, File: "ask", Dialog: fakeclient.DialogQuestion}
	boxes := fakeclient.Fault{On: fakeclient.OnFile, File: "ask", Dialog: fakeclient.DialogBoxes}
	at := func(on string, f fakeclient.Fault) fakeclient.Fault { f.On = on; return f }
	for _, c := range []struct {
		name     string
		faults   []fakeclient.Fault
		deaf     int
		before   string // a tmux command that waits for the fault "now"
		o        fleet.AnswerOptions
		want     fleet.AnswerResult
		class    fleet.Class
		keys     string // what the dialogs got
		answered string
	}{
		{name: "nothing", faults: []fakeclient.Fault{ask}, o: fleet.AnswerOptions{Label: "Postgres"}, want: fleet.AnswerGiven, keys: "Down Enter", answered: "Postgres"},
		{name: "another dialog before the first key", faults: []fakeclient.Fault{ask, swap}, before: "set-option", o: fleet.AnswerOptions{Label: "Postgres"},
			want: fleet.AnswerRefused, class: fleet.ClassRefused},
		{name: "another dialog under the first key", faults: []fakeclient.Fault{ask, at(fakeclient.OnChoice, swap)}, o: fleet.AnswerOptions{Label: "Postgres"},
			want: fleet.AnswerOpen, class: fleet.ClassTyped, keys: "Down"},
		{name: "gone before the first key", faults: []fakeclient.Fault{ask, {On: fakeclient.OnFile, File: "now", Nth: 1, Keys: "2"}}, before: "set-option", o: fleet.AnswerOptions{Label: "SQLite"},
			want: fleet.AnswerRefused, class: fleet.ClassRefused, keys: "2", answered: "Postgres"},
		{name: "a key that is missed", faults: []fakeclient.Fault{ask}, deaf: 1, o: fleet.AnswerOptions{Label: "Postgres"}, want: fleet.AnswerGiven, keys: "Down Enter", answered: "Postgres"},
		{name: "keys that are missed", faults: []fakeclient.Fault{ask}, deaf: 99, o: fleet.AnswerOptions{Label: "Postgres"}, want: fleet.AnswerOpen, class: fleet.ClassTyped},
		{name: "an Enter that is missed is not repeated", faults: []fakeclient.Fault{ask}, deaf: 1, o: fleet.AnswerOptions{Label: "SQLite"}, want: fleet.AnswerUnproven, class: fleet.ClassUnproven},
		{name: "keys that are taken late, two at once", faults: []fakeclient.Fault{ask, {On: fakeclient.OnFile, File: "now", Nth: 1, Stall: 12 * time.Second}}, before: "send-keys", o: fleet.AnswerOptions{Label: "Postgres"},
			want: fleet.AnswerGiven, keys: "Down Down Up Enter", answered: "Postgres"},
		{name: "a text", faults: []fakeclient.Fault{ask}, o: fleet.AnswerOptions{Text: "a third; one"}, want: fleet.AnswerGiven, keys: "Down Down Enter", answered: "a third; one"},
		{name: "a text for another dialog", faults: []fakeclient.Fault{ask, {On: fakeclient.OnFile, File: "now", Dialog: fakeclient.DialogPermission}}, before: "load-buffer", o: fleet.AnswerOptions{Text: "rm"},
			want: fleet.AnswerOpen, class: fleet.ClassTyped, keys: "Down Down"},
		{name: "a text that arrives as half of it", faults: []fakeclient.Fault{ask}, o: fleet.AnswerOptions{Text: "lossy text"}, want: fleet.AnswerOpen, class: fleet.ClassTyped, keys: "Down Down"},
		{name: "a text beneath a person's", faults: []fakeclient.Fault{ask, {On: fakeclient.OnPasted, Keys: "xy"}}, o: fleet.AnswerOptions{Text: "mine"}, want: fleet.AnswerOpen, class: fleet.ClassTyped, keys: "Down Down xy"},
		{name: "a box", faults: []fakeclient.Fault{boxes}, o: fleet.AnswerOptions{Label: "Export"}, want: fleet.AnswerTicked, class: fleet.ClassNeedsPerson, keys: "Down Enter"},
		{name: "a page follows", faults: []fakeclient.Fault{boxes}, o: fleet.AnswerOptions{Label: "Submit"}, want: fleet.AnswerFollowed, class: fleet.ClassNeedsPerson, keys: "Down Down Down Enter"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			script := fakeclient.Script{Faults: c.faults, DeafChoices: c.deaf}
			if strings.HasPrefix(c.o.Text, "lossy") {
				script.Drop = fakeclient.Span{From: 2, To: 5}
			}
			a := startAsks(t, script)
			a.opens("ask")
			if c.before != "" {
				if err := a.h.FaultBefore(c.before, "now"); err != nil {
					t.Fatal(err)
				}
			}
			out, err := a.f.Answer(t.Context(), "alpha", c.o)
			if out.Result != c.want || fleet.ClassOf(err) != c.class {
				t.Errorf("%s (%v), want %s: %v", out.Result, fleet.ClassOf(err), c.want, err)
			}
			if keys := strings.Join(a.got(fakeclient.DialogKey), " "); keys != c.keys {
				t.Errorf("the dialogs got %q, want %q", keys, c.keys)
			}
			if answered := strings.Join(a.got(fakeclient.Answered), " | "); answered != c.answered {
				t.Errorf("answered %q, want %q", answered, c.answered)
			}
			if len(a.got(fakeclient.Cancelled)) > 0 {
				t.Error("a dialog was cancelled")
			}
			enters := 0
			for _, k := range slices.Concat(a.got(fakeclient.DialogKey), a.got(fakeclient.DialogDeaf)) {
				if k == "Enter" {
					enters++
				}
			}
			if enters > 1 {
				t.Errorf("Enter was pressed %d times", enters)
			}
			if t.Failed() {
				a.log()
			}
		})
	}
}

// TestInterruptTimed interrupts turns at which something comes between the look
// and the key.
func TestInterruptTimed(t *testing.T) {
	t.Parallel()
	now := func(f fakeclient.Fault) []fakeclient.Fault {
		f.On, f.File = fakeclient.OnFile, "now"
		return []fakeclient.Fault{f}
	}
	for _, c := range []struct {
		name   string
		script fakeclient.Script
		before bool // the fault comes between the look and the key
		want   fleet.InterruptResult
		class  fleet.Class
		keys   int // how often Escape came
	}{
		{"a turn", fakeclient.Script{}, false, fleet.Interrupted, 0, 1},
		{"a turn that has said nothing", fakeclient.Script{FirstToken: time.Hour}, false, fleet.Interrupted, 0, 1},
		{"the turn ends", fakeclient.Script{Faults: now(fakeclient.Fault{EndTurn: true})}, true, fleet.InterruptEnded, 0, 0},
		{"a dialog opens", fakeclient.Script{Faults: now(fakeclient.Fault{Dialog: fakeclient.DialogPermission})}, true, fleet.InterruptRefused, fleet.ClassRefused, 0},
		{"a prompt is queued", fakeclient.Script{Faults: now(fakeclient.Fault{Nth: 1, Keys: "one more\r"})}, true, fleet.InterruptRefused, fleet.ClassRefused, 0},
		{"the client does not read for a while", fakeclient.Script{Faults: now(fakeclient.Fault{Nth: 1, Stall: 4 * time.Second})}, true, fleet.Interrupted, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.script.Turn = time.Hour
			if c.script.FirstToken == 0 {
				c.script.FirstToken = time.Millisecond
			}
			a := startAsks(t, c.script)
			if _, err := a.f.Send(t.Context(), "alpha", "hello there", fleet.SendOptions{}); err != nil {
				t.Fatal(err)
			}
			a.seen = len(events(t, a.h))
			if c.before {
				if err := a.h.FaultBefore("set-option", "now"); err != nil {
					t.Fatal(err)
				}
			}
			out, err := a.f.Interrupt(t.Context(), "alpha")
			if out.Result != c.want || fleet.ClassOf(err) != c.class || out.Pressed != c.keys {
				t.Errorf("%s with %d keys, want %s: %v", out.Result, out.Pressed, c.want, err)
			}
			n := 0
			for _, k := range a.got(fakeclient.Key) {
				if k == "Escape" {
					n++
				}
			}
			if n != c.keys {
				t.Errorf("Escape came %d times, want %d", n, c.keys)
			}
			if withdrawn := c.script.FirstToken == time.Hour; withdrawn != (out.Withdrawn == "hello there") {
				t.Errorf("withdrawn %q", out.Withdrawn)
			}
			if s := state(t, a.f, "alpha"); c.want != fleet.InterruptRefused && (s.State != "ready" || s.Draft != "") {
				t.Errorf("behind it: %s, draft %q", s.State, s.Draft)
			}
			if t.Failed() {
				a.log()
			}
		})
	}
}
