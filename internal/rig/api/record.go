package api

import (
	"net/http"
	"strings"
	"time"
)

// Kind says what a recorded request is.
type Kind string

// The kinds of request that the client makes.
const (
	// Prompt is the first request of a new turn of the user.
	Prompt Kind = "prompt"
	// Retry is the same turn again, after an error or a lost connection. A turn
	// that the user took back before any of its answer came, and sent again,
	// looks the same on the wire and counts as a retry too.
	Retry Kind = "retry"
	// Continuation carries tool results of a turn back.
	Continuation Kind = "continuation"
	// Side is a request of the client's own: one with no tools, such as for a
	// title, or one for a summary of the talk.
	Side Kind = "side"
)

// Request is one request as it was recorded.
type Request struct {
	Time    time.Time
	Kind    Kind
	Session string // the client's session id
	Prompt  string // the newest text of the user, as the client sent it
	Result  string // the text of the newest tool result that came after it
	Attempt int    // 1 for the first request of a turn, then one more a retry
	Model   string
	Token   string // the bearer token that the client showed
}

// turnKey tells whether a request repeats one.
type turnKey struct {
	prompt   string
	messages int
	results  int
}

// seen is the newest turn of a session and how often it was asked for.
type seen struct {
	turnKey
	attempts int
}

func (s *Server) record(req *wireRequest, now turn, header http.Header) Request {
	rec := Request{
		Time:    time.Now(),
		Kind:    Prompt,
		Session: req.session(),
		Prompt:  now.prompt,
		Result:  now.result,
		Attempt: 1,
		Model:   req.Model,
		Token:   strings.TrimPrefix(header.Get("Authorization"), "Bearer "),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(req.Tools) == 0 || now.compacting {
		rec.Kind = Side
	} else {
		last := s.last[rec.Session]
		key := turnKey{now.prompt, now.messages, now.results}
		switch {
		case last.turnKey == key:
			rec.Kind, rec.Attempt = Retry, last.attempts+1
		case now.results > 0:
			rec.Kind = Continuation
		}
		s.last[rec.Session] = seen{key, rec.Attempt}
	}
	s.requests = append(s.requests, &rec)
	return rec
}

// Requests are all requests so far, in the order in which they came.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Request, 0, len(s.requests))
	for _, r := range s.requests {
		all = append(all, *r)
	}
	return all
}

// Prompts are the texts of the new turns so far, in the order in which they
// came: no side requests, no tool results, no retries.
func (s *Server) Prompts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var texts []string
	for _, r := range s.requests {
		if r.Kind == Prompt {
			texts = append(texts, r.Prompt)
		}
	}
	return texts
}

// Retries counts the requests that repeated a turn with that text.
func (s *Server) Retries(prompt string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, r := range s.requests {
		if r.Kind == Retry && r.Prompt == prompt {
			n++
		}
	}
	return n
}
