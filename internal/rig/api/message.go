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
	Type string `json:"type"`
	Text string `json:"text"`
	Name string `json:"name"`
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

// offers tells whether the client gave the model a tool of that name.
func (r *wireRequest) offers(tool string) bool {
	for _, t := range r.Tools {
		if t.Name == tool {
			return true
		}
	}
	return false
}

// turn is what the messages of a request say about where the talk stands.
type turn struct {
	// prompt is the newest text of the user, without the client's reminders.
	prompt string
	// count is how many texts the user has sent so far: together with prompt it
	// tells a new turn from a repeated request.
	count int
	// results is how many tool results came after the prompt: 0 for a new turn.
	results int
}

// turnOf reads the messages from the oldest on. The client puts reminders,
// its own notes, into text blocks of role user (and whole messages of role
// system after them): neither is a turn.
func turnOf(messages []wireMessage) turn {
	var t turn
	for _, m := range messages {
		if m.Role != "user" {
			continue
		}
		for _, b := range m.Content {
			switch b.Type {
			case "tool_result":
				t.results++
			case "text":
				text := withoutReminders(b.Text)
				if strings.TrimSpace(text) == "" {
					continue
				}
				t.prompt = text
				t.count++
				t.results = 0
			}
		}
	}
	return t
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
