package transport

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// killGrace is how long a process group has between TERM and KILL.
const killGrace = time.Second

// localConn runs scripts on this machine. Its zero value is not usable.
type localConn struct {
	pool *Pool
}

// localCommand is /bin/sh as the other side of an SSH connection would be: in
// the home directory, and without the operator's own tmux, whose variables
// would decide which server a tmux command means.
func localCommand(args ...string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", args...)
	cmd.Env = localEnv(os.Environ())
	if home, err := os.UserHomeDir(); err == nil {
		if st, err := os.Stat(home); err == nil && st.IsDir() {
			cmd.Dir = home
		}
	}
	return cmd
}

func localEnv(env []string) []string {
	kept := make([]string, 0, len(env))
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); name != "TMUX" && name != "TMUX_PANE" {
			kept = append(kept, kv)
		}
	}
	return kept
}

// Run implements Conn.
func (c *localConn) Run(ctx context.Context, s Script) (Result, error) {
	e := Endpoint{Local: true}
	if err := checkScript(e, s); err != nil {
		return Result{}, err
	}
	ctx, leave, err := c.pool.enter(ctx, e)
	if err != nil {
		return Result{}, err
	}
	defer leave()
	if ctx.Err() != nil {
		return Result{}, contextError(ctx, e, "starting", false)
	}
	fr := newFrames()
	cmd := localCommand("-c", `eval "$(cat)"`)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stdin = strings.NewReader(frameScript(fr.nonce, s.Text))
	cmd.Stdout, cmd.Stderr = fr.stdout, fr.stderr
	// A background child may hold the pipes after the script itself is over.
	cmd.WaitDelay = killGrace / 4
	if err := cmd.Start(); err != nil {
		return Result{}, &Error{Kind: KindSession, Endpoint: e, Err: err, Hint: "/bin/sh could not be started"}
	}
	g := &localGroup{pid: cmd.Process.Pid, done: make(chan struct{})}
	c.pool.own(func() {
		g.err = cmd.Wait()
		close(g.done)
	})
	select {
	case <-fr.settled:
	case <-g.done:
	case <-ctx.Done():
		c.pool.endScript(g.kill)
		return Result{}, contextError(ctx, e, "running the script", true)
	}
	var ended error
	if isClosed(g.done) {
		ended = g.err
	}
	res, aerr := fr.answer(e, ended)
	if aerr != nil {
		c.pool.endScript(g.kill)
		return Result{}, aerr
	}
	return res, nil
}

// localGroup is a process group that a script runs in.
type localGroup struct {
	pid  int
	done chan struct{} // closed when the leader is reaped
	err  error         // of Wait, valid after done
}

// kill ends the group: TERM, then KILL for what is left of it. The leader's id
// names the group as long as any process is in it, so it is no other's yet.
func (g *localGroup) kill() {
	if syscall.Kill(-g.pid, syscall.SIGTERM) != nil {
		return
	}
	select {
	case <-g.done:
	case <-time.After(killGrace):
	}
	_ = syscall.Kill(-g.pid, syscall.SIGKILL)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
