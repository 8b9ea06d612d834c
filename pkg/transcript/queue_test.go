package transcript

import (
	"strings"
	"testing"
)

// TestQueue has what versions write of prompts that were queued; each comes once,
// when it was taken, whatever tells of it.
func TestQueue(t *testing.T) {
	op := func(operation, content string) string {
		if content != "" {
			content = `,"content":` + quoted(content)
		}
		return `{"type":"queue-operation","operation":"` + operation + `","timestamp":"2026-11-30T03:01:00.085Z","sessionId":"s"` + content + `}`
	}
	taken := func(text, mode string) string {
		return `{"attachment":{"type":"queued_command","prompt":` + quoted(text) + `,"commandMode":"` + mode + `"},"type":"attachment","uuid":"a","timestamp":"2026-11-30T03:01:00.085Z"}`
	}
	for name, tt := range map[string]struct {
		lines []string
		want  string
	}{
		"still waits":              {[]string{op("enqueue", "a")}, ""},
		"taken, 2.1.85":            {[]string{op("enqueue", "a"), op("enqueue", "b"), op("remove", ""), op("remove", "")}, "a|b"},
		"taken, 2.1.332":           {[]string{op("enqueue", "a"), op("remove", "a"), taken("a", "prompt")}, "a"},
		"a turn of its own":        {[]string{op("enqueue", "a"), op("dequeue", ""), strings.TrimSpace(prompt("p", "/a", "a"))}, "a"},
		"one of either":            {[]string{op("enqueue", "a"), op("enqueue", "b"), op("dequeue", ""), op("remove", "")}, "b"},
		"taken back":               {[]string{op("enqueue", "a"), op("popAll", "a"), op("enqueue", "b"), op("remove", "")}, "b"},
		"queued before the end":    {[]string{op("remove", "")}, ""},
		"a notice, 2.1.85":         {[]string{op("enqueue", "<task-notification>\nx"), op("remove", "")}, ""},
		"a notice, 2.1.332":        {[]string{taken("x", "task-notification")}, ""},
		"another attachment":       {[]string{strings.Replace(taken("a", "prompt"), "queued_command", "date", 1)}, ""},
		"an attachment of nothing": {[]string{`{"type":"attachment","x":"\"type\":\"queued_command\""}`, `{"type":"attachment","attachment":{"type":"queued_command"}}`, `{"type":"attachment","attachment":7}`}, ""},
	} {
		var got []string
		q := NewTailQuery("x", 1<<20)
		for _, r := range q.Parse([]byte(strings.Join(tt.lines, "\n"))).Records {
			if text, ok := r.Prompt(); ok {
				got = append(got, text)
			}
			if r.At.IsZero() && r.ID != "p" {
				t.Errorf("%s: no time", name)
			}
		}
		if got := strings.Join(got, "|"); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestParseRecordOf has records that differ in who wrote them.
func TestParseRecordOf(t *testing.T) {
	stop := "[Request interrupted by user]"
	block := `[{"type":"text","text":"` + stop + `"}]`
	for line, want := range map[string]string{
		`{"type":"user","message":{"content":` + block + `}}`:                                                                "interrupted",
		`{"type":"user","message":{"content":` + block + `},"rowSource":"harness"}`:                                          "interrupted",
		`{"type":"user","message":{"content":"` + stop + `"}}`:                                                               "prompt",
		`{"type":"user","message":{"content":` + block + `},"promptSource":"typed"}`:                                         "prompt",
		`{"type":"user","message":{"content":` + block + `},"origin":{"kind":"human"}}`:                                      "prompt",
		`{"type":"user","message":{"content":[{"type":"text","text":"` + stop + `!"}]}}`:                                     "prompt",
		`{"type":"user","message":{"content":[{"type":"image"},{"type":"text","text":"` + stop + `"}]}}`:                     "prompt",
		`{"type":"user","message":{"content":"x"},"isCompactSummary":true}`:                                                  "summary",
		`{"type":"user","message":{"content":"x"},"isCompactSummary":false}`:                                                 "prompt",
		`{"type":"user","message":{"content":"x"},"origin":{"kind":"task-notification"}}`:                                    "notice",
		`{"type":"user","message":{"content":"<task-notification>\n"}}`:                                                      "notice",
		`{"type":"user","message":{"content":"<bash-notification>\n"}}`:                                                      "notice",
		`{"type":"user","message":{"content":"<task-notification>\n"},"origin":{"kind":"human"}}`:                            "prompt",
		`{"type":"user","message":{"content":"x"},"origin":"human"}`:                                                         "prompt",
		`{"type":"user","message":{"content":"x"},"origin":{"kind":7}}`:                                                      "prompt",
		`{"type":"user","message":{"content":"<bash-stdout>x</bash-stdout>"}}`:                                               "output",
		`{"type":"user","message":{"content":"<bash-stdout>x</bash-stdout>"},"origin":{"kind":"human"}}`:                     "prompt",
		`{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"No response requested."}]}}`: "resumed",
		`{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"Other."}]}}`:                 "",
		`{"type":"assistant","message":{"model":"x","content":[{"type":"text","text":"No response requested."}]}}`:           "",
	} {
		r, ok := ParseRecord([]byte(line))
		var got []string
		_, prompt := r.Prompt()
		for name, is := range map[string]bool{"interrupted": r.Interrupted, "summary": r.Summary, "notice": r.Notice(), "prompt": prompt, "output": r.isOutput(), "resumed": r.Resumed} {
			if is {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != want || !ok {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestCommandAndOutput(t *testing.T) {
	for _, tt := range []struct {
		typ, subtype, origin, text string
		command, output            string
		shell                      bool
	}{
		{"user", "", "", "<command-name>/model</command-name>\n  <command-message>model</command-message>\n  <command-args>sonnet</command-args>", "/model sonnet", "", false},
		{"user", "", human, "<command-message>greet</command-message>\n<command-name>/greet</command-name>\n<command-args>you</command-args>", "/greet you", "", false},
		{"user", "", "", "<command-name>/clear</command-name>\n<command-args></command-args>", "/clear", "", false},
		{"system", localCommand, "", "<command-name>/context</command-name>", "/context", "", false},
		{"system", "informational", "", "<command-name>/context</command-name>", "", "", false},
		{"assistant", "", "", "<command-name>/context</command-name>", "", "", false},
		{"user", "", "", "see <command-name>/context</command-name>", "", "", false},
		{"user", "", "", "<command-x>", "", "", false},
		{"user", "", "", "<bash-input>ls -l</bash-input>", "!ls -l", "", false},
		{"user", "", human, "<bash-input>ls -l</bash-input>", "", "", false},
		{"user", "", "", "<bash-stdout>a\n</bash-stdout><bash-stderr>b\nc</bash-stderr>", "", "a\nb\nc", true},
		{"user", "", "", "<bash-stdout></bash-stdout><bash-stderr></bash-stderr>", "", "", true},
		{"user", "", "", "<local-command-stdout>Set to \x1b[1mS\x1b[22m\x1b[?2026h</local-command-stdout>", "", "Set to S", false},
		{"system", localCommand, "", "<local-command-stdout>x</local-command-stdout>", "", "x", false},
		{"user", "", human, "<local-command-stdout>x</local-command-stdout>", "", "", false},
		{"user", "", "", "<local-command-stdout>x", "", "", false},
	} {
		r := Record{Type: tt.typ, Subtype: tt.subtype, Origin: tt.origin, Blocks: []Block{{Kind: "text", Text: tt.text}}}
		command, ok := r.Command()
		output, shell := r.Output()
		if command != tt.command || ok != (tt.command != "") || output != tt.output || shell != tt.shell {
			t.Errorf("%+v: %q, %q, %v", r, command, output, shell)
		}
		r.Meta = true
		if _, ok := r.Command(); ok || r.isOutput() {
			t.Errorf("%+v", r)
		}
	}
	if got := Unframed("\n\n<pasted_content id=\"f252\">\na\nb\n</pasted_content id=\"f252\">\n\n and typed"); got != "a\nb\n and typed" {
		t.Errorf("%q", got)
	}
}
