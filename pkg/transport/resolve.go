package transport

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// resolveDeadline bounds ssh -G, which runs what Match exec says.
const resolveDeadline = 15 * time.Second

// resolve asks the ssh binary where there is one, and reads the files itself
// elsewhere. jump overrides ProxyJump and ProxyCommand: a hop of a chain is
// reached through the hop before it, whatever its own configuration says.
func (p *Pool) resolve(ctx context.Context, k routeKey) (*settings, *Error) {
	e := k.Endpoint
	t, err := parseDestination(e.Destination)
	if err != nil {
		return nil, &Error{Kind: KindConfig, Endpoint: e, Err: err, Hint: "write an ssh alias, user@host or user@host:port"}
	}
	var s *settings
	if bin := p.sshBinary(); bin != "" {
		s, err = resolveBySSH(ctx, bin, e, t)
	} else {
		s, err = resolveByFile(e, t)
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, contextError(ctx, e, "reading ssh_config", false)
		}
		return nil, &Error{Kind: KindConfig, Endpoint: e, Err: err, Hint: "see what `ssh -G " + t.host + "` says"}
	}
	if k.jump != "" {
		s.proxyJump, s.proxyCommand = k.jump, ""
	}
	if err := checkTarget(s.host, target{user: s.user, host: s.host}); err != nil {
		return nil, &Error{Kind: KindConfig, Endpoint: e, Err: fmt.Errorf("ssh_config: %w", err)}
	}
	return s, nil
}

// sshBinary is the ssh to ask, or empty.
func (p *Pool) sshBinary() string {
	switch p.opts.SSHBinary {
	case "":
		bin, err := exec.LookPath("ssh")
		if err != nil {
			return ""
		}
		return bin
	case NoSSHBinary:
		return ""
	}
	return p.opts.SSHBinary
}

func resolveBySSH(ctx context.Context, bin string, e Endpoint, t target) (*settings, error) {
	ctx, cancel := context.WithTimeout(ctx, resolveDeadline)
	defer cancel()
	args := []string{"-G"}
	if e.ConfigFile != "" {
		args = append(args, "-F", e.ConfigFile)
	}
	if t.port != 0 {
		args = append(args, "-p", strconv.Itoa(t.port))
	}
	if t.user != "" {
		args = append(args, "-l", t.user)
	}
	cmd := exec.CommandContext(ctx, bin, append(args, "--", t.host)...)
	cmd.WaitDelay = killGrace
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%s -G: %w", bin, context.Cause(ctx))
		}
		return nil, fmt.Errorf("%s -G: %w: %s", bin, err, excerpt([]byte(stderr.String()), 300))
	}
	return settingsFrom(parseDump(string(out)), t)
}
