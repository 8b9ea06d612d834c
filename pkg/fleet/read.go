package fleet

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/claude-fleet/claude-fleet/pkg/transcript"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// Reading is what a host's session said, newest last.
type Reading struct {
	Host string `json:"host"`
	// Source is "transcript", the client's own record of the conversation, or
	// "screen" where there is none.
	Source       string `json:"source"`
	Conversation string `json:"conversation"` // its id; empty for a screen
	Turns        []Turn `json:"turns"`
	// Lines are the last lines of it for a terminal, neutralised.
	Lines []string `json:"lines"`
}

// Turn is one thing that was said or done. Text is not neutralised.
type Turn struct {
	Who  string    `json:"who"` // "user", "assistant", "tool" or "error"
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

// readBytes is how much of a conversation's end is read at first, and
// maxReadBytes at most; between them it doubles until there are enough lines.
const (
	readBytes    = 512 << 10
	maxReadBytes = 16 << 20
)

// DefaultReadLines is what Read returns for a count of zero or less.
const DefaultReadLines = 40

// Read returns the last lines of a session's conversation, or, where the client
// keeps none, of its screen: from client 2.1.300 on the screen is an alternate
// one, and what scrolled off it is nowhere else. The errors are *Error; a
// session that is down is ClassRefused.
func (f *Fleet) Read(ctx context.Context, name string, lines int) (Reading, error) {
	if lines <= 0 {
		lines = DefaultReadLines
	}
	h, err := f.host(name)
	if err != nil {
		return Reading{}, err
	}
	ctx, cancel := f.conns.WithTimeout(ctx, h.Timeout)
	defer cancel()
	s := f.probeOne(ctx, h)
	if s.Err != nil {
		return Reading{}, s.Err
	}
	r := Reading{Host: name, Source: "transcript", Turns: []Turn{}, Conversation: conversation(s)}
	if r.Conversation == "" {
		if r.Conversation, err = f.lastConversation(ctx, s); err != nil {
			return Reading{}, err
		}
	}
	if r.Conversation != "" {
		for size := int64(readBytes); ; size *= 2 {
			res, err := f.conn(h).Run(ctx, transport.Script{Text: transcript.TailFragment(r.Conversation, size), Repeatable: true})
			if err != nil {
				return Reading{}, failed(name, "reading the conversation", err)
			}
			r.Turns = turns(transcript.ParseRecords(res.Stdout))
			r.Lines = turnLines(r.Turns)
			if len(r.Lines) >= lines || size >= maxReadBytes || int64(len(res.Stdout)) < size/2 && size > readBytes {
				break
			}
		}
	}
	if len(r.Turns) == 0 {
		if s.pane == nil {
			return Reading{}, &Error{Class: ClassRefused, Host: name, State: s.State, Rule: s.Rule, Msg: "there is nothing to read: " + s.Why, Hint: sendHint(s.Status)}
		}
		r.Source, r.Conversation, r.Lines = "screen", "", screenLines(s.pane.Screen)
	}
	r.Lines = r.Lines[max(0, len(r.Lines)-lines):]
	return r, nil
}

// turns are the records that a reader wants, in order: one a block.
func turns(records []transcript.Record) []Turn {
	all := []Turn{}
	for _, r := range records {
		if r.Side || r.Meta {
			continue
		}
		for _, b := range r.Blocks {
			t := Turn{At: r.At, Text: b.Text}
			switch {
			case b.Kind == "text" && r.APIError:
				t.Who = "error"
			case b.Kind == "text" && (r.Type == "user" || r.Type == "assistant"):
				t.Who = r.Type
			case b.Kind == "tool_use":
				t.Who, t.Text = "tool", toolLine(b)
			default:
				continue
			}
			if strings.TrimSpace(t.Text) != "" {
				all = append(all, t)
			}
		}
	}
	return all
}

// toolLine is a tool call in one line: its name and the argument that says most.
func toolLine(b transcript.Block) string {
	var args map[string]any
	_ = json.Unmarshal([]byte(b.Args), &args) // a call without an object has no arguments to show
	for _, key := range []string{"command", "file_path", "path", "pattern", "url", "query", "description", "prompt"} {
		if v, ok := args[key].(string); ok && v != "" {
			first, _, _ := strings.Cut(v, "\n")
			return b.Tool + ": " + cut(first, 160)
		}
	}
	return b.Tool
}

// turnLines draws turns for a terminal: who, then the text, its further lines
// indented, so that no line of it can pass for a turn of its own.
func turnLines(all []Turn) []string {
	var lines []string
	for _, t := range all {
		for i, line := range strings.Split(strings.TrimSpace(transport.NeutraliseLines(t.Text)), "\n") {
			if i == 0 {
				line = t.Who + ": " + line
			} else {
				line = "  " + line
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// screenLines are the rows of a captured screen without attributes and without
// the empty rows at its end.
func screenLines(screen []byte) []string {
	text := strings.TrimRight(ansi.Strip(string(screen)), " \n")
	lines := strings.Split(transport.NeutraliseLines(text), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}
