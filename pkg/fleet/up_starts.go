package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

// unauthLimit is how many hosts without a valid login stop a fleet from being
// started. Sessions that share a token all drop out when it is renewed by one of
// them, and another two dozen that try it change nothing but its worth.
const unauthLimit = 3

// ErrNotBegun is what the error of a host wraps that Up left as it was found,
// because others turned out to have no valid login.
var ErrNotBegun = fmt.Errorf("%d hosts have no valid login, and starting more would not mend that", unauthLimit)

// starts lets clients be started: unauthLimit at once at first, and two more for
// each that came up, so that however large the fleet no more than a few are ever
// started in vain. Its methods are safe for concurrent use.
type starts struct {
	mu                sync.Mutex
	changed           chan struct{} // closed and made anew whenever a waiting host should look again
	running, up, none int
}

func newStarts() *starts { return &starts{changed: make(chan struct{})} }

// begin waits until a client may be started; end must follow. It gives ErrNotBegun
// when none is to be started any more, or the end of ctx.
func (g *starts) begin(ctx context.Context) error {
	for {
		g.mu.Lock()
		wait := g.changed
		switch {
		case g.none >= unauthLimit:
			g.mu.Unlock()
			return ErrNotBegun
		case g.running+g.none < unauthLimit+2*g.up:
			g.running++
			g.mu.Unlock()
			return nil
		}
		g.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// end says what became of a host that begin let start.
func (g *starts) end(state detect.State) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running--
	switch state {
	case detect.Ready, detect.Busy, detect.Limited:
		g.up++
	case detect.Unauth:
		g.none++
	}
	g.tell()
}

// found says that a host was there already, without a valid login.
func (g *starts) found() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.none++
	g.tell()
}

func (g *starts) tell() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// NotBegun tells whether a host was left as it was found.
func (r UpResult) NotBegun() bool { return errors.Is(r.Err, ErrNotBegun) }
