package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// perform runs the command of an action, over the fleet that is loaded.
func (a *app) perform(ctx context.Context, f *fleet.Fleet, do action) error {
	if do.verb != verbAttach {
		fmt.Fprintf(a.err, "claude-fleet: %s %s\n", do.verb, transport.Neutralise(do.host))
	}
	switch do.verb {
	case verbRead:
		return command(ctx, newRead(a), "--", do.host)
	case verbAttach:
		return command(ctx, newAttach(a), "--", do.host)
	case verbExplain:
		return command(ctx, newExplain(a), "--", do.host)
	case verbInterrupt:
		return command(ctx, newInterrupt(a), "--", do.host)
	case verbSend: // not by its command, which takes a prompt - for standard input
		hosts, err := f.Select(do.host)
		if err != nil {
			return err
		}
		return a.sendTo(ctx, f, hosts, do.prompt, sendFlags{})
	case verbAnswer:
		return a.answerAsked(ctx, f, do)
	}
	return fmt.Errorf("the table has no %q", do.verb)
}

// command runs one of our commands.
func command(ctx context.Context, cmd *cobra.Command, given ...string) error {
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(given)
	return cmd.ExecuteContext(ctx)
}

// answerAsked answers the dialog that the person was shown: another one may have an
// option of the same name.
func (a *app) answerAsked(ctx context.Context, f *fleet.Fleet, do action) error {
	q, err := f.Question(ctx, do.host)
	if err != nil {
		return err
	}
	if !sameDialog(q, do.asked) {
		a.printQuestion(q)
		return &fleet.Error{Class: fleet.ClassRefused, Host: do.host, State: q.State, Rule: q.Rule, Msg: "this is another dialog than the one that was shown; nothing was pressed"}
	}
	given := []string{}
	if do.answer.Yes {
		given = append(given, "--yes")
	}
	if do.answer.Text != "" {
		given = append(given, "--text="+do.answer.Text)
	}
	return command(ctx, newAnswer(a), append(given, "--", do.host, do.answer.Label)...)
}

// sameDialog goes by what the dialogs ask and offer, not by what is selected.
func sameDialog(a, b fleet.Question) bool {
	label := func(q fleet.Question) (labels []string) {
		for _, o := range q.Options {
			labels = append(labels, o.Label)
		}
		return labels
	}
	return a.Title == b.Title && slices.Equal(a.Asks, b.Asks) && slices.Equal(label(a), label(b))
}
