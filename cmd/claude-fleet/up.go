package main

import (
	"fmt"
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
				var errs []error
				results := map[string]fleet.UpResult{}
				for r := range f.Up(cmd.Context(), hosts...) {
					results[r.Status.Host.Name] = r
					errs = append(errs, r.Err)
					if !a.json {
						a.printUp(r)
					}
				}
				var left []string
				list := []fleet.UpResult{}
				for _, h := range hosts {
					r := results[h.Name]
					list = append(list, r)
					if r.NotBegun() {
						left = append(left, h.Name)
					}
				}
				if a.json {
					a.printJSON(list)
				} else {
					a.printNotBegun(left)
				}
				return shown(worst(errs))
			})
		},
	}
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
