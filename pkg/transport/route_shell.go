package transport

import (
	"slices"
	"time"
)

// shellAfter is how many repeatable scripts an endpoint has run when the next one
// starts a shell that stays: who has asked twice will ask again. A program that
// asks once so pays for nothing that it does not use, and the start costs the
// second script what a channel of its own would.
const shellAfter = 1

// shelllessFor is how long an endpoint goes without a persistent shell that had none
// to give: an accident may look the same.
const shelllessFor = 10 * time.Minute

// A channel whose shell runs loopScript is its route's one persistent shell.
//
// Only repeatable scripts use it. That a link is dead may show only after a
// script was written to it, and then nobody knows whether the script has begun;
// to open a channel first, which is what the others do, would have told.
//
// It stands in nobody's way. As long as it is idle it does not count for its
// link's age, it is ended when a caller finds no room for a channel, and there is
// none where a link is known to have room for one channel alone.

// takeShell gives the persistent shell, with its slot, or nil if there is none or
// it is in use: a second one was not worth its keep.
func (r *route) takeShell() *channel {
	r.mu.Lock()
	defer r.mu.Unlock()
	ch := r.shell
	if ch == nil || !ch.idle || ch.link.suspect || isClosed(ch.over) || !slices.Contains(r.links, ch.link) {
		return nil
	}
	ch.idle = false
	ch.link.used++
	return ch
}

// keepShell makes ch, which has yet to be started, the persistent shell, if the
// endpoint is one to be asked again and has neither one nor a want of room.
func (r *route) keepShell(ch *channel) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.runs < shellAfter || time.Now().Before(r.shellless) || ch.link.used >= ch.link.limit {
		return false
	}
	if r.shell != nil && r.shell.link.suspect {
		r.dropShell() // it would wait there for what goes elsewhere
	}
	if r.shell != nil {
		return false
	}
	r.shell = ch
	return true
}

// ran counts a repeatable script that ch has run, and gives the shell back for
// the next one; false means that ch is not to be kept. See answered.
func (r *route) ran(ch *channel, whole, ready bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs++
	if !whole {
		r.shellless = time.Now().Add(shelllessFor)
	}
	if r.shell != ch {
		return false
	}
	if !ready {
		r.shell = nil
		return false
	}
	ch.idle = true
	ch.link.used--
	ch.link.idleSince = time.Now()
	r.broadcast()
	return true
}

// forgetShell has the next script start another.
func (r *route) forgetShell(ch *channel) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shell == ch {
		r.shell = nil
	}
}

// noShell is for an endpoint whose shell does not run the loop.
func (r *route) noShell() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shellless = time.Now().Add(shelllessFor)
}

// dropShell makes room for a caller who needs a channel of its own, which is
// whether there is a shell to give way. It is called with mu held.
func (r *route) dropShell() bool {
	ch := r.shell
	if ch == nil || !ch.idle {
		return false
	}
	r.shell = nil
	ch.idle = false
	ch.link.used++ // until release
	ch.finish()
	return !ch.link.suspect
}

// release gives back the slot of a channel that is over.
func (r *route) release(ch *channel) {
	r.mu.Lock()
	if r.shell == ch {
		r.shell = nil
	}
	if ch.idle {
		ch.idle = false
		ch.link.used++ // put takes it back
	}
	r.mu.Unlock()
	r.put(ch.link, true)
}

// reserved is the slots on l that nobody has and an idle shell takes. It is
// called with mu held.
func (r *route) reserved(l *link) int {
	if r.shell != nil && r.shell.link == l && r.shell.idle {
		return 1
	}
	return 0
}
