package fleet

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/transcript"
)

// turner makes turns of records.
type turner struct {
	all     []Turn
	prompts map[string]string // what was asked, by the record that it followed
	tools   map[string]string // the tools that were called, by the id of the call
}

// turns are the records that a reader wants, in order: one a block. whole tells
// that the records are all of a conversation, so that what stands before the
// first prompt belongs to no other turn.
func turns(records []transcript.Record, whole bool) []Turn {
	t := turner{all: []Turn{}, prompts: map[string]string{}, tools: map[string]string{}}
	var begins []int // by place in t.all
	for _, r := range records {
		if r.Side || r.Meta || r.Resumed {
			continue
		}
		n := len(t.all)
		if t.record(r) && len(t.all) > n {
			begins = append(begins, n)
		}
		if last := len(t.all) - 1; last >= n && r.Size > 0 && t.all[last].Who != "tool error" {
			t.all[last].Text = strings.TrimPrefix(t.all[last].Text+fmt.Sprintf(" … (cut; the record has %s)", byteCount(r.Size)), " … ")
		}
	}
	turn := len(begins)
	if !whole || len(begins) == 0 || begins[0] > 0 {
		turn++ // the one that began before
	}
	for i := range t.all {
		if len(begins) > 0 && i == begins[0] {
			turn, begins = len(begins), begins[1:]
		}
		t.all[i].Turn = turn
	}
	return t.all
}

// record adds what a record tells, and says whether a turn begins with it.
func (t *turner) record(r transcript.Record) bool {
	add := func(who, tool, text string) {
		if strings.TrimSpace(text) != "" || tool != "" {
			t.all = append(t.all, Turn{Who: who, Tool: tool, Text: text, At: r.At, ID: r.ID})
		}
	}
	command, isCommand := r.Command()
	output, shell := r.Output()
	prompt, isPrompt := r.Prompt()
	switch {
	case isCommand:
		add("user", "", command)
		return true
	case shell:
		add("shell", "", cutLines(output))
	case output != "":
		add("client", "", cutLines(output))
	case r.Interrupted:
		add("client", "", "interrupted by a person")
	case r.Notice():
		add("client", "", notice(r.Text()))
	case r.Summary: // compact_boundary tells of it
	case r.Type == "system":
		switch r.Subtype {
		case "compact_boundary", "informational", transcript.HookStopped:
			add("client", "", r.Text())
		}
	case r.APIError:
		add("error", "", r.Text())
	case isPrompt:
		return t.prompt(r, prompt, add)
	default:
		t.blocks(r, add)
	}
	return false
}

// prompt adds what a person asked. One that follows the same record as an
// earlier one stands in its place: that was taken back, or gone back to.
func (t *turner) prompt(r transcript.Record, text string, add func(who, tool, text string)) bool {
	text = strings.Trim(transcript.Unframed(text), "\n")
	for _, b := range r.Blocks {
		if b.Kind == "image" || b.Kind == "document" {
			text = strings.TrimSpace(text + " [" + b.Kind + "]")
		}
	}
	queued := r.Subtype != "" // it was taken in by a turn that runs
	if r.Parent != "" && !queued {
		if before, ok := t.prompts[r.Parent]; ok {
			t.all = append(t.all, Turn{Who: "client", Text: "taken back: " + firstLine(before, 80), At: r.At, ID: r.ID})
		}
		t.prompts[r.Parent] = text
	}
	add("user", "", text)
	return !queued
}

// blocks adds what the model said and called, and what went wrong with that.
func (t *turner) blocks(r transcript.Record, add func(who, tool, text string)) {
	if len(r.Blocks) == 0 && r.Size > 0 { // its beginning says no more
		t.all = append(t.all, Turn{Who: r.Type, At: r.At, ID: r.ID})
	}
	for _, b := range r.Blocks {
		switch {
		case b.Kind == "text" && r.Type == "assistant":
			add("assistant", "", b.Text)
		case b.Kind == "tool_use":
			t.tools[b.ID] = b.Tool
			add("tool", cmp.Or(b.Tool, "a tool"), toolArgument(b))
		case b.Kind == "tool_result" && b.Err:
			// What a failed tool printed is long, and its beginning says what failed.
			add("tool error", t.tools[b.ID], cmp.Or(firstLine(b.Text, 160), "no reason given"))
		case b.Kind == "tool_result" && r.Size >= hugeResult:
			add("tool", t.tools[b.ID], "its result")
		}
	}
}

// hugeResult is from which length on, in bytes, a result that is not shown is
// mentioned.
const hugeResult = 1 << 20

// toolArgument is the argument of a call that says most, in one line.
func toolArgument(b transcript.Block) string {
	var args map[string]any
	_ = json.Unmarshal([]byte(b.Args), &args) // a call without an object has no arguments to show
	if list, ok := args["questions"].([]any); ok && len(list) > 0 {
		args, _ = list[0].(map[string]any)
	}
	for _, key := range []string{"command", "file_path", "path", "pattern", "url", "query", "question", "description", "prompt", "subject"} {
		if v, ok := args[key].(string); ok && v != "" {
			return firstLine(v, 160)
		}
	}
	return ""
}

var summary = lazyRegexp(`(?s)<summary>(.*?)</summary>`)

// notice is what the client told the model, in one line.
func notice(text string) string {
	if m := summary().FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	return firstLine(strings.TrimSpace(text), 160)
}

// firstLine is the first line of a text, no longer than n columns.
func firstLine(text string, n int) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if short := cut(first, n); short != first || strings.TrimSpace(rest) == "" {
		return short
	}
	return first + " …"
}

// maxOutputLines is how much is shown of what a command printed.
const maxOutputLines = 20

// cutLines are the first lines of a text, and how many there are more.
func cutLines(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) <= maxOutputLines {
		return strings.Join(lines, "\n")
	}
	return strings.Join(lines[:maxOutputLines], "\n") + fmt.Sprintf("\n… (%d more lines)", len(lines)-maxOutputLines)
}

func byteCount(n int64) string {
	if n < 10<<20 {
		return fmt.Sprintf("%d kB", n>>10)
	}
	return fmt.Sprintf("%d MB", n>>20)
}
