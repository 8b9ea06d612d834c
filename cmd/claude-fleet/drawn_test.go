package main

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// drawn is what the terminal shows in the end, as if it had any number of rows
// and columns.
func (t *terminal) drawn() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return drawLines(t.all.String())
}

// drawLines obeys what a line of progress is made of, and colours: carriage
// return, line feed and "erase to the end of the line". Another escape sequence
// shows as text, so that a test which meets one fails.
func drawLines(sent string) []string {
	var lines []string
	var row []string // a cell each; the second one of a wide character is empty
	at := 0
	for sent != "" {
		switch {
		case sent[0] == '\r':
			at, sent = 0, sent[1:]
			continue
		case sent[0] == '\n':
			lines, row, sent = append(lines, strings.TrimRight(strings.Join(row, ""), " ")), nil, sent[1:]
			row = append(row, blanks(at)...) // a line feed alone keeps the column
			continue
		case strings.HasPrefix(sent, "\x1b[K"):
			row, sent = row[:min(at, len(row))], sent[3:]
			continue
		case strings.HasPrefix(sent, "\x1b["):
			if end := strings.IndexByte(sent, 'm'); end > 0 && strings.Trim(sent[2:end], "0123456789;") == "" {
				sent = sent[end+1:]
				continue
			}
		}
		c, w := ansi.FirstGraphemeCluster(sent, ansi.GraphemeWidth)
		sent = sent[len(c):]
		w = max(1, w)
		row = append(row, blanks(at+w-len(row))...)
		row[at] = c
		for i := 1; i < w; i++ {
			row[at+i] = ""
		}
		at += w
	}
	return append(lines, strings.TrimRight(strings.Join(row, ""), " "))
}

func blanks(n int) []string {
	var cells []string
	for ; n > 0; n-- {
		cells = append(cells, " ")
	}
	return cells
}

func TestDrawLines(t *testing.T) {
	tests := []struct{ sent, want string }{
		{"one\r\ntwo", "one|two"},
		{"0 of 2\x1b[K\r1 of 2\x1b[K\r\x1b[Krow\r\n", "row|"},
		{"0 of 2; waiting\rrow\r\n", "rowf 2; waiting|"}, // not wiped
		{"\x1b[31mdown\x1b[0m", "down"},
		{"日本\rx", "x本"},
		{"a\nb", "a| b"},
	}
	for _, tt := range tests {
		if got := strings.Join(drawLines(tt.sent), "|"); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.sent, got, tt.want)
		}
	}
}
