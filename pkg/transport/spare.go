package transport

import (
	"golang.org/x/crypto/ssh"
)

// spareAfter is how many repeatable scripts a link has run before it keeps a
// spare shell: who has asked twice will ask again, and a program that asks once
// should not start a second login shell for nothing.
const spareAfter = 2

// A spare is a shell that was started ahead, behind the last script on a link,
// and waits for its own. With it a script costs one round trip and not three
// (measured: 0.10 s and not 0.31 s at 100 ms), and what the login shell's
// start-up files take is over by then. It ends with its link, as any channel.
//
// Only repeatable scripts use it. That a link is dead may show only after a
// script was written to it, and then nobody knows whether the script has begun;
// to open a channel first, which is what the others do, would have told.

// takeSpare gives a spare of r, with its slot, or nil.
func (r *route) takeSpare() *channel {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ln := range r.links {
		if ch := ln.spare; ch != nil && !ln.suspect && !isClosed(ch.over) {
			ln.spare = nil
			ln.used++
			return ch
		}
	}
	return nil
}

// keepSpare counts a script that ln has run, and starts a spare on it if there
// is none and more room than that.
func (r *route) keepSpare(ln *link) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ln.runs++; ln.runs < spareAfter || ln.spareless || ln.sparing || ln.spare != nil || ln.suspect || ln.used+1 >= ln.limit {
		return
	}
	ln.sparing = true
	r.pool.own(func() { // ends with the answer, or with the link
		s, err := ln.client.NewSession()
		r.mu.Lock()
		defer r.mu.Unlock()
		ln.sparing = false
		if err != nil {
			ln.spareless = true // or dead, and nothing matters
			r.broadcast()
			return
		}
		ln.spare = newChannel(ln, s)
		ln.spare.startShell()
	})
}

// dropSpares makes room for callers who need a channel of their own.
func (r *route) dropSpares() {
	for _, ln := range r.links {
		if ch := ln.spare; ch != nil {
			ln.spare = nil
			ln.used++                             // until release
			r.pool.own(func() { _ = ch.Close() }) // it blocks while the link does
		}
	}
}

// release gives back the slot of a channel that is over.
func (r *route) release(ch *channel) {
	r.mu.Lock()
	if ch.link.spare == ch {
		ch.link.spare = nil
		ch.link.used++ // put takes it back
	}
	r.mu.Unlock()
	r.put(ch.link, true)
}

// reserved is the slots on l that nobody has and spares take.
func (l *link) reserved() int {
	if l.spare != nil || l.sparing {
		return 1
	}
	return 0
}

func newChannel(ln *link, s *ssh.Session) *channel {
	return &channel{Session: s, link: ln, over: make(chan struct{})}
}
