package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// capture is what the other ways do on a host: they capture one pane.
const capture = "tmux -u capture-pane -p -t =claude:"

// sshCapture captures a pane of each endpoint by an OpenSSH client of its own, all at
// once. more are options of ssh for an endpoint.
func sshCapture(config string, ends []*endpoint, more func(*endpoint) []string) func(context.Context) (cost, error) {
	return func(ctx context.Context) (cost, error) {
		return together(len(ends), func(i int) (cost, error) {
			e := ends[i]
			args := append([]string{"-F", config}, more(e)...)
			c, out, err := command(ctx, nil, "ssh", append(args, e.name, capture)...)
			if err == nil && !strings.Contains(string(out), mark) {
				err = fmt.Errorf("ssh %s captured %q", e.name, out)
			}
			return c, err
		})
	}
}

func alone(*endpoint) []string { return nil }

// masters are ControlMasters, one an endpoint.
type masters struct {
	dir     string
	running []*exec.Cmd
	sockets []string
}

// startMasters starts them and returns when each serves.
func startMasters(ctx context.Context, dir, config string, ends []*endpoint) (_ *masters, err error) {
	m := &masters{dir: dir}
	defer func() {
		if err != nil {
			m.end()
		}
	}()
	for _, e := range ends {
		cmd := exec.CommandContext(ctx, "ssh", "-F", config, "-M", "-N", "-S", m.socket(e), e.name)
		cmd.WaitDelay = time.Second
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		m.running = append(m.running, cmd)
		m.sockets = append(m.sockets, m.socket(e))
	}
	for _, e := range ends {
		err := eventually(ctx, e.name+": the master serves", func() bool {
			return exec.CommandContext(ctx, "ssh", "-F", config, "-S", m.socket(e), "-O", "check", e.name).Run() == nil
		})
		if err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *masters) socket(e *endpoint) string { return filepath.Join(m.dir, e.name+".ctl") }

// through are the options of a client that goes by its master.
func (m *masters) through(e *endpoint) []string {
	return []string{"-S", m.socket(e), "-o", "ControlMaster=no"}
}

func (m *masters) end() {
	for _, cmd := range m.running {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	for _, s := range m.sockets {
		_ = os.Remove(s) // a new master would take it for another's
	}
}

// others compares parallel runners that a user may have.
func others(ctx context.Context, g *ground, r *report) error {
	ends, err := g.fleet(ctx, g.hosts)
	if err != nil {
		return err
	}
	table, err := g.table("others", false, places(ends))
	if err != nil {
		return err
	}
	config, err := g.sshConfig(false)
	if err != nil {
		return err
	}
	var names []string
	for _, e := range ends {
		names = append(names, e.name)
	}
	run := func(program string, args ...string) func(context.Context) (cost, error) {
		return func(ctx context.Context) (cost, error) {
			c, out, err := command(ctx, nil, program, args...)
			if n := strings.Count(string(out), mark); err == nil && n != len(ends) {
				err = fmt.Errorf("%s captured %d panes of %d", program, n, len(ends))
			}
			return c, err
		}
	}
	for _, other := range []struct {
		name string
		args []string
	}{
		{"clush", []string{"-w", strings.Join(names, ","), "-f", "64", "-o", "-F " + config, capture}},
		{"parallel-ssh", []string{"-H", strings.Join(names, " "), "-p", "64", "-x", "-F " + config, "-i", capture}},
	} {
		program, err := exec.LookPath(other.name)
		if errors.Is(err, exec.ErrNotFound) {
			r.tell(other.name, "not here")
			continue
		}
		if err != nil {
			return err
		}
		costs, err := g.inTurns(ctx, g.settle, way{name: "status", do: g.runLook(table, "")}, way{name: other.name, do: run(program, other.args...)})
		if err != nil {
			return err
		}
		r.against("claude-fleet status against "+other.name, costs[0].wall, costs[1].wall, 0)
	}
	return nil
}
