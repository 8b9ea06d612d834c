package fakeclient

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// layout is cells broken into the rows of the box.
type layout struct {
	rows []string
	x, y int // of the cursor
	// rowStart is the first cell of the cursor's row; a chip counts whole, though
	// it be broken.
	rowStart int
}

// glyph is a rune of a row, and which cell it is of.
type glyph struct {
	r     rune
	width int
	cell  int
}

// layOut breaks cells into rows of a width, at blanks where it can; a blank for
// which there is no room is not drawn (as in 2.1.332). The cursor stands on the
// cell at, or behind the last.
func layOut(cells []cell, at, width int) layout {
	glyphs := make([]glyph, 0, len(cells)+1)
	for i, c := range cells {
		text := string(c.r)
		if c.chip != nil {
			text = c.chip.label
		}
		for _, r := range text {
			glyphs = append(glyphs, glyph{r, ansi.StringWidth(string(r)), i})
		}
	}
	glyphs = append(glyphs, glyph{'\n', 0, len(cells)})
	var l layout
	for start := 0; start < len(glyphs); {
		end, next := rowEnd(glyphs, start, width)
		var b strings.Builder
		x := 0
		for i := start; i < next; i++ {
			if glyphs[i].cell == at && (i == 0 || glyphs[i-1].cell != at) {
				l.x, l.y, l.rowStart = x, len(l.rows), glyphs[start].cell
			}
			if i < end {
				b.WriteRune(glyphs[i].r)
				x += glyphs[i].width
			}
		}
		l.rows = append(l.rows, b.String())
		start = next
	}
	return l
}

// rowEnd is where the row that begins at start ends, and where the next begins.
func rowEnd(glyphs []glyph, start, width int) (end, next int) {
	used, blank := 0, -1
	for i := start; ; i++ {
		g := glyphs[i]
		if g.r == '\n' {
			return i, i + 1
		}
		if used+g.width > width && i > start {
			switch {
			case g.r == ' ':
				return i, i + 1
			case blank >= 0:
				return blank + 1, blank + 1
			}
			return i, i
		}
		used += g.width
		if g.r == ' ' {
			blank = i
		}
	}
}
