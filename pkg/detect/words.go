package detect

import (
	"fmt"
	"strings"
	"time"
)

// Words is the explanation for a person, several lines long: the verdict on
// subject (a host's name, a file's), the parts of the screen with their lines
// counted from 1, and the rules that were tried. Control characters are dropped
// from what it quotes of the screen; other text that a terminal might obey is
// the caller's to neutralise.
func (x Explanation) Words(subject string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is %s, by rule %s: %s\n", subject, x.State, x.Rule, x.Why)
	x.details(&b)
	x.parts(&b)
	x.tried(&b)
	for _, w := range x.Trace.Witnesses {
		effect := "changes nothing"
		if w.Lowered {
			effect = "decides"
		}
		fmt.Fprintf(&b, "  %s  %s: %s\n", w.Name, w.Says, effect)
	}
	return b.String()
}

func (x Explanation) details(b *strings.Builder) {
	if x.Draft != "" {
		fmt.Fprintf(b, "draft: %s\n", strings.ReplaceAll(printableLines(x.Draft), "\n", "\n       "))
	}
	if d := x.Dialog; d != nil {
		fmt.Fprintf(b, "dialog: %s\n", printable(d.Title))
		for i, o := range d.Options {
			mark := " "
			if i == d.Selected {
				mark = "*"
			}
			fmt.Fprintf(b, "  %s %s\n", mark, printable(o))
		}
	}
	if x.ResetAt != nil {
		goesOn := ""
		if x.AutoResume {
			goesOn = ", and the client goes on by itself"
		}
		fmt.Fprintf(b, "resets at %s%s\n", x.ResetAt.Format(time.RFC3339), goesOn)
	}
	if x.Retry != "" {
		fmt.Fprintf(b, "retry: %s\n", printable(x.Retry))
	}
}

func (x Explanation) parts(b *strings.Builder) {
	if len(x.Trace.Regions) == 0 {
		return
	}
	fired := map[int]bool{}
	for _, row := range x.Rows {
		fired[row] = true
	}
	b.WriteString("\nthe screen, part by part (> marks what the rule rests on):\n")
	for _, r := range x.Trace.Regions {
		fmt.Fprintf(b, "%s, %s\n", r.Name, lines(r.From, r.To))
		for i, line := range r.Lines {
			mark := " "
			if fired[r.From+i] {
				mark = ">"
			}
			// A marked row that is blank, such as a removed one's, still shows.
			if line = strings.TrimRight(line, " \u00a0"); line != "" || mark == ">" {
				fmt.Fprintf(b, "%s\n", strings.TrimRight(fmt.Sprintf(" %s%4d  %s", mark, r.From+i+1, line), " "))
			}
		}
	}
}

func (x Explanation) tried(b *strings.Builder) {
	if len(x.Trace.Rules) == 0 {
		return
	}
	width := 0
	for _, r := range x.Trace.Rules {
		width = max(width, len(r.Rule))
	}
	b.WriteString("\nthe rules, in the order tried:\n")
	for _, r := range x.Trace.Rules {
		var why []string
		if len(r.Missing) > 0 {
			why = append(why, "lacks "+strings.Join(r.Missing, ", "))
		}
		if len(r.Present) > 0 {
			why = append(why, "is ruled out by "+strings.Join(r.Present, ", "))
		}
		if r.Fired {
			why = []string{"FIRED"}
			if n := len(x.Rows); n > 0 && x.Rule == r.Rule {
				why[0] += " on " + lines(x.Rows[0], x.Rows[n-1])
			}
		}
		fmt.Fprintf(b, "  %-*s  %s\n", width, r.Rule, strings.Join(why, "; "))
	}
}

// lines names rows, which are counted from 0, as a person counts them.
func lines(from, to int) string {
	if from == to {
		return fmt.Sprintf("line %d", from+1)
	}
	return fmt.Sprintf("lines %d-%d", from+1, to+1)
}

// printableLines is printable for text of several lines.
func printableLines(t string) string {
	rows := strings.Split(t, "\n")
	for i := range rows {
		rows[i] = printable(rows[i])
	}
	return strings.Join(rows, "\n")
}
