package detect

import "strings"

// findEvent walks up to the newest event and sorts it.
func (s *screen) findEvent(y int, t *turn) {
	done := false // a finished turn's line was passed, its turn not yet seen
	offer := -1   // the row of an offer to upgrade, whose banner is not yet seen
	defer func() {
		// The notes under a banner prove a limit even when it has scrolled away or
		// an event in between can't be read.
		if t.note >= 0 && t.kind != eventLimit {
			t.event, t.kind, t.body = t.note, eventLimit, trim(s.rows[t.note].from(1))
		}
	}()
	for ; y >= 0; y-- {
		r := &s.rows[y]
		if r.blank() || s.notice(r) {
			continue
		}
		switch {
		case s.doneRow(y):
			if done {
				t.unanswered, t.prompt = true, y
				return
			}
			done = true
		case r.indent == 2 && r.at(2) == '⎿', r.indent == 1 && r.at(1) == '⎿':
			if said := trim(r.from(r.indent + 1)); !done && (said == toolRuns || strings.HasPrefix(said, toolRuns+" (")) {
				t.unanswered, t.prompt = true, y
				return
			}
			up := s.headOf(y)
			if up >= 0 && s.localCommand(up) {
				y = up // what a local command printed says nothing of the turn
				continue
			}
			if up >= 0 && bullet(s.rows[up].at(0)) && limitNote(trim(s.rows[up].from(1))) == noteNone || up < 0 && y > 0 && !s.rows[y-1].blank() {
				// It hangs from a tool's line, and a tool may print anything; but not in
				// the colour in which the client tells of refusals.
				if s.sortEvent(y, t); t.kind == eventError || !s.styleAt(y, r.end-1).vivid() {
					t.event, t.body, t.kind = -1, "", eventNone
				}
				return
			}
			s.sortEvent(y, t)
			return
		case r.indent == 0 && s.localCommand(y):
			continue
		case r.indent == 0 && bullet(r.at(0)):
			text := trim(r.from(1))
			if k := limitNote(text); k != noteNone && s.ownVoice(y) {
				t.resumes = t.resumes || k == noteResumes && !t.cancelled
				t.cancelled = t.cancelled || k == noteCancelled
				if t.note < 0 || k == noteResumes {
					t.note = y
				}
				continue
			}
			if s.ownVoice(y) {
				s.sortEvent(y, t)
			}
			return
		case r.indent == 0 && s.isPrompt(y, 0):
			text := trim(r.from(2))
			t.prompt, t.pending, t.note = y, !done, max(t.note, offer)
			t.unanswered = text != "" && !refusedPrompt(text) && !clears(text)
			return
		case r.indent == 0 && spinnerGlyph(r.at(0)):
			return
		}
		// Any other row goes on with what stands above it: the client itself
		// starts nothing else in column 0.
		if limitNote(r.body()) == noteUpgrade && offer < 0 {
			offer = y
		}
	}
	t.note = max(t.note, offer)
}

// refusedPrompt reports whether what stands in the place of a prompt is the
// client's word that it does not know the command.
func refusedPrompt(text string) bool {
	for _, r := range refusedCommands {
		if strings.HasPrefix(text, r) {
			return true
		}
	}
	return false
}

// clears reports whether a prompt is a command that begins a new conversation
// and prints nothing.
func clears(text string) bool {
	switch text {
	case "/clear", "/new", "/reset":
		return true
	}
	return false
}

// headOf gives the row that a `⎿` row hangs from: the nearest above that
// starts in column 0, with no blank row between; -1 for none.
func (s *screen) headOf(y int) int {
	for y--; y >= 0 && !s.rows[y].blank(); y-- {
		if s.rows[y].indent == 0 {
			return y
		}
	}
	return -1
}

// localCommand reports whether row y is a prompt that the client answers by
// itself, after which the turn before is still the newest. Those that change
// the account or the conversation are not: they may have mended the fault.
func (s *screen) localCommand(y int) bool {
	if !s.isPrompt(y, 0) {
		return false
	}
	text := trim(s.rows[y].from(2))
	if !strings.HasPrefix(text, "/") {
		return false
	}
	name, _, _ := strings.Cut(text, " ")
	switch name {
	case "/login", "/logout", "/clear", "/new", "/reset", "/resume", "/compact", "/upgrade", "/setup-token":
		return false
	}
	return true
}

// ownVoice reports whether a bulleted row is the client's own line, not the
// model's: glyph and text share one colour that is not ordinary text's. Without
// colours that can't be told, and then it may be the client's.
func (s *screen) ownVoice(y int) bool {
	if !s.coloured {
		return true
	}
	r := &s.rows[y]
	g, t := s.styleAt(y, 0), s.styleAt(y, min(2, r.end-1))
	return g.fg == t.fg && g.fg != colourDefault
}

// sortEvent reads the event on row y, wrapped rows joined, and sorts it by the phrase table.
func (s *screen) sortEvent(y int, t *turn) {
	text := trim(strings.TrimLeft(trim(s.rows[y].text), "⎿●⏺ \u00a0"))
	for n := y + 1; n < len(s.rows) && n <= y+4 && s.rows[n].indent >= 2 && !s.rows[n].blank() && s.rows[n].at(2) != '⎿'; n++ {
		text += " " + s.rows[n].body()
	}
	t.event, t.body, t.kind = y, text, sortEventText(text)
}
