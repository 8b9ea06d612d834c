package main

import (
	"context"
	"fmt"

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
		o := do.answer
		o.Seen = &do.asked // another dialog may have an option of the same name
		return a.answer(ctx, f, do.host, o)
	}
	return fmt.Errorf("the table has no %q", do.verb)
}

// command runs one of our commands.
func command(ctx context.Context, cmd *cobra.Command, given ...string) error {
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(given)
	return cmd.ExecuteContext(ctx)
}
