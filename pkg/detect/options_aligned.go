package detect

import "unicode"

// alignedOptions reads a menu without numbers: the row with the mark and those
// whose text starts in the label's column, down to another kind of row.
func (s *screen) alignedOptions(p *panel, mark, low int) {
	m, _ := s.option(mark)
	first, end := mark, mark
	for y := mark - 1; y > p.top && s.beside(y, m.col); y-- {
		first = y
	}
	for y := mark + 1; y <= low && s.beside(y, m.col); y++ {
		end = y
	}
	prevEnd := 0
	for y := first; y <= end; y++ {
		r := &s.rows[y]
		x := s.pastTick(y, s.inner(y))
		if x >= r.end {
			prevEnd = 0
			continue
		}
		o, ok := s.option(y)
		if !ok {
			o = option{col: x}
			o.label, o.wide = label(r.from(x))
			// A description hangs under a label, greyer than it, in its column
			// or deeper; more rows are announced by an arrow.
			if r.at(x) == '↓' || r.at(x) == '↑' || s.coloured && s.styleAt(y, x).muted() && s.styleAt(mark, m.col) != s.styleAt(y, x) {
				continue
			}
			if x > m.col+2 {
				continue
			}
			// Nothing but its words tells the rest of a wrapped label from the next one:
			// labels begin with a capital, and few labels go on with one.
			if prevEnd > 0 && len(p.Options) > 0 && !s.framed(y) && s.wrapped(y, r.indent, prevEnd) && !unicode.IsUpper(r.at(x)) {
				p.Options[len(p.Options)-1] += " " + o.label
				prevEnd = r.end
				continue
			}
		}
		p.addPlain(o, y)
		prevEnd = r.end
		if o.wide {
			prevEnd = 0
		}
	}
}

// beside reports whether row y can belong to a menu whose labels start in column col.
func (s *screen) beside(y, col int) bool {
	r := &s.rows[y]
	x := s.pastTick(y, s.inner(y))
	if x >= r.end {
		return true
	}
	if s.isRule(y) || keyHint(r.body()) || r.at(r.indent) == '╰' || r.at(r.indent) == '╭' {
		return false
	}
	if o, ok := s.option(y); ok {
		return o.col == col
	}
	return x >= col
}

// inner is the column in which a row's text starts, inside the frame if there is
// one; the row's end if nothing is in it.
func (s *screen) inner(y int) int {
	r := &s.rows[y]
	if r.at(r.indent) != '│' {
		return r.indent
	}
	x := r.indent + 1
	for x < r.end && blankRune(r.at(x)) {
		x++
	}
	if r.at(x) == '│' && x == r.end-1 {
		return r.end
	}
	return x
}

// pastTick is column x of row y, or the one behind the mark of the present choice,
// which stands before its label in a column of its own.
func (s *screen) pastTick(y, x int) int {
	if r := &s.rows[y]; r.at(x) == '✔' && r.at(x+1) == ' ' {
		return x + 2
	}
	return x
}
