package detect

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Bounds on what is parsed. A pane is far smaller; what lies beyond is hostile
// and is not looked at.
const (
	maxScreen = 1 << 20
	maxRows   = 2000
	maxStyles = 1 << 15
)

const nbsp = '\u00a0'

// cell is one column of the screen. The second column of a wide character has
// rune 0 and no text.
type cell struct {
	r     rune   // first rune of the grapheme
	off   uint32 // where its text starts in the screen's plain text
	style uint16 // index into screen.styles
}

// row is one line of the screen, trailing blanks cut.
type row struct {
	text   string // without escapes, trailing blanks (and no-break spaces) cut
	cells  []cell // one a column, up to the last that is not blank
	indent int    // columns before the first that is not blank
	end    int    // columns up to the last that is not blank
	start  uint32 // where text starts in the plain text
	// cursor is the column of the first reversed cell, -1 when there is none.
	// The cell may lie behind the end of the text: tmux cuts trailing blanks
	// but keeps the escape that would have coloured them.
	cursor int
}

func (r *row) blank() bool { return r.end == 0 }

// at gives the rune in column x, 0 when there is none.
func (r *row) at(x int) rune {
	if x < 0 || x >= len(r.cells) {
		return 0
	}
	return r.cells[x].r
}

// from gives the text from column x on.
func (r *row) from(x int) string {
	if x >= r.end {
		return ""
	}
	return r.text[r.cells[x].off-r.start:]
}

// span gives the text of columns x to y, y excluded.
func (r *row) span(x, y int) string {
	if x >= r.end || x >= y {
		return ""
	}
	if y >= r.end {
		return r.from(x)
	}
	return r.text[r.cells[x].off-r.start : r.cells[y].off-r.start]
}

// body is the text without the indent.
func (r *row) body() string { return r.from(r.indent) }

// screen is a parsed capture.
type screen struct {
	rows   []row
	styles []style
	width  int // the pane's, else the widest row's
	last   int // index of the lowest row that is not blank, -1 for none
	// coloured says that some cell has a colour. Under NO_COLOR none has, and
	// then no rule may rest on the absence of a colour.
	coloured bool
}

func (s *screen) style(c cell) style { return s.styles[c.style] }

// styleAt is the style of a column, the default one past the end of the row.
func (s *screen) styleAt(y, x int) style {
	if y < 0 || y >= len(s.rows) || x < 0 || x >= len(s.rows[y].cells) {
		return style{}
	}
	return s.styles[s.rows[y].cells[x].style]
}

// parseScreen reads a capture into cells. Escapes and grapheme widths are
// x/ansi's; plain ASCII and box-drawing take a short cut past it.
func parseScreen(b []byte, width int) *screen {
	if len(b) > maxScreen {
		b = b[len(b)-maxScreen:]
	}
	s := &screen{styles: make([]style, 1, 16), last: -1}
	var (
		plain = make([]byte, 0, len(b))
		cells = make([]cell, 0, len(b))
		cuts  = make([]int32, 0, 128) // cell count and plain length at each row's end, and the cursor
		cur   style
		idx   uint16
		curs  = int32(-1)
		p     *ansi.Parser
		start int // first cell of the row
	)
	put := func(r rune, text []byte, w int) {
		off := uint32(len(plain))
		plain = append(plain, text...)
		if cur.has(attrReverse) && curs < 0 {
			curs = int32(len(cells) - start)
		}
		for range w {
			cells = append(cells, cell{r: r, off: off, style: idx})
			r, off = 0, uint32(len(plain))
		}
	}
	endRow := func() {
		if cur.has(attrReverse) && curs < 0 {
			curs = int32(len(cells) - start)
		}
		cuts = append(cuts, int32(len(cells)), int32(len(plain)), curs)
		start, curs = len(cells), -1
	}
	for i := 0; i < len(b); {
		c := b[i]
		switch {
		case c >= 0x20 && c < 0x7f:
			// A combining mark may follow an ASCII letter: leave that to x/ansi.
			if i+1 < len(b) && b[i+1] >= 0xcc && (b[i+1] != 0xe2 || i+2 < len(b) && (b[i+2] == 0x83 || b[i+2] == 0x80)) {
				break
			}
			put(rune(c), b[i:i+1], 1)
			i++
			continue
		case c == '\n':
			endRow()
			i++
			if len(cuts)/3 >= maxRows {
				b = b[:i]
			}
			continue
		case c == '\t':
			for w := 8 - (len(cells)-start)%8; w > 0; w-- {
				put(' ', []byte{' '}, 1)
			}
			i++
			continue
		case c == 0xe2 && simple(b[i:]):
			put(rune(0x2000|int(b[i+1]&0x3f)<<6|int(b[i+2]&0x3f)), b[i:i+3], 1)
			i += 3
			continue
		case c == 0xc2 && i+2 < len(b) && b[i+1] >= 0xa0 && b[i+2] < 0x7f:
			put(rune(b[i+1]), b[i:i+2], 1)
			i += 2
			continue
		}
		if p == nil {
			p = ansi.GetParser()
			defer ansi.PutParser(p)
		}
		seq, w, n, _ := ansi.DecodeSequence(b[i:], ansi.NormalState, p)
		if n <= 0 {
			n = 1
			w = 0
		}
		switch {
		case w > 0:
			if r, _ := utf8.DecodeRune(seq); r >= 0x20 && r != utf8.RuneError {
				put(r, seq, w)
			} else {
				put('\ufffd', []byte("\ufffd"), 1)
			}
		case len(seq) > 2 && seq[0] == 0x1b && seq[len(seq)-1] == 'm' && p.Command() == 'm':
			cur.apply(p.Params())
			idx = s.intern(cur, idx)
		}
		i += n
	}
	endRow()
	s.cut(string(plain), cells, cuts, width)
	return s
}

// simple reports whether b starts with a one-column character of U+2000 to
// U+2BFF that nothing can combine with: the next byte is ASCII, or starts
// another of the same kind. Dashes, arrows, rules, bullets, Braille.
func simple(b []byte) bool {
	if len(b) < 3 || b[1] < 0x80 || b[1] > 0xaf || b[2] < 0x80 || b[2] > 0xbf {
		return false
	}
	switch {
	case b[1] == 0x94 || b[1] == 0x95 || b[1] == 0x96: // box drawing, blocks
	case b[1] == 0x80 && b[2] >= 0x90 && b[2] <= 0xa7: // dashes, quotes, bullet, ellipsis
	case b[1] >= 0xa0 && b[1] <= 0xa3: // Braille
	default:
		return false
	}
	return len(b) == 3 || b[3] < 0x7f || (b[3] == 0xe2 && len(b) > 4 && b[4] >= 0x94 && b[4] <= 0x96)
}

// intern gives the index of a style, reusing an equal one near the end.
func (s *screen) intern(st style, last uint16) uint16 {
	if s.styles[last] == st {
		return last
	}
	for i := range s.styles {
		if i >= 24 {
			break
		}
		if s.styles[i] == st {
			return uint16(i)
		}
	}
	if len(s.styles) >= maxStyles {
		return last
	}
	if st.fg != colourDefault || st.bg != colourDefault {
		s.coloured = true
	}
	s.styles = append(s.styles, st)
	return uint16(len(s.styles) - 1)
}

// cut makes the rows: a row's text is a piece of the one plain string, its
// cells a piece of the one slice.
func (s *screen) cut(plain string, cells []cell, cuts []int32, width int) {
	s.rows = make([]row, 0, len(cuts)/3)
	var c0, t0 int32
	for i := 0; i < len(cuts); i += 3 {
		c1, t1 := cuts[i], cuts[i+1]
		r := row{cells: cells[c0:c1], start: uint32(t0), cursor: int(cuts[i+2])}
		for r.end = len(r.cells); r.end > 0; r.end-- {
			if ch := r.cells[r.end-1].r; ch != ' ' && ch != nbsp {
				break
			}
		}
		if r.end > 0 {
			for r.indent < r.end && (r.cells[r.indent].r == ' ' || r.cells[r.indent].r == nbsp) {
				r.indent++
			}
			if r.end < len(r.cells) {
				t1 = int32(r.cells[r.end].off)
			}
			r.text = plain[t0:t1]
			s.last = len(s.rows)
		}
		// The no-break space behind the prompt glyph is kept as a cell: it is
		// what tells the live box from a quoted one.
		s.width = max(s.width, len(r.cells))
		s.rows = append(s.rows, r)
		c0, t0 = c1, cuts[i+1]
	}
	if width > 0 {
		s.width = width
	}
}

// tornFrame gives a row on which a frame starts whose right corner is neither
// there nor, wrapped by a narrower pane, in the two rows below; -1 for none.
func (s *screen) tornFrame() int {
	for y := range s.rows {
		if s.rows[y].at(0) != '╭' || s.rows[y].at(1) != '─' {
			continue
		}
		torn := true
		for n := y; n < len(s.rows) && n < y+3; n++ {
			torn = torn && !strings.Contains(s.rows[n].text, "╮")
		}
		if torn {
			return y
		}
	}
	return -1
}
