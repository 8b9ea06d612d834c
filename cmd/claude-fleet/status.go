package main

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
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
a person. With --check as well, only changes to or from a state that needs a person.
What was seen is kept in a file of this machine (--state). Two runs over one file never
overlap: the second waits up to a minute, then gives 3.

With --watch it looks again and again: a live table on a terminal, else a line for each
change. With --json each change is one line of JSON, and with --count each round of
looks is.

--notify runs a command once for each change, with the change as a line of JSON on its
standard input. Each may take --notify-timeout, and --notify-limit of them are run in
a minute; what is beyond that, or fails, is told by a later look or run if it is still
true then. What was told is kept in the same file, so that each change is told once
whatever runs. With --check only changes to or from a state that needs a person are told.` + exitStatus(0, 1, 2, 3, 7),
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
				return a.status(cmd.Context(), f.Status(cmd.Context(), hosts...), hosts, o)
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

// rows prints one row a host in table order, each as soon as it and all before
// it are known.
type rows struct {
	a      *app
	check  bool // only what is added counts, and there is no head
	hosts  []fleet.Host
	known  map[string]fleet.Status
	after  map[string]time.Duration // how long each took
	next   int
	widths []int
	start  time.Time
}

func newRows(a *app, hosts []fleet.Host, check bool) *rows {
	r := &rows{a: a, check: check, hosts: hosts, known: map[string]fleet.Status{}, after: map[string]time.Duration{}, start: time.Now()}
	// The columns that the table of hosts does not fix are as wide as they
	// usually get, so that the first row need not wait for the last.
	t := table{{"HOST", "PROJECT", string(detect.Unreachable), "SINCE", "main +1 -1 *10"}}
	for _, h := range hosts {
		t = append(t, []string{h.Name, h.Project})
	}
	r.widths = t.widths()
	if !a.json && !check {
		printRow(a.out, []string{"HOST", "PROJECT", "STATE", "SINCE", "GIT", "FLAGS"}, r.widths)
	}
	return r
}

func (r *rows) add(s fleet.Status) {
	r.known[s.Host.Name] = s
	r.after[s.Host.Name] = time.Since(r.start)
	for !r.check && r.next < len(r.hosts) {
		s, ok := r.known[r.hosts[r.next].Name]
		if !ok {
			return
		}
		r.next++
		if !r.a.json {
			r.a.printStatus(s, r.widths)
		}
	}
}

// finish prints what had to wait: the JSON list, or why a host gave no answer.
func (r *rows) finish() {
	if r.a.json {
		all := []fleet.Status{}
		for _, h := range r.hosts {
			if s, ok := r.known[h.Name]; ok {
				all = append(all, s)
			}
		}
		r.a.printJSON(all)
		return
	}
	for _, h := range r.hosts {
		s, ok := r.known[h.Name]
		if ok && r.check { // these waited: there might have been nothing to print
			r.a.printStatus(s, r.widths)
		}
		if s.Err != nil {
			r.a.showError(s.Err)
		} else if ok && r.a.verbose {
			fmt.Fprintf(r.a.err, "claude-fleet: %s: rule %s: %s (known after %s)\n", h.Name, s.Rule, transport.Neutralise(s.Why), r.after[h.Name].Round(time.Millisecond))
		}
	}
}

func (a *app) printStatus(s fleet.Status, widths []int) {
	flags := s.Flags
	if s.Reason != "" {
		flags = append([]string{"(" + s.Reason + ")"}, flags...)
	}
	row := []string{s.Host.Name, s.Host.Project, string(s.State), since(s.Since, s.At), git(s.Git), strings.Join(flags, " ")}
	if a.colours() {
		var b strings.Builder
		printRow(&b, row, widths)
		fmt.Fprint(a.out, strings.Replace(b.String(), string(s.State), colour(s.State), 1))
	} else {
		printRow(a.out, row, widths)
	}
}

// colour paints a state: green for ready, yellow for busy, red for the rest.
func colour(s detect.State) string {
	code := map[detect.State]string{detect.Ready: "32", detect.Busy: "33"}[s]
	if code == "" {
		code = "31"
	}
	return "\x1b[" + code + "m" + string(s) + "\x1b[0m"
}

// since is how long a state has lasted, in one unit.
func since(from *time.Time, now time.Time) string {
	if from == nil || now.IsZero() {
		return "-"
	}
	d := max(0, now.Sub(*from))
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

func git(g *fleet.Git) string {
	if g == nil {
		return "-"
	}
	s := g.Branch
	if g.Ahead > 0 {
		s += fmt.Sprintf(" +%d", g.Ahead)
	}
	if g.Behind > 0 {
		s += fmt.Sprintf(" -%d", g.Behind)
	}
	switch {
	case g.Dirty > 0:
		s += fmt.Sprintf(" *%d", g.Dirty)
	case g.Dirty < 0:
		s += " *?"
	}
	return s
}
