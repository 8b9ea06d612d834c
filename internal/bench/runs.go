package main

import (
	"context"
)

// runs compares the program run for each look with OpenSSH's client.
func runs(ctx context.Context, g *ground, r *report) error {
	ends, err := g.fleet(ctx, 1)
	if err != nil {
		return err
	}
	table, err := g.table("runs", false, places(ends))
	if err != nil {
		return err
	}
	config, err := g.sshConfig(false)
	if err != nil {
		return err
	}
	m, err := startMasters(ctx, g.dir, config, ends)
	if err != nil {
		return err
	}
	direct, err := g.inTurns(ctx, unsettled,
		repeated("status", 3, g.runLook(table, ends[0].name)),
		repeated("ssh", 3, sshCapture(config, ends, alone)),
		repeated("ssh -S", 3, sshCapture(config, ends, m.through)))
	m.end()
	if err != nil {
		return err
	}
	r.against("status HOST against ssh, one pane", direct[0].wall, direct[1].wall, 0)
	r.against("status HOST against ssh -S, one pane", direct[0].wall, direct[2].wall, 0)
	return nil
}
