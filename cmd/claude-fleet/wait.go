package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// waitTimeout is how long wait waits unless told.
const waitTimeout = time.Hour

func newWait(a *app) *cobra.Command {
	var states []string
	var o fleet.WaitOptions
	cmd := &cobra.Command{
		Use:   "wait <host…|@tag…>",
		Short: "Wait until sessions are ready",
		Long: `Wait looks at the hosts about once a second and returns when each is ready, or in
another state that --for names; with --any, when one is. It prints a line a host
as it comes. It types nothing. @all names every host.

Ready with somebody's draft in the box is ready, and the line says so. A session
that comes to a dialog, or is unauth, crashed or down, unless that is what was
asked for, needs a person: the wait for it ends, with 7. A session whose state is
unknown, and a machine that does not answer, are waited for. When the time is up,
the exit status is 1 if one is still busy or limited, 6 if unreachable, 7 if
unknown; the highest of several hosts counts.

Here --timeout is how long to wait in all; a look at a host has the table's
deadline.` + exitStatus(0, 1, 2, 6, 7),
		Args:              args(cobra.MinimumNArgs(1), "wait <host…|@tag…>"),
		ValidArgsFunction: a.hostNames,
		RunE: func(cmd *cobra.Command, names []string) error {
			if o.Timeout <= 0 {
				return usagef("wait: --timeout must be above zero")
			}
			var err error
			if o.For, err = fleet.ParseStates(states...); err != nil {
				return err
			}
			return a.with(func(f *fleet.Fleet) error {
				hosts, err := f.Select(names...)
				if err != nil {
					return err
				}
				ctx := cmd.Context()
				list := collect(ctx, a, f, hosts, f.Wait(ctx, o, hosts...), statusHost, a.printWait)
				err = conclude(a, list, func(s fleet.Status) error { return s.Err })
				switch {
				case ctx.Err() != nil:
					return errInterrupted
				case o.Any && slices.ContainsFunc(list, func(s fleet.Status) bool { return s.Err == nil }):
					return nil
				}
				return err
			})
		},
	}
	cmd.Flags().StringSliceVar(&states, "for", []string{string(detect.Ready)}, "wait for any of these `STATES`, as ready,limited")
	cmd.Flags().BoolVar(&o.Any, "any", false, "return when one host is there")
	cmd.Flags().DurationVar(&o.Timeout, "timeout", waitTimeout, "how long to wait in all")
	_ = cmd.RegisterFlagCompletionFunc("for", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return fleet.StateNames(), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// printWait prints what became of the wait for a host.
func (a *app) printWait(s fleet.Status) {
	if s.Err != nil {
		a.showError(s.Err)
		return
	}
	line := s.Host.Name + ": " + string(s.State)
	var more []string
	if s.State == detect.Ready && s.Draft != "" {
		more = append(more, "with a draft")
	}
	if s.ResetAt != nil {
		more = append(more, "until "+s.ResetAt.Format("2 Jan 15:04 MST"))
	}
	if s.Reason != "" {
		more = append(more, s.Reason)
	}
	if len(more) > 0 {
		line += " (" + strings.Join(more, ", ") + ")"
	}
	fmt.Fprintln(a.out, transport.Neutralise(line))
}
