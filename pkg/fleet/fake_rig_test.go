package fleet_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/fakeclient"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// events are what alpha's fake client received and did.
func events(t *testing.T, h *rig.Host) []fakeclient.Event {
	t.Helper()
	all, err := h.FakeLog()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestSendTimed sends to a client whose faults come at one moment. Whatever the
// moment, the prompt is submitted once and whole or not at all, Send says which,
// no turn is interrupted, and no key reaches a dialog.
func TestSendTimed(t *testing.T) {
	t.Parallel()
	const at = fakeclient.OnFile
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	fault := func(f fakeclient.Fault) fakeclient.Script { return fakeclient.Script{Faults: []fakeclient.Fault{f}} }
	permission := func(on string) fakeclient.Script {
		return fault(fakeclient.Fault{On: on, Dialog: fakeclient.DialogPermission, File: "now"})
	}
	question := func(on string) fakeclient.Script {
		return fault(fakeclient.Fault{On: on, Dialog: fakeclient.DialogQuestion, File: "now"})
	}
	long := strings.TrimSpace(strings.Repeat("a line of several\n", 30))
	for _, c := range []struct {
		name   string
		script fakeclient.Script
		prompt string // "hello there" where it is empty
		before string // a tmux command that waits for the fault "now"
		want   []fleet.Result
		submit bool // the client took the prompt
		first  bool // the fault is there before Send is called
		says   string
	}{
		{name: "no fault", want: []fleet.Result{fleet.Accepted}, submit: true},
		{name: "deaf behind a paste", script: fakeclient.Script{DeafAfterPaste: ms(400)}, want: []fleet.Result{fleet.Accepted}, submit: true},
		{name: "deaf behind pastes", script: fakeclient.Script{DeafAfterPaste: ms(2500)}, prompt: long, want: []fleet.Result{fleet.Accepted}, submit: true},
		{name: "deaf twice", script: fakeclient.Script{DeafEnters: 2}, want: []fleet.Result{fleet.Accepted}, submit: true},
		{name: "deaf for good", script: fakeclient.Script{DeafEnters: 99}, want: []fleet.Result{fleet.Typed}, says: "took no Enter; it is still there"},
		{name: "first token late", script: fakeclient.Script{Turn: 4 * time.Second, FirstToken: 3 * time.Second}, want: []fleet.Result{fleet.Accepted}, submit: true},
		{name: "redraw late", script: fakeclient.Script{LateRedraw: 3 * time.Second, Turn: 5 * time.Second}, want: []fleet.Result{fleet.Accepted}, submit: true},
		{name: "record late", script: fakeclient.Script{Record: fakeclient.Record{After: 4 * time.Second}}, want: []fleet.Result{fleet.Accepted}, submit: true},
		{name: "record torn", script: fakeclient.Script{Record: fakeclient.Record{Torn: 2 * time.Second}}, want: []fleet.Result{fleet.Accepted}, submit: true},
		{name: "record never", script: fakeclient.Script{Record: fakeclient.Record{Never: true}}, want: []fleet.Result{fleet.Submitted}, submit: true},
		{name: "lossy paste", script: fakeclient.Script{Drop: fakeclient.Span{From: 3, To: 6}}, want: []fleet.Result{fleet.Typed}},
		{name: "restless", script: fakeclient.Script{Restless: ms(700)}, want: []fleet.Result{fleet.Accepted, fleet.Refused}, submit: true},
		{name: "stalled behind a paste", script: fault(fakeclient.Fault{On: fakeclient.OnPasted, Stall: 3 * time.Second}), want: []fleet.Result{fleet.Accepted}, submit: true},
		{name: "stalled at Enter", script: fault(fakeclient.Fault{On: fakeclient.OnEnter, Stall: 3 * time.Second}), want: []fleet.Result{fleet.Accepted}, submit: true},
		{name: "dialog before the check", script: permission(at), before: "set-option", want: []fleet.Result{fleet.Refused}},
		{name: "dialog before the text is loaded", script: permission(at), before: "load-buffer", want: []fleet.Result{fleet.Refused}},
		{name: "dialog between check and paste", script: permission(at), before: "paste-buffer", want: []fleet.Result{fleet.Typed}},
		{name: "question between check and paste", script: question(at), before: "paste-buffer", want: []fleet.Result{fleet.Typed}},
		{name: "dialog within a paste", script: fault(fakeclient.Fault{On: fakeclient.OnPaste, Byte: 5, Dialog: fakeclient.DialogPermission}), want: []fleet.Result{fleet.Typed}},
		{name: "dialog behind a paste", script: permission(fakeclient.OnPasted), want: []fleet.Result{fleet.Typed}},
		{name: "dialog over the text", script: permission(fakeclient.OnTaken), want: []fleet.Result{fleet.Typed}},
		{name: "dialog over half of the pieces", script: permission(fakeclient.OnTaken), prompt: long, want: []fleet.Result{fleet.Typed}},
		{name: "dialog within the turn", script: fakeclient.Script{Turn: 6 * time.Second, Faults: []fakeclient.Fault{{On: fakeclient.OnTurn, Dialog: fakeclient.DialogPermission}}}, want: []fleet.Result{fleet.Accepted}, submit: true},
		{name: "survey behind the turn", script: fault(fakeclient.Fault{On: fakeclient.OnIdle, Survey: true}), prompt: "1", want: []fleet.Result{fleet.Accepted}, submit: true},
		{name: "survey before it is judged", script: fault(fakeclient.Fault{On: at, File: "now", Survey: true}), first: true, prompt: "1", want: []fleet.Result{fleet.Refused}},
		{name: "survey between check and paste", script: fault(fakeclient.Fault{On: at, File: "now", Survey: true}), before: "paste-buffer", prompt: "1", want: []fleet.Result{fleet.Accepted}, submit: true},
		{name: "a person's letters behind the paste", script: fault(fakeclient.Fault{On: fakeclient.OnTaken, Keys: "xy"}), want: []fleet.Result{fleet.Typed, fleet.Submitted}},
		{name: "gone at the paste", script: fault(fakeclient.Fault{On: fakeclient.OnPasted, Kill: true}), want: []fleet.Result{fleet.Typed}, says: "the session's state is crashed now"},
		{name: "gone at Enter", script: fault(fakeclient.Fault{On: fakeclient.OnEnter, Kill: true}), want: []fleet.Result{fleet.Typed, fleet.Submitted}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true, Fake: &c.script})
			f := over(t, r)
			up(t, f)
			h := r.Host("alpha")
			if c.before != "" {
				if err := h.FaultBefore(c.before, "now"); err != nil {
					t.Fatal(err)
				}
			}
			if c.first {
				if err := h.BringFault(t.Context(), "now"); err != nil {
					t.Fatal(err)
				}
			}
			prompt := c.prompt
			if prompt == "" {
				prompt = "hello there"
			}
			out, err := f.Send(t.Context(), "alpha", prompt, fleet.SendOptions{})
			if !slices.Contains(c.want, out.Result) || (err == nil) != (out.Result == fleet.Accepted) {
				t.Errorf("%s, want %s: %v", out.Result, c.want, err)
			}
			if !strings.Contains(out.Detail, c.says) {
				t.Errorf("it says %q, without %q", out.Detail, c.says)
			}
			got := events(t, h)
			submitted := fakeclient.Texts(got, fakeclient.Submitted)
			want := []string{prompt}
			if !c.submit || out.Result == fleet.Refused {
				want = nil
			}
			if len(submitted) != len(want) || len(want) > 0 && strings.TrimRight(submitted[0], " ") != prompt {
				t.Errorf("submitted %q, want %q", submitted, want)
			}
			if out.Result == fleet.Refused && len(fakeclient.Texts(got, fakeclient.Paste)) > 0 {
				t.Error("refused, and something was pasted")
			}
			for _, what := range []string{fakeclient.Interrupted, fakeclient.Answered, fakeclient.Cancelled, fakeclient.Rated, fakeclient.Exited} {
				if texts := fakeclient.Texts(got, what); len(texts) > 0 {
					t.Errorf("%s: %q", what, texts)
				}
			}
			// C-u does nothing in any dialog; no other key may reach one.
			for _, key := range fakeclient.Texts(got, fakeclient.DialogKey) {
				if key != "C-u" {
					t.Errorf("the dialog got %q", key)
				}
			}
			if t.Failed() {
				for _, e := range got {
					t.Log(e)
				}
			}
		})
	}
}

// over is a fleet over a rig's hosts for a test that runs beside others, and so
// leaves the environment alone.
func over(t *testing.T, r *rig.Rig, opts ...fleet.Option) *fleet.Fleet {
	t.Helper()
	path := t.TempDir() + "/fleet.conf"
	if err := r.WriteFleet(path); err != nil {
		t.Fatal(err)
	}
	f, err := fleet.Load(path, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Errorf("close the fleet: %v", err)
		}
	})
	return f
}

// TestSendBehindADialog holds that what was typed beneath a dialog that opened is
// told, and that the box is as it is said to be once the dialog is gone.
func TestSendBehindADialog(t *testing.T) {
	t.Parallel()
	script := fakeclient.Script{Faults: []fakeclient.Fault{{On: fakeclient.OnTaken, Dialog: fakeclient.DialogPermission}}}
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true, Fake: &script})
	f := over(t, r)
	up(t, f)
	p := person{t: t, r: r, h: r.Host("alpha")}
	out, err := f.Send(t.Context(), "alpha", "hello there", fleet.SendOptions{ID: "one"})
	if out.Result != fleet.Typed || !strings.Contains(out.Detail, "a dialog came in front of it") {
		t.Errorf("%s: %v", out.Result, err)
	}
	// Again under that id: nothing more is typed.
	if again, err := f.Send(t.Context(), "alpha", "hello there", fleet.SendOptions{ID: "one"}); again.Result != fleet.Typed {
		t.Errorf("again: %s: %v", again.Result, err)
	}
	p.keys("Escape")
	rigtest.Eventually(t, 30*time.Second, "the draft to show", func() (bool, string) {
		s := state(t, f, "alpha")
		return s.State == detect.Ready && strings.TrimSpace(s.Draft) == "hello there", fmt.Sprintf("%s, %q", s.State, s.Draft)
	})
	if n := len(fakeclient.Texts(events(t, p.h), fakeclient.Paste)); n != 1 {
		t.Errorf("%d pastes", n)
	}
}
