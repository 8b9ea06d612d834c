package fleet

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

// wasOf says what a session is at.
func wasOf(s seen) Was {
	w := Was{State: s.State, Draft: s.Draft, Dialog: s.Dialog, Queued: s.Input.Queued, Attached: s.Attached, Conversation: conversation(s)}
	if s.pane != nil && s.client != 0 {
		rows := screenLines(s.pane.Screen)
		w.Background = backgroundIn(rows[min(s.Input.Row, len(rows)):])
		if s.State == detect.Busy {
			w.Turn, w.Prompt = turnIn(rows, s), promptOf(s)
		}
	}
	w.Text = w.words(s.Why)
	return w
}

// turnRows is how many rows above the input box are looked at for what a turn says.
const turnRows = 12

// turnIn is what the client says of its turn in one row: the one that its rule saw,
// as a spinner's, else the last words above the input box, where they stream. Notices
// stand there at the right edge.
func turnIn(rows []string, s seen) string {
	said := func(y int) string {
		if y < 0 || y >= len(rows) || s.Input.Mark != "" && y >= s.Input.Row || !strings.ContainsFunc(rows[y], unicode.IsLetter) {
			return ""
		}
		text := strings.TrimSpace(rows[y])
		if s.pane.Width > 0 && len(rows[y])-len(strings.TrimLeft(rows[y], " ")) > s.pane.Width/2 {
			return ""
		}
		return text
	}
	for _, y := range s.Rows {
		if text := said(y); text != "" {
			return text
		}
	}
	if s.Input.Mark == "" {
		return ""
	}
	for y := s.Input.Row - 1; y >= s.Input.Row-turnRows; y-- {
		if text := said(y); text != "" {
			return text
		}
	}
	return ""
}

// promptOf is the newest prompt of the conversation, as far as its end was read.
func promptOf(s seen) string {
	if s.session == nil {
		return ""
	}
	for _, r := range slices.Backward(s.session.Tail) {
		if text, ok := r.Prompt(); ok && !r.Side {
			return text
		}
	}
	return ""
}

// backgroundIn is what the client's footer counts of what runs in the background,
// such as "1 shell" or "2 local agents" (2.1.85 to 2.1.332).
func backgroundIn(footer []string) string {
	var found []string
	for _, row := range footer {
		for part := range strings.SplitSeq(row, "·") {
			part = strings.TrimSpace(part)
			count, what, ok := strings.Cut(part, " ")
			if !ok || count == "" || strings.Trim(count, "0123456789") != "" {
				continue
			}
			if slices.Contains(backgroundKinds, strings.TrimSuffix(what, "s")) {
				found = append(found, part)
			}
		}
	}
	return strings.Join(found, ", ")
}

var backgroundKinds = []string{"shell", "bash", "background task", "local agent", "agent", "monitor"}

// words is all of it in one line.
func (w Was) words(why string) string {
	said := string(w.State)
	about := func(text string, most int) string { return quote(cut(neutral(text), most)) }
	switch {
	case w.Dialog != nil && w.Dialog.Title != "":
		said += " at " + about(w.Dialog.Title, 60)
	case w.State == detect.Busy && w.Prompt != "":
		said += " with " + about(w.Prompt, 60)
	case w.State == detect.Ready, w.Turn != "":
	case why != "":
		said += ": " + cut(neutral(why), 100)
	}
	if w.Turn != "" {
		said += ": " + cut(neutral(w.Turn), 80)
	}
	if w.Queued {
		said += ", prompts queued"
	}
	if w.Background != "" {
		said += ", in the background " + neutral(w.Background)
	}
	if w.Draft != "" {
		said += ", the draft " + about(w.Draft, 60)
	}
	if w.Attached > 0 {
		said += fmt.Sprintf(", attached terminals: %d", w.Attached)
	}
	return said
}
