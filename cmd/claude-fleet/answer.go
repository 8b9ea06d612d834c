package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

func newAnswer(a *app) *cobra.Command {
	var o fleet.AnswerOptions
	cmd := &cobra.Command{
		Use:   "answer <host> [LABEL]",
		Short: "Show the dialog that a session waits at, or choose an option of it",
		Long: `Answer without a LABEL shows the dialog at which a host's session waits: what it
asks, and its options. It presses nothing; the exit status is 7 when a dialog waits
and 3 when none does, or one that has no options to choose from.

With a LABEL it chooses that option: the one with that very label, else the only one
that begins so, else the same without regard to case. It moves the selection there
one key at a time, looks again behind each, and presses Enter once, while the screen
still shows that option selected; nothing is pressed at any other screen. With --text
it types an answer of your own into the row that takes one.

Where boxes are ticked ([ ]), LABEL ticks one, and the row Submit or Next sends them.
Of several pages, each is an answer of its own: while a dialog still waits, the same
or the next, the exit status is 7, and it is shown. It is 0 when none is left.

An option that may destroy something, spend money, end the client, or lets the
session act unasked from then on needs --yes.` + exitStatus(0, 1, 2, 3, 4, 5, 6, 7),
		Args:              args(cobra.RangeArgs(1, 2), "answer <host> [LABEL]"),
		ValidArgsFunction: a.oneHost,
		RunE: func(cmd *cobra.Command, given []string) error {
			text := cmd.Flags().Changed("text")
			switch {
			case text && o.Text == "":
				return usagef("answer: --text is empty (is the variable that it comes from set?); nothing was pressed")
			case len(given) == 1 && !text:
				if o.Yes {
					return usagef("answer: --yes goes with a LABEL")
				}
				return a.with(func(f *fleet.Fleet) error { return a.showQuestion(cmd, f, given[0]) })
			case len(given) == 2:
				if o.Label = given[1]; strings.TrimSpace(o.Label) == "" {
					return usagef("answer: the LABEL is empty (is the variable that it comes from set?); nothing was pressed")
				}
			}
			return a.with(func(f *fleet.Fleet) error { return a.answer(cmd.Context(), f, given[0], o) })
		},
	}
	cmd.Flags().StringVar(&o.Text, "text", "", "type `TEXT` into the row that takes an answer of one's own")
	cmd.Flags().BoolVarP(&o.Yes, "yes", "y", false, "choose it although it may destroy something, spend money, end the client or widen what it may do")
	return cmd
}

// answer answers the dialog that waits, and says what came of it.
func (a *app) answer(ctx context.Context, f *fleet.Fleet, host string, o fleet.AnswerOptions) error {
	out, err := f.Answer(ctx, host, o)
	if a.json {
		a.printJSON(out)
		return shown(err)
	}
	if err != nil && out.Next == nil {
		return err
	}
	fmt.Fprintln(a.out, transport.Neutralise(out.Host+": "+out.Detail))
	if out.Next != nil {
		a.printQuestion(*out.Next)
	}
	return shown(err)
}

// showQuestion shows the dialog that waits.
func (a *app) showQuestion(cmd *cobra.Command, f *fleet.Fleet, host string) error {
	q, err := f.Question(cmd.Context(), host)
	if err != nil {
		return err
	}
	if a.json {
		a.printJSON(q)
	} else {
		a.printQuestion(q)
	}
	return shown(errNeedsPerson)
}

// printQuestion prints a dialog as it stands: what it asks, then a row an option,
// the selected one with its mark.
func (a *app) printQuestion(q fleet.Question) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: a dialog waits\n", q.Host)
	asks := q.Asks
	if len(asks) == 0 && q.Title != "" {
		asks = []string{q.Title}
	}
	for _, row := range asks {
		fmt.Fprintf(&b, "  %s\n", row)
	}
	for _, o := range q.Options {
		mark, box, note := " ", "", ""
		if o.Selected {
			mark = "❯"
		}
		if o.Ticked != nil {
			box = "[ ] "
			if *o.Ticked {
				box = "[x] "
			}
		}
		if o.Free {
			note = "  (takes --text)"
		}
		if o.Danger != "" {
			note += "  (needs --yes: " + o.Danger + ")"
		}
		fmt.Fprintf(&b, "  %s %s%s%s\n", mark, box, o.Label, note)
	}
	if !q.Answerable {
		fmt.Fprintf(&b, "  answer it with: claude-fleet attach %s (%s)\n", q.Host, q.Why)
	}
	fmt.Fprint(a.out, transport.NeutraliseLines(b.String()))
}
