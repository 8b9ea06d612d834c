package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func startServer(t *testing.T) *Server {
	t.Helper()
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// talk builds a request: the texts of the user, one message each.
func talk(stream, tools bool, texts ...string) object {
	body := object{"model": "m", "stream": stream, "metadata": object{"user_id": `{"session_id":"s1"}`}}
	if tools {
		body["tools"] = []object{{"name": "Bash"}}
	}
	var messages []object
	for _, text := range texts {
		messages = append(messages, object{"role": "user", "content": text})
	}
	body["messages"] = messages
	return body
}

func post(ctx context.Context, t *testing.T, s *Server, body object) (*http.Response, error) {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"/v1/messages?beta=true", bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer made-up")
	return http.DefaultClient.Do(req)
}

// ask posts a request and returns the status and what the model said: text, or
// the tool that it used with its input.
func ask(t *testing.T, s *Server, body object) (status int, said string, header http.Header) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	resp, err := post(ctx, t, s, body)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(raw), resp.Header
	}
	if body["stream"] == false {
		var message struct {
			Content []struct {
				Text, Name string
				Input      json.RawMessage
			}
			StopReason string `json:"stop_reason"`
		}
		if err := json.NewDecoder(resp.Body).Decode(&message); err != nil {
			t.Fatal(err)
		}
		for _, b := range message.Content {
			said += b.Text + b.Name + string(b.Input)
		}
		return resp.StatusCode, said + " [" + message.StopReason + "]", resp.Header
	}
	return resp.StatusCode, readStream(t, resp.Body), resp.Header
}

func readStream(t *testing.T, body io.Reader) (said string) {
	t.Helper()
	var last string
	for lines := bufio.NewScanner(body); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type         string
			ContentBlock struct{ Name string } `json:"content_block"`
			Delta        struct {
				Text       string
				Partial    string `json:"partial_json"`
				StopReason string `json:"stop_reason"`
			}
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("event %q: %v", data, err)
		}
		said += e.ContentBlock.Name + e.Delta.Text + e.Delta.Partial
		if e.Delta.StopReason != "" {
			said += " [" + e.Delta.StopReason + "]"
		}
		last = e.Type
	}
	if last != "message_stop" {
		t.Errorf("the stream ends with %q", last)
	}
	return said
}

func TestAnswers(t *testing.T) {
	s := startServer(t)
	for _, c := range []struct {
		prompt string
		status int
		want   string // what the reply contains
	}{
		{"hello\nthere", 200, "Done: hello [end_turn]"},
		{"SAY just so", 200, "just so [end_turn]"},
		{"STREAM 0.4", 200, "word1 word2 Done: STREAM 0.4 [end_turn]"},
		{"TOOL echo hi", 200, `Bash{"command":"echo hi","description":"Run the command"} [tool_use]`},
		{"WRITE a.txt", 200, `"file_path":"a.txt"} [tool_use]`},
		{"WRITE a.txt 2", 200, `"content":"written by the script\nwritten by the script\n"`},
		{"FETCH http://127.0.0.1:1/", 200, `WebFetch{"prompt":"What does it say?","url":"http://127.0.0.1:1/"} [tool_use]`},
		{"CALL mcp__notes__list", 200, `mcp__notes__list{} [tool_use]`},
		{`CALL Read {"file_path":"a b"}`, 200, `Read{"file_path":"a b"} [tool_use]`},
		{"ASK LONG", 200, `Roll out in stages`},
		{"ASK", 200, `AskUserQuestion{"questions"`},
		{"PLAN", 200, `ExitPlanMode{"plan"`},
		{"ERR 400", 400, "invalid_request_error"},
		{"ERR 401", 401, "authentication_error"},
		{"ERR 500", 500, "api_error"},
		{"ERR 529", 529, "overloaded_error"},
		{"LIMIT 60", 429, "rate_limit_error"},
	} {
		for _, stream := range []bool{true, false} {
			status, said, _ := ask(t, s, talk(stream, true, c.prompt))
			if status != c.status || !strings.Contains(said, c.want) {
				t.Errorf("%q, stream %v: %d %q, want %d %q", c.prompt, stream, status, said, c.status, c.want)
			}
		}
	}
}

func TestLimitHeaders(t *testing.T) {
	s := startServer(t)
	before := time.Now().Unix()
	_, _, h := ask(t, s, talk(true, true, "LIMIT 3600"))
	reset, err := strconv.ParseInt(h.Get("anthropic-ratelimit-unified-reset"), 10, 64)
	if err != nil || reset < before+3600 || reset > time.Now().Unix()+3600 {
		t.Errorf("reset %d, %v", reset-before, err)
	}
	if got := h.Get("anthropic-ratelimit-unified-status"); got != "rejected" {
		t.Errorf("status %q", got)
	}
	_, _, h = ask(t, s, talk(true, true, "ERR 429"))
	if got := h.Get("anthropic-ratelimit-unified-status"); got != "" {
		t.Errorf("a plain 429 has the header too: %q", got)
	}
}

func TestAfterToolResult(t *testing.T) {
	s := startServer(t)
	body := talk(true, true, "TOOL echo hi")
	body["messages"] = append(body["messages"].([]object),
		object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": "x", "content": "hi"}}})
	if _, said, _ := ask(t, s, body); said != "Done: tool finished [end_turn]" {
		t.Errorf("said %q", said)
	}
	if got := s.Prompts(); len(got) != 0 {
		t.Errorf("a continuation counts as a prompt: %q", got)
	}
}

func TestOtherPaths(t *testing.T) {
	s := startServer(t)
	for _, path := range []string{"/", "/v1/messages/count_tokens", "/v1/messages"} {
		resp, err := http.Get(s.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != 200 || strings.TrimSpace(string(raw)) != "{}" {
			t.Errorf("GET %s: %d %q %v", path, resp.StatusCode, raw, err)
		}
	}
	resp, err := http.Post(s.URL()+"/v1/messages", "application/json", strings.NewReader("{"))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 400 || len(s.Requests()) != 0 {
		t.Errorf("half a request: %d, recorded %v", resp.StatusCode, s.Requests())
	}
}

func TestRecords(t *testing.T) {
	s := startServer(t)
	ask(t, s, talk(true, false, "a title, please"))
	ask(t, s, talk(true, true, "ERR 529"))
	ask(t, s, talk(true, true, "ERR 529"))
	// The same text as a turn of its own: it must not hide among the retries.
	ask(t, s, talk(true, true, "ERR 529", "ERR 529"))
	ask(t, s, talk(true, true, "ERR 529", "ERR 529", "hello"))
	ask(t, s, talk(true, true, "ERR 529", "ERR 529", "hello", compactBegin))
	if got, want := s.Prompts(), []string{"ERR 529", "ERR 529", "hello"}; !slices.Equal(got, want) {
		t.Errorf("prompts %q, want %q", got, want)
	}
	if got := s.Retries("ERR 529"); got != 1 {
		t.Errorf("%d retries, want 1", got)
	}
	if got := s.Retries("hello"); got != 0 {
		t.Errorf("%d retries of hello", got)
	}
	var kinds []Kind
	for _, r := range s.Requests() {
		kinds = append(kinds, r.Kind)
		if r.Session != "s1" || r.Token != "made-up" || r.Model != "m" || r.Time.IsZero() {
			t.Errorf("recorded %+v", r)
		}
	}
	if want := []Kind{Side, Prompt, Retry, Prompt, Prompt, Side}; !slices.Equal(kinds, want) {
		t.Errorf("kinds %q, want %q", kinds, want)
	}
}

// until polls for what another goroutine brings about.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	late := time.After(10 * time.Second)
	for !ok() {
		select {
		case <-late:
			t.Fatalf("%s: not within 10 s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func TestHold(t *testing.T) {
	s := startServer(t)
	for _, verb := range []string{"HOLD", "WAIT"} {
		// The reply begins before the wait, so that post returns.
		resp, err := post(t.Context(), t, s, talk(true, true, verb+" "+verb+"-a"))
		if err != nil {
			t.Fatal(err)
		}
		until(t, "the request waits", func() bool { return s.Holding(verb+"-a") == 1 })
		s.Release("another")
		if got := s.Holding(verb + "-a"); got != 1 {
			t.Errorf("%d wait after the release of another", got)
		}
		s.Release(verb + "-a")
		s.Release(verb + "-a")
		if got := readStream(t, resp.Body); !strings.HasSuffix(got, "Done: "+verb+" "+verb+"-a [end_turn]") {
			t.Errorf("said %q", got)
		}
		_ = resp.Body.Close()
		if _, got, _ := ask(t, s, talk(true, true, verb+" "+verb+"-a")); !strings.Contains(got, "Done: ") {
			t.Errorf("after the release: said %q", got)
		}
	}
}

func TestHoldEndsWithItsRequest(t *testing.T) {
	s := startServer(t)
	ctx, cancel := context.WithCancel(context.Background())
	resp, err := post(ctx, t, s, talk(true, true, "HOLD b"))
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the request waits", func() bool { return s.Holding("b") == 1 })
	cancel()
	until(t, "the request is gone", func() bool { return s.Holding("b") == 0 })
	_ = resp.Body.Close()
}

func TestCloseEndsAHold(t *testing.T) {
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	resp, err := post(context.Background(), t, s, talk(true, true, "HOLD c"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	until(t, "the request waits", func() bool { return s.Holding("c") == 1 })
	begin := time.Now()
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("close took %v", took)
	}
	if got := s.Holding("c"); got != 0 {
		t.Errorf("%d still wait", got)
	}
	http.DefaultClient.CloseIdleConnections()
}
