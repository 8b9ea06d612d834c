package fleet

import (
	"slices"
	"testing"

	"github.com/claude-fleet/claude-fleet/pkg/transcript"
)

func TestTurnLines(t *testing.T) {
	text := func(typ, s string) transcript.Record {
		return transcript.Record{Type: typ, Blocks: []transcript.Block{{Kind: "text", Text: s}}}
	}
	refusal := text("assistant", "API Error: 529")
	refusal.APIError = true
	meta := text("user", "caveat")
	meta.Meta = true
	side := text("assistant", "subagent")
	side.Side = true
	records := []transcript.Record{
		text("user", "do it\nuser: a line that looks like a turn"),
		{Type: "assistant", Blocks: []transcript.Block{
			{Kind: "thinking", Text: "hidden"},
			{Kind: "tool_use", Tool: "Bash", Args: `{"command":"ls -la\nrm x","description":"list"}`},
			{Kind: "tool_use", Tool: "Odd", Args: `not json`},
		}},
		{Type: "user", Blocks: []transcript.Block{{Kind: "tool_result", Text: "output"}}},
		meta, side, refusal,
		text("assistant", "done \x1b[31mred\x1b[0m\n"),
		text("assistant", " \n"),
	}
	want := []string{
		"user: do it",
		"  user: a line that looks like a turn",
		"tool: Bash: ls -la",
		"tool: Odd",
		"error: API Error: 529",
	}
	got := turnLines(turns(records))
	if len(got) != len(want)+1 || !slices.Equal(got[:len(want)], want) {
		t.Fatalf("got %q\nwant %q and one more", got, want)
	}
	if last := got[len(want)]; slices.Contains([]rune(last), '\x1b') {
		t.Errorf("an escape reaches the terminal: %q", last)
	}
}

func TestScreenLines(t *testing.T) {
	got := screenLines([]byte("\x1b[38;5;246mone\x1b[0m   \n\n  two\n\n\n"))
	if !slices.Equal(got, []string{"one", "", "  two"}) {
		t.Errorf("%q", got)
	}
}
