package detect

import "strings"

// scrolledMark begins the upper rule of a box whose draft is taller than it, from
// about 2.1.300 on: "─── ↑ 41 more ───". The glyph is above what is drawn.
const scrolledMark = "─── ↑ "

// findScrolled finds the rules of a box whose glyph has been scrolled out of it.
// What is drawn beneath it must be the client's, as it is for a whole box.
func (s *screen) findScrolled() (top, bottom int, ok bool) {
	bottom = -1
	for y := s.last; y >= 0; y-- {
		r := &s.rows[y]
		switch {
		case !s.isRule(y):
			if !r.blank() && r.indent < 2 {
				return 0, 0, false
			}
			if o, isOption := s.option(y); bottom < 0 && isOption && o.mark {
				return 0, 0, false // a menu takes the keys
			}
		case bottom < 0:
			bottom = y
		default:
			return y, bottom, bottom > y+1 && strings.HasPrefix(r.text, scrolledMark)
		}
	}
	return 0, 0, false
}

// lookScrolled finds what such a box and its surroundings show. Whether it is idle
// can't be told without its glyph, so it never counts as ready.
func (j *judge) lookScrolled() bool {
	top, bottom, ok := j.findScrolled()
	if !ok {
		return false
	}
	j.set(factScrolled, top, bottom)
	j.lookFooter(bottom + 1)
	j.lookTurn(top, nil)
	return true
}
