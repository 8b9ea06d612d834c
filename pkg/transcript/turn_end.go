package transcript

import (
	"slices"
	"strings"
)

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
	// Interrupted: a person broke the turn off or took the prompt back, or the
	// client went amid it and was resumed.
	Interrupted bool
	// Stopped is what is known of a hook that ended the turn, with nothing said
	// behind that; empty where none did.
	Stopped string
}

// TurnEnd reads how the turn of a prompt ended, and whether it has. The records
// are those from the prompt's own on, oldest first: what follows the turn may be
// among them, and what was cut off its beginning may not.
//
// A turn ends with a turn_duration record, a refusal of the service, an
// interruption, or what a command of the client printed. What a "!" command
// printed goes to the model in some versions (2.1.217 and 2.1.332; not 2.0.76),
// so it ends none. Versions before 2.1.202 write no turn_duration, and none
// writes anything for a turn that was broken off before its first word: then
// ended is false until the next prompt, Text is what was said so far, and the
// session's state has to tell. Records of subagents and of the client itself are
// passed over.
func TurnEnd(records []Record) (end End, ended bool) {
	var said []string
	done := "" // what a "!" command printed
	stopped := ""
	answered := false
	text := func() string {
		if len(said) == 0 {
			return done
		}
		return strings.Join(said, "\n\n")
	}
	for i, r := range records {
		switch {
		case i == 0 || r.Side || r.Meta || r.Summary:
		case r.Type == "system" && r.Subtype == "turn_duration":
			return End{Text: text(), Stopped: stopped}, true
		case r.Type == "system" && r.Subtype == HookStopped:
			stopped = r.Text()
		case r.APIError:
			return End{Text: strings.TrimSpace(r.Text()), Error: true, Status: r.APIStatus}, true
		case r.Interrupted, r.Resumed:
			return End{Text: text(), Interrupted: true}, true
		case r.Type == "assistant":
			answered, stopped = true, ""
			if uses(r, "tool_use") {
				said = nil
			}
			said = append(said, finalText(r)...)
		case uses(r, "tool_result"):
			said = nil
		case r.isOutput():
			out, shell := r.Output()
			if done, answered = strings.TrimSpace(out), true; !shell {
				return End{Text: done}, true
			}
		case r.begins():
			// A turn of its own shows that this one is over.
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

// begins tells whether a record begins a turn, as against one that a running
// turn took in. Of prompts that were queued together the later ones only seem to.
func (r Record) begins() bool {
	_, prompt := r.Prompt()
	return (prompt || r.Notice()) && r.Subtype != queuedCommand
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
	return slices.ContainsFunc(r.Blocks, func(b Block) bool { return b.Kind == kind })
}
