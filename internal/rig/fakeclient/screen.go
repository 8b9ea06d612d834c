package fakeclient

import (
	"os"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// Colours, as the real client has them on a dark theme with 256 colours.
const (
	plainText = "\x1b[0m"
	grey      = "\x1b[38;5;246m"
	ruleGrey  = "\x1b[38;5;244m"
	faint     = "\x1b[38;5;239m"
	white     = "\x1b[38;5;231m"
	rose      = "\x1b[38;5;174m"
	pink      = "\x1b[38;5;211m"
	blue      = "\x1b[38;5;153m"
	onGrey    = "\x1b[48;5;237m"
	onBlue    = "\x1b[38;5;16m\x1b[48;5;153m"
	bold      = "\x1b[1m"
	dim       = "\x1b[2m"
	reverse   = "\x1b[7m"
)

// frame is a screen as it should be: a row of text and attributes each.
type frame struct {
	rows  []string
	x, y  int // of the cursor
	title string
}

// screen is the terminal, and what was last drawn on it.
type screen struct {
	last  frame
	title string
}

// size is that of the terminal: columns and rows.
func (s *screen) size() (width, height int) {
	width, height, err := term.GetSize(1)
	if err != nil || width < 1 || height < 1 {
		return 80, 24
	}
	return width, height
}

// enter goes to the alternate screen and asks for framed pastes. What is too long
// for a row is cut.
func (s *screen) enter() {
	_, _ = os.Stdout.WriteString("\x1b[?1049h\x1b[?2004h\x1b[?7l\x1b[H\x1b[2J")
}

func (s *screen) leave() {
	_, _ = os.Stdout.WriteString("\x1b[0m\x1b[?7h\x1b[?2004l\x1b[?1049l\x1b]0;\x07")
}

// forget makes the next frame be drawn whole.
func (s *screen) forget() { s.last = frame{} }

// show draws what differs from the last frame, in one write.
func (s *screen) show(f frame) {
	var b strings.Builder
	if f.title != s.title {
		b.WriteString("\x1b]0;" + f.title + "\x07")
		s.title = f.title
	}
	if len(f.rows) != len(s.last.rows) {
		b.WriteString("\x1b[0m\x1b[H\x1b[2J")
		s.last = frame{rows: make([]string, len(f.rows)), x: -1}
	}
	for y, row := range f.rows {
		if row != s.last.rows[y] {
			// Cleared first: at a full row's end the cursor stays on its last column.
			b.WriteString(at(0, y) + plainText + "\x1b[K" + row + plainText)
		}
	}
	if b.Len() == 0 && f.x == s.last.x && f.y == s.last.y {
		return
	}
	b.WriteString(at(f.x, f.y))
	s.last = f
	// A terminal that is gone is noticed by the reader of its input.
	_, _ = os.Stdout.WriteString(b.String())
}

func at(x, y int) string { return "\x1b[" + strconv.Itoa(y+1) + ";" + strconv.Itoa(x+1) + "H" }

// right is text at the right end of a row, with a margin of two.
func right(text string, width int) string {
	return strings.Repeat(" ", max(0, width-2-ansi.StringWidth(text))) + grey + ansi.Truncate(text, max(0, width-2), "…")
}

func rule(colour string, width int) string { return colour + strings.Repeat("─", width) }
