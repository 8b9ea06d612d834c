package detect

import "strings"

// lookReader recognises the screen reader's layout: no colours, no rules, a
// mode row in words and a lone `$` with the cursor. A shell's prompt can look
// the same, so the banner or the process table must agree.
func (j *judge) lookReader() bool {
	s := &j.screen
	r := &s.rows[s.last]
	if s.coloured || r.at(0) != '$' || r.at(1) != ' ' && r.at(1) != nbsp && r.at(1) != 0 || s.last < 1 {
		return false
	}
	if j.e.CursorY >= 0 && (j.e.CursorY != s.last || j.e.CursorX < 1) {
		return false
	}
	if !strings.HasPrefix(s.rows[0].text, "[Screen Reader Mode: on") && j.e.Process != ProcessRunning {
		return false
	}
	mode := -1
	for y := s.last - 1; y >= 0 && y > s.last-6 && mode < 0; y-- {
		if t := s.rows[y].text; strings.Contains(t, "(shift+tab to cycle)") || strings.Contains(t, "? for shortcuts") {
			mode = y
		}
	}
	if mode < 0 {
		return false
	}
	j.set(factReader, s.last, s.last)
	j.draft = trim(r.from(1))
	j.readerFooter(mode)
	j.readerTurn(mode - 1)
	return true
}

// readerFooter reads the mode row, which may be wrapped, and what stands
// between it and the prompt.
func (j *judge) readerFooter(mode int) {
	s := &j.screen
	text := s.rows[mode].text
	for y := mode + 1; y < s.last; y++ {
		switch t := s.rows[y].text; {
		case t == hintFix:
			j.set(factFixFirst, y, y)
		case t == hintQueued:
			j.set(factQueued, y, y)
		case !strings.HasPrefix(t, "effort:"):
			text += " " + s.rows[y].body()
		}
	}
	if strings.Contains(text, interruptKey) {
		j.set(factInterrupt, mode, mode)
	}
}

// readerTurn reads the newest turn upward from row y to the prompt that began
// it, or to the answer's first row.
func (j *judge) readerTurn(y int) {
	s := &j.screen
	empty := true
	for ; y >= 0; y-- {
		t := s.rows[y].text
		if s.rows[y].blank() {
			continue
		}
		if strings.HasPrefix(t, "you: ") {
			if empty {
				j.set(factUnanswered, y, y)
			}
			return
		}
		empty = false
		if strings.HasSuffix(t, "…") && !strings.Contains(t, " ") {
			j.set(factSpinner, y, y)
		}
		if strings.HasPrefix(t, "⚠ Usage limit reached") || limitNote(t) == noteResumes {
			j.set(factLimitStrip, y, y)
			j.resolve(t)
		}
		j.auto = j.auto || strings.HasPrefix(t, "Continuing automatically")
		said, answer := strings.CutPrefix(t, "claude: ")
		said = strings.TrimPrefix(said, "error: ")
		switch sortEventText(said) {
		case eventAuth:
			if !j.outdated() {
				j.set(factAuthEvent, y, y)
			}
			return
		case eventLimit:
			j.set(factLimitEvent, y, y)
			j.resolve(said)
			return
		}
		if answer {
			return
		}
	}
}
