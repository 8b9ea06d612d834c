package fleet

import (
	"context"
	"fmt"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

// Explanation is a verdict with all that led to it.
type Explanation struct {
	Status Status       `json:"status"`
	Trace  detect.Trace `json:"trace"`
	Screen string       `json:"screen"` // as the pane showed it, escapes and all
}

// Explain looks at one host, by its label, and tells how its state was come to.
// The error is an *Error, of ClassUnreachable when the host did not answer.
func (f *Fleet) Explain(ctx context.Context, name string) (Explanation, error) {
	h, err := f.host(name)
	if err != nil {
		return Explanation{}, err
	}
	s := f.probeOne(ctx, h)
	if s.Err != nil {
		return Explanation{}, s.Err
	}
	ex := Explanation{Status: s.Status}
	if s.pane != nil {
		_, ex.Trace = detect.Explain(s.evidence)
		ex.Screen = string(s.pane.Screen)
	}
	return ex, nil
}

// String is the explanation in words, for a person. What it quotes of the
// screen is not neutralised.
func (ex Explanation) String() string {
	var b strings.Builder
	s := ex.Status
	fmt.Fprintf(&b, "%s is %s, by rule %s: %s\n", s.Host.Name, s.State, s.Rule, s.Why)
	if s.Draft != "" {
		fmt.Fprintf(&b, "draft in the input box: %s\n", s.Draft)
	}
	if d := s.Dialog; d != nil {
		fmt.Fprintf(&b, "dialog: %s\n", d.Title)
		for i, o := range d.Options {
			mark := " "
			if i == d.Selected {
				mark = "*"
			}
			fmt.Fprintf(&b, "  %s %s\n", mark, o)
		}
	}
	fired := map[int]bool{}
	for _, row := range s.Rows {
		fired[row] = true
	}
	if len(ex.Trace.Regions) > 0 {
		b.WriteString("\nthe screen, part by part (> where the rule fired):\n")
	}
	for _, r := range ex.Trace.Regions {
		fmt.Fprintf(&b, "%s\n", r.Name)
		for i, line := range r.Lines {
			mark := " "
			if fired[r.From+i] {
				mark = ">"
			}
			if line = strings.TrimRight(line, " "); line != "" {
				fmt.Fprintf(&b, " %s%4d  %s\n", mark, r.From+i+1, line)
			}
		}
	}
	if len(ex.Trace.Rules) > 0 {
		b.WriteString("\nrules, in the order tried:\n")
	}
	for _, r := range ex.Trace.Rules {
		switch {
		case r.Fired:
			fmt.Fprintf(&b, "  %s: fired\n", r.Rule)
		default:
			var why []string
			if len(r.Missing) > 0 {
				why = append(why, "lacks "+strings.Join(r.Missing, ", "))
			}
			if len(r.Present) > 0 {
				why = append(why, "must not have "+strings.Join(r.Present, ", "))
			}
			fmt.Fprintf(&b, "  %s: %s\n", r.Rule, strings.Join(why, "; "))
		}
	}
	for _, w := range ex.Trace.Witnesses {
		effect := "agrees or changes nothing"
		if w.Lowered {
			effect = "changed the verdict"
		}
		fmt.Fprintf(&b, "%s: %s (%s)\n", w.Name, w.Says, effect)
	}
	return b.String()
}
