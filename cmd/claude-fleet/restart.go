package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

func newRestart(a *app) *cobra.Command {
	var o fleet.RestartOptions
	var yes bool
	cmd := &cobra.Command{
		Use:   "restart <host…|@tag…>",
		Short: "End what runs in sessions and start it anew, with the conversation",
		Long: `Restart ends the client of each host, whatever it is doing, and starts it anew in its
pane with the conversation it had. It is the blunt way; up is the gentle one. It says
what was running: a turn that it cut off can be gone on with by a prompt.

No key is typed: the client's own process is told to end, and killed where it has not
ended in ten seconds. A session that is down is started, and one whose client is gone
gets it back.

A session is left alone to which a terminal is attached, in whose input box is a draft,
which would be lost, or in whose pane something else runs that would be ended; --force
restarts it all the same. Hosts that are not named one by one (@tag, @all) are asked
about first; where there is no terminal to ask on, --yes is needed.` + exitStatus(0, 1, 2, 3, 6),
		Args:              args(cobra.MinimumNArgs(1), "restart <host…|@tag…>"),
		ValidArgsFunction: a.hostNames,
		RunE: func(cmd *cobra.Command, names []string) error {
			return a.with(func(f *fleet.Fleet) error {
				hosts, err := f.Select(names...)
				if err != nil {
					return err
				}
				if !yes && !allNamed(names, hosts) {
					if err := a.confirmRestart(cmd.Context(), f, hosts); err != nil {
						return err
					}
				}
				up := func(r fleet.RestartResult) fleet.UpResult { return r.UpResult }
				return climbed(cmd.Context(), a, f, hosts, f.Restart(cmd.Context(), o, hosts...), up, a.printRestart)
			})
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&o.Fresh, "fresh", false, "start without the conversation that it had")
	fl.BoolVar(&o.Force, "force", false, "also where somebody is attached, where a draft would be lost, and whatever runs in the pane")
	fl.BoolVarP(&yes, "yes", "y", false, "restart hosts that are named by a tag without asking")
	return cmd
}

// allNamed tells whether each of the hosts is named by its own name.
func allNamed(names []string, hosts []fleet.Host) bool {
	return !slices.ContainsFunc(hosts, func(h fleet.Host) bool { return !slices.Contains(names, h.Name) })
}

// confirmRestart asks whether hosts are to be restarted that a tag names, once it
// has shown what each is doing.
func (a *app) confirmRestart(ctx context.Context, f *fleet.Fleet, hosts []fleet.Host) error {
	list := strings.Join(labels(hosts), ", ")
	if a.asker() == nil {
		return usagef("restart: a tag names hosts (%s): name each, or give --yes to restart them all; nothing was ended", list)
	}
	for s := range follow(ctx, a, f, hosts, f.Status(ctx, hosts...), statusHost) {
		fmt.Fprintln(a.err, transport.Neutralise(fmt.Sprintf("claude-fleet: %s: %s (%s)", s.Host.Name, s.State, s.Why)))
	}
	if ctx.Err() != nil {
		return errors.New("restart: interrupted; nothing was ended")
	}
	return a.agree(ctx, fmt.Sprintf("Restart them (%s)?", list), "restart", "nothing was ended")
}

// printRestart tells in a line what a host is now, what was done and what it was.
func (a *app) printRestart(r fleet.RestartResult) {
	line := r.Status.Host.Name + ": " + string(r.Status.State)
	switch {
	case r.NotBegun():
		line += " (not begun)"
	case len(r.Did) > 0:
		line += " (" + strings.Join(r.Did, ", ") + "); it was " + r.Was.Text
	}
	a.printUpLine(r.UpResult, line)
}
