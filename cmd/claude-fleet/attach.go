package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

func newAttach(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "attach <host>",
		Short: "Take a session over in this terminal",
		Long: `Attach connects this terminal to a host's session, the very one that every other
command drives. Leave it with tmux's detach key (Ctrl+B D unless it was changed);
the session goes on.` + exitStatus(0, 1, 2, 3, 6),
		Args:              args(cobra.ExactArgs(1), "attach <host>"),
		ValidArgsFunction: a.oneHost,
		RunE: func(cmd *cobra.Command, names []string) error {
			return a.with(func(f *fleet.Fleet) error {
				return onTerminal(cmd.Context(), func(ctx context.Context, t transport.Terminal) error {
					return f.Attach(ctx, names[0], t, os.Getenv("TMUX"))
				})
			})
		},
	}
}
