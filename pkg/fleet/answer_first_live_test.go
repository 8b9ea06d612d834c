package fleet_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// TestAnswerTheme has the real client's first screen of all, at which a prompt would
// be lost: it is a dialog, which takes an answer and no prompt. The name of another
// provider takes the client past its look at the vendor's own host.
func TestAnswerTheme(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t, rig.HostSpec{
		Name: "alpha", Trusted: true, BypassAccepted: true,
		State: map[string]any{"hasCompletedOnboarding": nil, "theme": nil}, Env: []string{"CLAUDE_CODE_USE_BEDROCK=1"},
	})
	f := over(t, r, fleet.WithTimeout(time.Minute))
	l := liveAnswers{person{t, r, r.Host("alpha")}, f}
	l.opens("claude", 80, 24, bypassing)
	const rest = "Dark mode | Light mode | Dark mode (colorblind-friendly) | Light mode (colorblind-friendly) | Dark mode (ANSI colors only) | Light mode (ANSI colors only)"
	l.question("the theme", "*Auto (match terminal) | "+rest)
	if out, err := f.Send(t.Context(), "alpha", "must not be typed", fleet.SendOptions{Force: true}); out.Result != fleet.Refused || fleet.ClassOf(err) != fleet.ClassRefused {
		t.Errorf("send: %s: %v", out.Result, err)
	}
	l.question("the theme, once more", "*Auto (match terminal) | "+rest)
	out, err := f.Answer(t.Context(), "alpha", fleet.AnswerOptions{Label: "Light mode"})
	if keys := strings.Join(out.Keys, " "); out.Result != fleet.AnswerFollowed || keys != "Down Down Enter" {
		t.Fatalf("%s, keys %q: %v", out.Result, out.Keys, err)
	}
	// The page behind it takes a key and has no options.
	l.shows("Security notes")
	if out, err := f.Answer(t.Context(), "alpha", fleet.AnswerOptions{Label: "Press Enter"}); out.Result != fleet.AnswerRefused || len(out.Keys) > 0 {
		t.Errorf("the notes: %s, keys %q: %v", out.Result, out.Keys, err)
	}
	ok, what := holds(r.Host("alpha").Home, ".claude/settings.json", `"theme": "light"`)
	if again, state := holds(r.Host("alpha").Home, ".claude.json", `"theme": "light"`); !ok && !again {
		t.Errorf("the theme is not set: %s; %s", what, state)
	}
}

// TestAnswerSmallPane has panes so low that only a part of the bypass dialog shows.
// What can't be seen can't be chosen: nothing is pressed, and once the pane is large
// enough the dialog is there to be answered.
func TestAnswerSmallPane(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Trusted: true})
	f := over(t, r, fleet.WithTimeout(time.Minute))
	l := liveAnswers{person{t, r, r.Host("alpha")}, f}
	l.opens("claude", 80, 6, bypassing)
	rigtest.Eventually(t, drawn, "a part of the dialog to show", func() (bool, string) {
		s := l.screen()
		return strings.Contains(s, "No, exit") || strings.Contains(s, "Enter to confirm"), s
	})
	before := l.screen()
	for _, o := range refuses(sure("Yes, I accept"), sure("No"), pick("Enter to confirm")) {
		out, err := f.Answer(t.Context(), "alpha", o)
		if c := fleet.ClassOf(err); out.Result != fleet.AnswerRefused || len(out.Keys) > 0 || c != fleet.ClassRefused && c != fleet.ClassUsage {
			t.Errorf("%+v: %s, keys %q: %v", o, out.Result, out.Keys, err)
		}
	}
	if s := l.screen(); s != before {
		t.Errorf("the screen changed from\n%s\nto\n%s", before, s)
	}
	l.tmux("resize-window", "-t", "=claude:", "-x", "80", "-y", "24")
	l.question("the whole dialog", "*No, exit | Yes, I accept")
	if out, err := f.Answer(t.Context(), "alpha", sure("Yes, I accept")); out.Result != fleet.AnswerGiven {
		t.Errorf("%s, keys %q: %v", out.Result, out.Keys, err)
	}
	rigtest.Eventually(t, drawn, "the session to be ready", func() (bool, string) {
		s := state(t, f, "alpha")
		return s.State == detect.Ready, fmt.Sprintf("%s\n%s", describe(s), l.screen())
	})
}
