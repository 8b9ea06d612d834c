package transport

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
)

const (
	// channelsPerLink is below sshd's MaxSessions of 10: it frees a session
	// only when it has reaped the command, some time after we saw it end.
	channelsPerLink = 8
	// verifyDeadline is what a link may take to prove itself after a call on
	// it ran out of time.
	verifyDeadline = 5 * time.Second
)

// link is one SSH connection.
type link struct {
	route   *route
	s       *settings // with which it was made
	client  *ssh.Client
	via     *link  // to the last hop before it, or nil
	under   func() // gives back what the link runs over: a bastion's link
	dead    chan struct{}
	every   time.Duration // between keepalives
	misses  int           // how many may go unanswered
	forward agentForward
	host    atomic.Pointer[hostKeys] // what vouched for the host, and when
	since   time.Time
	retired bool // suspect for good; this is route.mu's too

	// These belong to route.mu.
	used, limit, forwards int
	suspect               bool
	idleSince             time.Time
}

// watch owns the link: it keeps it alive, closes it when idle, and returns when
// it is dead. All other goroutines that use the connection end with it.
func (l *link) watch() {
	go func() { // ends when the connection does, which watch sees to
		_ = l.client.Wait()
		close(l.dead)
	}()
	defer func() {
		_ = l.client.Close()
		<-l.dead
		l.route.drop(l)
		l.under()
	}()
	idle := l.route.pool.opts.IdleTimeout
	beat := time.NewTicker(l.every)
	defer beat.Stop()
	idling := time.NewTicker(max(idle/4, time.Millisecond))
	defer idling.Stop()
	var asked chan struct{} // closed when the keepalive under way is answered
	missed := 0
	for {
		select {
		case <-l.dead:
			return
		case <-l.route.pool.ctx.Done():
			return
		case <-idling.C:
			if l.route.dropIdle(l, idle) {
				return
			}
		case <-asked:
			asked, missed = nil, 0
		case <-beat.C:
			if asked == nil {
				asked = l.ask()
			} else if missed++; missed >= l.misses {
				return
			}
		}
	}
}

// ask sends a keepalive and gives a channel that closes at the answer, or when
// the connection dies. Without a peer the request would block for ever.
func (l *link) ask() chan struct{} {
	answered := make(chan struct{})
	l.route.pool.own(func() { // ends at the latest when watch closes the client
		// A server that does not know the request says so, which is an answer.
		if _, _, err := l.client.SendRequest("keepalive@openssh.com", true, nil); err == nil {
			close(answered)
		}
	})
	return answered
}

// verifySoon is verify for a caller who does not wait for it.
func (l *link) verifySoon() {
	p := l.route.pool
	p.own(func() { l.verify(p.ctx) })
}

// verify closes the link if it does not answer in time. Until it has, no new
// work goes to it. One question at a time is enough, whoever has one.
func (l *link) verify(ctx context.Context) {
	if l.route.suspect(l, true) {
		l.prove(ctx)
	}
}

// prove lets a suspect link back when it answers, or closes it.
func (l *link) prove(ctx context.Context) {
	t := time.NewTimer(verifyDeadline)
	defer t.Stop()
	select {
	case <-l.ask():
		l.route.suspect(l, false)
	case <-l.dead:
	case <-ctx.Done():
	case <-t.C:
		_ = l.client.Close()
	}
}
