package detect

import "strings"

// box is the input box: a glyph between two rules, with the footer beneath.
type box struct {
	top, glyph, bottom int // rows of the upper rule, the glyph and the lower rule
	// live says that a no-break space follows the glyph, which only the box has:
	// prompts in the history have a plain space.
	live bool
	// whole says that nothing but indented rows lies beneath: a shell or a
	// killed client's last words start in column 0.
	whole bool
	// muted says that the glyph is greyer than text: a turn runs. idle says that
	// it is proven not to be.
	muted, idle bool
	// mode is the glyph of a mode that is not the prompt ("!", "#"), else "".
	mode  string
	draft string
	hint  string // what the client itself wrote into an empty box
	shell bool   // a shell's bare prompt stands in it: the client is gone
}

// isRule reports whether a row is a rule from column 0 on. A label may be set
// into its right part, so only most of it has to be drawn.
func (s *screen) isRule(y int) bool {
	if y < 0 || y >= len(s.rows) {
		return false
	}
	r := &s.rows[y]
	if r.indent != 0 || r.end < 8 || r.end < s.width/2 {
		return false
	}
	if !ruleRune(r.at(0)) || !ruleRune(r.at(1)) || !ruleRune(r.at(2)) {
		return false
	}
	n := 0
	for _, c := range r.cells[:r.end] {
		if ruleRune(c.r) {
			n++
		}
	}
	return n*2 > r.end
}

func ruleRune(r rune) bool { return r == '─' || r == '▔' || r == '━' }

// findBox finds the lowest input box. A box whose frame is broken, or beneath
// which something else was drawn, is returned too, marked as not whole: what is
// left of a dead client must not pass for one that waits.
func (s *screen) findBox() (b box, ok bool) {
	for y := s.last; y > 0; y-- {
		r := &s.rows[y]
		if r.indent != 0 || !promptGlyph(r.at(0)) || !s.isRule(y-1) {
			continue
		}
		second := r.at(1)
		if second != nbsp && second != 0 && second != ' ' {
			continue
		}
		b = box{top: y - 1, glyph: y, live: second == nbsp}
		if s.readBox(&b) {
			return b, true
		}
		if b.live {
			return b, true // a broken box: whole stays false
		}
	}
	return box{}, false
}

func promptGlyph(r rune) bool {
	switch r {
	case '❯', '>', '!', '#', '&', '$':
		return true
	}
	return false
}

// readBox follows the box down to its lower rule and judges glyph and content.
func (s *screen) readBox(b *box) bool {
	y := b.glyph + 1
	for ; y <= s.last && !s.isRule(y); y++ {
		// The lines of a draft are indented by the width of glyph and space.
		if r := &s.rows[y]; !r.blank() && r.indent < 2 {
			return false
		}
	}
	if y > s.last {
		return false
	}
	b.bottom = y
	s.readGlyph(b)
	s.readContent(b)
	b.whole = true
	if b.mode == "" && shellOnly(b.draft) {
		b.whole, b.shell, b.draft = false, true, ""
		return true
	}
	// The completion list of some versions starts in column 0, and only a list
	// does: it belongs to a box that holds its trigger, and stands right under it.
	list := strings.HasPrefix(b.draft, "/") || strings.HasPrefix(b.draft, "@")
	mark, confirm, menu := false, false, false
	for y = b.bottom + 1; y <= s.last; y++ {
		r := &s.rows[y]
		if r.blank() {
			list = false
			continue
		}
		// A shell's prompt may begin with a blank; what the client draws there is
		// indented by two.
		if r.indent < 2 && (!list || y == s.last && promptEnd(r.text) > 0) {
			b.whole = false
		}
		o, ok := s.option(y)
		mark = mark || ok && o.mark
		menu = menu || ok && o.mark && o.number > 0 && !list
		confirm = confirm || keyHint(r.body())
	}
	// A menu beneath takes the keys, and the box is what was left of an earlier frame.
	b.whole = b.whole && !menu && (!mark || !confirm)
	return true
}

// readGlyph tells busy from idle by the glyph's colour relative to its
// neighbours: ordinary text is in the terminal's own colour, and in a mode the
// glyph shares the rules' colour.
func (s *screen) readGlyph(b *box) {
	g := s.styleAt(b.glyph, 0)
	rule := s.styleAt(b.top, 0)
	r := s.rows[b.glyph].at(0)
	if r != '❯' && r != '>' {
		b.mode = string(r)
	}
	switch {
	case g.has(attrDim):
		b.muted = true
	case g.fg == colourDefault, b.mode != "" && g.fg == rule.fg, g.vivid() && g.fg == rule.fg:
		b.idle = true
	case g.muted():
		b.muted = true
	}
}

// readContent splits what stands in the box into a draft and a hint. A hint is
// dim but for its first cell, on which the cursor stands; a draft is plain. A
// terminal without dim shows a hint as a draft, which errs towards not typing.
func (s *screen) readContent(b *box) {
	first := &s.rows[b.glyph]
	plain, dim, grey := 0, 0, 0
	for y := b.glyph; y < b.bottom; y++ {
		r := &s.rows[y]
		for x := 2; x < r.end; x++ {
			c := r.cells[x]
			if c.r == 0 || c.r == ' ' || c.r == nbsp {
				continue
			}
			switch st := s.style(c); {
			case st.has(attrDim):
				dim++
			case st.has(attrReverse):
			case st.muted():
				grey++
			default:
				plain++
			}
		}
	}
	text := ""
	if first.end > 2 {
		text = trim(first.from(2))
	}
	for y := b.glyph + 1; y < b.bottom; y++ {
		r := &s.rows[y]
		// A line too long for the box goes on in the next row.
		if up := &s.rows[y-1]; !r.blank() && !up.blank() && s.wrapped(y, r.indent, up.end) {
			text += " "
		} else {
			text += "\n"
		}
		if !r.blank() {
			text += trim(r.from(2))
		}
	}
	text = strings.TrimRight(text, "\n ")
	switch {
	case text == "":
	case plain == 0 && grey == 0 && dim > 0:
		b.hint = text
	case knownHint(text):
		b.hint = text
	case plain > 0 && dim+grey > 0:
		b.draft = s.ownText(b)
	default:
		b.draft = text
	}
	if b.mode != "" {
		b.draft = b.mode + b.draft
		if b.hint != "" {
			b.draft = b.mode
		}
	}
}

// ownText is the draft without the completion that the client suggests behind
// it, dim or grey.
func (s *screen) ownText(b *box) string {
	var t strings.Builder
	for y := b.glyph; y < b.bottom; y++ {
		if y > b.glyph {
			t.WriteByte('\n')
		}
		r := &s.rows[y]
		for x := 2; x < r.end; x++ {
			if !s.style(r.cells[x]).muted() {
				t.WriteString(r.span(x, x+1))
			}
		}
	}
	return trim(t.String())
}

// trim cuts blanks and no-break spaces at both ends.
func trim(t string) string { return strings.Trim(t, " \u00a0\n") }
