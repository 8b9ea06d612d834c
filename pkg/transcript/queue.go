package transcript

import (
	"bytes"
	"encoding/json"
)

// queued follows the client's queue of prompts through a conversation. Up to
// 2.1.85 its operations are all that tells of a prompt which a running turn took
// in: later versions write an attachment then, and name the prompt in the removal.
type queued []string

// next reads a line. If a prompt was taken in and no other record will tell, it
// is returned as a record.
func (q *queued) next(line []byte) (Record, bool) {
	var f struct {
		Type      string          `json:"type"`
		Operation string          `json:"operation"`
		Content   *string         `json:"content"`
		SessionID string          `json:"sessionId"`
		Timestamp json.RawMessage `json:"timestamp"`
	}
	if !bytes.Contains(line, []byte(queueOperation)) || json.Unmarshal(line, &f) != nil || f.Type != queueOperation {
		return Record{}, false
	}
	switch f.Operation {
	case enqueue:
		if f.Content != nil {
			*q = append(*q, *f.Content)
		}
	case "dequeue", "remove":
		if len(*q) == 0 {
			return Record{}, false
		}
		text := (*q)[0]
		*q = (*q)[1:]
		if f.Operation == "remove" && f.Content == nil {
			r := Record{Type: "user", Subtype: queuedCommand, Session: f.SessionID, Blocks: []Block{{Kind: "text", Text: text}}}
			_ = json.Unmarshal(f.Timestamp, &r.At) // without a time it is still a prompt
			return r, !r.Notice()
		}
	default: // "popAll": a person took them back into the box
		*q = nil
	}
	return Record{}, false
}
