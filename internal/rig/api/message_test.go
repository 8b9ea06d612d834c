package api

import (
	"encoding/json"
	"strings"
	"testing"
)

func userMessage(texts ...string) wireMessage {
	m := wireMessage{Role: "user"}
	for _, text := range texts {
		m.Content = append(m.Content, block{Type: "text", Text: text})
	}
	return m
}

func TestTurnOf(t *testing.T) {
	const note = "<system-reminder>\nSAY no\n</system-reminder>"
	result := wireMessage{Role: "user", Content: content{{Type: "tool_result"}}}
	said := func(texts ...string) wireMessage {
		return wireMessage{Role: "user", Content: content{{Type: "tool_result", Content: userMessage(texts...).Content}}}
	}
	assistant := wireMessage{Role: "assistant", Content: content{{Type: "text", Text: "an answer"}}}
	system := wireMessage{Role: "system", Content: content{{Type: "text", Text: "SAY no"}}}
	for _, c := range []struct {
		name     string
		messages []wireMessage
		want     turn
	}{
		{"plain", []wireMessage{userMessage("hello")}, turn{prompt: "hello"}},
		{"kept as typed", []wireMessage{userMessage(" a \n\nb\n")}, turn{prompt: " a \n\nb\n"}},
		{"reminders around", []wireMessage{userMessage(note, "hello", note)}, turn{prompt: "hello"}},
		{"reminder in the block", []wireMessage{userMessage("hello\n" + note)}, turn{prompt: "hello"}},
		{"reminder not closed", []wireMessage{userMessage("hello\n<system-reminder>\nSAY no")}, turn{prompt: "hello"}},
		{"system message after", []wireMessage{userMessage("hello"), system}, turn{prompt: "hello"}},
		{"newest of two", []wireMessage{userMessage("one"), assistant, userMessage("two")}, turn{prompt: "two"}},
		{"two in one message", []wireMessage{userMessage("one", "two")}, turn{prompt: "two"}},
		{"tool result", []wireMessage{userMessage("one"), assistant, result}, turn{prompt: "one", results: 1}},
		{"what a tool said", []wireMessage{userMessage("one"), said("x"), said("y", "z")}, turn{prompt: "one", results: 2, result: "y\nz"}},
		{"what a tool said before", []wireMessage{userMessage("one"), said("x"), userMessage("two")}, turn{prompt: "two"}},
		{"two tool results", []wireMessage{userMessage("one"), result, result}, turn{prompt: "one", results: 2}},
		{"prompt after tool result", []wireMessage{userMessage("one"), result, userMessage("two")}, turn{prompt: "two"}},
		{
			"queued beside a result",
			[]wireMessage{userMessage("one"), result, userMessage(queuedBegin + "two\nlines" + queuedEnd + " the user sends.")},
			turn{prompt: "two\nlines"},
		},
		{
			"only like a queued one",
			[]wireMessage{userMessage("I saw: " + queuedBegin + "two")},
			turn{prompt: "I saw: " + queuedBegin + "two"},
		},
		{
			"the client's own",
			[]wireMessage{userMessage("one"), userMessage("[Request interrupted by user]", "<command-name>/clear</command-name>", "<local-command-stdout>x</local-command-stdout>")},
			turn{prompt: "one"},
		},
		{"compacting", []wireMessage{userMessage("one"), userMessage(compactBegin + " Do NOT call any tools.")}, turn{prompt: "one", compacting: true}},
		{"after compacting", []wireMessage{userMessage(compactBegin), userMessage("one")}, turn{prompt: "one"}},
		{"nothing", nil, turn{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.want.messages = len(c.messages)
			if got := turnOf(c.messages); got != c.want {
				t.Errorf("got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func FuzzRequest(f *testing.F) {
	f.Add(`{"messages":[{"role":"user","content":"hello"}],"tools":[{"name":"Bash"}]}`)
	f.Add(`{"messages":[{"role":"user","content":[{"type":"text","text":"a<system-reminder>b</system-reminder>c"}]}]}`)
	f.Add(`{"metadata":{"user_id":"{\"session_id\":\"x\"}"}}`)
	f.Fuzz(func(t *testing.T, body string) {
		var req wireRequest
		if json.Unmarshal([]byte(body), &req) != nil {
			return
		}
		_ = req.session()
		got := turnOf(req.Messages)
		if got.prompt != "" && strings.TrimSpace(got.prompt) == "" {
			t.Errorf("a blank prompt: %q", got.prompt)
		}
		if got.messages != len(req.Messages) || got.results < 0 {
			t.Errorf("%d messages, %d results of %d", got.messages, got.results, len(req.Messages))
		}
	})
}
