package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

func newOutcome(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "outcome <host> <id>",
		Short: "Ask what became of a prompt that was sent",
		Long: fmt.Sprintf(`Outcome asks a host what became of the prompt that was sent under an id (send --id,
or the one that send --json printed): accepted, typed and not submitted, submitted
without proof, or never typed. A host remembers for %d days, in a small file a prompt
under ~/.local/state/claude-fleet: of an older one, 3 does not prove that nothing was
typed; read the conversation.`, fleet.JournalDays) + exitStatus(0, 1, 2, 3, 4, 5, 6),
		Args:              args(cobra.ExactArgs(2), "outcome <host> <id>"),
		ValidArgsFunction: a.oneHost,
		RunE: func(cmd *cobra.Command, given []string) error {
			return a.with(func(f *fleet.Fleet) error {
				out, err := f.Outcome(cmd.Context(), given[0], given[1])
				if a.json {
					a.printJSON(out)
					return shown(err)
				}
				if err != nil {
					return err
				}
				fmt.Fprintf(a.out, "%s: %s\n", out.Host, out.Detail)
				return nil
			})
		},
	}
}
