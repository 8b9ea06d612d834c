package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/crypto/ssh"
)

const (
	// openRetries bounds the attempts to get a channel for one call.
	openRetries = 8
	openPause   = 50 * time.Millisecond
	// endDeadline bounds the ending of a script whose caller has gone.
	endDeadline = 10 * time.Second
	// lostDeadline bounds the ending of a script whose connection died, a new
	// connection included.
	lostDeadline = 5 * time.Second
)

// sshConn runs scripts on an endpoint over the connections of its route.
type sshConn struct {
	pool  *Pool
	route *route
}

// Run implements Conn.
func (c *sshConn) Run(ctx context.Context, s Script) (Result, error) {
	e := c.route.key.Endpoint
	if err := checkScript(e, s); err != nil {
		return Result{}, err
	}
	ctx, leave, err := c.pool.enter(ctx, e)
	if err != nil {
		return Result{}, err
	}
	defer leave()
	res, lost, rerr := c.runOnce(ctx, s, c.abandon)
	if lost != nil && s.Repeatable && ctx.Err() == nil {
		c.endLost(ctx, lost)
		if res, lost, rerr = c.runOnce(ctx, s, c.abandon); rerr != nil {
			// It has run once, whatever kept it from running again. The error may
			// be that of a dial, which others share.
			again := *rerr
			again.Started = true
			rerr = &again
		}
	}
	if lost != nil {
		c.pool.endScript(func() { c.endLost(c.pool.ctx, lost) })
	}
	if rerr != nil {
		return Result{}, rerr
	}
	return res, nil
}

// lostRun is a run whose connection died under it.
type lostRun struct {
	id   runID
	size int // of the framed script, in bytes
}

// runOnce runs s on one channel; abandon ends it if it is not waited for. lost
// is not nil if the connection died under it.
func (c *sshConn) runOnce(ctx context.Context, s Script, abandon func(*channel, *frames)) (_ Result, lost *lostRun, _ *Error) {
	e := c.route.key.Endpoint
	ch, err := c.route.channel(ctx)
	if err != nil {
		return Result{}, nil, err
	}
	fr := newFrames()
	ch.script = frameScript(fr.nonce, s.Text)
	ch.stdin, _ = ch.StdinPipe() // fails on a session that is in use already
	ch.Stdout, ch.Stderr = fr.stdout, fr.stderr
	ch.run(shellCommand(len(ch.script)))
	select {
	case <-fr.settled:
	case <-ch.over:
	case <-ctx.Done():
		abandon(ch, fr)
		return Result{}, nil, contextError(ctx, e, "running the script", true)
	}
	var ended error
	if isClosed(ch.over) {
		ended = ch.err
	}
	res, aerr := fr.answer(e, ended)
	switch {
	case aerr == nil:
		ch.finish()
		return res, nil, nil
	case !isClosed(ch.over): // too much output, or a broken frame
		abandon(ch, fr)
		return Result{}, nil, aerr
	case !ch.accepted && ch.refused():
		return Result{}, nil, &Error{
			Kind: KindSession, Endpoint: e, Err: fmt.Errorf("the server refused to run a command: %s", Neutralise(ch.err.Error())),
			Hint: "see whether the account may run commands there, and whether the machine has processes and memory left",
		}
	case ch.lostLink():
		return Result{}, &lostRun{fr.run(), len(ch.script)}, &Error{
			Kind: KindConnect, Endpoint: e, Started: true, Err: errors.New("the connection broke while the script ran"),
			Hint: "whether the script did its work is not known: look before running it again",
		}
	}
	// The command was accepted, so what is not known to have begun may have.
	aerr.Started = aerr.Started || ch.accepted
	return Result{}, nil, aerr
}

// endLost sees to it, over a new connection, that a run which was lost sight of
// is over. A host that knows of the loss does so by itself, but a link may also
// fall silent at this end alone. It gives up after lostDeadline.
func (c *sshConn) endLost(ctx context.Context, lost *lostRun) {
	if !lost.id.known() {
		return // it has not begun, and can't: its output has no reader
	}
	ctx, cancel := context.WithTimeout(ctx, lostDeadline)
	defer cancel()
	_, _, _ = c.runOnce(ctx, Script{Text: killLostScript(lost.id, lost.size)}, closeChannel)
}

// abandon ends a script that nobody waits for. The end of its input tells the
// watchdog beside it, which kills its process group. What that does not end is
// killed through another channel, since a server may not pass on signals (sshd
// does not for root, nor with a forced command), or else by signals, and by
// closing the channel.
func (c *sshConn) abandon(ch *channel, fr *frames) {
	c.pool.endScript(func() {
		ctx, cancel := context.WithTimeout(c.pool.ctx, endDeadline)
		defer cancel()
		defer ch.finish()
		c.pool.own(func() { ch.link.verify(c.pool.ctx) })
		c.pool.own(func() { _ = ch.stdin.Close() }) // blocks while the link does
		early := !fr.begun()
		if early {
			// Where the signal is passed on, the script does not even begin.
			_ = ch.Signal(ssh.SIGTERM)
			// Its process id may be on its way, or a start-up file still be running.
			select {
			case <-fr.stdout.began:
			case <-ch.over:
			case <-ctx.Done():
			}
		}
		ch.wait(ctx, 2*killGrace)
		switch id := fr.run(); {
		case isClosed(ch.over) && !early:
		case id.known():
			_, _, _ = c.runOnce(ctx, Script{Text: killScript(id)}, closeChannel)
		default:
			_ = ch.Signal(ssh.SIGKILL)
		}
	})
}

// closeChannel is the abandon of scripts that end others.
func closeChannel(ch *channel, _ *frames) { ch.finish() }

// channel is one session on a link, with the slot that it holds.
type channel struct {
	*ssh.Session
	link     *link
	stdin    io.WriteCloser // of a script: open as long as it is wanted
	script   string         // goes first to stdin
	before   func() error   // what to ask of the server before the command, or nil
	accepted bool           // the server took the command; valid after over
	over     chan struct{}  // closed when command and channel are over
	err      error          // valid after over
}

// channel opens a session, on another connection where one is full.
func (r *route) channel(ctx context.Context) (*channel, *Error) {
	e := r.key.Endpoint
	for try := 0; ; try++ {
		ln, err := r.acquire(ctx, true)
		if err != nil {
			return nil, err
		}
		ch, oerr := r.open1(ctx, ln)
		if oerr == nil {
			return ch, nil
		}
		if ctx.Err() != nil {
			return nil, contextError(ctx, e, "opening a session", false)
		}
		if try == openRetries {
			return nil, &Error{Kind: KindSession, Endpoint: e, Err: fmt.Errorf("no session could be opened: %w", oerr),
				Hint: "see MaxSessions in the server's sshd_config, and whether the account may run commands"}
		}
	}
}

// open1 opens a session on ln, whose slot it gives back if that fails.
func (r *route) open1(ctx context.Context, ln *link) (*channel, error) {
	type opened struct {
		s   *ssh.Session
		err error
	}
	got := make(chan opened)
	r.pool.own(func() { // ends with the answer, or with the link
		s, err := ln.client.NewSession()
		select {
		case got <- opened{s, err}:
		case <-ctx.Done():
			if err == nil {
				_ = s.Close()
			}
			r.put(ln, true)
		}
	})
	select {
	case <-ctx.Done():
		r.pool.own(func() { ln.verify(r.pool.ctx) })
		return nil, context.Cause(ctx)
	case o := <-got:
		if o.err == nil {
			return &channel{Session: o.s, link: ln, over: make(chan struct{})}, nil
		}
		defer r.put(ln, true)
		var refused *ssh.OpenChannelError
		if !errors.As(o.err, &refused) {
			_ = ln.client.Close() // no longer a link: the next try gets another
			<-ln.dead
			r.drop(ln)
		} else if r.full(ln) {
			pause(ctx, jitter(openPause)) // a command that has just ended may still count
		}
		return nil, fmt.Errorf("%s", Neutralise(o.err.Error()))
	}
}

// run starts cmd and sees it to its end.
func (ch *channel) run(cmd string) {
	r := ch.link.route
	r.pool.own(func() { // ends with the channel, or with the link
		defer r.put(ch.link, true)
		defer close(ch.over)
		defer func() { _ = ch.Close() }()
		if ch.before != nil {
			if ch.err = ch.before(); ch.err != nil {
				return
			}
		}
		if ch.err = ch.Start(cmd); ch.err == nil {
			ch.accepted = true
			if ch.script != "" {
				r.pool.own(func() { _, _ = io.WriteString(ch.stdin, ch.script) }) // ends at the latest with the channel
			}
			ch.err = ch.Wait()
		}
	})
}

// finish closes a channel whose command is over, or should be, and gives its
// slot back once the server agrees.
func (ch *channel) finish() {
	ch.link.route.pool.own(func() {
		if ch.stdin != nil {
			_ = ch.stdin.Close() // some servers see a command to its end only then
		}
		// The server closes by itself, unless a background process of the
		// script holds the channel open.
		ch.wait(ch.link.route.pool.ctx, killGrace/4)
		_ = ch.Close()
	})
}

// wait gives the channel at most d to be over.
func (ch *channel) wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ch.over:
	case <-ctx.Done():
	case <-t.C:
	}
}

// refused is whether the server said no to the command, rather than went away.
func (ch *channel) refused() bool {
	return ch.err != nil && !isClosed(ch.link.dead) && !hungUp(ch.err)
}

// lostLink is whether the connection died. The channel may notice first, so it
// gives the link a moment to.
func (ch *channel) lostLink() bool {
	var exit *ssh.ExitError
	if ch.err == nil || errors.As(ch.err, &exit) {
		return false
	}
	moment := time.NewTimer(killGrace / 2)
	defer moment.Stop()
	select {
	case <-ch.link.dead:
		return true
	case <-moment.C:
		return false
	}
}
