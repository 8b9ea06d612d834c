package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// runs compares the program run for each look with OpenSSH's client through a
// ControlMaster, which captures a pane, and which runs the very script of the program.
func runs(ctx context.Context, g *ground, r *report) error {
	ends, err := g.fleet(ctx, 1)
	if err != nil {
		return err
	}
	script, err := g.tapped(ctx)
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
	defer m.end()
	const rounds = 3
	host := ends[0].name
	same := func(ctx context.Context) (cost, error) { return script.run(ctx, config, m, ends[0]) }
	ways := []way{
		repeated("status", rounds, g.runLook(table, "", host)),
		repeated("ssh", rounds, sshCapture(config, ends, alone)),
		repeated("ssh -S", rounds, sshCapture(config, ends, m.through)),
		repeated("ssh -S, the script", rounds, same),
	}
	// A build from before there was a serve has no such row.
	serves := exec.CommandContext(ctx, g.binary, "help", "serve").Run() == nil
	if serves {
		runtime := g.path("run")
		end, err := g.startServe(ctx, runtime)
		if err != nil {
			return err
		}
		defer end()
		ways = append(ways, repeated("status through serve", rounds, g.runLook(table, runtime, host)))
		// The first calls make the connection, and what is kept for those to come.
		for range 4 {
			if _, err := ways[len(ways)-1].do(ctx); err != nil {
				return err
			}
		}
	}
	costs, err := g.inTurns(ctx, unsettled, ways...)
	if err != nil {
		return err
	}
	r.against("status HOST; ssh, one pane", costs[0].wall, costs[1].wall, 0)
	r.against("status HOST; ssh -S, one pane", costs[0].wall, costs[2].wall, 0)
	r.against("status HOST; ssh -S, the same script", costs[0].wall, costs[3].wall, 0)
	if !serves {
		r.tell("through serve", "not in this build")
		return nil
	}
	r.against("through serve; ssh -S, the same script", costs[4].wall, costs[3].wall, 0.5)
	r.against("through serve; ssh -S, one pane", costs[4].wall, costs[2].wall, 0)
	r.against("through serve: CPU of client and host", costs[4].cpu+costs[4].host, costs[3].cpu+costs[3].host, 0)
	return nil
}

// startServe starts a server of the program's own for those who have that folder as
// their XDG_RUNTIME_DIR. end ends it.
func (g *ground) startServe(ctx context.Context, runtime string) (end func(), err error) {
	if err := os.MkdirAll(runtime, 0o700); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, g.binary, "serve")
	cmd.Env, cmd.WaitDelay = programEnv(runtime), time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	end = func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}
	err = eventually(ctx, "serve serves", func() bool {
		asked := exec.CommandContext(ctx, g.binary, "serve", "--status")
		asked.Env = programEnv(runtime)
		return asked.Run() == nil
	})
	if err != nil {
		end()
	}
	return end, err
}

// script is what the program sent to a host for one look.
type script struct {
	command string // that sshd was asked to run
	input   []byte // that it was given
}

// tapped has the program look at an endpoint whose sshd notes what it is sent.
func (g *ground) tapped(ctx context.Context) (*script, error) {
	ends, err := g.make(ctx, 1, []string{"claude"}, true)
	if err != nil {
		return nil, err
	}
	e := ends[0]
	command, input := filepath.Join(e.dir(), "command"), filepath.Join(e.dir(), "input")
	e.forced = filepath.Join(e.dir(), "tap")
	tap := fmt.Sprintf("#!/bin/sh\nprintf %%s \"$SSH_ORIGINAL_COMMAND\" >'%s'\ntee '%s' | /bin/sh -c \"$SSH_ORIGINAL_COMMAND\"\n", command, input)
	if err := os.WriteFile(e.forced, []byte(tap), 0o700); err != nil {
		return nil, err
	}
	if err := g.writeKeys(); err != nil {
		return nil, err
	}
	table, err := g.table("tapped", false, places(ends))
	if err != nil {
		return nil, err
	}
	if _, err := g.runLook(table, "")(ctx); err != nil {
		return nil, err
	}
	sent, err := os.ReadFile(input)
	if err != nil {
		return nil, err
	}
	asked, err := os.ReadFile(command)
	return &script{string(asked), sent}, err
}

// run runs the script by OpenSSH's client. Its input stays open until it has ended:
// it would take the end for that of its caller.
func (s *script) run(ctx context.Context, config string, m *masters, e *endpoint) (cost, error) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, "ssh", append(append([]string{"-F", config}, m.through(e)...), e.name, s.command)...)
	cmd.Stdout, cmd.WaitDelay = &out, 5*time.Second
	input, err := cmd.StdinPipe()
	if err != nil {
		return cost{}, err
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return cost{}, err
	}
	_, err = io.Copy(input, bytes.NewReader(s.input))
	if waited := cmd.Wait(); err == nil {
		err = waited
	}
	c := cost{wall: time.Since(begin)}
	if p := cmd.ProcessState; p != nil {
		c.cpu = p.UserTime() + p.SystemTime()
	}
	if err == nil && !bytes.Contains(out.Bytes(), []byte(mark)) {
		err = fmt.Errorf("the script gave %.300q", out.Bytes())
	}
	return c, err
}
