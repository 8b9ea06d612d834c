package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

func newInterrupt(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "interrupt <host>",
		Short: "Stop the turn that runs in a session",
		Long: `Interrupt stops the turn that runs in a host's session, and only a turn: it presses
Escape while the screen still shows that turn, and proves from the conversation that
it ended as interrupted. A turn that has ended by itself meanwhile is as good.

It refuses where the key would do something else: at a dialog, in an idle box, where
prompts are queued (they would be sent), and where only agents in the background run.
A draft in the input box stays. The prompt of a turn that had said nothing yet, which
the client puts back into the box, is taken out of it again.` + exitStatus(0, 1, 2, 3, 5, 6),
		Args:              args(cobra.ExactArgs(1), "interrupt <host>"),
		ValidArgsFunction: a.oneHost,
		RunE: func(cmd *cobra.Command, given []string) error {
			return a.with(func(f *fleet.Fleet) error {
				out, err := f.Interrupt(cmd.Context(), given[0])
				if a.json {
					a.printJSON(out)
					return shown(err)
				}
				if err != nil {
					return err
				}
				fmt.Fprintln(a.out, transport.Neutralise(out.Host+": "+out.Detail))
				if out.Hint != "" {
					fmt.Fprintln(a.out, "  "+transport.Neutralise(out.Hint))
				}
				return nil
			})
		},
	}
}
