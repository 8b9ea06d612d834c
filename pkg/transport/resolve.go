package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// resolveDeadline bounds one reading of ssh_config, which runs what Match exec
// says.
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
	r, err := p.configs.read(ctx, p, configKey{binary: p.sshBinary(), file: e.ConfigFile, target: t, jump: k.jump, env: p.env})
	var s *settings
	if err == nil {
		s, err = settingsFrom(r, t)
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, contextError(ctx, e, readingConfig, false)
		}
		if errors.Is(err, errJumpLoop) {
			return nil, &Error{Kind: KindProxy, Endpoint: e, Err: err, Hint: jumpLoopHint}
		}
		return nil, &Error{Kind: KindConfig, Endpoint: e, Err: err, Hint: e.configHint()}
	}
	if k.jump != "" {
		s.proxyJump, s.proxyCommand = k.jump, ""
	}
	s.agentID = SocketID(s.agent) // with another agent it is another connection
	// A user name in ssh_config may be any, such as one of Windows with its \.
	if err := checkTarget(s.host, target{host: s.host}); err != nil {
		return nil, &Error{Kind: KindConfig, Endpoint: e, Err: fmt.Errorf("ssh_config: %w", err), Hint: "mend HostName in ssh_config"}
	}
	return s, nil
}

// sshBinary is the ssh to ask, or empty.
func (p *Pool) sshBinary() string {
	switch p.opts.SSHBinary {
	case "":
		bin, err := p.env.lookPath("ssh")
		if err != nil {
			return ""
		}
		return bin
	case NoSSHBinary:
		return ""
	}
	return p.opts.SSHBinary
}

// resolveBySSH runs ssh -G. With -v it tells on standard error what it reads
// and runs.
func resolveBySSH(ctx context.Context, k configKey) (*reading, error) {
	args := []string{"-v", "-G"}
	if k.file != "" {
		args = append(args, "-F", k.file)
	}
	if k.target.port != 0 {
		args = append(args, "-p", strconv.Itoa(k.target.port))
	}
	if k.target.user != "" {
		args = append(args, "-l", k.target.user)
	}
	if k.jump != "" {
		args = append(args, "-J", k.jump)
	}
	args = append(args, "--", k.target.host)
	stdout, stderr, err := runSSH(ctx, k, args)
	if err != nil && ctx.Err() == nil && strings.Contains(stderr.String(), "Cannot fork into background without a command") {
		// ForkAfterAuthentication yes: ssh 9.2 minds it even with -G, and for us it
		// changes nothing.
		stdout, stderr, err = runSSH(ctx, k, append([]string{"-o", "ForkAfterAuthentication=no"}, args...))
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%s -G: %w", k.binary, context.Cause(ctx))
		}
		_, said := parseTrace(stderr.String())
		if strings.Contains(said, "jumphost loop via") {
			err = errJumpLoop
		}
		return nil, fmt.Errorf("%s -G: %w: %s", k.binary, err, excerpt([]byte(said), 300))
	}
	r, _ := parseTrace(stderr.String())
	r.dump, r.env = parseDump(stdout.String()), k.env
	// What the trace lost may have been the name of a file.
	r.ran = r.ran || stderr.full
	r.doubtAgent(ctx, k)
	return &r, nil
}

// runSSH runs ssh once and gives what it printed.
func runSSH(ctx context.Context, k configKey, args []string) (stdout, stderr *capped, err error) {
	stdout, stderr = &capped{}, &capped{}
	cmd := exec.CommandContext(ctx, k.binary, args...)
	k.env.give(cmd)
	inOwnGroup(cmd)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return stdout, stderr, cmd.Run()
}

// doubtAgent has a second opinion on an agent's path that ssh -G prints as
// ForwardAgent: it prints the path even where a no comes first, and ssh then
// forwards nothing.
func (r *reading) doubtAgent(ctx context.Context, k configKey) {
	switch strings.ToLower(r.dump.first("forwardagent", "no")) {
	case "yes", "true", "no", "false":
		return
	}
	second, err := resolveByFile(ctx, usualSources(k.file), k)
	if err == nil && second.dump.yes("forwardagent", true) {
		return
	}
	r.dump["forwardagent"] = []string{"no"}
	if err != nil { // an agent that is not forwarded is the lesser evil
		r.warnings = append(r.warnings, "the agent is not forwarded: ssh -G does not tell whether a ForwardAgent no goes first, and the files alone do not either: "+err.Error())
	}
}

// parseTrace reads what ssh -v says: the files it read, whether it ran
// anything, and, apart, what is no trace.
func parseTrace(stderr string) (r reading, rest string) {
	r.source = sourceSSH
	var b strings.Builder
	for line := range strings.Lines(stderr) {
		line = strings.TrimRight(line, "\r\n")
		said, traced := strings.CutPrefix(line, "debug1: ")
		if !traced {
			if !strings.HasPrefix(line, "OpenSSH_") && !strings.HasPrefix(line, "Pseudo-terminal will not") {
				b.WriteString(line + "\n")
			}
			continue
		}
		if name, ok := strings.CutPrefix(said, "Reading configuration data "); ok {
			r.files = append(r.files, name)
		}
		if _, include, ok := strings.Cut(said, ": include "); ok {
			r.folders = append(r.folders, filepath.Dir(tilde(strings.TrimSuffix(include, " matched no files"))))
		}
		if strings.HasPrefix(said, "Executing command") {
			r.ran = true
		}
	}
	return r, b.String()
}

// inOwnGroup gives a command that is about to start a process group of its own,
// so that its context's end also ends what it has started.
func inOwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = killGrace
}

// capped keeps the first mebibyte of what is written to it.
type capped struct {
	bytes.Buffer
	full bool
}

func (c *capped) Write(b []byte) (int, error) {
	if c.Len()+len(b) > 1<<20 {
		c.full = true
		return len(b), nil
	}
	return c.Buffer.Write(b)
}
