package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// pace is how often a stream says a word, and pingEvery how often a held one
// says that it lives.
const (
	pace      = 200 * time.Millisecond
	pingEvery = 5 * time.Second
)

// turnReply is a reply together with what it answers.
type turnReply struct {
	*reply
	turn turn
	rec  Request
}

// act does what the prompt says. It returns when the reply is out or ctx, that
// of the request, has ended.
func (s *Server) act(ctx context.Context, t *turnReply) {
	a := parse(t.turn.prompt)
	if t.turn.results > 0 {
		// A tool ran, whichever it was: the turn is over with it.
		t.done("tool finished")
		return
	}
	switch a.verb {
	case verbAnswer:
		t.done(a.text)
	case verbSay:
		t.say(a.text)
		_ = t.finish("end_turn")
	case verbStream:
		t.streamFor(ctx, a)
	case verbHold, verbWait:
		s.holdAt(ctx, t, a)
	case verbTool:
		t.tool(s.nextID(), "Bash", object{"command": a.text, "description": "Run the command"})
	case verbWrite:
		t.tool(s.nextID(), "Write", object{"file_path": a.text, "content": "written by the script\n"})
	case verbAsk:
		t.tool(s.nextID(), "AskUserQuestion", question())
	case verbPlan:
		t.tool(s.nextID(), "ExitPlanMode", object{"plan": "1. Do the first thing\n2. Do the second thing"})
	case verbError:
		_ = writeError(t.w, a.status, errorText(a.status))
	case verbLimit:
		limit(t.w, t.rec.Time.Add(a.length))
	}
}

func question() object {
	return object{"questions": []object{{
		"question": "Which database should it use?", "header": "Database", "multiSelect": false,
		"options": []object{
			{"label": "SQLite", "description": "One file, no server"},
			{"label": "Postgres", "description": "A server of its own"},
		},
	}}}
}

func (t *turnReply) done(what string) {
	t.say("Done: " + what)
	_ = t.finish("end_turn")
}

// tool asks the client to use a tool. One whose schema it has not sent yet, as
// ExitPlanMode, works as well (seen with 2.1.332).
func (t *turnReply) tool(id, name string, input object) {
	t.use("toolu_"+id, name, input)
	_ = t.finish("tool_use")
}

func (t *turnReply) streamFor(ctx context.Context, a action) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	words := int(a.length / pace)
	for i := range words {
		// The client shows an answer paragraph by paragraph: a second makes one.
		end := " "
		if (i+1)%5 == 0 {
			end = ".\n\n"
		}
		t.say(fmt.Sprintf("word%d%s", i+1, end))
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
	t.done("STREAM " + a.text)
}

// Release lets every `HOLD name` and `WAIT name` go, those that wait and those to come.
func (s *Server) Release(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.holdNamed(name); !h.open {
		h.open = true
		close(h.gate)
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
	t.start()
	if a.verb == verbHold {
		t.say("Holding " + a.text + ".\n\n")
	}
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-h.gate:
			t.done(string(a.verb) + " " + a.text)
			return
		case <-tick.C:
			t.ping()
		case <-ctx.Done():
			return
		}
	}
}

// errorText names what the vendor's API calls an error of that status.
func errorText(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case 529:
		return "overloaded_error"
	}
	if status >= 500 {
		return "api_error"
	}
	return "invalid_request_error"
}

func writeError(w http.ResponseWriter, status int, message string) error {
	return writeJSON(w, status, object{
		"type": "error", "error": object{"type": errorText(status), "message": message},
	})
}

// limit refuses as the vendor's API does when the five-hour window is used up
// (facts measured with client 2.1.332).
func limit(w http.ResponseWriter, reset time.Time) {
	h := w.Header()
	h.Set("anthropic-ratelimit-unified-status", "rejected")
	h.Set("anthropic-ratelimit-unified-reset", strconv.FormatInt(reset.Unix(), 10))
	h.Set("anthropic-ratelimit-unified-representative-claim", "five_hour")
	_ = writeError(w, http.StatusTooManyRequests, "This request would exceed your account's rate limit.")
}
