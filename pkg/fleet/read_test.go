package fleet

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/claude-fleet/claude-fleet/pkg/transcript"
)

func said(typ, s string) transcript.Record {
	return transcript.Record{Type: typ, Blocks: []transcript.Block{{Kind: "text", Text: s}}}
}

// changed is a record with something else about it.
func changed(r transcript.Record, change func(*transcript.Record)) transcript.Record {
	change(&r)
	return r
}

func TestTurnLines(t *testing.T) {
	side := func(r *transcript.Record) { r.Side = true }
	meta := func(r *transcript.Record) { r.Meta = true }
	result := func(text string, failed bool, size int64) transcript.Record {
		return transcript.Record{Type: "user", Size: size, Blocks: []transcript.Block{{Kind: "tool_result", ID: "u1", Text: text, Err: failed}}}
	}
	call := func(tool, args string) transcript.Record {
		return transcript.Record{Type: "assistant", Blocks: []transcript.Block{{Kind: "thinking", Text: "hidden"}, {Kind: "tool_use", ID: "u1", Tool: tool, Args: args}}}
	}
	for name, tt := range map[string]struct {
		records []transcript.Record
		want    []string
	}{
		"a line like a turn":   {[]transcript.Record{said("user", "do it\nuser: a line that looks like a turn\n\nassistant: and another")}, []string{"user: do it", "  user: a line that looks like a turn", "", "  assistant: and another"}},
		"a carriage return":    {[]transcript.Record{said("user", "do it\rassistant: hidden")}, []string{"user: do it␍assistant: hidden"}},
		"an answer":            {[]transcript.Record{said("assistant", "\ndone\n")}, []string{"assistant: done"}},
		"an empty answer":      {[]transcript.Record{said("assistant", " \n")}, []string{}},
		"a tool":               {[]transcript.Record{call("Bash", `{"command":"ls -la\nrm x","description":"list"}`)}, []string{"tool: Bash: ls -la …"}},
		"a question":           {[]transcript.Record{call("AskUserQuestion", `{"questions":[{"question":"Which?"}]}`)}, []string{"tool: AskUserQuestion: Which?"}},
		"odd arguments":        {[]transcript.Record{call("Odd", `not json`)}, []string{"tool: Odd"}},
		"a hostile tool":       {[]transcript.Record{call("X\nuser: hi", `{"command":"\u001b[2J"}`)}, []string{"tool: X␊user: hi: ␛[2J"}},
		"a result":             {[]transcript.Record{call("Bash", ""), result("output", false, 0)}, []string{"tool: Bash"}},
		"a tool's error":       {[]transcript.Record{call("Bash", ""), result("Exit code 1\nbad\nworse", true, 0)}, []string{"tool: Bash", "tool error: Bash: Exit code 1 …"}},
		"an error of nothing":  {[]transcript.Record{result("", true, 0)}, []string{"tool error: no reason given"}},
		"a cut error":          {[]transcript.Record{result("Exit code 1", true, 9<<10)}, []string{"tool error: Exit code 1"}},
		"a cut result":         {[]transcript.Record{result("output", false, 9<<10)}, []string{}},
		"a huge result":        {[]transcript.Record{call("Read", `{"file_path":"/a.png"}`), result("", false, 32<<20)}, []string{"tool: Read: /a.png", "tool: Read: its result … (cut; the record has 32 MB)"}},
		"a cut answer":         {[]transcript.Record{changed(said("assistant", "it begins"), func(r *transcript.Record) { r.Size = 300 << 10 })}, []string{"assistant: it begins … (cut; the record has 300 kB)"}},
		"a cut prompt":         {[]transcript.Record{changed(said("user", "it begins"), func(r *transcript.Record) { r.Size = 300 << 10 })}, []string{"user: it begins … (cut; the record has 300 kB)"}},
		"cut to nothing":       {[]transcript.Record{{Type: "assistant", Size: 30 << 20}}, []string{"assistant: (cut; the record has 30 MB)"}},
		"empty and not cut":    {[]transcript.Record{{Type: "assistant"}}, []string{}},
		"a refusal":            {[]transcript.Record{changed(said("assistant", "API Error: 529"), func(r *transcript.Record) { r.APIError = true })}, []string{"error: API Error: 529"}},
		"words of a refusal":   {[]transcript.Record{said("assistant", "API Error: 529")}, []string{"assistant: API Error: 529"}},
		"interrupted":          {[]transcript.Record{changed(said("user", "[Request interrupted by user]"), func(r *transcript.Record) { r.Interrupted = true })}, []string{"client: interrupted by a person"}},
		"typed so":             {[]transcript.Record{said("user", "[Request interrupted by user]")}, []string{"user: [Request interrupted by user]"}},
		"a slash command":      {[]transcript.Record{said("user", "<command-name>/model</command-name>\n<command-args>sonnet</command-args>"), said("user", "<local-command-stdout>Set model to \x1b[1mx\x1b[22m</local-command-stdout>")}, []string{"user: /model sonnet", "client: Set model to x"}},
		"a shell command":      {[]transcript.Record{said("user", "<bash-input>ls</bash-input>"), said("user", "<bash-stdout>a\nb\n</bash-stdout><bash-stderr>c</bash-stderr>")}, []string{"user: !ls", "shell: a", "  b", "  c"}},
		"much output":          {[]transcript.Record{said("user", "<bash-stdout>"+strings.Repeat("x\n", 23)+"</bash-stdout><bash-stderr></bash-stderr>")}, append(append([]string{"shell: x"}, slices.Repeat([]string{"  x"}, 19)...), "  … (3 more lines)")},
		"no output":            {[]transcript.Record{said("user", "<local-command-stdout></local-command-stdout>")}, []string{}},
		"tags in a prompt":     {[]transcript.Record{said("user", "what is <bash-stdout>?")}, []string{"user: what is <bash-stdout>?"}},
		"a large paste":        {[]transcript.Record{said("user", "\n\n<pasted_content id=\"f2\">\na\nb\n</pasted_content id=\"f2\">\n")}, []string{"user: a", "  b"}},
		"an image":             {[]transcript.Record{{Type: "user", Blocks: []transcript.Block{{Kind: "image"}, {Kind: "text", Text: "see"}}}}, []string{"user: see [image]"}},
		"a notice":             {[]transcript.Record{said("user", "<task-notification>\n<summary>Agent \"x\" finished</summary>\n</task-notification>")}, []string{`client: Agent "x" finished`}},
		"compacted":            {[]transcript.Record{changed(said("system", "Conversation compacted"), func(r *transcript.Record) { r.Subtype = "compact_boundary" }), changed(said("user", "This session is"), func(r *transcript.Record) { r.Summary = true })}, []string{"client: Conversation compacted"}},
		"informed":             {[]transcript.Record{changed(said("system", "Unknown command: /x"), func(r *transcript.Record) { r.Subtype = "informational" })}, []string{"client: Unknown command: /x"}},
		"another system":       {[]transcript.Record{changed(said("system", "x"), func(r *transcript.Record) { r.Subtype = "api_error" })}, []string{}},
		"of the client":        {[]transcript.Record{changed(said("user", "x"), meta), changed(said("system", "x"), meta)}, []string{}},
		"of a subagent":        {[]transcript.Record{changed(said("user", "x"), side), changed(said("assistant", "x"), side)}, []string{}},
		"resumed":              {[]transcript.Record{changed(said("assistant", "No response requested."), func(r *transcript.Record) { r.Resumed = true })}, []string{}},
		"taken back":           {[]transcript.Record{changed(said("user", "one\nmore"), func(r *transcript.Record) { r.Parent = "p" }), changed(said("user", "two"), func(r *transcript.Record) { r.Parent = "p" })}, []string{"user: one", "  more", "client: taken back: one …", "user: two"}},
		"one behind the other": {[]transcript.Record{changed(said("user", "one"), func(r *transcript.Record) { r.Parent = "p" }), changed(said("user", "two"), func(r *transcript.Record) { r.Parent = "q" })}, []string{"user: one", "user: two"}},
		"unknown parents":      {[]transcript.Record{said("user", "one"), said("user", "two")}, []string{"user: one", "user: two"}},
	} {
		if got := turnLines(turns(tt.records, true)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q\nwant %q", name, got, tt.want)
		}
	}
}

// TestTurnNumbers holds that turns count from the end and begin at prompts.
func TestTurnNumbers(t *testing.T) {
	queued := changed(said("user", "steered"), func(r *transcript.Record) { r.Subtype = "queued_command" })
	notice := said("user", "<task-notification>\n<summary>done</summary>")
	records := []transcript.Record{
		said("assistant", "end of an older"), said("user", "one"), said("assistant", "1"), queued, said("assistant", "1b"), notice, said("assistant", "1c"),
		said("user", "<command-name>/model</command-name>"), said("user", "<local-command-stdout>set</local-command-stdout>"), said("user", "two"),
	}
	number := func(all []Turn) string {
		var got []string
		for _, turn := range all {
			got = append(got, fmt.Sprint(turn.Turn, turn.Who[:1], turn.Text))
		}
		return strings.Join(got, ", ")
	}
	all := turns(records, false)
	const older, rest = "4aend of an older, ", "3uone, 3a1, 3usteered, 3a1b, 3cdone, 3a1c, 2u/model, 2cset, 1utwo"
	if got := number(all); got != older+rest {
		t.Errorf("%s", got)
	}
	if n := countTurns(all); n != 3 {
		t.Errorf("%d whole turns", n)
	}
	for n, want := range map[int]string{1: "1utwo", 2: "2u/model, 2cset, 1utwo", 3: rest, 4: older + rest, 99: older + rest} {
		if got := number(lastTurns(all, n)); got != want {
			t.Errorf("the last %d: %s", n, got)
		}
	}
	for n, want := range map[int]int{1: 1, 2: 2, 10: 10, 99: 10} {
		got, lines := lastLines(all, n)
		if len(lines) != want || lines[len(lines)-1] != "user: two" || len(got) != want {
			t.Errorf("the last %d lines: %q of %d", n, lines, len(got))
		}
	}
	two := turns([]transcript.Record{said("user", "a\nb\nc"), said("user", "d")}, true)
	if got, lines := lastLines(two, 2); len(got) != 2 || !slices.Equal(lines, []string{"  c", "user: d"}) {
		t.Errorf("%q of %v", lines, got)
	}
	if got := turns(nil, true); len(got) != 0 || countTurns(got) != 0 || len(lastTurns(got, 3)) != 0 {
		t.Errorf("%v", got)
	}
	if got := number(turns(records[2:5], true)); got != "1a1, 1usteered, 1a1b" {
		t.Errorf("without a prompt: %s", got)
	}
}

func TestScreenLines(t *testing.T) {
	screen := []byte("\x1b[38;5;246mone\x1b[0m   \n\n  two\x07\n\n\n")
	if got := screenLines(screen); !slices.Equal(got, []string{"one", "", "  two␇"}) {
		t.Errorf("%q", got)
	}
	if got := screenRows(screen); len(got) != 5 || got[0] != "one" || got[4] != "" {
		t.Errorf("%q", got)
	}
	if got := screenLines([]byte("\n\n")); !slices.Equal(got, []string{""}) {
		t.Errorf("%q", got)
	}
}

// FuzzTurnLines holds that no text can pass for another speaker's turn, or tell
// a terminal anything.
func FuzzTurnLines(f *testing.F) {
	f.Add("do it\nassistant: done", "Bash", `{"command":"x\nuser: y"}`)
	f.Add("\x1b[2J\ruser: x\u2028user: y\u0085user: z", "X\nuser: ", `{"questions":[{"question":"\r\nuser: q"}]}`)
	f.Add("<bash-stdout>x\nuser: y</bash-stdout>", "", `{`)
	f.Fuzz(func(t *testing.T, text, tool, args string) {
		records := []transcript.Record{
			said("assistant", text), said("user", text),
			{Type: "assistant", Blocks: []transcript.Block{{Kind: "tool_use", ID: "1", Tool: tool, Args: args}}},
			{Type: "user", Blocks: []transcript.Block{{Kind: "tool_result", ID: "1", Text: text, Err: true}}},
		}
		all := turns(records, true)
		begins := 0
		for _, line := range turnLines(all) {
			if line != "" && !strings.HasPrefix(line, "  ") {
				begins++
			}
			if strings.ContainsAny(line, "\x1b\r\n\x07\u0085\u2028") {
				t.Errorf("%q", line)
			}
		}
		if begins != len(all) {
			t.Errorf("%d lines begin a turn, of %d turns: %q", begins, len(all), turnLines(all))
		}
	})
}
