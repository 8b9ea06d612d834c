package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

func newDiscover(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "discover [host…|@tag…]",
		Short: "Find claude sessions that the fleet table does not know",
		Long: `Discover looks on the machines of the hosts, of all when none is named, for tmux
sessions in which a client runs and which are no rows of the table. It prints them
as rows to be pasted into a fleet.conf in TOML, each with its state above it. What
can't be a row as it is, such as a session whose name holds a blank, stands there
as a comment that says why. It types nothing.` + exitStatus(0, 1, 2, 6),
		ValidArgsFunction: a.hostNames,
		RunE: func(cmd *cobra.Command, names []string) error {
			return a.with(func(f *fleet.Fleet) error {
				hosts, err := f.Select(names...)
				if err != nil {
					return err
				}
				p := a.progress(cmd.Context(), f, hosts, labels(hosts), 0)
				found, errs := f.Discover(cmd.Context(), hosts...)
				p.end()
				if cmd.Context().Err() != nil {
					return errInterrupted
				}
				switch {
				case a.json && found == nil:
					a.printJSON([]fleet.Discovered{})
				case a.json:
					a.printJSON(found)
				case len(found) > 0:
					fmt.Fprint(a.out, fleet.DiscoveredTOML(found))
				case len(errs) == 0:
					fmt.Fprintln(a.err, "claude-fleet: there is no claude session that the table does not know")
				}
				for _, err := range errs {
					a.showError(err)
				}
				// A machine that can't be seen is told of, be it the worst or not.
				if w := worst(errs); w != nil {
					return shown(w)
				}
				return nil
			})
		},
	}
}
