package api

import (
	"context"
	"io"
	"strings"
	"testing"
)

// result appends a tool's result to a talk.
func result(body object) object {
	body["messages"] = append(body["messages"].([]object),
		object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": "x", "content": "hi"}}})
	return body
}

func TestThen(t *testing.T) {
	s := startServer(t)
	body := result(talk(true, true, "TOOL echo hi\nTHEN TOOL echo ho\nTHEN SAY at last"))
	if _, said, _ := ask(t, s, body); !strings.Contains(said, "echo ho") {
		t.Errorf("after one result: %q", said)
	}
	if _, said, _ := ask(t, s, result(body)); said != "at last [end_turn]" {
		t.Errorf("after two: %q", said)
	}
	if _, said, _ := ask(t, s, result(body)); said != "Done: tool finished [end_turn]" {
		t.Errorf("after three: %q", said)
	}
}

func TestToolsByTheNamesThatAreOffered(t *testing.T) {
	s := startServer(t)
	for _, c := range []struct {
		prompt string
		tools  []string
		want   string
	}{
		{"AGENT HOLD a", []string{"Bash", "Task"}, `Task{`},
		{"AGENT HOLD a", []string{"Bash", "Agent"}, `Agent{`},
		{"DELEGATE HOLD a", []string{"Task"}, `"run_in_background":true`},
		{"BACKGROUND echo", []string{"Bash"}, `"run_in_background":true`},
		{"TASK", []string{"TodoWrite"}, `TodoWrite{"todos"`},
		{"TASK", []string{"TaskCreate"}, `TaskCreate{`},
		{"ASK MULTI", []string{"Bash"}, `"multiSelect":true`},
		{"ASK MANY", []string{"Bash"}, `Which database`},
		{"MARKDOWN LONG", []string{"Bash"}, "That is all."},
	} {
		body := talk(true, true, c.prompt)
		var tools []object
		for _, name := range c.tools {
			tools = append(tools, object{"name": name})
		}
		body["tools"] = tools
		if _, said, _ := ask(t, s, body); !strings.Contains(said, c.want) {
			t.Errorf("%s with %v: %q, want %q", c.prompt, c.tools, said, c.want)
		}
	}
	if _, said, _ := ask(t, s, talk(true, true, "AGENT HOLD a")); strings.Contains(said, "run_in_background") {
		t.Errorf("a foreground agent runs in the background: %q", said)
	}
}

func TestErrorText(t *testing.T) {
	s := startServer(t)
	if status, said, _ := ask(t, s, talk(true, true, "ERR 403 token revoked")); status != 403 || !strings.Contains(said, "token revoked") {
		t.Errorf("%d %q", status, said)
	}
	_, _, h := ask(t, s, talk(true, true, "LIMIT 60 seven_day"))
	if got := h.Get("anthropic-ratelimit-unified-representative-claim"); got != "seven_day" {
		t.Errorf("claim %q", got)
	}
}

func TestDrop(t *testing.T) {
	s := startServer(t)
	resp, err := post(context.Background(), t, s, talk(true, true, "DROP"))
	if err == nil {
		_ = resp.Body.Close()
		t.Errorf("an answer with status %d", resp.StatusCode)
	}
}

// TestOpenTurns holds a turn of each kind, and a summary.
func TestOpenTurns(t *testing.T) {
	s := startServer(t)
	bodies := []object{
		talk(true, true, "HOLD a"), talk(true, true, "WAIT a"), talk(true, true, "THINK b"), talk(true, true, "SILENT b"),
		talk(true, true, "COMPACT c", compactBegin), talk(true, true, "COMPACT c", compactBeginOld),
	}
	said := make(chan string, len(bodies))
	for _, body := range bodies {
		go func() {
			resp, err := post(context.Background(), t, s, body)
			if err != nil {
				said <- err.Error()
				return
			}
			defer func() { _ = resp.Body.Close() }()
			raw, _ := io.ReadAll(resp.Body)
			said <- string(raw)
		}()
	}
	until(t, "turns open and end", func() bool { return s.Open() == len(bodies) && s.Holding("c") == 2 })
	// These are over at once, and none is left open behind them.
	ask(t, s, talk(true, true, "COMPACT c"))
	ask(t, s, talk(true, false, "HOLD a"))
	ask(t, s, talk(true, true, "a summary that nobody holds", compactBegin))
	if got := s.Open(); got != len(bodies) {
		t.Errorf("%d turns are open", got)
	}
	s.Release("a")
	until(t, "turns open and end", func() bool { return s.Open() == 4 })
	s.ReleaseAll()
	for range bodies {
		if raw := <-said; !strings.Contains(raw, "Done: ") && !strings.Contains(raw, "The talk so far") {
			t.Errorf("said %q", raw)
		}
	}
	until(t, "turns open and end", func() bool { return s.Open() == 0 })
}
