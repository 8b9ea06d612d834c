package detect

import "strings"

// option is a row of a menu, taken apart.
type option struct {
	mark   bool // the selection mark stands before it
	number int  // 0 when it has none
	col    int  // where the label starts
	label  string
	wide   bool // a column of values or descriptions follows the label
}

// option takes row y apart. ok is false when it has neither mark nor number.
func (s *screen) option(y int) (o option, ok bool) {
	r := &s.rows[y]
	x := r.indent
	if r.at(x) == '│' {
		for x++; x < r.end && (r.at(x) == ' ' || r.at(x) == nbsp); x++ {
		}
	}
	// A no-break space behind the glyph is the input box's, not a menu's.
	// Nor is it one in front of a prompt that was sent, which has a background.
	if r.at(x) == '❯' && r.at(x+1) == ' ' && (x > 0 || s.styleAt(y, 0).bg == colourDefault) {
		o.mark = true
		for x++; x < r.end && (r.at(x) == ' ' || r.at(x) == nbsp); x++ {
		}
	}
	// An arrow stands before the last row in sight of a list that goes on.
	if a := r.at(x); (a == '↓' || a == '↑') && r.numberAt(x+2) {
		x += 2
	}
	n, d := 0, x
	for ; d < r.end && d < x+3 && r.at(d) >= '0' && r.at(d) <= '9'; d++ {
		n = n*10 + int(r.at(d)-'0')
	}
	if d > x && r.at(d) == '.' && (r.at(d+1) == ' ' || s.numberAlone(y, d, o.mark)) {
		o.number = n
		for x = d + 1; x < r.end && r.at(x) == ' '; x++ {
		}
	}
	o.col = s.pastTick(y, x)
	o.label, o.wide = label(r.from(x))
	return o, (o.mark || o.number > 0) && o.label != ""
}

// numberAlone reports whether the dot in column d ends a row's number though no
// blank follows: a narrow pane leaves none between the number and a label that
// is wrapped. Then the number is greyer than the label, or the mark stands before it.
func (s *screen) numberAlone(y, d int, mark bool) bool {
	r := &s.rows[y]
	if d+1 >= r.end {
		return false
	}
	return mark || s.styleAt(y, d).muted() && s.styleAt(y, d+1) != s.styleAt(y, d)
}

// numberAt reports whether `N.` starts in column x.
func (r *row) numberAt(x int) bool {
	d := x
	for d < r.end && r.at(d) >= '0' && r.at(d) <= '9' {
		d++
	}
	return d > x && r.at(d) == '.'
}

func (s *screen) numbered(y int) bool {
	o, ok := s.option(y)
	return ok && o.number > 0
}

// label is a row's text up to the first gap of two or more columns, without the
// mark of the present choice.
func label(t string) (string, bool) {
	t = strings.TrimRight(trim(t), "│ \u00a0")
	t = trim(strings.TrimPrefix(t, "✔"))
	wide := false
	if i := strings.Index(t, "  "); i > 0 {
		t, wide = t[:i], true
	}
	return trim(strings.TrimSuffix(trim(t), "✔")), wide
}

// findOptions reads the menu: numbered rows, or the rows aligned with the mark.
func (s *screen) findOptions(p *panel, low int) {
	last, markRow := -1, -1
	for y := low; y > p.top; y-- {
		if o, ok := s.option(y); ok {
			if o.mark && markRow < 0 {
				markRow = y
			}
			if o.number > 0 && last < 0 {
				last = y
			}
		}
	}
	_, _, submit := s.submitRow(markRow)
	switch {
	case last >= 0 && (markRow < 0 || submit || s.numbered(markRow) || s.markedRest(markRow) > 0):
		s.numberedOptions(p, last)
	case markRow >= 0:
		s.alignedOptions(p, markRow, low)
	default:
		s.valueOptions(p, low)
	}
}

// numberedOptions reads a numbered menu upward from its last row. Rows between
// two numbers are descriptions or the rest of a wrapped label.
func (s *screen) numberedOptions(p *panel, last int) {
	want := 0
	var ys []int
	for y := last; y >= p.top; y-- {
		o, ok := s.option(y)
		if !ok || o.number == 0 {
			continue
		}
		if want != 0 && o.number != want {
			break
		}
		ys = append(ys, y)
		want = o.number - 1
		if want == 0 {
			break
		}
	}
	for i := len(ys) - 1; i >= 0; i-- {
		o, _ := s.option(ys[i])
		p.add(s, o, ys[i])
		if !strings.HasPrefix(o.label, "[") {
			continue
		}
		// Boxes to tick are followed by a row of its own that sends the answer.
		for y := ys[i] + 1; y < len(s.rows) && (i == 0 || y < ys[i-1]) && !s.isRule(y); y++ {
			if l, mark, ok := s.submitRow(y); ok {
				p.addPlain(option{label: l, mark: mark}, y)
			}
		}
	}
	if len(p.hints) > 0 && strings.HasPrefix(p.hints[0], "Press Enter to continue") && !p.focus {
		p.Options, p.rows = nil, nil // notes, not choices
	}
}

// submitRow reports whether a row is the one that sends what was ticked.
func (s *screen) submitRow(y int) (label string, mark, ok bool) {
	if y < 0 || y >= len(s.rows) {
		return "", false, false
	}
	text, mark := strings.CutPrefix(s.rows[y].body(), "❯ ")
	text = trim(text)
	return text, mark, text == "Submit" || text == "Next"
}

// valueOptions reads a menu that has no mark because the focus is elsewhere: a
// run of rows of one indent, each a label, a gap and a value. Only a panel that
// offers to move into its rows has one.
func (s *screen) valueOptions(p *panel, low int) {
	if !selectHint(p.hints) {
		return
	}
	for y := low; y > p.top; y-- {
		r := &s.rows[y]
		if r.blank() || r.at(r.indent) == '↓' {
			continue
		}
		l, wide := label(r.body())
		if r.indent < 4 || !wide || strings.HasSuffix(l, ":") || len(p.rows) > 0 && s.rows[p.rows[0]].indent != r.indent {
			break
		}
		p.rows = append([]int{y}, p.rows...)
		p.Options = append([]string{l}, p.Options...)
	}
}

// selectHint reports whether a panel offers to move down into its rows.
func selectHint(hints []string) bool {
	for _, h := range hints {
		if strings.HasSuffix(h, " to select") {
			return true
		}
	}
	return false
}

// add takes an option with the rest of a wrapped label.
func (p *panel) add(s *screen, o option, y int) {
	p.addPlain(o, y)
	if o.wide {
		return
	}
	end := s.rows[y].end
	for n := y + 1; n <= s.last; n++ {
		r := &s.rows[n]
		x := r.indent
		marked := n == y+1 && s.markedRest(n) > 0
		if marked {
			x = s.markedRest(n)
		}
		if r.blank() || s.isRule(n) || s.framed(n) || s.numbered(n) || keyHint(r.body()) || !s.wrapped(n, x, end) {
			return
		}
		rest, _ := label(r.from(x))
		p.Options[len(p.Options)-1] += " " + rest
		if marked {
			p.Selected, p.focus = len(p.Options)-1, true
		}
		end = r.end
	}
}

// framed reports whether a row is part of a drawn frame. Labels in one are never
// joined: the frame hides where a row's text ends.
func (s *screen) framed(y int) bool {
	switch s.rows[y].at(s.rows[y].indent) {
	case '│', '╰', '╭', '└', '┌':
		return true
	}
	return false
}

func (p *panel) addPlain(o option, y int) {
	if o.mark {
		p.Selected = len(p.Options)
		p.focus = true
	}
	p.Options = append(p.Options, o.label)
	p.rows = append(p.rows, y)
}

// markedRest gives the column of the text in a row that goes on with a numbered
// label although the mark stands before it, as narrow panes were seen to draw it
// (2.1.85); 0 if the row is no such thing.
func (s *screen) markedRest(y int) int {
	if y < 1 || s.numbered(y) || !s.numbered(y-1) {
		return 0
	}
	if above, _ := s.option(y - 1); above.mark {
		return 0
	}
	o, ok := s.option(y)
	if !ok || !o.mark || !s.wrapped(y, o.col, s.rows[y-1].end) {
		return 0
	}
	return o.col
}

// wrapped reports whether the text of row y, from column x on, goes on with the
// row above, which ended in column end: its first word would not have fitted
// there, and it has the colour in which the row above ended. A description has
// another.
func (s *screen) wrapped(y, x, end int) bool {
	r := &s.rows[y]
	if s.styleAt(y, x).fg != s.styleAt(y-1, end-1).fg {
		return false
	}
	from := x
	for x < r.end && r.at(x) != ' ' {
		x++
	}
	return end+1+x-from >= s.width-3
}
