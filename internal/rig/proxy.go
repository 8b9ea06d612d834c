package rig

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Proxy stands between a client and a TCP address and makes the network bad on
// request. Its methods may be called at once from several goroutines.
type Proxy struct {
	target string
	addr   string

	delay    atomic.Int64 // nanoseconds each way
	accepted atomic.Int64
	up, down atomic.Int64
	turns    atomic.Int64
	upward   atomic.Bool // the way of the last bytes

	mu       sync.Mutex
	listener net.Listener // nil while it refuses
	links    map[*link]struct{}
	flowing  chan struct{} // closed while bytes may pass
	closed   bool
	work     sync.WaitGroup
}

// dialWithin bounds the proxy's own dial to what it stands before.
const dialWithin = 10 * time.Second

// NewProxy listens on a free port of 127.0.0.1 and passes on to target,
// host:port. It has neither delay nor fault until it is told.
func NewProxy(target string) (*Proxy, error) {
	p := &Proxy{target: target, links: map[*link]struct{}{}, flowing: make(chan struct{})}
	close(p.flowing)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the proxy of %s: %w", target, err)
	}
	p.addr = l.Addr().String()
	p.listen(l)
	return p, nil
}

// Addr is where the proxy listens, host:port. It stays the same for its life.
func (p *Proxy) Addr() string { return p.addr }

// SetDelay makes every byte arrive d later, in each direction: a round trip
// takes 2d longer. It holds for the bytes that come in from now on.
func (p *Proxy) SetDelay(d time.Duration) { p.delay.Store(int64(d)) }

// Stall stops all bytes in both directions. Connections stay, and new ones are
// accepted; the bytes are kept for Resume.
func (p *Proxy) Stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.flowing:
		p.flowing = make(chan struct{})
	default:
	}
}

// Resume lets the bytes go on.
func (p *Proxy) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.flowing:
	default:
		close(p.flowing)
	}
}

func (p *Proxy) gate() chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.flowing
}

// Cut breaks every connection with a reset, on both sides. New ones are taken.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.reset()
	}
}

// Refuse makes new connections fail with ECONNREFUSED, while those that stand
// go on; with false it takes new ones again. It fails where another process has
// taken the port meanwhile.
func (p *Proxy) Refuse(refuse bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return net.ErrClosed
	case refuse && p.listener != nil:
		err := p.listener.Close()
		p.listener = nil
		return err
	case !refuse && p.listener == nil:
		l, err := net.Listen("tcp", p.addr)
		if err != nil {
			return fmt.Errorf("listen again for the proxy of %s: %w", p.target, err)
		}
		p.listenLocked(l)
	}
	return nil
}

// Traffic is what has passed through a proxy so far.
type Traffic struct {
	Connections int64 // accepted since the start
	Open        int   // open now
	Up, Down    int64 // bytes passed on to the target, and to the clients
	// Turns is how often bytes went the other way than those before them: two a
	// round trip, as long as one connection is open.
	Turns int64
}

// Traffic counts connections and bytes.
func (p *Proxy) Traffic() Traffic {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Traffic{p.accepted.Load(), len(p.links), p.up.Load(), p.down.Load(), p.turns.Load()}
}

// passed counts n bytes on their way.
func (p *Proxy) passed(upward bool, n int) {
	if p.upward.Swap(upward) != upward {
		p.turns.Add(1)
	}
	if upward {
		p.up.Add(int64(n))
	} else {
		p.down.Add(int64(n))
	}
}

// Close breaks all connections and returns when no goroutine of the proxy is
// left.
func (p *Proxy) Close() error {
	p.mu.Lock()
	var err error
	p.closed = true
	if p.listener != nil {
		err = p.listener.Close()
		p.listener = nil
	}
	for l := range p.links {
		l.reset()
	}
	p.mu.Unlock()
	p.work.Wait()
	return err
}

func (p *Proxy) listen(l net.Listener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listenLocked(l)
}

func (p *Proxy) listenLocked(l net.Listener) {
	p.listener = l
	p.work.Go(func() {
		for {
			conn, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				p.take(conn)
			}
		}
	})
}

// take makes a link of an accepted connection, and serves it until either side
// has gone.
func (p *Proxy) take(client net.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), dialWithin)
	l := &link{proxy: p, client: client, gone: make(chan struct{}), cancel: cancel}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		l.reset()
		return
	}
	p.accepted.Add(1)
	p.links[l] = struct{}{}
	p.work.Go(func() {
		l.serve(ctx)
		p.mu.Lock()
		delete(p.links, l)
		p.mu.Unlock()
	})
}
