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

func (s *Server) holdAt(ctx context.Context, t *turnReply, a action) {
	s.mu.Lock()
	h := s.holdNamed(a.text)
	h.waiting++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		h.waiting--
		s.mu.Unlock()
	}()
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
		case <-h.gate:
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
