package transport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// jump gives a stream to the server through the last hop of its ProxyJump. The
// hop is a route like any other, with its own configuration, host key, keys and
// pooled connection, which all endpoints behind it share.
func (r *route) jump(ctx context.Context, s *settings, d *dialing) (net.Conn, func(), *Error) {
	e := r.key.Endpoint
	if err := r.pool.checkChain(ctx, r.key, s); err != nil {
		return nil, nil, err
	}
	hop := r.pool.route(lastHop(e, s.proxyJump))
	d.doing("connecting to the jump host " + hop.key.String())
	ln, err := hop.acquire(ctx, false)
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, contextError(ctx, e, d.what(), false)
		}
		return nil, nil, &Error{Kind: KindProxy, Endpoint: e, Err: fmt.Errorf("jump host: %w", err), Hint: err.Hint}
	}
	d.doing("connecting to " + s.addr() + " through " + hop.key.String())
	conn, derr := ln.client.DialContext(ctx, "tcp", s.addr())
	if derr != nil {
		hop.put(ln, false)
		if ctx.Err() != nil {
			// It may be the bastion that is silent, to all who come through it.
			ln.verifySoon()
			return nil, nil, contextError(ctx, e, d.what(), false)
		}
		return nil, nil, &Error{
			Kind: KindProxy, Endpoint: e,
			Err:  fmt.Errorf("jump host %s cannot reach %s: %s", hop.key.String(), s.addr(), Neutralise(derr.Error())),
			Hint: "see the address as the jump host sees it, and AllowTcpForwarding there",
		}
	}
	d.via = ln
	return conn, func() { hop.put(ln, false) }, nil
}

// proxyCommand starts a ProxyCommand and gives its streams as a connection.
func (r *route) proxyCommand(s *settings) (net.Conn, func(), *Error) {
	e := r.key.Endpoint
	x := newExpander(s)
	line := x.expandTokens(s.proxyCommand) // variables are the shell's
	if strings.Contains(s.proxyCommand, "%r") && !shellSafe(s.user) {
		x.fail(fmt.Errorf("%%r would put the user name %q before a shell", s.user))
	}
	if x.err != nil {
		return nil, nil, &Error{Kind: KindConfig, Endpoint: e, Err: fmt.Errorf("ProxyCommand: %w", x.err), Hint: "see ProxyCommand in ssh_config"}
	}
	o := r.pool.opts
	attended := o.Ask != nil && !s.batch && (o.Attended == nil || o.Attended())
	c, err := r.pool.env.startCommand(line, attended)
	if err != nil {
		return nil, nil, &Error{Kind: KindProxy, Endpoint: e, Err: fmt.Errorf("ProxyCommand: %w", err), Hint: "the shell ($SHELL, else /bin/sh) could not be started here: see whether it exists, and whether this machine has processes and memory left"}
	}
	r.pool.own(func() { // ends with the process, which the next one sees to
		c.exit = c.cmd.Wait()
		close(c.done)
	})
	r.pool.own(func() {
		select {
		case <-c.done:
		case <-c.closed:
			c.kill(attended)
		}
	})
	return c, func() {}, nil
}

// commandConn is a connection over the standard streams of a process.
type commandConn struct {
	cmd     *exec.Cmd
	in, out *os.File
	stderr  tail
	once    sync.Once
	closed  chan struct{} // closed by Close
	done    chan struct{} // closed when the process is reaped
	exit    error         // valid after done
}

// startCommand runs line as OpenSSH does, by the user's shell. Where a person
// attends, it may ask on the terminal itself, as an ssh in it does, and so must
// stay in our process group. Elsewhere it has no terminal, so that it fails at
// once with its own words where it would ask, and a group of its own.
func (v *environment) startCommand(line string, attended bool) (*commandConn, error) {
	c := &commandConn{cmd: exec.Command(cmp.Or(v.get("SHELL"), "/bin/sh"), "-c", "exec "+line), closed: make(chan struct{}), done: make(chan struct{})}
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		_ = inR.Close()
		_ = inW.Close()
		return nil, err
	}
	c.in, c.out = inW, outR
	v.give(c.cmd)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = inR, outW, &c.stderr
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: !attended}
	c.cmd.WaitDelay = killGrace / 4
	err = c.cmd.Start()
	_ = inR.Close()
	_ = outW.Close()
	if err != nil {
		_ = inW.Close()
		_ = outR.Close()
		return nil, err
	}
	return c, nil
}

func (c *commandConn) Read(b []byte) (int, error)  { return c.out.Read(b) }
func (c *commandConn) Write(b []byte) (int, error) { return c.in.Write(b) }

// kill ends the process, and its group if it has its own: TERM, and KILL a while
// later. What a command in our group has started sees the end of its streams.
func (c *commandConn) kill(attended bool) {
	if !attended {
		(&localGroup{pid: c.cmd.Process.Pid, done: c.done}).kill()
		return
	}
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.done:
	case <-time.After(killGrace):
		_ = c.cmd.Process.Kill()
	}
}

// Close ends the process; it returns at once.
func (c *commandConn) Close() error {
	c.once.Do(func() {
		_ = c.in.Close()
		_ = c.out.Close()
		close(c.closed)
	})
	return nil
}

// failure says how the command ended, if it has.
func (c *commandConn) failure() error {
	select {
	case <-c.done:
	case <-time.After(killGrace / 4):
	}
	what := "ProxyCommand brought no SSH server"
	if isClosed(c.done) && c.exit != nil {
		what = "ProxyCommand: " + c.exit.Error()
	}
	if s := excerpt(c.stderr.bytes(), 300); s != "" {
		what += ": " + s
	}
	return errors.New(what)
}

// LocalAddr and RemoteAddr are names only.
func (c *commandConn) LocalAddr() net.Addr  { return commandAddr{} }
func (c *commandConn) RemoteAddr() net.Addr { return commandAddr{} }

// The deadlines are pipes' own.
func (c *commandConn) SetDeadline(t time.Time) error {
	return errors.Join(c.in.SetDeadline(t), c.out.SetDeadline(t))
}
func (c *commandConn) SetReadDeadline(t time.Time) error  { return c.out.SetDeadline(t) }
func (c *commandConn) SetWriteDeadline(t time.Time) error { return c.in.SetDeadline(t) }

type commandAddr struct{}

func (commandAddr) Network() string { return "command" }
func (commandAddr) String() string  { return "ProxyCommand" }

// tail keeps the last of what is written to it, for an error.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if n := len(t.buf) - maxSeen; n > 0 {
		t.buf = slices.Clone(t.buf[n:])
	}
	return len(p), nil
}

func (t *tail) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.buf)
}
