package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
)

// ground is one sshd with as many endpoints as are asked for. Each has an account's
// worth of its own: a home with a repository and a conversation, and a tmux server.
// They share one real account and one port, and are told apart by the key that logs
// in, for which sshd sets HOME and the rest. So both sides meet the same sshd, and
// that the product lets only a few logins at a time to one address is in force.
type ground struct {
	options
	rig   *rig.Rig
	proxy *rig.Proxy // in front of the sshd
	dir   string
	user  string
	tmux  string
	ends  []*endpoint // in the order of their making
}

// newGround starts the sshd, with no endpoint yet.
func newGround(ctx context.Context, o options) (_ *ground, err error) {
	g := &ground{options: o}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.close())
		}
	}()
	if g.binary, err = filepath.Abs(o.binary); err != nil {
		return nil, err
	}
	if g.tmux, err = exec.LookPath("tmux"); err != nil {
		return nil, err
	}
	if g.user = os.Getenv("USER"); g.user == "" {
		account, err := user.Current()
		if err != nil {
			return nil, err
		}
		g.user = account.Username
	}
	g.rig, err = rig.Start(ctx, rig.Options{Hosts: []rig.HostSpec{{
		Name:     "gate",
		NoClient: true,
		SSHDConfig: []string{
			"MaxStartups 1000",
			"PermitUserEnvironment yes",
			"SetEnv LANG=C.UTF-8", // the rig's own line would give all one home
			"ForceCommand none",
		},
	}}})
	if err != nil {
		return nil, err
	}
	g.dir = g.rig.Dir()
	if g.proxy, err = rig.NewProxy(g.rig.Host("gate").SSHDAddr); err != nil {
		return nil, err
	}
	known, err := os.ReadFile(g.rig.KnownHosts())
	if err != nil {
		return nil, err
	}
	// One name for the sshd and the proxy before it.
	_, key, _ := bytes.Cut(known, []byte(" "))
	if err := writeFile(g.path("known_hosts"), append([]byte("gate "), key...)); err != nil {
		return nil, err
	}
	return g, g.template(ctx)
}

func (g *ground) path(name string) string { return filepath.Join(g.dir, name) }

// close ends the tmux servers, the sshd and all that ran on the ground.
func (g *ground) close() error {
	var errs []error
	if g.proxy != nil {
		errs = append(errs, g.proxy.Close())
	}
	var wait sync.WaitGroup
	for _, e := range g.ends {
		// What does not end by this is ended by the rig's reaper.
		wait.Go(func() { _, _ = g.on(context.Background(), e, g.tmux, "kill-server") })
	}
	wait.Wait()
	if g.rig != nil {
		errs = append(errs, g.rig.Close())
	}
	return errors.Join(errs...)
}

// fleet gives the first n endpoints that have one session each, making those that
// there are not yet.
func (g *ground) fleet(ctx context.Context, n int) ([]*endpoint, error) {
	var one []*endpoint
	for _, e := range g.ends {
		if !e.apart {
			one = append(one, e)
		}
	}
	for len(one) < n {
		// A few at a time: each is a dozen programs.
		made, err := g.make(ctx, min(8, n-len(one)), []string{"claude"}, false)
		if err != nil {
			return nil, err
		}
		one = append(one, made...)
	}
	return one[:n], nil
}

// make makes n endpoints with those sessions; those that are apart are none of a
// fleet's.
func (g *ground) make(ctx context.Context, n int, sessions []string, apart bool) ([]*endpoint, error) {
	made, errs := make([]*endpoint, n), make([]error, n)
	var wait sync.WaitGroup
	for i := range n {
		e := g.newEndpoint(len(g.ends)+i+1, apart)
		made[i] = e
		wait.Go(func() { errs[i] = e.make(ctx, sessions) })
	}
	wait.Wait()
	g.ends = append(g.ends, made...)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return made, g.writeKeys()
}

// writeKeys writes who may log in and where each then is at home.
func (g *ground) writeKeys() error {
	var b strings.Builder
	for _, e := range g.ends {
		for _, entry := range e.env() {
			fmt.Fprintf(&b, "environment=%q,", entry)
		}
		if e.forced != "" {
			fmt.Fprintf(&b, "command=%q,", e.forced)
		}
		fmt.Fprintf(&b, "pty %s", e.public)
	}
	return writeFile(filepath.Join(g.dir, "gate", "sshd", "authorized_keys"), []byte(b.String()))
}

// sshConfig writes an ssh_config with an alias for each endpoint that there is.
// Where far is set they are reached through the proxy.
func (g *ground) sshConfig(far bool) (string, error) {
	addr, path := g.rig.Host("gate").SSHDAddr, g.path("ssh_config")
	if far {
		addr, path = g.proxy.Addr(), g.path("ssh_config.far")
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, e := range g.ends {
		fmt.Fprintf(&b, "Host %s\n\tIdentityFile %s\n", e.name, e.key())
	}
	fmt.Fprintf(&b, `Host *
	HostName %s
	Port %s
	User %s
	HostKeyAlias gate
	IdentitiesOnly yes
	IdentityAgent none
	UserKnownHostsFile %s
	GlobalKnownHostsFile none
	StrictHostKeyChecking yes
`, host, port, g.user, g.path("known_hosts"))
	return path, writeFile(path, []byte(b.String()))
}

// settle waits until the sshd serves nobody: what a connection leaves behind is not
// to fall on the next.
func (g *ground) settle(ctx context.Context) error {
	pid, err := os.ReadFile(filepath.Join(g.dir, "gate", "sshd", "pid"))
	if err != nil {
		return err
	}
	daemon := string(bytes.TrimSpace(pid))
	return eventually(ctx, "the sshd's connections end", func() bool {
		out, err := exec.CommandContext(ctx, "ps", "-A", "-o", "ppid=").Output()
		if err != nil {
			return false
		}
		for line := range strings.Lines(string(out)) {
			if strings.TrimSpace(line) == daemon {
				return false
			}
		}
		return true
	})
}

// on runs a program as an endpoint's account would, past SSH, and gives what it
// printed.
func (g *ground) on(ctx context.Context, e *endpoint, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = e.env(), e.home(), time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %s %s: %w: %.300s", e.name, filepath.Base(name), strings.Join(args, " "), err, out)
	}
	return string(out), nil
}
