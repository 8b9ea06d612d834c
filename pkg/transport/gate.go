package transport

import (
	"context"
	"strings"
	"sync"
	"time"
)

// retryPolicy says how often a login that the server dropped before it began is
// tried again: sshd does that when too many are logging in (MaxStartups). The
// pause doubles up to longest, give or take a half, so that the dropped do not
// come back together.
type retryPolicy struct {
	alone, crowded int // retries where we had no other login under way, and where we had
	first, longest time.Duration
}

// dropPolicy tells a server that has no room, which is patiently tried, from one
// that hangs up on everybody, which should be reported within seconds.
var dropPolicy = retryPolicy{alone: 4, crowded: 16, first: 250 * time.Millisecond, longest: 2 * time.Second}

func (p retryPolicy) again(try int, crowded bool) bool {
	return try < p.alone || crowded && try < p.crowded
}

func (p retryPolicy) wait(try int) time.Duration {
	return jitter(min(p.first<<min(try, 10), p.longest))
}

// gateKey names what logins with s must not crowd: the machine that they come
// in by. Behind a ProxyCommand that is not known, so all uses of one command
// count as one.
func (s *settings) gateKey() string {
	if s.proxyCommand != "" {
		return s.proxyCommand
	}
	return s.proxyJump + "/" + strings.ToLower(s.addr())
}

// proxyWasDropped is whether a ProxyCommand failed since a server dropped its
// login: an ssh there reports it so, if it is OpenSSH's.
func proxyWasDropped(why error) bool {
	return strings.Contains(why.Error(), "kex_exchange_identification: ") || strings.Contains(why.Error(), "ssh_exchange_identification: ")
}

// gate limits the logins under way to one address. It narrows for good when the
// server drops one: what sshd suffers at a time (MaxStartups) is not known
// before, and every drop costs a round of waiting.
type gate struct {
	mu      sync.Mutex
	limit   int
	inside  int
	waiting int
	changed chan struct{} // closed and replaced when somebody leaves
}

func newGate() *gate { return &gate{limit: dialsPerAddress, changed: make(chan struct{})} }

// enter waits for a place.
func (g *gate) enter(ctx context.Context) error {
	for {
		g.mu.Lock()
		if g.inside < g.limit {
			g.inside++
			g.mu.Unlock()
			return nil
		}
		changed := g.changed
		g.waiting++
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		g.mu.Lock()
		g.waiting--
		g.mu.Unlock()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// leave gives the place back. dropped is whether the server had no room; crowded
// whether others of ours want in too.
func (g *gate) leave(dropped bool) (crowded bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if dropped {
		g.limit = max(1, g.limit/2)
	}
	close(g.changed)
	g.changed = make(chan struct{})
	return g.inside > 0 || g.waiting > 0
}
