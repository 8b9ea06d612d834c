package transport

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/crypto/ssh"
)

const (
	// openRetries bounds the attempts to get a channel for one call.
	openRetries = 8
	openPause   = 50 * time.Millisecond
)

// channel is one session on a link, with the slot that it holds.
type channel struct {
	*ssh.Session
	shell    // not where it is attached to
	link     *link
	before   func() error // what to ask of the server before the command, or nil
	accepted bool         // the server took the command; valid after over
	err      error        // valid after over

	idle bool // it is the persistent shell and has no script; belongs to route.mu
}

func newChannel(ln *link, s *ssh.Session) *channel {
	return &channel{Session: s, shell: newShell(), link: ln}
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
		ln.verifySoon()
		return nil, context.Cause(ctx)
	case o := <-got:
		if o.err == nil {
			return newChannel(ln, o.s), nil
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
		defer r.release(ch)
		defer close(ch.over)
		defer func() { _ = ch.Close() }()
		if ch.before != nil {
			if ch.err = ch.before(); ch.err != nil {
				return
			}
		}
		ch.sendEnv()
		if ch.err = ch.Start(cmd); ch.err == nil {
			ch.accepted = true
			if ch.scripts != nil {
				r.pool.own(ch.feed)
			}
			ch.err = ch.Wait()
		}
	})
}

// startShell makes ch a shell that waits for one script, or, if it is to last, for
// one after another.
func (ch *channel) startShell(lasting bool) {
	ch.open(lasting)
	ch.stdin, _ = ch.StdinPipe() // fails on a session that is in use already
	ch.Stdout, ch.Stderr = &ch.out[0], &ch.out[1]
	ch.run(shellCommand)
}

// finish closes a channel whose command is over, or should be, and gives its
// slot back once the server agrees.
func (ch *channel) finish() {
	ch.link.route.pool.own(func() {
		ch.leave() // some servers see a command to its end only then
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
