package fleet_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// step is one state of the real client: what a person does to bring it about,
// and what status, explain and send must then say. Where send is false the
// prompt must be refused with nothing typed.
type step struct {
	name string
	do   func(p person)

	state detect.State
	rule  string // "" for any: several may see the same
	draft string
	// title is a part of the dialog's title, and options are its labels with a
	// "*" before the selected one; "" for no dialog. {workdir} is the host's.
	title, options string
	retry          string // a part of the retried request's line; "" for none
	limit          string // the prompt whose limit gives reset_at; "" for none
	auto           bool   // auto_resume
	flags          string
	send           bool // it is ready and takes a prompt
	// impatient asks with a short deadline, since no answer is what is waited for.
	impatient bool
}

// live is one host's way through its steps.
type live struct {
	person
	fleet, impatient *fleet.Fleet
}

// TestLive takes the real client on hosts behind SSH through every state that it
// can be brought into. At each step status and explain must give the verdict
// that a person gives who sees the screen, and send must type nothing unless the
// session is ready with an empty box.
func TestLive(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t,
		rig.HostSpec{Name: "alpha"},
		rig.HostSpec{Name: "beta", Trusted: true, BypassAccepted: true, Env: []string{"TZ=Asia/Kolkata"}},
		rig.HostSpec{Name: "gamma", Trusted: true, BypassAccepted: true},
	)
	patient, impatient := over(t, r, fleet.WithTimeout(time.Minute)), over(t, r, fleet.WithTimeout(5*time.Second))
	for host, steps := range map[string][]step{"alpha": turns(), "beta": refusals(), "gamma": ends()} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			l := live{person{t, r, r.Host(host)}, patient, impatient}
			for _, s := range steps {
				if s.do != nil {
					s.do(l.person)
				}
				l.check(s)
			}
			for _, prompt := range r.API().Prompts() {
				if strings.HasPrefix(prompt, refusedPrompt) {
					t.Errorf("a refused prompt reached the API: %q", prompt)
				}
			}
		})
	}
}

// refusedPrompt begins the prompts that must not be typed.
const refusedPrompt = "SAY this must not be typed at "

// check asks until status says what the step wants, then holds all that look at
// the session to it. What comes before the state that was brought about is not
// judged here: it is what other steps wait in.
func (l live) check(want step) {
	l.t.Helper()
	name := l.h.Name
	f := l.fleet
	if want.impatient {
		f = l.impatient
	}
	rigtest.Eventually(l.t, drawn, want.name, func() (bool, string) {
		s := state(l.t, f, name)
		diff := l.differs(s, want)
		return diff == "", fmt.Sprintf("%s\n%s\n%s", diff, describe(s), l.screen())
	})
	ex, err := f.Explain(l.t.Context(), name)
	switch {
	case want.state == detect.Unreachable:
		if fleet.ClassOf(err) != fleet.ClassUnreachable {
			l.t.Errorf("%s: explain: %v", want.name, err)
		}
	case err != nil:
		l.t.Errorf("%s: explain: %v", want.name, err)
	default:
		if diff := l.differs(ex.Status, want); diff != "" {
			l.t.Errorf("%s: explain: %s\n%s\n%s", want.name, diff, describe(ex.Status), ex.Screen)
		}
	}
	l.sends(f, want)
}

// sends has send accept a prompt at a step that takes one, and refuse it at
// every other.
func (l live) sends(f *fleet.Fleet, want step) {
	l.t.Helper()
	if want.state == detect.Ready && want.draft == "" {
		if !want.send {
			return // a turn of its own would spoil the step
		}
		prompt := "SAY sent at " + want.name
		out, err := f.Send(l.t.Context(), l.h.Name, prompt, fleet.SendOptions{})
		if out.Result == fleet.Refused && strings.Contains(out.Detail, "the screen changed after it was judged") {
			out, err = f.Send(l.t.Context(), l.h.Name, prompt, fleet.SendOptions{}) // a notice came in between, as behind a start
		}
		if err != nil || out.Result != fleet.Accepted {
			l.t.Errorf("%s: send: %s, %v", want.name, out.Result, err)
		}
		l.shows("● sent at " + want.name)
		return
	}
	result, class := fleet.Refused, fleet.ClassRefused
	if want.state == detect.Unreachable {
		result, class = fleet.Unreachable, fleet.ClassUnreachable
	}
	prompt := refusedPrompt + want.name
	out, err := f.Send(l.t.Context(), l.h.Name, prompt, fleet.SendOptions{})
	var fe *fleet.Error
	if out.Result != result || fleet.ClassOf(err) != class || !errors.As(err, &fe) || fe.State != want.state {
		l.t.Errorf("%s: send: %s in state %s, %v", want.name, out.Result, out.State, err)
	}
	if s := l.screen(); strings.Contains(s, "must not be typed") {
		l.t.Errorf("%s: typed all the same:\n%s", want.name, s)
	}
}

// differs says in what a status is not what a step wants; "" for in nothing.
func (l live) differs(s fleet.Status, want step) string {
	var diffs []string
	differ := func(what string, got, want any) {
		if got != want {
			diffs = append(diffs, fmt.Sprintf("%s is %q, not %q", what, fmt.Sprint(got), fmt.Sprint(want)))
		}
	}
	title, options := "", ""
	if d := s.Dialog; d != nil {
		title = d.Title
		labels := slices.Clone(d.Options)
		if d.Selected >= 0 {
			labels[d.Selected] = "*" + labels[d.Selected]
		}
		options = strings.ReplaceAll(strings.Join(labels, " | "), l.h.Workdir, "{workdir}")
	}
	differ("state", s.State, want.state)
	differ("rule", s.Rule, cmp.Or(want.rule, s.Rule))
	differ("draft", s.Draft, want.draft)
	differ("dialog", options, want.options)
	differ("title", strings.Contains(title, want.title), true)
	differ("retry", s.Retry != "", want.retry != "")
	differ("retry", strings.Contains(s.Retry, want.retry), true)
	differ("auto_resume", s.AutoResume, want.auto)
	differ("flags", strings.Join(s.Flags, ","), want.flags)
	reset := "none"
	if s.ResetAt != nil {
		reset = s.ResetAt.UTC().Format(time.RFC3339)
	}
	differ("reset_at", reset, l.reset(want.limit))
	return strings.Join(diffs, "; ")
}

// reset is when the limit lifts that a prompt ran into, as the client says it:
// to the minute.
func (l live) reset(prompt string) string {
	var seconds int
	if _, err := fmt.Sscanf(prompt, "LIMIT %d", &seconds); err != nil {
		return "none"
	}
	for _, q := range slices.Backward(l.r.API().Requests()) {
		if q.Prompt == prompt {
			epoch := time.Unix(q.Time.Add(time.Duration(seconds)*time.Second).Unix(), 0)
			return epoch.UTC().Truncate(time.Minute).Format(time.RFC3339)
		}
	}
	return "not asked for"
}

func describe(s fleet.Status) string {
	return fmt.Sprintf("%s by %s: %s; draft %q, dialog %+v, retry %q, flags %q, error %v", s.State, s.Rule, s.Why, s.Draft, s.Dialog, s.Retry, s.Flags, s.Err)
}

// kill ends the client of a host as the kernel does when memory is short.
func (p person) kill() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), drawn)
	defer cancel()
	if err := p.h.KillClient(ctx); err != nil {
		p.t.Fatal(err)
	}
}
