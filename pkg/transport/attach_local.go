package transport

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/creack/pty"
)

// Attach implements Conn. With t.File the command has the terminal itself, as
// if the user had typed it; else a pseudo-terminal between it and the streams.
func (c *localConn) Attach(ctx context.Context, s Script, t Terminal) (int, error) {
	e := Endpoint{Local: true}
	if err := checkAttach(e, s); err != nil {
		return 0, err
	}
	ctx, leave, err := c.pool.enter(ctx, e)
	if err != nil {
		return 0, err
	}
	defer leave()
	if ctx.Err() != nil {
		return 0, contextError(ctx, e, "starting", false)
	}
	cmd := localCommand("-c", attachPrologue+s.whole())
	if t.File != nil {
		if t.Term != "" {
			cmd.Env = append(cmd.Env, "TERM="+t.Term)
		}
		return c.attachFile(ctx, cmd, t.File)
	}
	t = t.withDefaults()
	cmd.Env = append(cmd.Env, "TERM="+t.Term)
	return c.attachPTY(ctx, cmd, t)
}

// attachFile hands the terminal over. The command stays in our process group,
// which is the one in the terminal's foreground.
func (c *localConn) attachFile(ctx context.Context, cmd *exec.Cmd, tty *os.File) (int, error) {
	e := Endpoint{Local: true}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	if err := cmd.Start(); err != nil {
		return 0, &Error{Kind: KindSession, Endpoint: e, Err: err}
	}
	done := make(chan struct{})
	var werr error
	c.pool.own(func() { // ends with the command
		werr = cmd.Wait()
		close(done)
	})
	select {
	case <-done:
		return localExit(werr)
	case <-ctx.Done():
	}
	// The user's terminal must be the user's again before this returns.
	hangUp(cmd.Process.Signal, done)
	return 0, contextError(ctx, e, "attached", true)
}

func (c *localConn) attachPTY(ctx context.Context, cmd *exec.Cmd, t Terminal) (int, error) {
	e := Endpoint{Local: true}
	master, err := pty.StartWithSize(cmd, winsize(t.Size))
	if err != nil {
		return 0, &Error{Kind: KindSession, Endpoint: e, Err: err, Hint: "no pseudo-terminal could be opened"}
	}
	done := make(chan struct{})
	var werr error
	c.pool.own(func() { // ends with the command
		werr = cmd.Wait()
		close(done)
	})
	drained := make(chan struct{})
	c.pool.own(func() { // ends when every holder of the terminal has gone, or at master's close
		defer close(drained)
		copyOutput(t.Out, master)
	})
	gone := make(chan struct{})
	in := copyInput(t.In, master, func() { close(gone) })
	// pty made the command the leader of a session, and so of a group.
	group := func(s os.Signal) error { return syscall.Kill(-cmd.Process.Pid, s.(syscall.Signal)) }
	defer func() {
		in.stop()
		_ = master.Close()
		<-drained
	}()
	for {
		select {
		case size := <-t.Resize:
			if size.Cols > 0 && size.Rows > 0 {
				_ = pty.Setsize(master, winsize(size))
			}
		case <-done:
			select { // what the command wrote last
			case <-drained:
			case <-time.After(drainGrace):
			}
			return localExit(werr)
		case <-gone:
			hangUp(group, done)
			return hangupCode, nil
		case <-ctx.Done():
			hangUp(group, done)
			return 0, contextError(ctx, e, "attached", true)
		}
	}
}

// hangUp ends a command on a terminal as a closed window would, and kills it if
// it does not mind.
func hangUp(signal func(os.Signal) error, done <-chan struct{}) {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGKILL} {
		_ = signal(s)
		select {
		case <-done:
			return
		case <-time.After(hangupGrace):
		}
	}
}

// localExit gives the exit code as sh has it.
func localExit(err error) (int, error) {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case !errors.As(err, &exit):
		return 0, &Error{Kind: KindSession, Endpoint: Endpoint{Local: true}, Started: true, Err: err}
	}
	if st, ok := exit.Sys().(syscall.WaitStatus); ok && st.Signaled() {
		return 128 + int(st.Signal()), nil
	}
	return exit.ExitCode(), nil
}

func winsize(s Size) *pty.Winsize {
	clamp := func(n int) uint16 { return uint16(min(max(n, 1), 1<<15)) }
	return &pty.Winsize{Cols: clamp(s.Cols), Rows: clamp(s.Rows)}
}

// copyOutput copies until the terminal ends, which Linux reports as EIO. Output
// that cannot be written is dropped: the command must not hang for it.
func copyOutput(to interface{ Write([]byte) (int, error) }, master *os.File) {
	buf := make([]byte, 32<<10)
	for {
		n, err := master.Read(buf)
		if n > 0 && to != nil {
			_, _ = to.Write(buf[:n])
		}
		if err != nil {
			return
		}
	}
}
