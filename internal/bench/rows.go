package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// start compares what asks no host with the start of another program.
func start(ctx context.Context, g *ground, r *report) error {
	ends, err := g.fleet(ctx, g.hosts)
	if err != nil {
		return err
	}
	table, err := g.table("start", false, places(ends))
	if err != nil {
		return err
	}
	run := func(name string, args ...string) way {
		return repeated(name, 10, func(ctx context.Context) (cost, error) {
			c, _, err := command(ctx, nil, name, args...)
			return c, err
		})
	}
	ssh, err := exec.LookPath("ssh")
	if err != nil {
		return err
	}
	costs, err := g.inTurns(ctx, unsettled,
		run(g.binary, "--config", table, "map"),
		run(g.binary, "--version"),
		run(ssh, "-V"))
	if err != nil {
		return err
	}
	r.bound(fmt.Sprintf("map of %d hosts", len(ends)), inMillis(costs[0].wall), 10, "ms")
	r.bound("--version", inMillis(costs[1].wall), 10, "ms")
	r.against("--version against ssh -V", costs[1].wall, costs[2].wall, 0)
	return nil
}

func inMillis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// cold compares the status of a fleet with the capture of a pane by OpenSSH.
func cold(ctx context.Context, g *ground, r *report) error {
	ends, err := g.fleet(ctx, g.hosts)
	if err != nil {
		return err
	}
	table, err := g.table("cold", false, places(ends))
	if err != nil {
		return err
	}
	config, err := g.sshConfig(false)
	if err != nil {
		return err
	}
	costs, err := g.inTurns(ctx, g.settle,
		way{name: "library", do: coldLook(table)},
		way{name: "status", do: g.runLook(table, "")},
		way{name: "ssh", do: sshCapture(config, ends, alone)})
	if err != nil {
		return err
	}
	library, program, ssh := costs[0], costs[1], costs[2]
	r.against(fmt.Sprintf("library, %d endpoints: time", len(ends)), library.wall, ssh.wall, 0.55)
	r.against("library: CPU of the client", library.cpu, ssh.cpu, 0.15)
	r.against("claude-fleet status: time", program.wall, ssh.wall, 0.55)
	r.against("claude-fleet status: CPU of the client", program.cpu, ssh.cpu, 0.15)
	r.against("claude-fleet status: CPU of client and host", program.cpu+program.host, ssh.cpu+ssh.host, 0)
	return nil
}

// pollRounds are the rounds of one sample.
const pollRounds = 5

// poll compares a look by kept connections with the capture of a pane through
// ControlMasters. All go through the proxy, which takes from both.
func poll(ctx context.Context, g *ground, r *report) error {
	ends, err := g.fleet(ctx, g.hosts)
	if err != nil {
		return err
	}
	return g.warm(ctx, ends, true, func(f *fleet.Fleet, ssh func(context.Context) (cost, error)) error {
		costs, err := g.inTurns(ctx, unsettled,
			way{name: "quick", do: g.watchLook(f, true)},
			way{name: "watch", do: g.watchLook(f, false)},
			repeated("status", pollRounds, warmLook(f)),
			repeated("ssh -S", pollRounds, ssh),
			repeated("tmux", pollRounds, g.tmuxAlone(ends)))
		if err != nil {
			return err
		}
		quick, watch, status, other, alone := costs[0], costs[1], costs[2], costs[3], costs[4]
		r.against(fmt.Sprintf("watch, a round of %d endpoints: time", len(ends)), quick.wall, other.wall, 0.25)
		r.against("watch: CPU of the client, without masters", quick.cpu, other.cpu, 0)
		r.against("watch: CPU of client and host", quick.cpu+quick.host, other.cpu+other.host, 0)
		r.against("a round, folders too: time", watch.wall, other.wall, 0)
		r.against("the same: CPU of client and host", watch.cpu+watch.host, other.cpu+other.host, 0)
		r.against("library's Status again and again: time", status.wall, other.wall, 0)
		r.against("Status: CPU of client and host", status.cpu+status.host, other.cpu+other.host, 0)
		r.against("for comparison, the tmux clients with no network", alone.wall, other.wall, 0)
		return nil
	})
}

// tmuxAlone captures the panes by a tmux client each, started by this process: less
// than that no look can take which starts one.
func (g *ground) tmuxAlone(ends []*endpoint) func(context.Context) (cost, error) {
	return func(ctx context.Context) (cost, error) {
		return together(len(ends), func(i int) (cost, error) {
			c, out, err := command(ctx, ends[i].env(), g.tmux, strings.Fields(capture)[1:]...)
			if err == nil && !strings.Contains(string(out), mark) {
				err = fmt.Errorf("tmux of %s captured %q", ends[i].name, out)
			}
			return c, err
		})
	}
}

// warm has do called with a fleet whose connections stand, and with the way by
// masters that serve.
func (g *ground) warm(ctx context.Context, ends []*endpoint, far bool, do func(*fleet.Fleet, func(context.Context) (cost, error)) error) error {
	table, err := g.table("warm", far, places(ends))
	if err != nil {
		return err
	}
	config, err := g.sshConfig(far)
	if err != nil {
		return err
	}
	m, err := startMasters(ctx, g.dir, config, ends)
	if err != nil {
		return err
	}
	defer m.end()
	f, err := fleet.Load(table)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for range 4 { // a watch has been at it for a while, too
		if err := look(ctx, f); err != nil {
			return err
		}
	}
	return do(f, sshCapture(config, ends, m.through))
}

// roundTrip is the network of the benchmark "far".
const roundTrip = 100 * time.Millisecond

// far counts the round trips of a look: what it takes longer behind a slow network
// than without one.
func far(ctx context.Context, g *ground, r *report) error {
	ends, err := g.fleet(ctx, g.hosts)
	if err != nil {
		return err
	}
	defer g.proxy.SetDelay(0)
	trips := func(near, far cost) float64 { return float64(far.wall-near.wall) / float64(roundTrip) }
	for _, some := range [][]*endpoint{ends[:1], ends} {
		g.proxy.SetDelay(0)
		err := g.warm(ctx, some, true, func(f *fleet.Fleet, ssh func(context.Context) (cost, error)) error {
			var costs [2][]cost
			for i, delay := range []time.Duration{0, roundTrip / 2} {
				g.proxy.SetDelay(delay)
				var err error
				costs[i], err = g.inTurns(ctx, unsettled, repeated("library", 3, warmLook(f)), repeated("ssh -S", 3, ssh))
				if err != nil {
					return err
				}
			}
			near, far := costs[0], costs[1]
			r.against(fmt.Sprintf("a round of %d: time", len(some)), far[0].wall, far[1].wall, 0)
			if len(some) == 1 {
				r.bound("a round of 1: round trips", trips(near[0], far[0]), 1.2, "trips")
				r.tell("the same by ssh -S", amount(trips(near[1], far[1]), "trips"))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	g.proxy.SetDelay(0)
	table, err := g.table("far", true, places(ends[:1]))
	if err != nil {
		return err
	}
	config, err := g.sshConfig(true)
	if err != nil {
		return err
	}
	var costs [2][]cost
	for i, delay := range []time.Duration{0, roundTrip / 2} {
		g.proxy.SetDelay(delay)
		costs[i], err = g.inTurns(ctx, g.settle, way{name: "library", do: coldLook(table)}, way{name: "ssh", do: sshCapture(config, ends[:1], alone)})
		if err != nil {
			return err
		}
	}
	r.against("cold, 1 endpoint: time", costs[1][0].wall, costs[1][1].wall, 0)
	r.tell("cold: round trips", amount(trips(costs[0][0], costs[1][0]), "trips"))
	r.tell("the same by ssh", amount(trips(costs[0][1], costs[1][1]), "trips"))
	return nil
}
