package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/notify"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// stateWait is how long a run waits for another one that has the state file.
const stateWait = time.Minute

// openMarks opens the state file that the flags or the table name.
func (a *app) openMarks(ctx context.Context, f *fleet.Fleet, o statusFlags) (*fleet.StateFile, error) {
	path := o.state
	if path == "" {
		var err error
		if path, err = f.Table().StateFilePath(); err != nil {
			return nil, err
		}
	}
	return fleet.OpenStateFile(ctx, path, stateWait)
}

// statusSince is status with --changed or --notify, once.
func (a *app) statusSince(ctx context.Context, f *fleet.Fleet, hosts []fleet.Host, o statusFlags) error {
	marks, err := a.openMarks(ctx, f, o)
	if err != nil {
		return err
	}
	defer func() { _ = marks.Close() }()
	looks := func(yield func(fleet.Watched) bool) {
		for s := range follow(ctx, a, f, hosts, f.Status(ctx, hosts...), statusHost) {
			if ctx.Err() != nil {
				return // a look that was cut short is none
			}
			if !yield(fleet.Watched{Status: s, Poll: 1, SeenAt: time.Now()}) {
				return
			}
		}
	}
	told := func() error { return nil }
	if o.notify != "" {
		looks, told = a.notifying(ctx, f, looks, marks, o)
	}
	var errs []error
	var seen []fleet.Watched
	if o.changed {
		seen = slices.Collect(looks)
		if ctx.Err() == nil { // else what was seen is news for the next run too
			errs = append(errs, a.changed(seen, marks.Seen, hosts, o))
			for _, w := range seen {
				marks.Seen.Note(w.Status, w.SeenAt)
			}
		}
	} else {
		errs = append(errs, a.status(ctx, statuses(looks), hosts, o))
	}
	// That something could not be told or kept goes before what was found: nobody
	// may hear of it otherwise.
	if failed := worst([]error{told(), a.save(marks, f, o)}); failed != nil {
		return failed
	}
	if ctx.Err() != nil {
		errs = append(errs, errInterrupted)
	}
	return worst(errs)
}

// save writes the state file, and says why where that fails. A file that was named
// may have the marks of another table, too.
func (a *app) save(marks *fleet.StateFile, f *fleet.Fleet, o statusFlags) error {
	keep := f.Table().Hosts
	if o.state != "" {
		keep = nil
	}
	err := marks.Save(keep)
	if err != nil {
		a.showError(err)
	}
	return shown(err)
}

func statuses(looks iter.Seq[fleet.Watched]) iter.Seq[fleet.Status] {
	return func(yield func(fleet.Status) bool) {
		for w := range looks {
			if !yield(w.Status) {
				return
			}
		}
	}
}

// changed prints what changed since the last run, in table order.
func (a *app) changed(looks []fleet.Watched, before fleet.Marks, hosts []fleet.Host, o statusFlags) error {
	found := map[string]fleet.StatusChange{}
	for _, w := range looks {
		c, changed := before.Change(w.Status, w.SeenAt)
		if changed && (!o.onlyPerson || c.ConcernsPerson()) {
			found[w.Host.Name] = c
		}
	}
	changes := []fleet.StatusChange{}
	person := false
	for _, h := range hosts {
		if c, ok := found[h.Name]; ok {
			changes = append(changes, c)
			person = person || c.NeedsPerson()
		}
	}
	if a.json {
		a.printJSON(changes)
	} else {
		rows := make([][]string, len(changes))
		for i, c := range changes {
			rows[i] = changeRow(c)
		}
		g := fit(changeColumns(hosts), rows, a.width())
		for i, c := range changes {
			fmt.Fprintln(a.out, g.line(rows[i], a.paintStatus(c.Status)))
		}
		for _, c := range changes {
			if c.Status.Err != nil {
				a.showError(c.Status.Err)
			}
		}
	}
	if o.onlyPerson && person {
		return shown(errNeedsPerson)
	}
	return nil
}

// changeColumns are those of changeRow.
func changeColumns(hosts []fleet.Host) []column {
	return []column{{cut: cutApart(labels(hosts))}, {giveUp: 1}, {}, {giveUp: 2}, {least: 1}}
}

// changeRow is a change in columns.
func changeRow(c fleet.StatusChange) []string {
	was := "new"
	if c.Was != nil {
		was = "was " + string(c.Was.State)
	}
	return []string{c.Status.Host.Name, c.Status.Host.Project, string(c.Status.State), was, warnings(c.Status)}
}

// notifying passes looks on and has the notify command told of them. told gives the
// first error of that once the looks are over.
func (a *app) notifying(ctx context.Context, f *fleet.Fleet, looks iter.Seq[fleet.Watched], marks *fleet.StateFile, o statusFlags) (iter.Seq[fleet.Watched], func() error) {
	t := &fleet.Dispatcher{
		Notifier: notify.Command{Line: o.notify, Timeout: o.notifyTimeout, Output: neutralWriter{a.err}},
		Notified: marks.Notified,
		Limit:    o.notifyLimit,
	}
	if !o.watch {
		t.Window = 24 * time.Hour // the limit is that of the run
	}
	if o.onlyPerson {
		t.Only = fleet.StatusChange.ConcernsPerson
	}
	var first error
	later := map[string]bool{}
	report := func(r fleet.Dispatched) {
		err := r.Err
		if err != nil {
			a.showError(err)
		} else if r.Marked { // at once: who is killed now has told it all the same
			err = a.save(marks, f, o)
		}
		if first == nil {
			first = err
		}
		if r.Later && r.Err == nil {
			later[r.Host] = true
		}
	}
	return t.Beside(ctx, looks, report), func() error {
		if n := len(later); n > 0 && !o.watch {
			fmt.Fprintf(a.err, "claude-fleet: changes that the limit of %d leaves to the next run: %d\n", o.notifyLimit, n)
		}
		return shown(first)
	}
}

// neutralWriter is for what a command prints that was given text of a host.
type neutralWriter struct{ io.Writer }

func (w neutralWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.Writer, transport.NeutraliseLines(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
