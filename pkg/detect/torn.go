package detect

import "strings"

// tornFrame gives a row on which a frame starts whose right corner is neither
// there nor, wrapped by a narrower pane, in the two rows below; -1 for none.
func (s *screen) tornFrame() int {
	for y := range s.rows {
		if s.rows[y].at(0) != '╭' || s.rows[y].at(1) != '─' {
			continue
		}
		// Beneath a frame's upper edge stands its side; beneath the first row of a
		// shell's prompt of two, which looks like one, its second.
		torn := y+1 < len(s.rows) && s.rows[y+1].at(0) == '│'
		for n := y; n < len(s.rows) && n < y+3; n++ {
			torn = torn && !strings.Contains(s.rows[n].text, "╮")
		}
		if torn {
			return y
		}
	}
	return -1
}
