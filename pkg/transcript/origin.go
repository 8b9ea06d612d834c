package transcript

import (
	"encoding/json"
	"fmt"
	"strings"
)

// origin says who gave the client a prompt.
type origin struct {
	Kind string `json:"kind"`
}

// UnmarshalJSON passes over an origin of another form: it must not cost the
// record.
func (o *origin) UnmarshalJSON(raw []byte) error {
	var f struct {
		Kind any `json:"kind"`
	}
	if json.Unmarshal(raw, &f) == nil {
		o.Kind, _ = f.Kind.(string)
	}
	return nil
}

// queuedCommand is the type of an attachment, and here the Subtype of the
// record, that tells of a prompt which was queued while a turn ran and which
// that turn then took in. It has no user record of its own (2.1.85 to 2.1.332).
const queuedCommand = "queued_command"

// attachment is the part of an attachment that may be a prompt.
type attachment struct {
	Type                string
	Mode                string
	Prompt              json.RawMessage
	Origin              origin
	Message             any // of any type in other attachments
	HookEvent, HookName any
}

// UnmarshalJSON passes over attachments of other forms, of which each version
// has new ones.
func (a *attachment) UnmarshalJSON(raw []byte) error {
	var f struct {
		Type      string          `json:"type"`
		Mode      string          `json:"commandMode"`
		Prompt    json.RawMessage `json:"prompt"`
		Origin    origin          `json:"origin"`
		Message   any             `json:"message"`
		HookEvent any             `json:"hookEvent"`
		HookName  any             `json:"hookName"`
	}
	if json.Unmarshal(raw, &f) == nil {
		*a = attachment(f)
	}
	return nil
}

// prompt is what was queued, and whether it was one for the model: the client
// queues notices of its own the same way.
func (a *attachment) prompt() ([]Block, bool) {
	if a.Type != queuedCommand {
		return nil, false
	}
	blocks := parseContent(a.Prompt)
	if a.Mode == "task-notification" && a.Origin.Kind == "" {
		a.Origin.Kind = taskNotification
	}
	return blocks, len(blocks) > 0
}

// HookStopped is the Subtype of a system record that says that a hook ended the
// turn before its end, and in which words. In the file it is an attachment.
const HookStopped = "hook_stopped_continuation"

// stopped is the text of such a record. A hook that is asked when a turn is at its
// end (Stop, SubagentStop) ends none.
func (a *attachment) stopped() (text string, ok bool) {
	event, _ := a.HookEvent.(string)
	if a.Type != HookStopped || strings.HasSuffix(event, "Stop") {
		return "", false
	}
	return fmt.Sprintf("the hook %v ended the turn: %v", a.HookName, a.Message), true
}

// enqueue is the operation of a queue-operation record, and here the Subtype of
// the record, by which the client writes down at once what it has queued (2.1.217
// to 2.1.332). A turn that takes it in writes another record.
const enqueue = "enqueue"

// Enqueued tells whether a record says that the client has queued its text.
func (r Record) Enqueued() bool { return r.Type == queueOperation && r.Subtype == enqueue }

const queueOperation = "queue-operation"

// Origins of user records: what somebody typed, and what the client tells the
// model when something in the background has ended.
const (
	human            = "human"
	taskNotification = "task-notification"
)

// Notice tells whether a user record was given by the client itself: something
// in the background has ended. It begins a turn of its own, or falls into one.
func (r Record) Notice() bool {
	if r.Type != "user" {
		return false
	}
	if r.Origin != "" {
		return r.Origin == taskNotification
	}
	text := r.Text() // 2.0.76 says nothing else, and has the second
	return strings.HasPrefix(text, "<task-notification>\n") || strings.HasPrefix(text, "<bash-notification>\n")
}

// interruptions are what the client writes when a person broke a turn off.
var interruptions = []string{"[Request interrupted by user]", "[Request interrupted by user for tool use]"}

// isInterruption tells whether a message's content is one of them, in the form
// in which the client writes it.
func isInterruption(content json.RawMessage) bool {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return false
	}
	blocks := parseContent(content)
	if len(blocks) != 1 || blocks[0].Kind != "text" {
		return false
	}
	for _, s := range interruptions {
		if blocks[0].Text == s {
			return true
		}
	}
	return false
}
