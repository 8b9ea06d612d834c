package main

import (
	"context"
	"iter"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// collect shows the results of a verb over hosts as they come, unless JSON is
// wanted, and gives all of them in the order of the table.
func collect[R any](ctx context.Context, a *app, f *fleet.Fleet, hosts []fleet.Host, results iter.Seq[R], name func(R) string, show func(R)) []R {
	known := map[string]R{}
	for r := range follow(ctx, a, f, hosts, results, name) {
		known[name(r)] = r
		if !a.json {
			show(r)
		}
	}
	list := []R{}
	for _, h := range hosts {
		if r, ok := known[h.Name]; ok {
			list = append(list, r)
		}
	}
	return list
}

// conclude prints the list where JSON is wanted, and gives the error that decides
// the exit code. Every result has been told of by then.
func conclude[R any](a *app, list []R, failure func(R) error) error {
	if a.json {
		a.printJSON(list)
	}
	errs := make([]error, len(list))
	for i, r := range list {
		errs[i] = failure(r)
	}
	return shown(worst(errs))
}

// labels are the names of hosts, in their order.
func labels(hosts []fleet.Host) []string {
	names := make([]string, len(hosts))
	for i, h := range hosts {
		names[i] = h.Name
	}
	return names
}

// statusHost names the host of a look.
func statusHost(s fleet.Status) string { return s.Host.Name }
