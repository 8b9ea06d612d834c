package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// sessions compares many sessions of one account with one session of another.
func sessions(ctx context.Context, g *ground, r *report) error {
	one, err := g.fleet(ctx, 1)
	if err != nil {
		return err
	}
	var names []string
	for i := range g.sessions {
		names = append(names, fmt.Sprintf("s%02d", i+1))
	}
	many, err := g.make(ctx, 1, names, true)
	if err != nil {
		return err
	}
	var apart, shared []place
	for _, s := range names {
		apart = append(apart, place{s, many[0].name, s, folderOf(s)})
		shared = append(shared, place{s, many[0].name, s, folderOf(names[0])})
	}
	single, err := g.table("single", false, places(one))
	if err != nil {
		return err
	}
	for _, c := range []struct {
		what   string
		places []place
	}{
		{"a repository each", apart},
		{"one repository", shared},
	} {
		table, err := g.table("many", false, c.places)
		if err != nil {
			return err
		}
		costs, err := g.inTurns(ctx, g.settle, way{name: "many", do: coldLook(table)}, way{name: "one", do: coldLook(single)})
		if err != nil {
			return err
		}
		warm, err := g.pollBoth(ctx, table, single)
		if err != nil {
			return err
		}
		r.against(fmt.Sprintf("%d sessions, %s: cold", len(names), c.what), costs[0].wall, costs[1].wall, 2)
		r.against(fmt.Sprintf("%d sessions, %s: again", len(names), c.what), warm[0].wall, warm[1].wall, 2)
	}
	return nil
}

// pollBoth looks again and again by two tables in turns.
func (g *ground) pollBoth(ctx context.Context, tables ...string) (_ []cost, err error) {
	var ways []way
	for _, t := range tables {
		f, err := fleet.Load(t)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		for range 4 {
			if err := look(ctx, f); err != nil {
				return nil, err
			}
		}
		ways = append(ways, repeated(t, pollRounds, warmLook(f)))
	}
	return g.inTurns(ctx, unsettled, ways...)
}
