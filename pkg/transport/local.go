package transport

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// killGrace is how long a process group has between TERM and KILL.
const killGrace = time.Second

// drainGrace is what reading the rest of a script's output may take once it is
// over. On a machine at its limits a quarter of a second has been too little.
const drainGrace = 5 * time.Second

// localConn runs scripts on this machine. Its zero value is not usable.
type localConn struct {
	pool *Pool
}

// localCommand is /bin/sh as the other side of an SSH connection would be: in
// the home directory, and without the operator's own tmux, whose variables
// would decide which server a tmux command means. HOME is always set.
func localCommand(args ...string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", args...)
	cmd.Env = localEnv(os.Environ())
	home := localHome()
	if os.Getenv("HOME") == "" && home != "" {
		cmd.Env = append(cmd.Env, "HOME="+home)
	}
	if st, err := os.Stat(home); err == nil && st.IsDir() {
		cmd.Dir = home
	}
	return cmd
}

// localHome is $HOME, which a person may have set for a reason, else the account's:
// cron and systemd services may have no HOME.
func localHome() string {
	if home := os.Getenv("HOME"); home != "" {
		return home
	}
	return homeDir()
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
	repeatable := s.sharesShell()
	if repeatable {
		if g := c.pool.local.take(); g != nil {
			g.give(s)
			var aerr *Error
			if g.begins(ctx, wakeTime(ctx)) {
				var res Result
				if res, aerr = c.runOn(ctx, g, s); aerr == nil {
					return res, nil
				}
			} else { // it was stopped
				c.pool.local.forget(g)
				c.pool.endScript(g.kill)
			}
			if aerr != nil && (!isClosed(g.over) || ctx.Err() != nil) {
				return Result{}, aerr
			}
			// The shell was ended, maybe by the script: one of its own tells.
			repeatable = false
		}
	}
	g := newLocalShell(repeatable && c.pool.local.wanted())
	g.give(s)
	if serr := c.start(g); serr != nil {
		return Result{}, &Error{Kind: KindSession, Endpoint: e, Err: serr, Hint: "/bin/sh could not be started"}
	}
	res, aerr := c.runOn(ctx, g, s)
	if aerr != nil {
		return Result{}, aerr
	}
	return res, nil
}

// runOn waits for the answer to s, which g was given.
func (c *localConn) runOn(ctx context.Context, g *localShell, s Script) (Result, *Error) {
	e := Endpoint{Local: true}
	fr := g.frames
	if !g.await(ctx) {
		c.pool.local.forget(g)
		c.pool.endScript(func() {
			if s.Finish {
				select {
				case <-g.over:
				case <-c.pool.ctx.Done():
				case <-time.After(finishGrace * time.Second):
				}
			}
			g.kill()
		})
		return Result{}, contextError(ctx, e, "running the script", true)
	}
	var ended error
	if isClosed(g.over) {
		ended = g.err
	}
	res, aerr := fr.answer(e, ended)
	if aerr != nil {
		c.pool.local.forget(g)
		c.pool.endScript(g.kill)
		return Result{}, aerr
	}
	if _, ready := g.answered(ctx); s.sharesShell() && !c.pool.local.ran(g, ready) {
		g.leave()
	}
	return res, nil
}

// start starts a shell in a process group of its own, and feeds it.
func (c *localConn) start(g *localShell) error {
	outR, outW, err := os.Pipe()
	if err != nil {
		return err
	}
	errR, errW, err := os.Pipe()
	if err != nil {
		_, _ = outR.Close(), outW.Close()
		return err
	}
	inR, inW, err := os.Pipe()
	if err != nil {
		_, _, _, _ = outR.Close(), outW.Close(), errR.Close(), errW.Close()
		return err
	}
	cmd := localCommand("-c", readScript)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, errW
	err = cmd.Start()
	_, _, _ = inR.Close(), outW.Close(), errW.Close()
	if err != nil {
		_, _, _ = inW.Close(), outR.Close(), errR.Close()
		return err
	}
	g.pid, g.stdin = cmd.Process.Pid, inW
	var settled chan struct{} // where there is but one answer to wait for
	if g.lasting {
		c.pool.own(func() { g.endWith(c.pool.ctx) })
	} else {
		settled = g.frames.settled
	}
	c.pool.own(g.feed) // ends with the process, whose end of the pipe it is
	drained := make(chan struct{})
	c.pool.own(func() { // ends at the end of both streams, or when they are closed below
		defer close(drained)
		var both sync.WaitGroup
		both.Go(func() { _, _ = io.Copy(&g.out[0], outR) })
		both.Go(func() { _, _ = io.Copy(&g.out[1], errR) })
		both.Wait()
	})
	c.pool.own(func() { // ends with the process
		g.err = cmd.Wait()
		close(g.ended)
		c.pool.local.forget(g)
		_ = inW.Close() // until now: its end is the operator's, to the watchdog
		// What it wrote is in the pipes, and read soon. Their end may never
		// come: a background child can hold them.
		select {
		case <-drained:
		case <-settled:
		case <-g.left:
		case <-time.After(drainGrace):
		}
		_, _ = outR.Close(), errR.Close()
		<-drained
		close(g.over)
	})
	return nil
}

// localShell is a shell on this machine.
type localShell struct {
	shell
	localGroup
	ended chan struct{} // closed when the leader is reaped
	err   error         // of Wait, valid after ended
}

func newLocalShell(lasting bool) *localShell {
	g := &localShell{shell: newShell(), ended: make(chan struct{})}
	g.open(lasting)
	g.done = g.over
	return g
}

// localGroup is a process group that a script runs in.
type localGroup struct {
	pid  int
	done chan struct{} // closed when it is over
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
