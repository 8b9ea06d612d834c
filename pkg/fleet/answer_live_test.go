package fleet_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// liveAnswer is one dialog of the real client, and an answer to it.
type liveAnswer struct {
	prompt string // that brings the dialog about; empty where it is there already
	o      fleet.AnswerOptions
	want   fleet.AnswerResult
	shows  string // what the screen has behind it
}

// TestAnswerLive answers the dialogs of the real client by their labels in panes
// of three sizes, from the theme at its first start on.
func TestAnswerLive(t *testing.T) {
	pick := func(label string) fleet.AnswerOptions { return fleet.AnswerOptions{Label: label} }
	sure := func(label string) fleet.AnswerOptions { return fleet.AnswerOptions{Label: label, Yes: true} }
	starting := []liveAnswer{
		{o: pick("Yes, I trust this folder"), want: fleet.AnswerFollowed},
		{o: pick("Yes, I accept"), want: fleet.AnswerRefused},
		{o: sure("Yes, I acc"), want: fleet.AnswerGiven},
	}
	asked := []liveAnswer{
		{prompt: "TOOL touch made", o: pick("No"), want: fleet.AnswerGiven, shows: "Interrupted"},
		{prompt: "TOOL touch made", o: pick("Yes, and always"), want: fleet.AnswerRefused},
		{o: pick("Yes"), want: fleet.AnswerGiven, shows: "Done: tool finished"},
		// What users of such tools reported: text silently picks the first option, and
		// the review page is missed.
		{prompt: "ASK", o: pick("Postgres"), want: fleet.AnswerGiven, shows: "→ Postgres"},
		{prompt: "ASK", o: fleet.AnswerOptions{Text: "neither of the two, but one that is longer than a narrow pane is wide"}, want: fleet.AnswerGiven, shows: "→ neither of"},
		{prompt: "ASK MANY", o: pick("Postgres"), want: fleet.AnswerFollowed},
		{o: pick("Export"), want: fleet.AnswerTicked},
		{o: pick("Submit"), want: fleet.AnswerFollowed},
		{o: pick("Submit answers"), want: fleet.AnswerGiven, shows: "→ Export"},
	}
	for _, size := range [][2]int{{120, 40}, {80, 24}, {60, 20}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			r := rigtest.Start(t, rig.HostSpec{Name: "alpha"})
			f := over(t, r, fleet.WithTimeout(drawn))
			l := liveAnswers{person{t, r, r.Host("alpha")}, f}
			l.opens("claude", size[0], size[1], "claude --dangerously-skip-permissions; exec sh")
			l.run(starting)
			l.tmux("respawn-pane", "-k", "-t", "=claude:", "claude --permission-mode manual; exec sh")
			l.run(asked)
		})
	}
}

type liveAnswers struct {
	person
	f *fleet.Fleet
}

// is waits for a state.
func (l liveAnswers) is(want detect.State) {
	l.t.Helper()
	rigtest.Eventually(l.t, drawn, "alpha to be "+string(want), func() (bool, string) {
		s := state(l.t, l.f, "alpha")
		return s.State == want, fmt.Sprintf("%s: %s", s.State, s.Why)
	})
}

func (l liveAnswers) run(answers []liveAnswer) {
	l.t.Helper()
	for _, a := range answers {
		name := fmt.Sprintf("%s: %s%s", a.prompt, a.o.Label, a.o.Text)
		if a.prompt != "" {
			l.is(detect.Ready)
			l.submits(a.prompt)
		}
		l.is(detect.Gate)
		out, err := l.f.Answer(l.t.Context(), "alpha", a.o)
		if out.Result != a.want || (err == nil) != (a.want == fleet.AnswerGiven) {
			l.t.Fatalf("%s: %s, want %s: %v, keys %q", name, out.Result, a.want, err, out.Keys)
		}
		if n := strings.Count(strings.Join(out.Keys, " "), "Enter"); n > 1 || a.want == fleet.AnswerRefused && len(out.Keys) > 0 {
			l.t.Errorf("%s: keys %q", name, out.Keys)
		}
		if a.shows != "" {
			l.shows(a.shows)
		}
	}
}

// TestAnswerTheme has the real client's first screen, at which a prompt would be
// lost: it is a dialog, which takes an answer and no prompt.
func TestAnswerTheme(t *testing.T) {
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true, State: map[string]any{"hasCompletedOnboarding": nil, "theme": nil}})
	f := over(t, r, fleet.WithTimeout(drawn))
	l := liveAnswers{person{t, r, r.Host("alpha")}, f}
	l.opens("claude", 80, 24, bypassing)
	l.is(detect.Gate)
	if out, err := f.Send(t.Context(), "alpha", "hello", fleet.SendOptions{Force: true}); out.Result != fleet.Refused {
		t.Errorf("%s: %v", out.Result, err)
	}
	q, err := f.Question(t.Context(), "alpha")
	if err != nil || !q.Answerable {
		t.Fatalf("%+v, %v", q, err)
	}
	out, err := f.Answer(t.Context(), "alpha", fleet.AnswerOptions{Label: "Light mode"})
	if c := fleet.ClassOf(err); out.Result != fleet.AnswerGiven && c != fleet.ClassNeedsPerson || len(out.Keys) == 0 {
		t.Errorf("%s, keys %q: %v", out.Result, out.Keys, err)
	}
}

// TestAnswerSmallPane has a pane so low that only a part of the bypass dialog
// shows. What can't be seen can't be chosen, and nothing is pressed.
func TestAnswerSmallPane(t *testing.T) {
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Trusted: true})
	f := over(t, r, fleet.WithTimeout(drawn))
	l := liveAnswers{person{t, r, r.Host("alpha")}, f}
	l.opens("claude", 80, 11, bypassing)
	rigtest.Eventually(t, drawn, "something of the dialog to show", func() (bool, string) {
		s := l.screen()
		return strings.Contains(s, "exit") || strings.Contains(s, "Enter to confirm"), s
	})
	before := l.screen()
	for _, o := range []fleet.AnswerOptions{{Label: "Yes, I accept"}, {Label: "No, exit"}, {Label: "No"}} {
		out, err := f.Answer(t.Context(), "alpha", o)
		if c := fleet.ClassOf(err); out.Result != fleet.AnswerRefused || len(out.Keys) > 0 || c != fleet.ClassRefused && c != fleet.ClassUsage {
			t.Errorf("%s: %s, keys %q: %v", o.Label, out.Result, out.Keys, err)
		}
	}
	if s := l.screen(); s != before {
		t.Errorf("the screen changed from\n%s\nto\n%s", before, s)
	}
}
