package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

func newExplain(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "explain <host>",
		Short: "Tell how a session's state was come to",
		Long: `Explain looks at one host and tells its state, the rule that gave it, the rules
that were tried before it, and the rows of the screen with the part that each
belongs to. It types nothing.` + exitStatus(0, 2, 6),
		Args:              args(cobra.ExactArgs(1), "explain <host>"),
		ValidArgsFunction: a.oneHost,
		RunE: func(cmd *cobra.Command, names []string) error {
			return a.with(func(f *fleet.Fleet) error {
				ex, err := f.Explain(cmd.Context(), names[0])
				if err != nil {
					return err
				}
				if a.json {
					a.printJSON(ex)
				} else {
					fmt.Fprint(a.out, transport.NeutraliseLines(ex.String()))
				}
				return nil
			})
		},
	}
}
