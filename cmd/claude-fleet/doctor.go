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

// errFault is what doctor ends with when it found a fault: it has told of it.
var errFault = errors.New("there is a fault")

func newDoctor(a *app) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "doctor [host…|@tag…]",
		Short: "Find what is wrong, here and on the hosts, and say how to mend it",
		Long: `Doctor examines this machine and the hosts, all of them when none is named, and
says of each thing that it finds what it is, why it matters, and the command that
mends it. The commands are for a shell on this machine, to be pasted as they
stand. It reads only and changes nothing anywhere. Hosts are shown as they answer,
each within its own deadline.

A fault is what does not work, a warning what works until it does not, a note what
is good to know. What is in order takes one line a host; with --all or --verbose
each check has its own.` + exitStatus(0, 1, 2),
		ValidArgsFunction: a.hostNames,
		RunE: func(cmd *cobra.Command, names []string) error {
			if a.timeoutSet() && a.timeout <= 0 {
				return usagef("--timeout must be above zero")
			}
			return a.doctor(cmd.Context(), names, all || a.verbose)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "show what is in order, too, one check a line")
	return cmd
}

func (a *app) doctor(ctx context.Context, names []string, all bool) error {
	table, config := fleet.CheckConfig(a.config)
	if table == nil {
		table = &fleet.Table{} // the rest of this machine can be looked at
	}
	f := fleet.New(table, a.options()...)
	defer func() { _ = f.Close() }()
	var hosts []fleet.Host
	if len(table.Hosts) > 0 {
		var err error
		if hosts, err = f.Select(names...); err != nil {
			return err
		}
	}
	p := a.progress(ctx, f, nil, []string{"this machine"}, 0)
	local := f.DoctorLocal(ctx, hosts...)
	p.end()
	local.Findings = append(config, local.Findings...)
	reports := []fleet.Report{local}
	a.printReport(local, all)
	if len(hosts) > 0 {
		for r := range follow(ctx, a, f, hosts, f.Doctor(ctx, hosts...), func(r fleet.Report) string { return r.Host.Name }) {
			reports = append(reports, r)
			a.printReport(r, all)
		}
	}
	if ctx.Err() != nil {
		return errInterrupted
	}
	if a.json {
		place := func(r fleet.Report) int {
			return slices.IndexFunc(hosts, func(h fleet.Host) bool { return r.Host != nil && h.Name == r.Host.Name })
		}
		slices.SortFunc(reports, func(x, y fleet.Report) int { return place(x) - place(y) })
		a.printJSON(reports)
	}
	if slices.ContainsFunc(reports, func(r fleet.Report) bool { return r.Worst() == fleet.SeverityFault }) {
		return shown(errFault)
	}
	return nil
}

// printReport prints one section: what is wrong, the worst first, then what is in
// order.
func (a *app) printReport(r fleet.Report, all bool) {
	if a.json {
		return
	}
	var b strings.Builder
	if r.Host == nil {
		b.WriteString("this machine\n")
	} else {
		fmt.Fprintf(&b, "\n%s\n", r.Host.Name)
	}
	var fine []string
	for _, severity := range []fleet.Severity{fleet.SeverityFault, fleet.SeverityWarning, fleet.SeverityNote, fleet.SeverityOK} {
		for _, f := range r.Findings {
			switch {
			case f.Severity != severity:
			case severity == fleet.SeverityOK && !all:
				fine = append(fine, f.ID)
			default:
				a.printFinding(&b, f)
			}
		}
	}
	if len(fine) > 0 {
		fmt.Fprintf(&b, "  %s  %s\n", a.severity(fleet.SeverityOK), strings.Join(fold(fine, a.width()-len(margin)), "\n"+margin))
	}
	fmt.Fprint(a.out, b.String())
}

// margin is what stands before text that goes on behind a severity.
const margin = "           "

func (a *app) printFinding(b *strings.Builder, f fleet.Finding) {
	fmt.Fprintf(b, "  %s  %s: %s\n", a.severity(f.Severity), f.ID, transport.Neutralise(f.What))
	if f.Why != "" {
		fmt.Fprintf(b, "%swhy: %s\n", margin, transport.Neutralise(f.Why))
	}
	if f.Remedy != "" {
		fmt.Fprintf(b, "%srun: %s\n", margin, transport.Neutralise(f.Remedy))
	}
	if f.Hint != "" {
		fmt.Fprintf(b, "%s%s\n", margin, strings.ReplaceAll(transport.NeutraliseLines(f.Hint), "\n", "\n"+margin))
	}
}

// severity is the word for a severity, padded to a column and coloured.
func (a *app) severity(s fleet.Severity) string {
	return a.paint(severityColour(s), fmt.Sprintf("%-7s", s))
}
