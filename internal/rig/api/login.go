package api

import (
	"net/http"
	"slices"
	"strings"
)

// Accept has the API refuse every request, with HTTP 401 as for a login that has
// expired, whose bearer token is none of these. With none it takes any again,
// which is how it starts.
func (s *Server) Accept(tokens ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens = slices.Clone(tokens)
}

// accepted tells whether a request comes with a token that is taken.
func (s *Server) accepted(r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.tokens) == 0 || slices.Contains(s.tokens, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
}
