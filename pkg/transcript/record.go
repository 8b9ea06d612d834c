package transcript

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"
)

// Record is one line of a conversation that says what happened in it.
type Record struct {
	Type    string // "user", "assistant", "system", or "queue-operation" where a prompt was queued
	Subtype string // of a system record, e.g. "turn_duration" at a turn's end; "queued_command" of a prompt that a running turn took in
	ID      string
	// Parent is the record that this one follows. Of two prompts with one parent
	// the first was taken back.
	Parent  string
	Session string
	Dir     string
	At      time.Time
	// Sent is when Enter was pressed for a prompt that then waited in the queue,
	// where the version tells (2.1.332 does); else it is At.
	Sent time.Time
	Meta bool // written by the client itself, not by a person or the model
	Side bool // belongs to a subagent
	// APIError: the service refused; APIStatus is the HTTP status, 0 when the
	// record does not tell.
	APIError  bool
	APIStatus int
	// Interrupted: it says that a person broke the turn off.
	Interrupted bool
	// Summary: it is what a compaction left of the conversation before it.
	Summary bool
	// Resumed: the client wrote it in the model's name when it was resumed amid a
	// turn that had been cut off.
	Resumed bool
	// Size is the length of the record in bytes where only its beginning was read;
	// its last block then ends where that did.
	Size int64
	// Origin says who gave a user record: "human", "task-notification", or empty
	// where the version does not tell (before 2.1.202) or it is the client's own.
	Origin string
	Blocks []Block
}

// Block is one part of what was said.
type Block struct {
	ID   string // of a tool_use, and of the tool_use that a tool_result is for
	Kind string // "text", "tool_use", "tool_result", or one that we do not read
	Text string
	Tool string // name of the tool
	Args string // of a tool_use: JSON
	Err  bool   // of a tool_result: the tool failed, or was not allowed to run
}

// ParseRecord reads one line. It is false for what is no such record: other
// types, or a line cut at either end. Of what is done to the queue only that a
// prompt was put into it is one. A prompt that was queued and then taken
// into the running turn is an attachment in the file, and a user record here.
func ParseRecord(line []byte) (Record, bool) {
	var f struct {
		Type              string    `json:"type"`
		Subtype           string    `json:"subtype"`
		Operation         string    `json:"operation"`
		UUID              string    `json:"uuid"`
		ParentUUID        string    `json:"parentUuid"`
		SessionID         string    `json:"sessionId"`
		CWD               string    `json:"cwd"`
		Timestamp         time.Time `json:"timestamp"`
		IsMeta            bool      `json:"isMeta"`
		IsSidechain       bool      `json:"isSidechain"`
		IsAPIErrorMessage bool      `json:"isApiErrorMessage"`
		APIErrorStatus    any       `json:"apiErrorStatus"`
		IsCompactSummary  bool      `json:"isCompactSummary"`
		PromptSource      string    `json:"promptSource"`
		SentAtMs          any       `json:"sentAtMs"`
		Origin            origin    `json:"origin"`
		Message           struct {
			Model   string          `json:"model"`
			Content json.RawMessage `json:"content"`
		} `json:"message"`
		Content    any        `json:"content"`
		Attachment attachment `json:"attachment"`
	}
	if json.Unmarshal(line, &f) != nil {
		return Record{}, false
	}
	switch f.Type {
	case "user", "assistant", "system":
	case "attachment":
		if text, ok := f.Attachment.stopped(); ok {
			return Record{
				Type: "system", Subtype: HookStopped, ID: f.UUID, Parent: f.ParentUUID, Session: f.SessionID, Dir: f.CWD, At: f.Timestamp, Sent: f.Timestamp,
				Side: f.IsSidechain, Blocks: []Block{{Kind: "text", Text: text}},
			}, true
		}
		blocks, ok := f.Attachment.prompt()
		return Record{
			Type: "user", Subtype: queuedCommand, ID: f.UUID, Parent: f.ParentUUID, Session: f.SessionID, Dir: f.CWD, At: f.Timestamp, Sent: f.Timestamp,
			Side: f.IsSidechain, Origin: f.Attachment.Origin.Kind, Blocks: blocks,
		}, ok
	case queueOperation:
		text, ok := f.Content.(string)
		return Record{Type: f.Type, Subtype: f.Operation, Session: f.SessionID, At: f.Timestamp, Sent: f.Timestamp, Blocks: []Block{{Kind: "text", Text: text}}},
			ok && f.Operation == enqueue
	default:
		return Record{}, false
	}
	r := Record{
		Type: f.Type, Subtype: f.Subtype, ID: f.UUID, Parent: f.ParentUUID, Session: f.SessionID, Dir: f.CWD, At: f.Timestamp, Sent: f.Timestamp,
		Meta: f.IsMeta, Side: f.IsSidechain, APIError: f.IsAPIErrorMessage,
		Summary: f.IsCompactSummary, Origin: f.Origin.Kind, Blocks: parseContent(f.Message.Content),
	}
	// A person may type these words: then the record says where they came from, or
	// (before 2.1.300) holds them as a string, not as a list of blocks.
	r.Interrupted = f.Type == "user" && f.PromptSource == "" && f.Origin.Kind == "" && isInterruption(f.Message.Content)
	if n, ok := f.SentAtMs.(float64); ok {
		r.Sent = time.UnixMilli(int64(n))
	}
	if n, ok := f.APIErrorStatus.(float64); ok {
		r.APIStatus = int(n)
	}
	if text, ok := f.Content.(string); ok && f.Type == "system" {
		r.Blocks = append(r.Blocks, Block{Kind: "text", Text: text})
	}
	r.Resumed = r.Type == "assistant" && f.Message.Model == "<synthetic>" && r.Text() == "No response requested."
	return r, true
}

// parseContent reads a message's content: a string, or a list of blocks.
func parseContent(raw json.RawMessage) []Block {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []Block{{Kind: "text", Text: text}}
	}
	var parts []struct {
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		Name    string          `json:"name"`
		Input   json.RawMessage `json:"input"`
		Content json.RawMessage `json:"content"`
		IsError bool            `json:"is_error"`
		ID      string          `json:"id"`
		UseID   string          `json:"tool_use_id"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return nil
	}
	var blocks []Block
	for _, p := range parts {
		b := Block{ID: cmp.Or(p.UseID, p.ID), Kind: p.Type, Text: p.Text, Tool: p.Name, Args: string(p.Input), Err: p.IsError}
		if p.Type == "tool_result" {
			b.Text = joinText(parseContent(p.Content))
		}
		blocks = append(blocks, b)
	}
	return blocks
}

func joinText(blocks []Block) string {
	var texts []string
	for _, b := range blocks {
		if b.Kind == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// Text is the text of the record's blocks, one below the other.
func (r Record) Text() string { return joinText(r.Blocks) }

// Prompt is the text of a prompt, and whether the record is one: what a person
// or a program gave the client, as against tool results, what the client adds
// itself, and what it tells a subagent.
func (r Record) Prompt() (string, bool) {
	if r.Type != "user" || r.Meta || r.Side || r.Interrupted || r.Summary || r.Notice() {
		return "", false
	}
	for _, b := range r.Blocks {
		if b.Kind == "tool_result" {
			return "", false
		}
	}
	return r.Text(), !r.isOutput()
}
