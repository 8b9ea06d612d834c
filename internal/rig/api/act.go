package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
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
	turn  turn
	rec   Request
	tools []string // that the client offers
}

// act does what the prompt says. It returns when the reply is out or ctx, that
// of the request, has ended.
func (s *Server) act(ctx context.Context, t *turnReply) {
	a := parse(t.turn.prompt)
	if t.turn.results > 0 {
		later, ok := parseLater(t.turn.prompt, t.turn.results)
		if !ok {
			// A tool ran, whichever it was: the turn is over with it.
			t.done("tool finished")
			return
		}
		a = later
	}
	switch a.verb {
	case verbAnswer, verbCompact:
		t.done(a.text)
	case verbSay:
		t.say(a.text)
		_ = t.finish("end_turn")
	case verbMarkdown:
		t.say(texts[a.text])
		_ = t.finish("end_turn")
	case verbStream:
		t.streamFor(ctx, a)
	case verbHold, verbWait, verbSilent, verbThink:
		s.holdAt(ctx, t, a)
	case verbTool:
		t.tool(s.nextID(), "Bash", object{"command": a.text, "description": "Run the command"})
	case verbBackground:
		t.tool(s.nextID(), "Bash", object{"command": a.text, "description": "Run in the background", "run_in_background": true})
	case verbWrite:
		t.tool(s.nextID(), "Write", object{"file_path": a.text, "content": strings.Repeat("written by the script\n", max(1, a.lines))})
	case verbFetch:
		t.tool(s.nextID(), "WebFetch", object{"url": a.text, "prompt": "What does it say?"})
	case verbCall:
		input := object{}
		_ = json.Unmarshal([]byte(a.input), &input) // parse has seen that it is an object, or empty
		t.tool(s.nextID(), a.text, input)
	case verbAgent, verbDelegate:
		t.agent(s.nextID(), a)
	case verbTask:
		s.todo(t)
	case verbAsk:
		t.tool(s.nextID(), "AskUserQuestion", object{"questions": questions[a.text]})
	case verbPlan:
		t.tool(s.nextID(), "ExitPlanMode", object{"plan": "1. Do the first thing\n2. Do the second thing"})
	case verbError:
		message := a.text
		if message == "" {
			message = errorText(a.status)
		}
		_ = writeError(t.w, a.status, message)
	case verbDrop:
		drop(t.w)
	case verbLimit:
		claim := a.text
		if claim == "" {
			claim = "five_hour"
		}
		limit(t.w, t.rec.Time.Add(a.length), claim)
	}
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

// drop breaks the connection off: the client sees a reset.
func drop(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// limit refuses as the vendor's API does when the window that claim names is
// used up (facts measured with client 2.1.332): five_hour, seven_day or
// seven_day_opus.
func limit(w http.ResponseWriter, reset time.Time, claim string) {
	h := w.Header()
	h.Set("anthropic-ratelimit-unified-status", "rejected")
	h.Set("anthropic-ratelimit-unified-reset", strconv.FormatInt(reset.Unix(), 10))
	h.Set("anthropic-ratelimit-unified-representative-claim", claim)
	_ = writeError(w, http.StatusTooManyRequests, "This request would exceed your account's rate limit.")
}
