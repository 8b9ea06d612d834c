package transcript

import "strings"

// End is how a turn ended.
type End struct {
	// Text is the last that the turn said: the model's text behind its last tool,
	// what a command of the client printed, or why the service refused. It is not
	// neutralised.
	Text string
	// Error: the service refused; Status is the HTTP status, 0 when the record
	// does not tell.
	Error  bool
	Status int
	// Interrupted: a person broke the turn off, or took the prompt back.
	Interrupted bool
}

// TurnEnd reads how the turn of a prompt ended, and whether it has. The records
// are those from the prompt's own on, oldest first: what follows the turn may be
// among them, and what was cut off its beginning may not.
//
// A turn ends with a turn_duration record, a refusal of the service, an
// interruption, or the output of the client's own command or a "!" command; one
// whose output goes to the model (2.1.332 does that with "!" commands) runs on.
// Versions before 2.1.202 write no turn_duration, and none writes anything for a
// turn that was broken off before its first word: then ended is false until the
// next prompt, Text is what was said so far, and the session's state has to tell.
// Records of subagents and of the client itself are passed over.
func TurnEnd(records []Record) (end End, ended bool) {
	if len(records) == 0 {
		return End{}, false
	}
	var said []string
	text := func() string { return strings.Join(said, "\n\n") }
	answered := false // the model has said or done something
	for i, r := range records {
		switch {
		case i == 0 || r.Side || r.Meta || r.Summary:
			continue
		case r.Type == "system" && r.Subtype == "turn_duration":
			return End{Text: text()}, true
		case r.APIError:
			return End{Text: strings.TrimSpace(r.Text()), Error: true, Status: r.APIStatus}, true
		case r.Interrupted:
			return End{Text: text(), Interrupted: true}, true
		case r.Type == "assistant":
			answered = true
			if uses(r, "tool_use") {
				said = nil
			}
			said = append(said, finalText(r)...)
		case uses(r, "tool_result"):
			said = nil
		default:
			if out, ok := r.Output(); ok {
				if !r.Starts {
					return End{Text: strings.TrimSpace(out)}, true
				}
				continue
			}
			if _, ok := r.Prompt(); !ok && !r.Notice() || r.Subtype == queuedCommand {
				continue
			}
			// What follows as a turn of its own shows that this one is over.
			switch {
			case r.Parent != "" && r.Parent == records[0].Parent:
				return End{Text: text(), Interrupted: true}, true
			case answered:
				return End{Text: text()}, true
			}
		}
	}
	return End{Text: text()}, false
}

// finalText are the texts of a record behind its last tool_use.
func finalText(r Record) []string {
	var texts []string
	for _, b := range r.Blocks {
		switch {
		case b.Kind == "tool_use":
			texts = nil
		case b.Kind == "text" && strings.TrimSpace(b.Text) != "":
			texts = append(texts, strings.TrimSpace(b.Text))
		}
	}
	return texts
}

func uses(r Record, kind string) bool {
	for _, b := range r.Blocks {
		if b.Kind == kind {
			return true
		}
	}
	return false
}
