package detect

import "strings"

// panel is what stands at the bottom of the screen in place of the input box.
type panel struct {
	top   int // its first row: a rule, a frame, or the first row of text
	keys  int // the first row of its key hints, -1
	hints []string
	Dialog
	rows []int // the rows of the options
	// focus says that a row carries the selection mark.
	focus bool
}

// findPanel reads the dialog at the bottom of the screen. There must be no live
// box: the caller sees to that.
func (s *screen) findPanel() (panel, bool) {
	p := panel{keys: -1}
	if s.last < 0 {
		return p, false
	}
	s.findKeys(&p)
	low := s.last
	if p.keys >= 0 {
		low = p.keys - 1
	}
	p.top = s.panelTop(low)
	p.Selected = -1
	s.findOptions(&p, low)
	p.Title = s.panelTitle(p.top, low)
	if s.cutAbove(low) && len(p.rows) > 0 {
		p.Title = s.lastAbove(p.rows[0])
	}
	if len(p.Options) == 0 {
		s.findTabs(&p)
	}
	if len(p.Options) == 0 && enterHint(p.hints) {
		p.Options = p.hints
		for y := p.keys; y <= s.last; y++ {
			p.rows = append(p.rows, y)
		}
	}
	// A lone mark in column 0 is a shell's prompt as likely as a menu of one row.
	focus := p.focus && (len(p.Options) > 1 || s.rows[p.rows[0]].indent > 0)
	return p, p.keys >= 0 || focus || s.panelFrame(p.top)
}

// panelFrame reports whether a panel is proven by its head alone, as it must be
// where a small pane cuts its key hints off: an upper-edge rule, which nothing
// else has, or a coloured rule with a title of the same colour beneath.
func (s *screen) panelFrame(top int) bool {
	if !s.isRule(top) && !s.edge(top) || top+1 >= len(s.rows) || s.rows[top+1].blank() {
		return false
	}
	r, rule := &s.rows[top+1], s.styleAt(top, 0)
	if promptGlyph(r.at(0)) {
		return false // a box that lost its lower rule
	}
	if s.edge(top) {
		return true
	}
	title := s.styleAt(top+1, r.indent)
	return rule.vivid() && r.indent > 0 && (title.fg == rule.fg || title.bg == rule.fg)
}

// edge reports whether a row is the upper edge of a panel. A notice may be set
// into it, in a narrow pane over nearly all of it.
func (s *screen) edge(y int) bool {
	r := &s.rows[y]
	return r.at(0) == '▔' || r.end == s.width && r.at(r.end-1) == '▔'
}

// enterHint reports whether Enter itself is one of the choices offered as keys,
// in a dialog that has nothing to move through.
func enterHint(hints []string) bool {
	enter := false
	for _, h := range hints {
		if strings.ContainsAny(h, "↑↓←→") || strings.HasPrefix(h, "Type to ") || strings.HasPrefix(h, "Tab to ") {
			return false
		}
		// `Enter to confirm` goes with any dialog; a choice is told in more words.
		enter = enter || strings.HasPrefix(h, "Enter to ") && len(strings.Fields(h)) > 3
	}
	return enter
}

// findKeys finds the row (wrapped over up to three) that says which keys the
// dialog takes, at the very bottom.
func (s *screen) findKeys(p *panel) {
	for y := s.last; y >= 0 && y > s.last-3; y-- {
		r := &s.rows[y]
		if r.blank() || bullet(r.at(r.indent)) || s.isRule(y) {
			return
		}
		if text := r.body(); keyHint(text) {
			p.keys = y
			for n := y + 1; n <= s.last; n++ {
				text += " " + s.rows[n].body()
			}
			p.hints = strings.Split(text, " · ")
			// A hint may be wrapped before a word that starts a row of its own.
			if y > 0 && !s.rows[y-1].blank() && s.rows[y-1].indent == r.indent && keyHint(s.rows[y-1].body()) {
				continue
			}
			return
		}
	}
}

// panelTop finds where the panel starts: the highest rule or frame above row
// `low` with no history between.
func (s *screen) panelTop(low int) int {
	if s.cutAbove(low) {
		return 0
	}
	top := -1
	for y := low; y >= 0; y-- {
		r := &s.rows[y]
		if r.blank() {
			continue
		}
		if s.isRule(y) || s.edge(y) || r.indent == 0 && r.at(0) == '╭' {
			top = y
			if r.at(0) == '╭' {
				break
			}
			continue
		}
		if r.indent == 0 && (bullet(r.at(0)) || s.doneRow(y) || s.isPrompt(y, 0) && !s.numbered(y)) ||
			r.indent == 2 && r.at(2) == '⎿' {
			break
		}
	}
	if top < 0 {
		// No frame: the text right above the options, or all that there is.
		top = max(0, low-1)
		for top > 0 && !s.history(top) {
			top--
		}
	}
	return top
}

// cutAbove reports whether row y says that the panel is longer than the screen and
// shows its end alone: then all that there is belongs to it (2.1.332).
func (s *screen) cutAbove(y int) bool {
	if y < 0 {
		return false // the key hints are all that shows
	}
	rest, ok := strings.CutPrefix(s.rows[y].body(), "↑ ")
	return ok && (strings.HasSuffix(rest, " more lines") || rest == "1 more line")
}

// lastAbove is the last text above row y: of a panel whose title is out of sight,
// what it asks.
func (s *screen) lastAbove(y int) string {
	for y--; y >= 0; y-- {
		if t := trim(strings.Trim(s.rows[y].text, "│ \u00a0")); t != "" && !ruleRune(s.rows[y].at(s.rows[y].indent)) && s.rows[y].at(s.rows[y].indent) != '╌' {
			return strings.TrimSuffix(t, ":")
		}
	}
	return ""
}

func (s *screen) history(y int) bool {
	r := &s.rows[y]
	return r.indent == 0 && (bullet(r.at(0)) || s.isPrompt(y, 0)) || r.indent == 2 && r.at(2) == '⎿'
}

// panelTitle is the first text of the panel, up to the first wide gap.
func (s *screen) panelTitle(top, low int) string {
	for y := top; y <= low && y < len(s.rows); y++ {
		r := &s.rows[y]
		if r.blank() || r.at(0) == '╭' || r.at(0) == '╰' || s.isPrompt(y, 0) && r.indent == 0 && !s.numbered(y) && s.coloured || ruleRune(r.at(r.indent)) || s.edge(y) || r.at(r.indent) == '╌' {
			continue
		}
		t := trim(strings.Trim(r.text, "│ \u00a0☐"))
		if t == "" || strings.HasPrefix(t, "⌕") {
			continue
		}
		if i := strings.Index(t, "  "); i > 0 {
			t = t[:i]
		}
		return strings.TrimSuffix(trim(t), ":")
	}
	return ""
}

// findTabs takes a bar of tabs as the choices of a panel that has no rows and no
// title of its own: either the bar stands where the title would, or the title
// introduces it with a colon.
func (s *screen) findTabs(p *panel) {
	y := p.top + 1
	if y >= len(s.rows) || s.rows[y].blank() {
		return
	}
	r := &s.rows[y]
	var tabs []string
	sel := -1
	x := r.indent
	for x < r.end {
		for x < r.end && (r.at(x) == ' ' || r.at(x) == nbsp) {
			x++
		}
		from := x
		for x < r.end && (r.at(x) != ' ' || r.at(x+1) != ' ') && s.styleAt(y, x).bg == s.styleAt(y, from).bg {
			x++
		}
		word := trim(r.span(from, x))
		switch {
		case word == "" || strings.HasPrefix(word, "("):
		case len(tabs) == 0 && sel < 0 && strings.HasSuffix(word, ":"):
		default:
			if s.styleAt(y, from).bg != colourDefault {
				sel = len(tabs)
			}
			tabs = append(tabs, word)
		}
	}
	// A first word without the mark may be the panel's title.
	if sel != 0 || len(tabs) < 2 {
		return
	}
	p.Options, p.Selected, p.rows = tabs, sel, []int{y}
}
