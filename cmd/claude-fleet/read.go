package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

func newRead(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "read <host> [lines]",
		Short: "Show what was said last in a session",
		Long: fmt.Sprintf(`Read prints the last lines (%d unless told) of a session's conversation, newest
last: what was asked, what was answered, and each tool in one line. It reads the
client's own record of it, since most of it is on no screen; a session that has
none yet shows its screen.`, fleet.DefaultReadLines) + exitStatus(0, 1, 2, 3, 6),
		Args:              args(cobra.RangeArgs(1, 2), "read <host> [lines]"),
		ValidArgsFunction: a.oneHost,
		RunE: func(cmd *cobra.Command, given []string) error {
			lines := 0
			if len(given) == 2 {
				n, err := strconv.Atoi(given[1])
				if err != nil || n <= 0 {
					return usagef("read: %q is no number of lines", given[1])
				}
				lines = n
			}
			return a.with(func(f *fleet.Fleet) error {
				r, err := f.Read(cmd.Context(), given[0], lines)
				if err != nil {
					return err
				}
				if a.json {
					a.printJSON(r)
					return nil
				}
				if r.Source == "screen" {
					fmt.Fprintf(a.err, "claude-fleet: %s: there is no conversation yet; this is its screen\n", r.Host)
				}
				for _, line := range r.Lines {
					fmt.Fprintln(a.out, line)
				}
				return nil
			})
		},
	}
}
