package fleet_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// alpha is one SSH host whose session is up, with somebody at its keyboard.
func alpha(t *testing.T, spec rig.HostSpec) (*fleet.Fleet, person) {
	t.Helper()
	spec.Name, spec.Trusted, spec.BypassAccepted = "alpha", true, true
	r := rigtest.Start(t, spec)
	f := over(t, r)
	up(t, f)
	return f, person{t: t, r: r, h: r.Host("alpha")}
}

// is waits until alpha is in a state, with that draft.
func is(t *testing.T, f *fleet.Fleet, want detect.State, draft string) {
	t.Helper()
	rigtest.Eventually(t, 30*time.Second, fmt.Sprintf("alpha to be %s with the draft %q", want, draft), func() (bool, string) {
		s := state(t, f, "alpha")
		return s.State == want && s.Draft == draft, fmt.Sprintf("%s by %s, draft %q: %s", s.State, s.Rule, s.Draft, s.Why)
	})
}

// sends sends and demands a result.
func sends(t *testing.T, f *fleet.Fleet, prompt string, o fleet.SendOptions, want fleet.Result) fleet.Outcome {
	t.Helper()
	out, err := f.Send(t.Context(), "alpha", prompt, o)
	good := want == fleet.Accepted || want == fleet.Queued
	if good && out.Result == fleet.Refused && strings.Contains(out.Detail, "the screen changed after it was judged") {
		// A notice of the client's came between look and lock, as it may behind a start:
		// once more, as a caller is told to.
		t.Logf("send %.60q: %v", prompt, err)
		out, err = f.Send(t.Context(), "alpha", prompt, o)
	}
	if out.Result != want || (err == nil) != good {
		t.Fatalf("send %.60q: %s, want %s: %v (%s)\n%s", prompt, out.Result, want, err, out.Hint, screenOf(t, f))
	}
	return out
}

func screenOf(t *testing.T, f *fleet.Fleet) string {
	x, err := f.Explain(t.Context(), "alpha")
	if err != nil {
		return err.Error()
	}
	return x.Screen
}

// reaches waits until the API was given a prompt, and holds that it was so once.
func reaches(t *testing.T, r *rig.Rig, prompt string) {
	t.Helper()
	rigtest.Eventually(t, 30*time.Second, fmt.Sprintf("the API to have %.40q once", prompt), func() (bool, string) {
		return count(r, prompt) == 1, fmt.Sprintf("%.2000q", r.API().Prompts())
	})
}

// TestSendForce interrupts a turn for a prompt, whatever the turn is doing, and
// nothing else than a turn.
func TestSendForce(t *testing.T) {
	t.Parallel()
	f, p := alpha(t, rig.HostSpec{})
	for _, turn := range []struct{ name, prompt, shows string }{
		{"text streams", "HOLD one", "Holding one"},
		{"nothing has come", "SILENT two", ""},
		{"a tool runs", "TOOL tail -f /dev/null", "Running"},
		{"it retries", "ERR 529", "retrying in"},
	} {
		sends(t, f, turn.prompt, fleet.SendOptions{}, fleet.Accepted)
		is(t, f, detect.Busy, "")
		if turn.shows != "" {
			p.shows(turn.shows)
		}
		// Without it the turn goes on.
		out := sends(t, f, "not now", fleet.SendOptions{}, fleet.Refused)
		if out.Interrupted || out.Started {
			t.Errorf("%s: %+v", turn.name, out)
		}
		prompt := "in its place: " + turn.name
		if out = sends(t, f, prompt, fleet.SendOptions{Force: true}, fleet.Accepted); !out.Interrupted {
			t.Errorf("%s: %+v", turn.name, out)
		}
		reaches(t, p.r, prompt)
		p.r.API().ReleaseAll()
		is(t, f, detect.Ready, "")
	}
	// A draft beside the turn is somebody's, and a queue would come first.
	sends(t, f, "HOLD three", fleet.SendOptions{}, fleet.Accepted)
	is(t, f, detect.Busy, "")
	p.types("❯\u00a0", "half a thought")
	sends(t, f, "over it", fleet.SendOptions{Force: true}, fleet.Refused)
	is(t, f, detect.Busy, "half a thought")
	p.keys("Enter")
	p.shows("edit queued messages")
	sends(t, f, "past the queue", fleet.SendOptions{Force: true}, fleet.Refused)
	p.r.API().Release("three")
	reaches(t, p.r, "half a thought")
	is(t, f, detect.Ready, "")
	// A dialog is not a turn.
	sends(t, f, "ASK", fleet.SendOptions{}, fleet.Accepted)
	is(t, f, detect.Gate, "")
	before := state(t, f, "alpha").Dialog
	out := sends(t, f, "into the dialog", fleet.SendOptions{Force: true, Queue: true, ReplaceDraft: true}, fleet.Refused)
	if after := state(t, f, "alpha").Dialog; out.Interrupted || after == nil || fmt.Sprint(*after) != fmt.Sprint(*before) {
		t.Errorf("the dialog was %+v and is %+v", before, after)
	}
	if n := count(p.r, "not now") + count(p.r, "over it") + count(p.r, "past the queue") + count(p.r, "into the dialog"); n != 0 {
		t.Errorf("%d refused prompts reached the API", n)
	}
}

// TestSendQueue hands prompts to the client's queue, and takes a ready session
// as any other send does.
func TestSendQueue(t *testing.T) {
	t.Parallel()
	f, p := alpha(t, rig.HostSpec{})
	queue := fleet.SendOptions{Queue: true}
	if out := sends(t, f, "HOLD one", queue, fleet.Accepted); out.Record == "" {
		t.Errorf("%+v", out)
	}
	is(t, f, detect.Busy, "")
	first := sends(t, f, "queued one\nof two lines", queue, fleet.Queued)
	sends(t, f, "queued two", queue, fleet.Queued)
	sends(t, f, "/compact now", queue, fleet.Refused)
	sends(t, f, "!echo now", queue, fleet.Refused)
	if out, err := f.Outcome(t.Context(), "alpha", first.ID); err != nil || out.Result != fleet.Queued {
		t.Errorf("outcome: %s, %v", out.Result, err)
	}
	p.r.API().Release("one")
	is(t, f, detect.Ready, "")
	// What waited together goes to the model in one request.
	reaches(t, p.r, "queued two")
	if out, err := f.Outcome(t.Context(), "alpha", first.ID); err != nil || out.Result != fleet.Accepted {
		t.Errorf("outcome: %s, %v", out.Result, err)
	}
}

// TestSendQueueTakenBack has a person take a prompt back out of the queue: it is
// not said to wait there any more, and not waited for.
func TestSendQueueTakenBack(t *testing.T) {
	t.Parallel()
	f, p := alpha(t, rig.HostSpec{})
	sends(t, f, "HOLD one", fleet.SendOptions{}, fleet.Accepted)
	is(t, f, detect.Busy, "")
	out := sends(t, f, "later", fleet.SendOptions{Queue: true}, fleet.Queued)
	p.keys("Up")
	is(t, f, detect.Busy, "later")
	p.keys("C-u")
	is(t, f, detect.Busy, "")
	p.r.API().Release("one")
	is(t, f, detect.Ready, "")
	if now, err := f.Outcome(t.Context(), "alpha", out.ID); now.Result != fleet.Typed || !strings.Contains(now.Detail, "somebody took it back") {
		t.Errorf("%s, %v", now.Result, err)
	}
	if _, err := f.WaitTurn(t.Context(), out); fleet.ClassOf(err) != fleet.ClassFailed || !strings.Contains(err.Error(), "somebody took it back") {
		t.Error(err)
	}
}

// TestWaitTurnBrokenOff has the client killed in the middle of a turn, and brought
// up again: the session is ready, and the turn has not ended well.
func TestWaitTurnBrokenOff(t *testing.T) {
	t.Parallel()
	f, p := alpha(t, rig.HostSpec{})
	out := sends(t, f, "HOLD one", fleet.SendOptions{ID: "one"}, fleet.Accepted)
	is(t, f, detect.Busy, "")
	p.kill()
	is(t, f, detect.Crashed, "")
	if _, err := f.WaitTurn(t.Context(), out); fleet.ClassOf(err) != fleet.ClassNeedsPerson {
		t.Errorf("while it is gone: %v", err)
	}
	up(t, f)
	again := sends(t, f, "HOLD one", fleet.SendOptions{ID: "one"}, fleet.Accepted)
	if turn, err := f.WaitTurn(t.Context(), again); !again.Repeated || fleet.ClassOf(err) != fleet.ClassFailed {
		t.Errorf("repeated %v: %+v, %v", again.Repeated, turn, err)
	}
	p.r.API().ReleaseAll()
	// A turn that ends is told from it.
	out = sends(t, f, "SAY done", fleet.SendOptions{}, fleet.Accepted)
	if turn, err := f.WaitTurn(t.Context(), out); err != nil || turn.Text != "done" {
		t.Errorf("%+v, %v", turn, err)
	}
}

// TestSendReplaceDraft puts a person's draft aside and back, whole.
func TestSendReplaceDraft(t *testing.T) {
	t.Parallel()
	f, p := alpha(t, rig.HostSpec{})
	replace := fleet.SendOptions{ReplaceDraft: true}
	drafts := []string{"half a thought", "a draft\nof three\nlines; and $HOME"}
	for i, draft := range drafts {
		for line := range strings.Lines(draft) {
			p.keys("-l", "--", strings.TrimSuffix(line, "\n"))
			if strings.HasSuffix(line, "\n") {
				p.keys("C-j")
			}
		}
		is(t, f, detect.Ready, draft)
		sends(t, f, "over the draft", fleet.SendOptions{}, fleet.Refused)
		sends(t, f, strings.SplitN(draft, "\n", 2)[0]+" and more", replace, fleet.Refused)
		is(t, f, detect.Ready, draft)
		prompt := fmt.Sprintf("HOLD beside-%d", i)
		if out := sends(t, f, prompt, replace, fleet.Accepted); out.Draft != draft || len(out.Warnings) > 0 {
			t.Errorf("%+v", out)
		}
		is(t, f, detect.Busy, draft)
		p.r.API().Release(fmt.Sprintf("beside-%d", i))
		is(t, f, detect.Ready, draft)
		reaches(t, p.r, prompt)
		p.keys("C-c") // drops it
		is(t, f, detect.Ready, "")
	}
	// One that is taller than the box hides whether the session is ready.
	for range 3 {
		p.keys("-l", strings.Repeat("a line of a draft\n", 12))
	}
	is(t, f, detect.Unknown, "")
	if out := sends(t, f, "over the draft", replace, fleet.Refused); !strings.Contains(out.Detail, "taller than the input box") {
		t.Errorf("%+v", out)
	}
	p.keys("C-c")
	is(t, f, detect.Ready, "")
	// Where another draft is put aside already, it would be lost.
	p.types("❯\u00a0", "the first")
	p.keys("C-s")
	is(t, f, detect.Ready, "")
	p.types("❯\u00a0", "the second")
	sends(t, f, "a third", replace, fleet.Refused)
	is(t, f, detect.Ready, "the second")
	if n := count(p.r, "over the draft") + count(p.r, "a third"); n != 0 {
		t.Errorf("%d refused prompts reached the API", n)
	}
}

// TestSendVim sends to a box in vim mode, whichever mode it is in.
func TestSendVim(t *testing.T) {
	t.Parallel()
	f, p := alpha(t, rig.HostSpec{State: map[string]any{"editorMode": "vim"}})
	sends(t, f, "into INSERT", fleet.SendOptions{}, fleet.Accepted)
	reaches(t, p.r, "into INSERT")
	is(t, f, detect.Ready, "")
	p.keys("Escape")
	rigtest.Eventually(t, 30*time.Second, "vim's NORMAL mode", func() (bool, string) {
		s := state(t, f, "alpha")
		return s.VimNormal, s.Why
	})
	prompt := "into NORMAL\nddp and more\niii"
	sends(t, f, prompt, fleet.SendOptions{}, fleet.Accepted)
	reaches(t, p.r, prompt)
	is(t, f, detect.Ready, "")
	sends(t, f, "HOLD vim", fleet.SendOptions{}, fleet.Accepted)
	is(t, f, detect.Busy, "")
	sends(t, f, "by force", fleet.SendOptions{Force: true}, fleet.Accepted)
	reaches(t, p.r, "by force")
}

// TestSendCommands sends what the client takes for commands of its own.
func TestSendCommands(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true})
	p := person{t: t, r: r, h: r.Host("alpha")}
	// Before the client starts: it takes a while to see a command that is new.
	dir := filepath.Join(p.h.Home, ".claude", "commands")
	must(p, os.MkdirAll(dir, 0o700))
	must(p, os.WriteFile(filepath.Join(dir, "hello.md"), []byte("SAY hello $ARGUMENTS\n"), 0o600))
	f := over(t, r)
	up(t, f)
	for _, c := range []struct {
		prompt string
		want   fleet.Result
		says   string
	}{
		{"a first word", fleet.Accepted, ""},
		{"/clear", fleet.Accepted, ""},
		{"/cl", fleet.Typed, "knows no command /cl"},
		{"!echo to the shell; echo again", fleet.Accepted, ""},
		{"/etc/hosts is a file", fleet.Accepted, ""},
		{"/nosuchthing", fleet.Submitted, "Unknown command"},
		{"/hello bob\nand alice", fleet.Accepted, ""},
		{"#remember this", fleet.Accepted, ""},
		{"&do it", fleet.Accepted, ""},
		{"?", fleet.Accepted, ""},
		{"a face :smi", fleet.Accepted, ""},
		{"look at @READ", fleet.Accepted, ""},
		{"/compact keep names", fleet.Accepted, ""},
		{"/exit", fleet.Refused, "would end the client"},
	} {
		is(t, f, detect.Ready, "")
		if out := sends(t, f, c.prompt, fleet.SendOptions{}, c.want); !strings.Contains(out.Detail, c.says) {
			t.Errorf("%q: %s", c.prompt, out.Detail)
		}
	}
	is(t, f, detect.Ready, "")
	// It has a turn of no length, in a conversation of its own.
	cleared := sends(t, f, "/clear", fleet.SendOptions{}, fleet.Accepted)
	if turn, err := f.WaitTurn(t.Context(), cleared); err != nil || turn.State != detect.Ready {
		t.Errorf("the turn of /clear: %+v, %v", turn, err)
	}
	// A command that opens a panel is no prompt: nothing records it.
	out := sends(t, f, "/status", fleet.SendOptions{}, fleet.Submitted)
	if !strings.Contains(out.Detail, "a dialog waits") {
		t.Errorf("/status: %s", out.Detail)
	}
	for _, prompt := range []string{"#remember this", "?", "a face :smi", "look at @READ"} {
		reaches(t, p.r, prompt)
	}
}
