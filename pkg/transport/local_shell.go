package transport

import (
	"context"
	"sync"
	"syscall"
	"time"
)

// keptShell is the persistent shell on this machine, by the rules of the one on a
// route: it saves a script the start of a shell.
type keptShell struct {
	mu   sync.Mutex
	runs int         // repeatable scripts that were run
	g    *localShell // or nil
	idle bool        // it has no script
}

// take gives the shell, or nil if there is none or it is in use.
func (l *keptShell) take() *localShell {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.g == nil || !l.idle {
		return nil
	}
	l.idle = false
	return l.g
}

// wanted is whether the next shell is to stay. Of two that are started at once,
// the first that has run its script does.
func (l *keptShell) wanted() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.runs >= shellAfter && l.g == nil
}

// ran counts a repeatable script and keeps g for the next one; false means that
// it is not to be kept.
func (l *keptShell) ran(g *localShell, ready bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs++
	if !ready || isClosed(g.ended) || l.g != nil && l.g != g {
		return false
	}
	l.g, l.idle = g, true
	return true
}

// forget has a later script start another.
func (l *keptShell) forget(g *localShell) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.g == g {
		l.g = nil
	}
}

// endWith ends a shell that lasts when ctx does, at the latest.
func (g *localShell) endWith(ctx context.Context) {
	select {
	case <-g.over:
		return
	case <-ctx.Done():
	}
	g.leave()
	select {
	case <-g.ended:
	case <-time.After(killGrace): // it stands still
		_ = syscall.Kill(g.pid, syscall.SIGKILL)
	}
}
