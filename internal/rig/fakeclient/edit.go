package fakeclient

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
)

// chip is a large paste, which the box shows as one word.
type chip struct{ label, text string }

// cell is a rune of the box, or a chip.
type cell struct {
	r    rune
	chip *chip
}

// edit is what stands in the input box, and the cursor in it.
type edit struct {
	cells   []cell
	at      int
	killed  []cell // by C-u, for C-y
	killing bool   // the last key was C-u: the next adds to what was killed
}

func (e *edit) empty() bool { return len(e.cells) == 0 }

func (e *edit) clear() { e.cells, e.at = nil, 0 }

func (e *edit) set(cells []cell) { e.cells, e.at = cells, len(cells) }

func (e *edit) insert(cells []cell) {
	e.cells = append(e.cells[:e.at:e.at], append(cells, e.cells[e.at:]...)...)
	e.at += len(cells)
}

// lineStart is where the cursor's line begins.
func (e *edit) lineStart() int {
	i := e.at
	for i > 0 && e.cells[i-1].r != '\n' {
		i--
	}
	return i
}

func (e *edit) lineEnd() int {
	i := e.at
	for i < len(e.cells) && e.cells[i].r != '\n' {
		i++
	}
	return i
}

func (e *edit) backspace() {
	if e.at > 0 {
		e.remove(e.at-1, e.at)
	}
}

func (e *edit) remove(from, to int) []cell {
	gone := append([]cell(nil), e.cells[from:to]...)
	e.cells = append(e.cells[:from:from], e.cells[to:]...)
	e.at = from
	return gone
}

// kill is C-u: the row of the screen up to the cursor, or the line end before it
// where there is nothing. One after the other they are kept together, whatever
// is pasted between (measured on 2.1.332).
func (e *edit) kill(width int) {
	from := layOut(e.cells, e.at, width).rowStart
	if from == e.at && from > 0 {
		from--
	}
	gone := e.remove(from, e.at)
	if e.killing {
		gone = append(gone, e.killed...)
	}
	if len(gone) > 0 {
		e.killed, e.killing = gone, true
	}
}

// upDown moves the cursor a line; false at the first or last.
func (e *edit) upDown(up bool) bool {
	start := e.lineStart()
	col := e.at - start
	if up {
		if start == 0 {
			return false
		}
		e.at = start - 1
		e.at = min(e.lineStart()+col, e.at)
		return true
	}
	end := e.lineEnd()
	if end == len(e.cells) {
		return false
	}
	e.at = end + 1
	e.at = min(e.at+col, e.lineEnd())
	return true
}

// plain is text as cells.
func plain(text string) []cell {
	var cells []cell
	for _, r := range text {
		cells = append(cells, cell{r: r})
	}
	return cells
}

// Limits above which a paste becomes a chip: characters, and line ends, of which
// a low terminal takes fewer (measured on 2.1.332: over 800, over two, and none
// at 10 rows).
const (
	chipRunes = 800
	chipLines = 2
	chipRows  = 10
)

// pasted is what a paste brings into the box of a terminal of so many rows. n
// counts chips.
func pasted(text string, rows int, n *int) []cell {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", "    ").Replace(text)
	lines := strings.Count(text, "\n")
	if len([]rune(text)) <= chipRunes && lines <= max(0, min(rows-chipRows, chipLines)) {
		return plain(text)
	}
	*n++
	label := fmt.Sprintf("[Pasted text #%d]", *n)
	if lines > 0 {
		label = fmt.Sprintf("[Pasted text #%d +%d lines]", *n, lines)
	}
	return []cell{{chip: &chip{label, text}}}
}

// shown is the text as the box shows it.
func shown(cells []cell) string {
	var b strings.Builder
	for _, c := range cells {
		if c.chip != nil {
			b.WriteString(c.chip.label)
		} else {
			b.WriteRune(c.r)
		}
	}
	return b.String()
}

// sentRunes is how much of a prompt is drawn once it was sent.
const sentRunes = 4000

// sent is the text as the conversation on the screen shows it, chips opened.
func sent(cells []cell) string {
	var b strings.Builder
	for _, c := range cells {
		if c.chip != nil {
			b.WriteString(c.chip.text)
		} else {
			b.WriteRune(c.r)
		}
	}
	runes := []rune(strings.TrimSpace(b.String()))
	return string(runes[:min(len(runes), sentRunes)])
}

// prompt is the text as it gets into the conversation: white space at its end is
// dropped, and each chip's text stands in a frame, with an id that is the same
// all through a session.
func prompt(cells []cell, id string) string {
	for n := len(cells); n > 0 && cells[n-1].chip == nil && unicode.IsSpace(cells[n-1].r); n-- {
		cells = cells[:n-1]
	}
	var b strings.Builder
	for _, c := range cells {
		if c.chip == nil {
			b.WriteRune(c.r)
			continue
		}
		fmt.Fprintf(&b, "\n\n<pasted_content id=%q>\n%s\n</pasted_content id=%q>\n", id, c.chip.text, id)
	}
	return b.String()
}

func randomHex(bytes int) string {
	raw := make([]byte, bytes)
	_, _ = rand.Read(raw) // it never fails
	return hex.EncodeToString(raw)
}
