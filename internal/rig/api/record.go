package api

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// Kind says what a recorded request is.
type Kind string

// The kinds of request that the client makes.
const (
	// Prompt is the first request of a new turn of the user.
	Prompt Kind = "prompt"
	// Retry is the same turn again, after an error or a lost connection.
	Retry Kind = "retry"
	// Continuation carries tool results of a turn back.
	Continuation Kind = "continuation"
	// Side is a request of the client's own, such as for a title: it has no tools.
	Side Kind = "side"
)

// Request is one request as it was recorded.
type Request struct {
	Time    time.Time
	Kind    Kind
	Session string // the client's session id
	Prompt  string // the newest text of the user, as the client sent it
	Attempt int    // 1 for the first request of a turn, then one more a retry
	Model   string
	Token   string // the bearer token that the client showed
	Tools   []string
}

// turnKey tells whether a request repeats one.
type turnKey struct {
	prompt  string
	count   int
	results int
	attempt int
}

func (s *Server) record(req *wireRequest, now turn, header http.Header) Request {
	rec := Request{
		Time:    time.Now(),
		Kind:    Prompt,
		Session: req.session(),
		Prompt:  now.prompt,
		Attempt: 1,
		Model:   req.Model,
		Token:   strings.TrimPrefix(header.Get("Authorization"), "Bearer "),
	}
	for _, t := range req.Tools {
		rec.Tools = append(rec.Tools, t.Name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(req.Tools) == 0 {
		rec.Kind = Side
	} else {
		key, last := turnKey{now.prompt, now.count, now.results, 1}, s.last[rec.Session]
		switch {
		case last.prompt == key.prompt && last.count == key.count && last.results == key.results:
			key.attempt = last.attempt + 1
			rec.Kind = Retry
		case now.results > 0:
			rec.Kind = Continuation
		}
		rec.Attempt = key.attempt
		s.last[rec.Session] = key
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
		c := *r
		c.Tools = slices.Clone(r.Tools)
		all = append(all, c)
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
