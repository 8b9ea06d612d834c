package main

import (
	"context"
	"iter"

	"github.com/spf13/cobra"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

func newStatus(a *app) *cobra.Command {
	var o statusFlags
	cmd := &cobra.Command{
		Use:   "status [host…|@tag…]",
		Short: "Show the state of the sessions",
		Long: `Status looks at the hosts, all of them when none is named, and shows the true
state of each session. It types nothing. A host that does not answer within its
deadline shows as unreachable and holds up nobody.

GIT is the branch of the workdir, the commits ahead (+) and behind (-) of its
upstream, and the count of changed files (*). FLAGS warn: wrongdir (the session's
directory is not the workdir), nodir (there is no workdir), disk (its file system
is over 90 % full or has under 2 GiB free), draft (somebody's text is in the input
box).

With --check it prints nothing when all is well, else the rows of the hosts that
need a person: every state but ready, busy and limited.

With --changed it prints the hosts whose state, dialog or flags are not those of the
run before, and what they were; a host that was not seen before is printed if it needs
a person. With --check as well, only changes to or from a state that needs a person, and
7 means that a host that was printed needs one. What was seen is kept in a file of this
machine (--state). Two runs over one file never overlap: the second waits up to a minute,
then gives 3.

With --watch it looks again and again: a live table on a terminal, else a line for each
change. With --json each change is one line of JSON, and with --count each round of
looks is.

--notify runs a command once for each change, with the change as a line of JSON on its
standard input. Each may take --notify-timeout, and --notify-limit of them are run, or
with --watch in a minute; what is beyond that, or fails, is told by a later look or run
if it is still true then, and the run gives 1 where it failed. What was told is kept in
the same file, so that each change is told once whatever runs. With --check only changes
to or from a state that needs a person are told.` + exitStatus(0, 1, 2, 3, 7),
		Example: `  claude-fleet status @web --watch
  claude-fleet status --check || mail -s fleet me@example.org
  claude-fleet status --check --notify 'jq -r .host | wall'`,
		ValidArgsFunction: a.hostNames,
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := o.check(cmd.Flags().Changed); err != nil {
				return err
			}
			return a.with(func(f *fleet.Fleet) error {
				hosts, err := f.Select(names...)
				if err != nil {
					return err
				}
				switch {
				case o.watch:
					return a.watchStatus(cmd.Context(), f, hosts, o)
				case o.changed, o.notify != "":
					return a.statusSince(cmd.Context(), f, hosts, o)
				}
				return a.status(cmd.Context(), follow(cmd.Context(), a, f, hosts, f.Status(cmd.Context(), hosts...), statusHost), hosts, o)
			})
		},
	}
	o.register(cmd.Flags())
	return cmd
}

// status prints what the looks found, each row as early as it can be.
func (a *app) status(ctx context.Context, looks iter.Seq[fleet.Status], hosts []fleet.Host, o statusFlags) error {
	rows := newRows(a, hosts, o.onlyPerson)
	for s := range looks {
		if !o.onlyPerson || s.NeedsPerson() {
			rows.add(s)
		}
	}
	rows.finish()
	if ctx.Err() != nil {
		return errInterrupted
	}
	if o.onlyPerson && len(rows.known) > 0 {
		return shown(errNeedsPerson)
	}
	return nil
}
