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
		again, err := g.watchBoth(ctx, true, c.places, places(one))
		if err != nil {
			return err
		}
		whole, err := g.watchBoth(ctx, false, c.places, places(one))
		if err != nil {
			return err
		}
		name := fmt.Sprintf("%d sessions, %s: ", len(names), c.what)
		r.against(name+"cold", costs[0].wall, costs[1].wall, 2)
		r.against(name+"watch", again[0].wall, again[1].wall, 2)
		r.against(name+"watch, folders too", whole[0].wall, whole[1].wall, 0)
		r.against(name+"CPU of watch", again[0].cpu+again[0].host, again[1].cpu+again[1].host, 0)
	}
	return nil
}

// watchBoth watches the places in turns, through the proxy.
func (g *ground) watchBoth(ctx context.Context, quick bool, all ...[]place) (_ []cost, err error) {
	var ways []way
	for i, places := range all {
		name := fmt.Sprintf("watched-%d", i)
		table, err := g.table(name, true, places)
		if err != nil {
			return nil, err
		}
		f, err := fleet.Load(table)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		ways = append(ways, way{name: name, do: g.watchLook(f, quick)})
	}
	return g.inTurns(ctx, unsettled, ways...)
}
