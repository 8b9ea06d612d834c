package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// statusState is the number of the column STATE, which is painted.
const statusState = 2

// statusColumns are those of status for these hosts. A row comes before all are
// known: what the table of hosts does not fix is as wide as it usually gets.
func statusColumns(hosts []fleet.Host) []column {
	return []column{
		{head: "HOST", cut: cutApart(labels(hosts))},
		{head: "PROJECT", giveUp: 1},
		{head: "STATE", usual: len(detect.Unreachable)},
		{head: "SINCE", giveUp: 3},
		{head: "GIT", giveUp: 2, usual: len("main +1 -1 *10"), most: 28, cut: cutBranch},
		{head: "FLAGS", least: 1, usual: len("wrongdir disk draft")},
	}
}

// statusGrid is the layout of status in that many cells, before anything but the
// hosts is known.
func statusGrid(hosts []fleet.Host, width int) grid {
	known := make([][]string, len(hosts))
	for i, h := range hosts {
		known[i] = []string{h.Name, h.Project}
	}
	return fit(statusColumns(hosts), known, width)
}

// statusCells is the row of one host.
func statusCells(s fleet.Status) []string {
	return []string{s.Host.Name, s.Host.Project, string(s.State), since(s.Since, s.At), git(s.Git), warnings(s)}
}

// warnings are what the column FLAGS says: why there is no better answer, then what to know.
func warnings(s fleet.Status) string {
	flags := s.Flags
	if s.Reason != "" {
		flags = append([]string{"(" + s.Reason + ")"}, flags...)
	}
	return strings.Join(flags, " ")
}

// paintStatus colours the cell of the state, whatever of its word is shown.
func (a *app) paintStatus(s fleet.Status) func(int, string) string {
	return func(column int, text string) string {
		if column != statusState {
			return text
		}
		return a.paint(stateColour(s.State), text)
	}
}

// rows prints one row a host in table order, each as soon as it and all before
// it are known.
type rows struct {
	a     *app
	check bool // only what is added counts, and there is no head
	hosts []fleet.Host
	known map[string]fleet.Status
	after map[string]time.Duration // how long each took
	next  int
	grid  grid
	start time.Time
}

func newRows(a *app, hosts []fleet.Host, check bool) *rows {
	r := &rows{a: a, check: check, hosts: hosts, known: map[string]fleet.Status{}, after: map[string]time.Duration{}, start: time.Now()}
	r.grid = statusGrid(hosts, a.width())
	if !a.json && !check {
		fmt.Fprintln(a.out, r.grid.head())
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
			r.print(s)
		}
	}
}

func (r *rows) print(s fleet.Status) {
	fmt.Fprintln(r.a.out, r.grid.line(statusCells(s), r.a.paintStatus(s)))
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
			r.print(s)
		}
		if s.Err != nil {
			r.a.showError(s.Err)
		} else if ok && r.a.verbose {
			fmt.Fprintf(r.a.err, "claude-fleet: %s: rule %s: %s (known after %s)\n", h.Name, s.Rule, transport.Neutralise(s.Why), r.after[h.Name].Round(time.Millisecond))
		}
	}
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
