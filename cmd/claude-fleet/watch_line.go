package main

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// line is what a person types into the foot of the table: a prompt, or an answer of
// one's own. It may hold line feeds, which show as marks, and keeps what is pasted
// as it is: what may not be typed into a session is for the verb to say.
type line struct {
	text []rune
	at   int // the cursor stands before text[at]
}

func (l *line) String() string { return string(l.text) }

// insert puts text where the cursor is. Terminals paste a line's end as a carriage
// return.
func (l *line) insert(s string) {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	more := []rune(s)
	text := make([]rune, 0, len(l.text)+len(more))
	text = append(append(append(text, l.text[:l.at]...), more...), l.text[l.at:]...)
	l.text, l.at = text, l.at+len(more)
}

// cut takes out what is between two places.
func (l *line) cut(from, to int) {
	l.text = append(l.text[:from:from], l.text[to:]...)
	l.at = from
}

// press edits by a key that types no text, and tells whether it knows that key.
func (l *line) press(key string) bool {
	switch key {
	case "left", "ctrl+b":
		l.at = max(0, l.at-1)
	case "right", "ctrl+f":
		l.at = min(len(l.text), l.at+1)
	case "home", "ctrl+a":
		l.at = 0
	case "end", "ctrl+e":
		l.at = len(l.text)
	case "backspace", "ctrl+h", "shift+backspace":
		l.cut(max(0, l.at-1), l.at)
	case "delete", "ctrl+d":
		l.cut(l.at, min(len(l.text), l.at+1))
	case "ctrl+u":
		l.cut(0, l.at)
	case "ctrl+k":
		l.cut(l.at, len(l.text))
	case "ctrl+w", "alt+backspace":
		l.cut(l.wordBefore(), l.at)
	case "alt+left", "ctrl+left", "alt+b":
		l.at = l.wordBefore()
	case "alt+right", "ctrl+right", "alt+f":
		l.at = l.wordBehind()
	case "ctrl+j", "alt+enter", "shift+enter":
		l.insert("\n")
	default:
		return false
	}
	return true
}

func (l *line) wordBefore() int {
	i := l.at
	for i > 0 && unicode.IsSpace(l.text[i-1]) {
		i--
	}
	for i > 0 && !unicode.IsSpace(l.text[i-1]) {
		i--
	}
	return i
}

func (l *line) wordBehind() int {
	i := l.at
	for i < len(l.text) && unicode.IsSpace(l.text[i]) {
		i++
	}
	for i < len(l.text) && !unicode.IsSpace(l.text[i]) {
		i++
	}
	return i
}

// view is the part of the line around the cursor that fits into width cells, and
// the cursor's cell in it.
func (l *line) view(width int) (text string, cursor int) {
	if width <= 0 {
		return "", 0
	}
	// Back from the cursor as far as there is room, one cell being the cursor's own;
	// then on from it.
	from, cells := l.at, 0
	for from > 0 && cells+cellsOf(l.text[from-1]) < width {
		from--
		cells += cellsOf(l.text[from])
	}
	cursor = cells
	to := l.at
	for to < len(l.text) && cells+cellsOf(l.text[to]) <= width {
		cells += cellsOf(l.text[to])
		to++
	}
	var b strings.Builder
	for _, r := range l.text[from:to] {
		b.WriteString(glyph(r))
	}
	return b.String(), cursor
}

// glyph is how a character of the line is shown.
func glyph(r rune) string {
	if r == '\n' {
		return "⏎"
	}
	return transport.Neutralise(string(r))
}

func cellsOf(r rune) int {
	if r >= ' ' && r < 0x7f {
		return 1
	}
	return ansi.StringWidth(glyph(r))
}
