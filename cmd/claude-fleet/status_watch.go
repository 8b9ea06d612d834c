package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// watchStatus is status --watch: the live table where there is a terminal for it,
// else lines.
func (a *app) watchStatus(ctx context.Context, f *fleet.Fleet, hosts []fleet.Host, o statusFlags) error {
	// A change that is to be notified of, or is all that is wanted, is told in lines.
	if o.notify == "" && !o.onlyPerson && a.live(o) {
		return a.watch(ctx, f, hosts, o.interval)
	}
	looks := f.Watch(ctx, fleet.WatchOptions{Interval: o.interval, Count: o.count}, hosts...)
	told := func() error { return nil }
	if o.notify != "" {
		marks, err := a.openMarks(ctx, f, o)
		if err != nil {
			return err
		}
		defer func() { _ = marks.Close() }()
		looks, told = a.notifying(ctx, f, looks, marks, o)
	}
	needy := map[string]bool{}
	noting := func(yield func(fleet.Watched) bool) {
		for w := range looks {
			needy[w.Host.Name] = w.NeedsPerson()
			if !yield(w) {
				return
			}
		}
	}
	if a.json && o.count > 0 {
		a.watchRounds(noting, hosts, o)
	} else {
		a.watchLines(noting, hosts, o)
	}
	err := told()
	switch {
	case err != nil || o.count == 0: // to be ended by a signal is how it ends, unless it was to end by itself
		return err
	case ctx.Err() != nil:
		return errInterrupted
	case o.onlyPerson && slices.Contains(slices.Collect(maps.Values(needy)), true):
		return shown(errNeedsPerson)
	}
	return nil
}

// watchLines prints a line for each change, and one for each host when it is first
// seen.
func (a *app) watchLines(looks iter.Seq[fleet.Watched], hosts []fleet.Host, o statusFlags) {
	marks := fleet.Marks{}
	columns := append([]column{{giveUp: 3}}, changeColumns(hosts)...)
	for w := range looks {
		c, changed := marks.Change(w.Status, w.SeenAt)
		marks.Note(w.Status, w.SeenAt)
		if w.Poll > 1 && !changed || o.onlyPerson && !c.ConcernsPerson() {
			continue
		}
		if a.json {
			a.printJSONLine(c)
			continue
		}
		row := changeRow(c)
		if c.Was == nil {
			row[3] = "-"
		}
		row = append([]string{w.SeenAt.Format(time.DateTime)}, row...)
		fmt.Fprintln(a.out, fit(columns, [][]string{row}, a.width()).line(row, nil))
		if w.Err != nil {
			a.showError(w.Err)
		}
	}
}

// round is one look at each host.
type round struct {
	Poll    int            `json:"poll"`
	At      time.Time      `json:"at"` // when its last host answered
	Changed []string       `json:"changed"`
	Hosts   []fleet.Status `json:"hosts"` // in table order
}

// watchRounds prints a line for each round of looks, once all hosts have answered.
func (a *app) watchRounds(looks iter.Seq[fleet.Watched], hosts []fleet.Host, o statusFlags) {
	found := map[int]map[string]fleet.Watched{} // by poll, while it is not over
	for w := range looks {
		i := w.Poll
		if found[i] == nil {
			found[i] = map[string]fleet.Watched{}
		}
		found[i][w.Host.Name] = w
		if len(found[i]) < len(hosts) {
			continue
		}
		r := round{Poll: w.Poll, At: w.SeenAt, Changed: []string{}, Hosts: []fleet.Status{}}
		for _, h := range hosts {
			seen := found[i][h.Name]
			if o.onlyPerson && !seen.NeedsPerson() {
				continue
			}
			if seen.Changed {
				r.Changed = append(r.Changed, h.Name)
			}
			r.Hosts = append(r.Hosts, seen.Status)
		}
		a.printJSONLine(r)
		delete(found, i)
	}
}

// printJSONLine prints a value as JSON in one line.
func (a *app) printJSONLine(v any) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		fmt.Fprintln(a.err, "claude-fleet: can't print:", err)
		return
	}
	fmt.Fprint(a.out, transport.EscapeJSON(b.String()))
}

// live tells whether there is a terminal that the live table can be drawn on.
func (a *app) live(o statusFlags) bool {
	in, ok := a.in.(*os.File)
	return !a.json && o.count == 0 && ok && isTerminal(in) && terminalOf(a.out) != nil && !dumb()
}
