package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
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
	link     *link
	before   func() error  // what to ask of the server before the command, or nil
	accepted bool          // the server took the command; valid after over
	over     chan struct{} // closed when command and channel are over
	err      error         // valid after over

	// These are a shell's, see startShell.
	stdin   io.WriteCloser // feed's alone: open as long as the script is wanted
	scripts chan piece     // what feed is to send
	left    chan struct{}  // closed by leave
	once    sync.Once
	out     [2]stream // standard output and standard error
	lasting bool      // it runs one script after another
	looping bool      // it was told how
	frames  *frames   // of the script that it has
	id      runID     // known once a script was answered

	idle bool // it is the persistent shell and has no script; belongs to route.mu
}

// piece is text for a shell's standard input.
type piece struct {
	text string
	fed  chan struct{} // closed when all of it was sent
}

func newChannel(ln *link, s *ssh.Session) *channel {
	return &channel{Session: s, link: ln, over: make(chan struct{})}
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
	ch.lasting = lasting
	ch.scripts, ch.left = make(chan piece, 1), make(chan struct{})
	ch.stdin, _ = ch.StdinPipe() // fails on a session that is in use already
	ch.Stdout, ch.Stderr = &ch.out[0], &ch.out[1]
	ch.run(shellCommand)
}

// give hands s to the shell, which must have none, and gives its answer to be.
func (ch *channel) give(s Script) *frames {
	fr := newFrames()
	text := ""
	switch {
	case !ch.lasting:
		text = sized(frameScript(fr.nonce, s))
	case !ch.looping:
		ch.looping = true
		text = sized(loopScript) + request(fr.nonce, s.Text)
	default:
		text = request(fr.nonce, s.Text)
	}
	ch.frames = fr
	ch.out[0].pass(fr.stdout)
	ch.out[1].pass(fr.stderr)
	ch.scripts <- piece{text, fr.fed} // there is room: feed has sent the one before
	return fr
}

// keep has the shell wait for its next script; false means that it can't, and is
// to be finished.
func (ch *channel) keep(ctx context.Context) bool {
	fr := ch.frames
	if ch.lasting {
		// It is sent, or the answer is none of our loop's.
		wait, cancel := context.WithTimeout(ctx, drainGrace)
		defer cancel()
		select {
		case <-fr.fed:
		case <-wait.Done():
			ch.link.route.forgetShell(ch)
		}
	}
	ch.id, ch.frames = fr.run(), nil // which may be large
	ch.out[0].pass(nil)
	ch.out[1].pass(nil)
	return ch.link.route.ran(ch, fr.stderr.state().done)
}

// feed passes scripts on, and the news that they are not wanted any more: the end
// of the input. It ends at the latest with the channel.
func (ch *channel) feed() {
	for {
		select {
		case p := <-ch.scripts:
			if _, err := io.WriteString(ch.stdin, p.text); err != nil {
				return
			}
			close(p.fed)
		case <-ch.left:
			_ = ch.stdin.Close()
			return
		case <-ch.over:
			return
		}
	}
}

// stream passes a shell's output on to whoever waits for it, if anybody does: what
// a host prints between two answers is dropped.
type stream struct {
	mu sync.Mutex
	to *frameReader
}

// Write implements io.Writer.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.to == nil {
		return len(p), nil
	}
	return s.to.Write(p)
}

func (s *stream) pass(to *frameReader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to = to
}

// leave tells the host that the script is not wanted any more.
func (ch *channel) leave() {
	if ch.left != nil {
		ch.once.Do(func() { close(ch.left) })
	}
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
