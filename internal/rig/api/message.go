package api

import (
	"encoding/json"
	"strings"
)

// wireRequest is the part of a Messages API request that the script looks at.
type wireRequest struct {
	Model    string        `json:"model"`
	Stream   bool          `json:"stream"`
	Messages []wireMessage `json:"messages"`
	Tools    []struct {
		Name string `json:"name"`
	} `json:"tools"`
	Metadata struct {
		UserID string `json:"user_id"`
	} `json:"metadata"`
}

type wireMessage struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

// content is a message's list of blocks. The API takes a plain string too,
// which reads as one text block.
type content []block

type block struct {
	Type    string  `json:"type"`
	Text    string  `json:"text"`
	Name    string  `json:"name"`
	Content content `json:"content"` // of a tool result
}

func (c *content) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*c = content{{Type: "text", Text: text}}
		return nil
	}
	var blocks []block
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return err
	}
	*c = blocks
	return nil
}

// text is what the text blocks say, a line each.
func (c content) text() string {
	var texts []string
	for _, b := range c {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// session is the client's session id, which it sends as JSON inside a string.
func (r *wireRequest) session() string {
	var id struct {
		Session string `json:"session_id"`
	}
	if json.Unmarshal([]byte(r.Metadata.UserID), &id) != nil {
		return ""
	}
	return id.Session
}

// toolNames are the tools that the client offers.
func (r *wireRequest) toolNames() []string {
	names := make([]string, 0, len(r.Tools))
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return names
}

// turn is what the messages of a request say about where the talk stands.
type turn struct {
	// prompt is the newest text of the user, as it was typed.
	prompt string
	// messages is how many the talk has: together with prompt it tells a new
	// turn from a repeated request.
	messages int
	// results is how many tool results came after the prompt: 0 for a new turn.
	results int
	// result is the text of the newest of them.
	result string
	// compacting says that the client asks for a summary of the talk.
	compacting bool
}

// turnOf reads the messages from the oldest on.
func turnOf(messages []wireMessage) turn {
	t := turn{messages: len(messages)}
	for _, m := range messages {
		// Newer clients put their own notes into messages of role system.
		if m.Role != "user" {
			continue
		}
		for _, b := range m.Content {
			switch b.Type {
			case "tool_result":
				t.results++
				t.result = b.Content.text()
			case "text":
				t.compacting = strings.HasPrefix(b.Text, compactBegin) || strings.HasPrefix(b.Text, compactBeginOld)
				if text, ok := userText(b.Text); ok && !t.compacting {
					t.prompt, t.results, t.result = text, 0, ""
				}
			}
		}
	}
	return t
}

// How the client frames what it says itself in the role of the user. All seen
// with 2.1.332.
const (
	compactBegin     = "CRITICAL: Respond with TEXT ONLY."
	compactBeginOld  = "Your task is to create a detailed summary of the conversation" // 1.0.128 to 2.1.0
	interruptedBegin = "[Request interrupted by user"
	commandBegin     = "<command-name>/"
	localBegin       = "<local-command-"
	// A prompt that was queued while a tool ran comes beside its result.
	queuedBegin = "The user sent a new message while you were working:\n"
	queuedEnd   = "\n\nThis is how Claude Code surfaces messages"
)

// userText is what the user typed of a text block, and whether it is that at
// all.
func userText(text string) (string, bool) {
	for _, own := range []string{interruptedBegin, commandBegin, localBegin} {
		if strings.HasPrefix(text, own) {
			return "", false
		}
	}
	text = withoutReminders(text)
	if rest, ok := strings.CutPrefix(text, queuedBegin); ok {
		if end := strings.LastIndex(rest, queuedEnd); end >= 0 {
			text = rest[:end]
		}
	}
	return text, strings.TrimSpace(text) != ""
}

const (
	reminderOpen  = "<system-reminder>"
	reminderClose = "</system-reminder>"
)

// withoutReminders drops every reminder from a text. One that is not closed
// ends with the text.
func withoutReminders(text string) string {
	var kept strings.Builder
	cut := false
	for {
		before, rest, found := strings.Cut(text, reminderOpen)
		kept.WriteString(before)
		if !found {
			break
		}
		cut = true
		_, after, closed := strings.Cut(rest, reminderClose)
		if !closed {
			break
		}
		text = after
	}
	if !cut {
		return kept.String()
	}
	// A reminder stands on lines of its own: what it leaves behind is not text.
	return strings.Trim(kept.String(), "\n")
}
