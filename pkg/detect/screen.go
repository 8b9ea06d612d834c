package detect

import (
	"slices"
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

// reader parses a capture. It is kept between captures for its buffers: a
// screen of 200x50 would else leave 150 kB of garbage at each look.
type reader struct {
	screen
	plain []byte
	cells []cell
	cuts  []cut // where each row ends
	cur   style
	idx   uint16
	start int // first cell of the row
	curs  int // see row.cursor
}

// cut is where a row ends in the cells and in the plain text.
type cut struct{ cells, plain, cursor int }

// parseScreen reads a capture into cells that are valid until the next parse
// with the same reader. Escapes and grapheme widths are x/ansi's; plain ASCII
// and box drawing take a short cut past it.
func (p *reader) parseScreen(b []byte, width int) *screen {
	if len(b) > maxScreen {
		b = b[len(b)-maxScreen:]
	}
	p.screen = screen{rows: p.rows[:0], styles: append(p.styles[:0], style{}), last: -1}
	// A byte makes at most one cell, but for tabs: nothing grows on the way.
	p.plain, p.cells = slices.Grow(p.plain[:0], len(b)), slices.Grow(p.cells[:0], len(b))
	p.cuts = p.cuts[:0]
	p.cur, p.idx, p.start, p.curs = style{}, 0, 0, -1
	var esc *ansi.Parser
	for i := 0; i < len(b) && len(p.cuts) < maxRows; {
		switch c := b[i]; {
		case c >= 0x20 && c < 0x7f:
			n := i + 1
			for n < len(b) && b[n] >= 0x20 && b[n] < 0x7f {
				n++
			}
			p.ascii(b[i:n])
			i = n
			continue
		case c == '\n':
			p.endRow()
			i++
			continue
		case c == '\t':
			for w := 8 - (len(p.cells)-p.start)%8; w > 0; w-- {
				p.put(' ', []byte{' '}, 1)
			}
			i++
			continue
		case c >= 0x80 && c < 0xc0:
			// In UTF-8, which a capture is, no character begins so, and the one-byte
			// controls of older encodings are none: a terminal draws a mark for it.
			p.put(utf8.RuneError, []byte("\ufffd"), 1)
			i++
			continue
		case c == 0xe2 && simple(b[i:]):
			p.put(rune(0x2000|int(b[i+1]&0x3f)<<6|int(b[i+2]&0x3f)), b[i:i+3], 1)
			i += 3
			continue
		case c == 0xc2 && i+2 < len(b) && b[i+1] >= 0xa0 && b[i+2] < 0x7f:
			p.put(rune(b[i+1]), b[i:i+2], 1)
			i += 2
			continue
		}
		if n := p.plainSGR(b[i:]); n > 0 {
			i += n
			continue
		}
		if n := silent(b[i:]); n > 0 {
			i += n
			continue
		}
		if esc == nil {
			esc = ansi.GetParser()
			defer ansi.PutParser(esc)
		}
		i += p.sequence(b[i:], esc)
	}
	p.endRow()
	p.cutRows(width)
	return &p.screen
}

// ascii takes a run of printable ASCII, one cell a byte.
func (p *reader) ascii(run []byte) {
	p.see()
	off := uint32(len(p.plain))
	p.plain = append(p.plain, run...)
	n := len(p.cells)
	p.cells = slices.Grow(p.cells, len(run))[:n+len(run)]
	for i, cells := 0, p.cells[n:]; i < len(run) && i < len(cells); i++ {
		cells[i] = cell{r: rune(run[i]), off: off + uint32(i), style: p.idx}
	}
}

// put takes one grapheme of w columns.
func (p *reader) put(r rune, text []byte, w int) {
	p.see()
	off := uint32(len(p.plain))
	p.plain = append(p.plain, text...)
	p.cells = append(p.cells, cell{r: r, off: off, style: p.idx})
	for ; w > 1; w-- {
		p.cells = append(p.cells, cell{off: uint32(len(p.plain)), style: p.idx})
	}
}

// see notes the first reversed cell of the row.
func (p *reader) see() {
	if p.curs < 0 && p.cur.has(attrReverse) {
		p.curs = len(p.cells) - p.start
	}
}

func (p *reader) endRow() {
	p.see()
	p.cuts = append(p.cuts, cut{len(p.cells), len(p.plain), p.curs})
	p.start, p.curs = len(p.cells), -1
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

// cutRows makes the rows: a row's text is a piece of the one plain string, its
// cells a piece of the one slice.
func (p *reader) cutRows(width int) {
	plain := string(p.plain)
	c0, t0 := 0, 0
	for _, k := range p.cuts {
		r := row{cells: p.cells[c0:k.cells:k.cells], start: uint32(t0), cursor: k.cursor}
		t1 := k.plain
		for r.end = len(r.cells); r.end > 0; r.end-- {
			// The second half of a wide character has no rune, yet it is drawn.
			if ch := r.cells[r.end-1].r; ch != ' ' && ch != nbsp {
				break
			}
		}
		if r.end > 0 {
			for r.cells[r.indent].r == ' ' || r.cells[r.indent].r == nbsp {
				r.indent++
			}
			if r.end < len(r.cells) {
				t1 = int(r.cells[r.end].off)
			}
			r.text = plain[t0:t1]
			p.last = len(p.rows)
		}
		// A no-break space behind the prompt glyph stays in cells though text ends
		// before it: it tells the live box from a quoted one.
		p.width = max(p.width, len(r.cells))
		p.rows = append(p.rows, r)
		c0, t0 = k.cells, k.plain
	}
	if width > 0 {
		p.width = width
	}
}
