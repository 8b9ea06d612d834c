package detect

import "strings"

// regions cuts the screen into its parts, top to bottom. What stands at the
// bottom names the last of them: that is where it is decided.
func (j *judge) regions() []Region {
	s := &j.screen
	parts := []Region{}
	add := func(name string, from, to int) {
		if to = min(to, len(s.rows)-1); to < from {
			return
		}
		r := Region{Name: name, From: from, To: to}
		for y := from; y <= to; y++ {
			r.Lines = append(r.Lines, printable(s.rows[y].text))
		}
		parts = append(parts, r)
	}
	if s.last < 0 {
		return parts
	}
	bottom, name := s.last+1, ""
	switch {
	case j.have&factDialog != 0: // what a box above it shows is an older frame's
		bottom, name = j.panel.top, "dialog"
	case j.have&factBox != 0 && j.box.bottom > 0:
		bottom, name = j.box.top, "box"
	case j.have&factScrolled != 0:
		bottom, name = j.firstRow(factScrolled), "box"
	case j.have&factReader != 0:
		bottom, name = s.last, "prompt"
	case j.have&factViewer != 0:
		bottom, name = 0, "viewer"
	case j.have&factShell != 0:
		bottom, name = j.firstRow(factShell), "shell"
	}
	turn := min(j.turnTop(bottom), bottom)
	add("history", 0, turn-1)
	add("turn", turn, bottom-1)
	if name == "box" {
		end := max(j.box.bottom, j.seen[factScrolled.index()][1]-1)
		add("box", bottom, end)
		add("footer", end+1, s.last)
	} else if name != "" {
		add(name, bottom, s.last)
	}
	return parts
}

// turnTop is the first row above bottom that says something of the newest turn,
// bottom when none does.
func (j *judge) turnTop(bottom int) int {
	top := bottom
	for _, f := range [...]fact{factSpinner, factRetry, factAuthEvent, factLimitEvent, factUnanswered} {
		if y := j.firstRow(f); y >= 0 {
			top = min(top, y)
		}
	}
	if j.turn.kind != eventNone {
		top = min(top, j.turn.event)
	}
	return top
}

// firstRow is the first row on which a fact was seen, -1 for none.
func (j *judge) firstRow(f fact) int {
	if j.have&f == 0 {
		return -1
	}
	if w := j.seen[f.index()]; w[1] > 0 {
		return w[0]
	}
	return -1
}

// printable drops what could act on a terminal; x/ansi has taken the escapes.
func printable(t string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, t)
}
