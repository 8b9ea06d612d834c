package transcript

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"testing/quick"
	"time"
)

// TestConversation reads what the real client wrote.
func TestConversation(t *testing.T) {
	var got []string
	for _, r := range ParseRecords([]byte(conversation(t))) {
		if r.ID == "" || r.Session != sampleID || r.Dir != "/home/dev/app" || r.At.Before(time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)) || r.Side {
			t.Errorf("%+v", r)
		}
		line := r.Type
		if text, ok := r.Prompt(); ok {
			line = "prompt " + text
		} else if r.Subtype != "" {
			line += " " + r.Subtype
		} else if r.Meta {
			line += " meta"
		} else if r.APIError {
			line += " refused"
		} else if len(r.Blocks) == 1 {
			line += " " + r.Blocks[0].Kind + " " + r.Blocks[0].Tool + r.Blocks[0].Text
		}
		got = append(got, line)
	}
	want := []string{
		"prompt SAY hello there", "assistant text hello there", "system turn_duration",
		"prompt TOOL echo hi", "assistant tool_use Bash", "user tool_result hi", "assistant text Done: tool finished", "system turn_duration",
		"user meta", "prompt <command-name>/model</command-name>\n            <command-message>model</command-message>\n            <command-args>sonnet</command-args>",
		"user text <local-command-stdout>Set model to `Sonnet 5.5` and saved as your default for new sessions</local-command-stdout>",
		"prompt \n\n<pasted_content id=\"f252\">\na\nb\nc\nd\ne\nSAY pasted\n</pasted_content id=\"f252\">\n", "assistant text pasted", "system turn_duration",
		"prompt <bash-input>echo shell</bash-input>", "user text <bash-stdout>shell</bash-stdout><bash-stderr></bash-stderr>",
		"assistant text Done: <bash-stdout>shell</bash-stdout><bash-stderr></bash-stderr>", "system turn_duration",
		"prompt ERR 400", "assistant refused",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	// Each prompt is found once by what was typed.
	for _, typed := range []string{"SAY hello there", "TOOL echo hi", "/model sonnet", "a\nb\nc\nd\ne\nSAY pasted", "!echo shell", "ERR 400"} {
		n := 0
		for _, r := range ParseRecords([]byte(conversation(t))) {
			if Matches(r, typed) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%q is found %d times", typed, n)
		}
	}
}

func TestParseRecord(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	for name, tt := range map[string]struct {
		line string
		want *Record // nil: no record
	}{
		"text": {`{"type":"user","uuid":"u","sessionId":"s","cwd":"/d","timestamp":"2026-01-02T03:04:05.006Z","message":{"content":"hi"}}`,
			&Record{Type: "user", ID: "u", Session: "s", Dir: "/d", At: at, Sent: at, Blocks: []Block{{Kind: "text", Text: "hi"}}}},
		"blocks": {`{"type":"assistant","message":{"content":[{"type":"text","text":"a"},{"type":"thinking","thinking":"t"},{"type":"tool_use","name":"Bash","input":{"command":"ls"}},{"type":"new_kind","x":1},{"type":"text","text":"b"}]}}`,
			&Record{Type: "assistant", Blocks: []Block{{Kind: "text", Text: "a"}, {Kind: "thinking"}, {Kind: "tool_use", Tool: "Bash", Args: `{"command":"ls"}`}, {Kind: "new_kind"}, {Kind: "text", Text: "b"}}}},
		"result of text": {`{"type":"user","message":{"content":[{"type":"tool_result","content":"out"}]}}`, &Record{Type: "user", Blocks: []Block{{Kind: "tool_result", Text: "out"}}}},
		"result of blocks": {`{"type":"user","message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}]}}`,
			&Record{Type: "user", Blocks: []Block{{Kind: "tool_result", Text: "a\nb"}}}},
		"result of nothing": {`{"type":"user","message":{"content":[{"type":"tool_result"}]}}`, &Record{Type: "user", Blocks: []Block{{Kind: "tool_result"}}}},
		"image":             {`{"type":"user","message":{"content":[{"type":"image","source":{}},{"type":"text","text":"see"}]}}`, &Record{Type: "user", Blocks: []Block{{Kind: "image"}, {Kind: "text", Text: "see"}}}},
		"refusal": {`{"type":"assistant","isApiErrorMessage":true,"apiErrorStatus":429,"message":{"content":[{"type":"text","text":"no"}]}}`,
			&Record{Type: "assistant", APIError: true, APIStatus: 429, Blocks: []Block{{Kind: "text", Text: "no"}}}},
		"refusal without status":    {`{"type":"assistant","isApiErrorMessage":true,"apiErrorStatus":null}`, &Record{Type: "assistant", APIError: true}},
		"refusal with another type": {`{"type":"assistant","isApiErrorMessage":true,"apiErrorStatus":"timeout"}`, &Record{Type: "assistant", APIError: true}},
		"system":                    {`{"type":"system","subtype":"informational","content":"text","isMeta":true,"isSidechain":true}`, &Record{Type: "system", Subtype: "informational", Meta: true, Side: true, Blocks: []Block{{Kind: "text", Text: "text"}}}},
		"system without text":       {`{"type":"system","subtype":"x","content":{"a":1}}`, &Record{Type: "system", Subtype: "x"}},
		"no content":                {`{"type":"user","message":{}}`, &Record{Type: "user"}},
		"content of another type":   {`{"type":"user","message":{"content":7}}`, &Record{Type: "user"}},
		"a hook's end of a turn": {`{"type":"attachment","uuid":"u","attachment":{"type":"hook_stopped_continuation","message":"halted","hookName":"PreToolUse:Bash","hookEvent":"PreToolUse"}}`,
			&Record{Type: "system", Subtype: HookStopped, ID: "u", Blocks: []Block{{Kind: "text", Text: "the hook PreToolUse:Bash ended the turn: halted"}}}},
		"a hook at its end":           {`{"type":"attachment","attachment":{"type":"hook_stopped_continuation","message":"halted","hookName":"Stop","hookEvent":"Stop"}}`, nil},
		"a queued one with a message": {`{"type":"attachment","attachment":{"type":"queued_command","prompt":"hi","message":{"a":1}}}`, &Record{Type: "user", Subtype: queuedCommand, Blocks: []Block{{Kind: "text", Text: "hi"}}}},
		"unknown type":                {`{"type":"file-history-snapshot","message":{"content":"hi"}}`, nil},
		"no type":                     {`{"message":{"content":"hi"}}`, nil},
		"cut at its end":              {`{"type":"user","message":{"content":"hi"}`, nil},
		"cut at its beginning":        {`"user","message":{"content":"hi"}}`, nil},
		"cut at a nested object":      {`{"type":"user","message":{"content":"hi"}}}`, nil},
		"no object":                   {`["type","user"]`, nil},
		"empty":                       {``, nil},
		"bad time":                    {`{"type":"user","timestamp":"yesterday","message":{"content":"hi"}}`, nil},
	} {
		got, ok := ParseRecord([]byte(tt.line))
		if ok != (tt.want != nil) || ok && !reflect.DeepEqual(got, *tt.want) {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
	}
}

func TestMatches(t *testing.T) {
	user := func(text string) Record { return Record{Type: "user", Blocks: []Block{{Kind: "text", Text: text}}} }
	slash := func(name, args string) Record {
		return user("<command-name>" + name + "</command-name>\n            <command-message>" + strings.TrimPrefix(name, "/") + "</command-message>\n            <command-args>" + args + "</command-args>")
	}
	framed := "\n\n<pasted_content id=\"f252\">\na\nb\n</pasted_content id=\"f252\">\n"
	meta, side, result, reply := user("go"), user("go"), user("go"), user("go")
	meta.Meta, side.Side, reply.Type = true, true, "assistant"
	result.Blocks = append(result.Blocks, Block{Kind: "tool_result", Text: "go"})
	local := Record{Type: "system", Subtype: "local_command", Blocks: slash("/cost", "").Blocks}
	other := local
	other.Subtype = "informational"
	for name, tt := range map[string]struct {
		record Record
		prompt string
		want   bool
	}{
		"verbatim": {user("go on"), "go on", true}, "longer": {user("go on now"), "go on", false}, "shorter": {user("go"), "go on", false}, "case": {user("Go on"), "go on", false}, "space within": {user("go  on"), "go on", false},
		"space around": {user("go on"), "  go on\r\n", true}, "line ends": {user("a\nb"), "a\r\nb", true}, "tab": {user("a    b"), "a\tb", true}, "empty": {user("go"), "", false},
		"meta": {meta, "go", false}, "subagent": {side, "go", false}, "tool result": {result, "go", false}, "answer": {reply, "go", false}, "image too": {Record{Type: "user", Blocks: []Block{{Kind: "image"}, {Kind: "text", Text: "go"}}}, "go", true},
		"framed": {user(framed), "a\nb", true}, "framed, other": {user(framed), "a\nc", false}, "framed, part": {user(framed), "a", false}, "framed among text": {user("see" + framed + "ok"), "seea\nbok", true},
		"frame as prompt": {user(strings.TrimSpace(framed)), framed, true}, "frame not closed": {user("<pasted_content id=\"f252\">\na\nb"), "a\nb", false}, "dollar in a frame": {user("<pasted_content id=\"1\">\n$1 $2\n</pasted_content id=\"1\">"), "$1 $2", true},
		"slash": {slash("/model", ""), "/model", true}, "slash with words": {slash("/model", "opus now"), "/model opus now", true}, "slash, wide": {slash("/model", "opus"), "/model   opus ", true}, "slash, lines": {slash("/do", "a\nb"), "/do a\nb", true},
		"slash, other": {slash("/model", ""), "/mode", false}, "slash, other words": {slash("/model", "opus"), "/model sonnet", false}, "slash without words": {slash("/model", "opus"), "/model", false}, "slash words missing": {slash("/model", ""), "/model opus", false},
		"no slash": {slash("/model", ""), "model", false}, "quotes a command": {user("what is <command-name>/clear</command-name>?"), "/clear", false},
		"local command": {local, "/cost", true}, "other local": {local, "/status", false}, "other system": {other, "/cost", false},
		"shell": {user("<bash-input>ls -l</bash-input>"), "!ls -l", true}, "shell, spaced": {user("<bash-input>ls</bash-input>"), "! ls", true}, "shell, other": {user("<bash-input>ls -l</bash-input>"), "!ls", false}, "shell as text": {user("<bash-input>ls</bash-input>"), "ls", false},
		"bang as text": {user("!ls"), "!ls", true}, "output": {user("<bash-stdout>go</bash-stdout><bash-stderr></bash-stderr>"), "go", false},
	} {
		if got := Matches(tt.record, tt.prompt); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestNormalise(t *testing.T) {
	for in, want := range map[string]string{"a": "a", " a\n": "a", "a\r\nb\rc": "a\nb\nc", "\ta\tb\t": "a    b", "a  b": "a  b", "": "", " \r\n\t": "", "a\r\r\nb": "a\n\nb", "\u00a0a\u3000": "a"} {
		if got := Normalise(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	pieces := []string{"\r", "\n", "\t", " ", "a", "\u00a0", "ü", "\xff", "\r\n", "😀"}
	idempotent := func(choice []uint8) bool {
		var b strings.Builder
		for _, c := range choice {
			b.WriteString(pieces[int(c)%len(pieces)])
		}
		once := Normalise(b.String())
		return Normalise(once) == once && !strings.ContainsAny(once, "\r\t")
	}
	if err := quick.Check(idempotent, nil); err != nil {
		t.Error(err)
	}
}

// FuzzParseRecord holds that no line makes the reader panic, and that what it
// takes for a record is one JSON object of a known type.
func FuzzParseRecord(f *testing.F) {
	for _, seed := range []string{`{"type":"user","message":{"content":"x"}}`, `{"type":"assistant","message":{"content":[{"type":"tool_use","input":{}}]}}`, `{"type":"system","content":"x"}`, `{"type":"user","message":{"content":[null,{"type":"tool_result","content":[[]]}]}}`, `{`, `null`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r, ok := ParseRecord(line)
		if !ok {
			return
		}
		if !json.Valid(line) || r.Type != "user" && r.Type != "assistant" && r.Type != "system" {
			t.Errorf("%+v", r)
		}
		text, is := r.Prompt()
		if is && r.Type != "user" {
			t.Errorf("%+v is a prompt", r)
		}
		if is && !Matches(r, text) {
			t.Errorf("%+v is not its own text", r)
		}
	})
}

// TestBlocksDigest holds that what a hook said of a prompt is known by the prompt.
func TestBlocksDigest(t *testing.T) {
	said := func(text string) Record {
		return Record{Type: "system", Subtype: "informational", Blocks: []Block{{Kind: "text", Text: text}}}
	}
	const before = "UserPromptSubmit operation blocked by hook:\n[x]: no\n\n\nOriginal prompt: "
	quoting := "say\n\nOriginal prompt: go on"
	for _, c := range []struct {
		name, prompt, reason string
		r                    Record
	}{
		{"its own", "go on", "[x]: no", said(before + "go on")},
		{"another", "go", "", said(before + "go on")},
		{"a long one", "a\nb", "[x]: no", said(before + "\n\n<pasted_content id=\"1a\">\na\nb\n</pasted_content id=\"1a\">\n")},
		{"one with the words in it", quoting, "[x]: no", said(before + quoting)},
		{"words of another record", "go on", "", Record{Type: "user", Blocks: said(before + "go on").Blocks}},
		{"the words without end", "go on", "", said(before + strings.Repeat("x\n\nOriginal prompt: ", 100_000) + "go on")},
		{"another notice", "go on", "", said("Original prompt: go on")},
	} {
		if reason, ok := BlocksDigest(c.r, Digest(c.prompt)); reason != c.reason || ok != (c.reason != "") {
			t.Errorf("%s: %q, %v", c.name, reason, ok)
		}
	}
}
