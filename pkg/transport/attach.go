package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
)

const (
	// maxAttachScript is how long a script on a terminal may be, in bytes: it
	// travels, up to four times as long, in the command string.
	maxAttachScript = 16 << 10
	// hangupGrace is what a command has to end in after its terminal was hung up.
	hangupGrace = time.Second
	// hangupCode is the exit code of a command whose input ended: 128 + SIGHUP.
	hangupCode = 129
)

// attachPrologue goes before a script on a terminal. A terminal that the host
// has never heard of would show nothing; nearly all are close to xterm.
const attachPrologue = pathPrologue + `if command -v infocmp >/dev/null 2>&1 && ! infocmp "$TERM" >/dev/null 2>&1; then TERM=xterm-256color; export TERM; fi
`

// checkAttach is checkScript for Attach.
func checkAttach(e Endpoint, s Script) *Error {
	if n := len(s.whole()); n > maxAttachScript {
		return &Error{Kind: KindConfig, Endpoint: e, Err: fmt.Errorf("the script is %d bytes long; on a terminal it may have %d", n, maxAttachScript)}
	}
	return checkScript(e, s)
}

// commandString packs a script into one command string that every login shell
// reads alike. A terminal's standard input is not there to carry it. Within the
// single quotes stands nothing that any shell, csh with its ! and line feeds or
// fish with its backslashes included, would take as special.
func commandString(text string) string {
	var b strings.Builder
	b.WriteString(`'eval "$(printf "`)
	for _, c := range []byte(text) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(" _./:=,+@-", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, `\%03o`, c)
		}
	}
	b.WriteString(`")"'`)
	command := "exec /bin/sh -c " + b.String()
	// Restricted shells know neither exec nor a slash. What all of it may take
	// as one argument is 128 KiB on Linux.
	if len(command) < 60<<10 {
		command += "; sh -c " + b.String()
	}
	return command
}

// Attach implements Conn.
func (c *sshConn) Attach(ctx context.Context, s Script, t Terminal) (int, error) {
	e := c.route.key.Endpoint
	if err := checkAttach(e, s); err != nil {
		return 0, err
	}
	ctx, leave, err := c.pool.enter(ctx, e)
	if err != nil {
		return 0, err
	}
	defer leave()
	code, aerr := c.attach(ctx, s, t.withDefaults())
	if aerr != nil {
		return 0, aerr
	}
	return code, nil
}

func (c *sshConn) attach(ctx context.Context, s Script, t Terminal) (int, *Error) {
	e := c.route.key.Endpoint
	ch, err := c.route.channel(ctx)
	if err != nil {
		return 0, err
	}
	in, perr := ch.StdinPipe()
	if perr != nil {
		ch.run(":")
		return 0, &Error{Kind: KindSession, Endpoint: e, Err: perr}
	}
	out := &lidded{to: t.Out}
	// Whoever waits for this call has the terminal for itself when it returns.
	defer out.shut.Store(true)
	ch.Stdout, ch.Stderr = out, out
	ch.before = func() error {
		if err := ch.forwardAgent(); err != nil {
			return err
		}
		if err := ch.RequestPty(ch.link.s.setEnvTerm(t.Term), t.Size.Rows, t.Size.Cols, ssh.TerminalModes{}); err != nil {
			return fmt.Errorf("no terminal was given: %w", err)
		}
		return nil
	}
	ch.run(commandString(attachPrologue + s.whole()))

	gone := make(chan struct{})
	input := copyInput(t.In, in, func() { close(gone) })
	defer input.stop()
	for {
		select {
		case size := <-t.Resize:
			if size.Cols > 0 && size.Rows > 0 {
				_ = ch.WindowChange(size.Rows, size.Cols)
			}
		case <-ch.over:
			return attachEnd(e, ch)
		case <-gone:
			ch.hangUp(c.pool)
			return hangupCode, nil
		case <-ctx.Done():
			ch.hangUp(c.pool)
			return 0, contextError(ctx, e, "attached", true)
		}
	}
}

// lidded is a writer that drops everything once it is shut.
type lidded struct {
	to   io.Writer
	shut atomic.Bool
}

func (l *lidded) Write(p []byte) (int, error) {
	if l.to == nil || l.shut.Load() {
		return len(p), nil
	}
	return l.to.Write(p)
}

// hangUp ends a command on a terminal, as sshd does when its channel closes.
func (ch *channel) hangUp(p *Pool) {
	p.endScript(func() {
		ch.link.verifySoon()
		_ = ch.Close()
		ch.wait(p.ctx, hangupGrace)
	})
}

// attachEnd reads how a command on a terminal ended.
func attachEnd(e Endpoint, ch *channel) (int, *Error) {
	var exit *ssh.ExitError
	switch {
	case ch.err == nil:
		return 0, nil
	case errors.As(ch.err, &exit):
		return exit.ExitStatus(), nil
	case !ch.accepted && ch.refused():
		return 0, &Error{Kind: KindSession, Endpoint: e, Err: errors.New(Neutralise(ch.err.Error())), Hint: "see PermitTTY and forced commands on the server"}
	case ch.lostLink():
		return 0, &Error{Kind: KindConnect, Endpoint: e, Started: ch.accepted, Err: errors.New("the connection broke"), Hint: "what runs in the session goes on; attach again"}
	}
	return 0, &Error{Kind: KindProtocol, Endpoint: e, Started: true, Err: errors.New(Neutralise(ch.err.Error()))}
}
