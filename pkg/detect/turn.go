package detect

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// turn is what the region above the input box (or the dialog) says of the
// newest turn. Everything further up is history and decides nothing.
type turn struct {
	spinner int    // row of the live spinner, -1
	retry   int    // row that says a request is being retried, -1
	text    string // that row's text
	// event is the row of the newest event, -1: an answer, a refusal, a banner.
	event  int
	kind   eventKind
	note   int    // the lowest row of the client's notes under a limit banner, -1
	body   string // the event's text, wrapped rows joined
	queued int    // the row that tells how to send what is queued at once, -1
	// unanswered says that the newest prompt, or the newest finished turn, shows
	// nothing that came of it: it has yet to begin, or the capture is torn.
	unanswered bool
	// pending says that no finished turn's line follows the prompt: it may have
	// been interrupted before anything came of it.
	pending bool
	prompt  int // the row of the prompt
	// resumes and cancelled say what the client printed under a limit banner.
	resumes, cancelled bool
}

type eventKind uint8

const (
	eventNone  eventKind = iota // no event, or one that bears on nothing
	eventLimit                  // a usage limit
	eventAuth                   // refused credentials, or none
	eventError                  // another error of the API
)

// spinnerGlyph reports whether a rune is one that the client animates a running
// turn with. The finished line (`✻ Cooked for 9s`) has them too.
func spinnerGlyph(r rune) bool {
	switch r {
	case '·', '✢', '✳', '✶', '✻', '✽', '*', '∗', '●', '⏺', '○', '◐', '◑', '◒', '◓':
		return true
	}
	return r >= 0x2801 && r <= 0x28ff
}

func bullet(r rune) bool { return r == '●' || r == '⏺' }

// findTurn reads upward from the row above `from`.
func (s *screen) findTurn(from int, b *box) turn {
	t := turn{spinner: -1, retry: -1, event: -1, note: -1, queued: -1}
	y := from - 1
	// A completion list stands directly on the box of newer versions.
	if b != nil && (strings.HasPrefix(b.draft, "/") || strings.HasPrefix(b.draft, "@")) {
		for y >= 0 && !s.rows[y].blank() && s.rows[y].indent > 0 {
			y--
		}
	}
	y, t.queued = s.skipQueue(y)
	s.findSpinner(y, &t)
	if t.spinner < 0 {
		s.findEvent(y, &t)
	}
	return t
}

// skipQueue passes over blank rows, notices at the right edge and prompts that
// wait in the queue, all of which stand between the turn and the box. queued is
// the row under such a prompt that tells how to send it at once, -1 for none.
func (s *screen) skipQueue(y int) (above, queued int) {
	queued = -1
	for ; y >= 0; y-- {
		r := &s.rows[y]
		switch {
		case r.blank(), s.notice(r):
		case r.indent == 2 && s.isPrompt(y, 2):
		case strings.HasSuffix(r.body(), sendNow) && r.indent >= 2 && y > 0 && (s.isPrompt(y-1, 0) || s.isPrompt(y-1, 2)):
			queued = max(queued, y)
			y--
		default:
			return y, queued
		}
	}
	return y, queued
}

// notice reports whether a row holds only a remark at the right edge.
func (s *screen) notice(r *row) bool {
	return r.indent >= 8 && r.indent >= s.width/3 && r.end >= s.width-6
}

// isPrompt reports whether a prompt that was sent starts in column x of row y:
// its glyph, a plain space, and either a background or a muted glyph.
func (s *screen) isPrompt(y, x int) bool {
	r := &s.rows[y]
	if g := r.at(x); (g != '❯' && g != '>') || r.at(x+1) != ' ' {
		return false
	}
	st := s.styleAt(y, x)
	// A `>` in column 0 is a prompt in any colour: answers are indented.
	return !s.coloured || st.bg != colourDefault || st.muted() || x == 0 && r.at(x) == '>'
}

// findSpinner looks for the running turn's line: the first row in column 0
// above the box, if it has a spinner's form. Its tips and tasks are indented.
func (s *screen) findSpinner(y int, t *turn) {
	for ; y >= 0; y-- {
		r := &s.rows[y]
		if r.blank() {
			continue
		}
		if strings.Contains(r.text, "etrying in ") && t.retry < 0 && s.retryRow(y) {
			t.retry, t.text = y, trim(strings.TrimLeft(r.text, "✻✽✶✳✢·* ⎿\u00a0"))
		}
		if r.indent > 0 {
			continue
		}
		if s.spinnerRow(y) {
			t.spinner = y
			// Older versions print the retry above the spinner, under the error.
			for up := y - 1; up >= 0 && t.retry < 0 && s.rows[up].indent != 0 || up >= 0 && s.rows[up].blank(); up-- {
				if s.retryRow(up) {
					t.retry, t.text = up, trim(s.rows[up].text)
					break
				}
			}
		} else if t.retry == y {
			t.spinner = y
		} else {
			t.retry = -1
			t.text = ""
		}
		return
	}
	t.retry, t.text = -1, ""
}

// retryRow reports whether a row says when the next attempt starts.
func (s *screen) retryRow(y int) bool {
	r := &s.rows[y]
	if !strings.Contains(r.text, "etrying in ") {
		return false
	}
	if r.indent == 0 { // a narrow pane may cut off the count of attempts
		return spinnerGlyph(r.at(0)) && !bullet(r.at(0))
	}
	return strings.HasPrefix(trim(r.text), "Retrying in ") || strings.HasPrefix(trim(r.text), "retrying in ")
}

// spinnerRow reports whether a row has the form of a running turn: a glyph, a
// phrase that ends in an ellipsis, then nothing or a parenthesis with the time.
// No list of words is asked for: the client has hundreds and adds more.
func (s *screen) spinnerRow(y int) bool {
	r := &s.rows[y]
	if !spinnerGlyph(r.at(0)) || (r.at(1) != ' ' && r.at(1) != nbsp) {
		return false
	}
	text := trim(r.from(2))
	first, _ := utf8.DecodeRuneInString(text)
	if !unicode.IsLetter(first) {
		return false
	}
	if strings.HasPrefix(text, "Waiting for ") && strings.Contains(text, "background") {
		return true
	}
	if n := y + 1; !strings.Contains(text, "…") && !bullet(r.at(0)) && n < len(s.rows) && s.rows[n].indent == 2 {
		text += " " + s.rows[n].body() // a narrow pane wraps the phrase
	}
	phrase, rest, ok := strings.Cut(text, "…")
	if !ok || phrase == "" {
		return false
	}
	if rest = trim(rest); strings.HasPrefix(rest, "(") {
		in := rest[1:]
		if strings.Contains(in, "esc to interrupt") || strings.Contains(in, "tokens") || startsWithTime(in) || strings.Contains(in, "ctrl+") {
			return true
		}
	} else if rest != "" {
		return false
	}
	// The bare form, and one with a remark such as `(thinking)`, is told from an answer's text by its colour, and by its glyph
	// where there are none.
	if !s.coloured {
		return !bullet(r.at(0))
	}
	return s.styleAt(y, 0).vivid() && s.styleAt(y, 2).vivid()
}

// startsWithTime reports whether text starts with a duration such as 7s or 2m 18s.
func startsWithTime(t string) bool {
	n := 0
	for n < len(t) && t[n] >= '0' && t[n] <= '9' {
		n++
	}
	return n > 0 && n < len(t) && strings.IndexByte("smh", t[n]) >= 0
}

// doneRow reports whether a row is the line printed after a finished turn:
// `✻ Cooked for 9s`.
func (s *screen) doneRow(y int) bool {
	r := &s.rows[y]
	if !spinnerGlyph(r.at(0)) || bullet(r.at(0)) || r.at(1) != ' ' {
		return false
	}
	_, rest, ok := strings.Cut(r.text, " for ")
	return ok && startsWithTime(rest)
}
