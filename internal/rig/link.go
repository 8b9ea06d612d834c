package rig

import (
	"context"
	"net"
	"sync"
	"time"
)

// link is one connection through a proxy: two sockets and a pipe each way.
type link struct {
	proxy  *Proxy
	client net.Conn
	gone   chan struct{} // closed by reset
	cancel context.CancelFunc

	mu     sync.Mutex
	target net.Conn // nil until it is dialled
	broken bool
}

// chunk is bytes on their way, and when they are due at the other side.
type chunk struct {
	bytes []byte
	due   time.Time
}

// inFlight is how many chunks a pipe holds, a stalled one above all. What goes
// beyond fills the kernel's buffers, and then the sender waits, as it would.
const inFlight = 256

// reset breaks the link for good: both sides see a reset, not an end.
func (l *link) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken {
		return
	}
	l.broken = true
	close(l.gone)
	l.cancel()
	for _, c := range []net.Conn{l.client, l.target} {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
			_ = tcp.Close()
		}
	}
}

// serve dials the target and passes bytes until both directions have ended.
func (l *link) serve(ctx context.Context) {
	defer l.reset()
	var dialer net.Dialer
	target, err := dialer.DialContext(ctx, "tcp", l.proxy.target)
	if err != nil {
		return
	}
	l.mu.Lock()
	l.target = target
	broken := l.broken
	l.mu.Unlock()
	if broken {
		_ = target.Close()
		return
	}
	var pipes sync.WaitGroup
	pipes.Go(func() { l.pass(l.client, target, true) })
	pipes.Go(func() { l.pass(target, l.client, false) })
	pipes.Wait()
	// Both sides have ended in order: so does the proxy.
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.broken {
		l.broken = true
		close(l.gone)
		l.cancel()
		_, _ = l.client.Close(), target.Close()
	}
}

// pass moves bytes one way. Reading and writing are apart, so that a delay
// makes bytes late and not fewer.
func (l *link) pass(from, to net.Conn, upward bool) {
	queue := make(chan chunk, inFlight)
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(queue)
		for {
			buffer := make([]byte, 16<<10)
			n, err := from.Read(buffer)
			if n > 0 {
				due := time.Now().Add(time.Duration(l.proxy.delay.Load()))
				select {
				case queue <- chunk{buffer[:n], due}:
				case <-l.gone:
					return
				}
			}
			if err != nil {
				return
			}
		}
	})
	defer reader.Wait()
	for c := range queue {
		if !l.wait(c.due) {
			return
		}
		// Counted first: an answer to these bytes must not be seen before they are.
		l.proxy.passed(upward, len(c.bytes))
		if _, err := to.Write(c.bytes); err != nil {
			l.reset()
			return
		}
	}
	// An end is on its way as bytes are: it waits for the gate too.
	if l.wait(time.Now().Add(time.Duration(l.proxy.delay.Load()))) {
		if tcp, ok := to.(*net.TCPConn); ok {
			_ = tcp.CloseWrite()
		}
	}
}

// wait returns when bytes that are due then may pass, or false when the link
// has gone.
func (l *link) wait(due time.Time) bool {
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.gone:
		return false
	}
	select {
	case <-l.proxy.gate():
		return true
	case <-l.gone:
		return false
	}
}
