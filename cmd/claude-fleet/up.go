package main

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

func newUp(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "up <host…|@tag…>",
		Short: "Bring sessions up, gently",
		Long: `Up starts a session that is down, gives a session whose client is gone its client
back with the conversation it had, and accepts the two start-up dialogs (trust in
the folder, bypassed permissions). It answers no other dialog and leaves a session
that runs alone. @all names every host.

On a machine with systemd a new session is made to outlive the login: by the unit that
init --unit installed there, else in a scope of the user's own systemd. Once three hosts
turn out to have no valid login, no further one is begun.` + exitStatus(0, 1, 2, 3, 6),
		Args:              args(cobra.MinimumNArgs(1), "up <host…|@tag…>"),
		ValidArgsFunction: a.hostNames,
		RunE: func(cmd *cobra.Command, names []string) error {
			return a.with(func(f *fleet.Fleet) error {
				hosts, err := f.Select(names...)
				if err != nil {
					return err
				}
				itself := func(r fleet.UpResult) fleet.UpResult { return r }
				return climbed(cmd.Context(), a, f, hosts, f.Up(cmd.Context(), hosts...), itself, a.printUp)
			})
		},
	}
}

// climbed shows what a verb made of hosts that it was to bring up, then, together,
// those that it left alone.
func climbed[R any](ctx context.Context, a *app, f *fleet.Fleet, hosts []fleet.Host, results iter.Seq[R], up func(R) fleet.UpResult, show func(R)) error {
	list := collect(ctx, a, f, hosts, results, func(r R) string { return up(r).Status.Host.Name }, show)
	var left []string
	for _, r := range list {
		if up(r).NotBegun() {
			left = append(left, up(r).Status.Host.Name)
		}
	}
	if !a.json {
		a.printNotBegun(left)
	}
	return conclude(a, list, func(r R) error { return up(r).Err })
}

func (a *app) printUp(r fleet.UpResult) {
	line := r.Status.Host.Name + ": " + string(r.Status.State)
	if r.NotBegun() {
		line += " (not begun)"
	} else if len(r.Did) > 0 {
		line += " (" + strings.Join(r.Did, ", ") + ")"
	}
	a.printUpLine(r, line)
}

// printUpLine prints what is true of a host now, and what a person should know.
func (a *app) printUpLine(r fleet.UpResult, line string) {
	fmt.Fprintln(a.out, transport.Neutralise(line))
	for _, n := range r.Notes {
		fmt.Fprintln(a.err, "claude-fleet: "+r.Status.Host.Name+": "+transport.Neutralise(n))
	}
	if r.Err != nil && !r.NotBegun() { // these are told of together
		a.showError(r.Err)
	}
}

// printNotBegun tells once of all hosts that were left as they were found.
func (a *app) printNotBegun(hosts []string) {
	if len(hosts) > 0 {
		fmt.Fprintf(a.err, "claude-fleet: %v; not begun: %s\n", fleet.ErrNotBegun, strings.Join(hosts, ", "))
	}
}
