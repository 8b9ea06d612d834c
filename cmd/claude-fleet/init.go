package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

func newInit(a *app) *cobra.Command {
	var opt fleet.InitOptions
	cmd := &cobra.Command{
		Use:   "init [host…|@tag…]",
		Short: "Prepare hosts to start their session by themselves",
		Long: `Init writes the workdir of each host, all of them when none is named, to
~/.fleet-workdir there, once it has seen that it exists. With --unit it also installs
and enables the systemd user unit claude-tmux, which starts the session in that
directory at boot; it says when lingering is off, without which the unit ends with the
last login. It starts nothing: that is what up does, through the unit where there is one.

What is as it should be is left alone, so that a second run changes nothing. With
--dry-run nothing is changed at all, and what would be is printed as a diff.

A machine has one ~/.fleet-workdir and one unit: of several hosts that are sessions on
one machine, name the one that is to have them.` + exitStatus(0, 1, 2, 3, 6),
		ValidArgsFunction: a.hostNames,
		RunE: func(cmd *cobra.Command, names []string) error {
			return a.with(func(f *fleet.Fleet) error {
				hosts, err := f.Select(names...)
				if err != nil {
					return err
				}
				ctx := cmd.Context()
				name := func(r fleet.InitResult) string { return r.Host.Name }
				list := collect(ctx, a, f, hosts, f.Init(ctx, opt, hosts...), name, a.printInit)
				return conclude(a, list, func(r fleet.InitResult) error { return r.Err })
			})
		},
	}
	cmd.Flags().BoolVar(&opt.Unit, "unit", false, "install and enable the systemd user unit")
	cmd.Flags().BoolVar(&opt.DryRun, "dry-run", false, "change nothing, and print what would be changed")
	return cmd
}

func (a *app) printInit(r fleet.InitResult) {
	var all []string
	for _, c := range r.Changes {
		if r.DryRun {
			all = append(all, "would "+c.What)
		} else {
			all = append(all, c.Did())
		}
	}
	if len(all) == 0 && r.Err == nil {
		all = append(all, "nothing to change")
	}
	if len(all) > 0 {
		fmt.Fprintln(a.out, transport.Neutralise(r.Host.Name+": "+strings.Join(all, ", ")))
	}
	if r.DryRun {
		for _, c := range r.Changes {
			fmt.Fprint(a.out, transport.NeutraliseLines(c.Diff))
		}
	}
	for _, n := range r.Notes {
		fmt.Fprintln(a.err, "claude-fleet: "+r.Host.Name+": "+transport.Neutralise(n))
	}
	if r.Err != nil {
		a.showError(r.Err)
	}
}
