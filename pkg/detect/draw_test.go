package detect

import (
	"strings"
	"time"
)

// The client's drawing, for screens that no capture has: what stands above the
// box, then the box, then the footer.

const (
	esc      = "\x1b["
	grey     = esc + "38;5;246m"
	accent   = esc + "38;5;153m"
	red      = esc + "38;5;211m"
	orange   = esc + "38;5;174m"
	plain    = esc + "39m"
	modeLine = "  " + red + "⏵⏵ bypass permissions on" + grey + " (shift+tab to cycle)" + plain
	busyMode = "  " + red + "⏵⏵ bypass permissions on" + grey + " (shift+tab to cycle) · esc to interrupt" + plain
)

func boxRule() string { return esc + "38;5;244m" + strings.Repeat("─", 100) + plain }

// idle is an input box that waits, holding draft.
func idle(draft string) string {
	return boxRule() + "\n❯\u00a0" + draft + esc + "7m " + esc + "0m\n" + boxRule()
}

// working is the box of a running turn.
func working() string {
	return boxRule() + "\n" + grey + "❯\u00a0" + esc + "7m" + plain + " " + esc + "0m\n" + boxRule()
}

// hinted is an idle box with a hint of the client's in it.
func hinted(h string) string {
	return boxRule() + "\n❯\u00a0" + esc + "7m" + h[:1] + esc + "0;2m" + h[1:] + esc + "0m\n" + boxRule()
}

// prompt and answer are a past turn's lines.
func prompt(t string) string {
	return esc + "48;5;237m❯ " + esc + "38;5;231m" + t + plain + esc + "49m"
}
func answer(t string) string { return esc + "38;5;231m●" + plain + " " + t }

// finished is the line after a finished turn.
func finished(t string) string { return grey + "✻ " + t + plain }

// drawn puts blocks under each other and makes evidence of them: no cursor, no
// title, a 100-column pane.
func drawn(blocks ...string) Evidence {
	return Evidence{Screen: []byte(strings.Join(blocks, "\n")), Width: 100, Height: 40, CursorX: -1, CursorY: -1}
}

// date is a moment in UTC.
func date(y int, m time.Month, d, h, min int) time.Time {
	return time.Date(y, m, d, h, min, 0, 0, time.UTC)
}
