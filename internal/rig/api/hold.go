package api

import (
	"context"
	"time"
)

// Release lets every turn that is held at that name go, those that wait and
// those to come.
func (s *Server) Release(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.holdNamed(name); !h.open {
		h.open = true
		close(h.gate)
	}
}

// ReleaseAll lets every turn go that is held now, whatever the name.
func (s *Server) ReleaseAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.holds {
		if h.waiting > 0 && !h.open {
			h.open = true
			close(h.gate)
		}
	}
}

// Holding counts the requests that wait for Release(name) now.
func (s *Server) Holding(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holdNamed(name).waiting
}

// holdNamed needs s.mu.
func (s *Server) holdNamed(name string) *hold {
	h := s.holds[name]
	if h == nil {
		h = &hold{gate: make(chan struct{})}
		s.holds[name] = h
	}
	return h
}

// hold begins to wait at a name: the gate opens when it is released, and left
// has to be called when the waiting is over.
func (s *Server) hold(name string) (gate <-chan struct{}, left func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.holdNamed(name)
	h.waiting++
	return h.gate, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		h.waiting--
	}
}

// holdQuietly waits at a name and says nothing.
func (s *Server) holdQuietly(ctx context.Context, name string) {
	gate, left := s.hold(name)
	defer left()
	select {
	case <-gate:
	case <-ctx.Done():
	}
}

// holdAt begins a reply as the verb has it, waits, and ends the turn.
func (s *Server) holdAt(ctx context.Context, t *turnReply, a action) {
	gate, left := s.hold(a.text)
	defer left()
	switch a.verb {
	case verbHold:
		t.say("Holding " + a.text + ".\n\n")
	case verbWait:
		t.start()
	case verbThink:
		t.think("Thinking of " + a.text + ".\n")
	}
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-gate:
			t.done(string(a.verb) + " " + a.text)
			return
		case <-tick.C:
			if a.verb != verbSilent {
				t.ping()
			}
		case <-ctx.Done():
			return
		}
	}
}
