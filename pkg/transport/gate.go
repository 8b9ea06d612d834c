package transport

import (
	"context"
	"sync"
)

// gate limits the logins under way to one address. It narrows for good when the
// server drops one: what sshd suffers at a time (MaxStartups) is not known
// before, and every drop costs a round of waiting.
type gate struct {
	mu      sync.Mutex
	limit   int
	inside  int
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
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// leave gives the place back; dropped is whether the server had no room.
func (g *gate) leave(dropped bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if dropped {
		g.limit = max(1, g.limit/2)
	}
	close(g.changed)
	g.changed = make(chan struct{})
}
