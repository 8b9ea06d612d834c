package detect

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// judge holds what one look at the evidence found.
type judge struct {
	reader
	e      *Evidence
	have   fact
	box    box
	broken int // row of the glyph of a box whose frame is broken, -1
	panel  panel
	turn   turn
	seen   [factCount][2]int // where a fact was seen: first row and the row behind the last
	draft  string
	note   string // a remark that Why carries
	reset  time.Time
	exact  bool
	auto   bool
}

const factCount = len(factNames)

// set records a fact and the rows it was seen on.
func (j *judge) set(f fact, from, to int) {
	j.have |= f
	if w := &j.seen[f.index()]; w[1] == 0 {
		*w = [2]int{from, to + 1}
	}
}

// look finds every fact. Order matters only where a region bounds another.
func (j *judge) look(e *Evidence) {
	j.e = e
	s := j.parseScreen(e.Screen, e.Width)
	if busyTitle(e.Title) {
		j.have |= factTitleBusy
	}
	if s.last < 0 {
		j.have |= factEmpty
		return
	}
	b, ok := s.findBox()
	j.broken = -1
	switch {
	case ok && b.shell:
		j.set(factShell, b.glyph, b.glyph)
		return
	case ok && b.bottom > 0:
		j.lookBox(b)
	case ok:
		j.broken = b.glyph
	}
	if j.have&factWhole == 0 && (j.broken >= 0 || j.have&factBox != 0 || !j.lookScrolled()) {
		j.lookUnboxed()
	}
}

// outdated reports whether a refusal of the credentials is of a login before the
// client's. One on the screen is the transcript's: a new one is written as it is
// drawn.
func (j *judge) outdated() bool {
	t := j.e.Transcript
	return t != nil && t.Event == "api_error" && t.Outdated
}

// busyTitle reports whether a title starts with a glyph of a running turn. `✳`
// proves nothing: gates and limits have it too, and clients from 2.1.252 on were
// recorded with it through whole turns.
func busyTitle(t string) bool {
	r, _ := utf8.DecodeRuneInString(t)
	return r >= 0x2801 && r <= 0x28ff || r == '◐' || r == '◑' || r == '◒' || r == '◓'
}

// lookBox finds what a box and its surroundings show.
func (j *judge) lookBox(b box) {
	j.box = b
	j.set(factBox, b.top, b.bottom)
	if b.live {
		j.set(factLive, b.glyph, b.glyph)
	}
	if b.whole {
		j.set(factWhole, b.top, b.bottom)
	}
	if b.idle {
		j.set(factIdle, b.glyph, b.glyph)
	}
	if b.muted {
		j.set(factMuted, b.glyph, b.glyph)
	}
	switch b.hint {
	case hintQueued:
		j.set(factQueued, b.glyph, b.glyph)
	case hintFix:
		j.set(factFixFirst, b.glyph, b.glyph)
	}
	if !b.whole {
		return
	}
	j.draft = b.draft
	x, y := j.e.CursorX, j.e.CursorY
	// Versions before 2.1.85 park the cursor in column 0 below everything.
	away := y >= 0 && x > 0 && (y <= b.top || y >= b.bottom)
	// In an empty box it stands right behind the glyph: further on, something
	// was typed that is not drawn yet.
	away = away || y == b.glyph && x > 2 && b.draft == ""
	if away {
		j.set(factCursorAway, y, y)
	}
	if j.last > b.bottom || b.draft != "" || b.hint != "" {
		j.set(factFooter, b.bottom+1, j.last)
	}
	if y := j.tornFrame(); y >= 0 {
		j.set(factTorn, y, y)
	}
	j.lookFooter(b.bottom + 1)
	j.lookTurn(b.top, &b)
	j.lookSurvey(b.top)
}

// lookTurn reads the newest turn above row `from`.
func (j *judge) lookTurn(from int, b *box) {
	t := j.findTurn(from, b)
	j.turn = t
	if t.spinner >= 0 {
		j.set(factSpinner, t.spinner, t.spinner)
	}
	if t.retry >= 0 {
		j.set(factRetry, t.retry, t.retry)
	}
	if t.queued >= 0 && b != nil {
		j.set(factQueued, t.queued, t.queued)
	}
	if t.unanswered && (!t.pending || !j.settled()) {
		j.set(factUnanswered, t.prompt, t.prompt)
	}
	switch t.kind {
	case eventAuth:
		if j.outdated() {
			j.note = "the refusal above is of a login that it no longer has"
			break
		}
		j.set(factAuthEvent, t.event, t.event)
	case eventLimit:
		j.set(factLimitEvent, t.event, t.event)
		j.auto = j.auto || t.resumes && !t.cancelled
		j.resolve(t.body)
	case eventError:
		j.note = "the newest event is an error: " + clip(t.body, 80)
	}
}

// settled reports whether a source beside the screen says that no turn runs, so
// that a prompt without an answer was interrupted, not just sent. 2.1.85 leaves
// nothing beneath one that was. Its title can tell; the versions before it have
// one title for everything and still draw `>`, and of those that draw on the
// alternate screen 2.1.300 was seen to keep the idle title through whole turns.
func (j *judge) settled() bool {
	if c := j.e.Client; c != nil && c.Status == "idle" {
		return true
	}
	return strings.HasPrefix(j.e.Title, "✳") && !j.e.Alternate && j.rows[j.box.glyph].at(0) == '❯' && j.have&factWhole != 0
}

// resolve reads a limit's reset time from the client's words.
func (j *judge) resolve(text string) {
	var printed time.Time
	if t := j.e.Transcript; t != nil && t.Event == "api_error" && sortEventText(t.Text) == eventLimit {
		printed = t.At
	}
	j.reset, j.exact = resetTime(text, j.e.Now, j.e.Zone, printed)
	if j.exact && !j.e.Now.IsZero() && j.e.Now.After(j.reset) {
		j.have |= factLapsed
	}
}

// lookSurvey looks for the survey right above the box. A narrow pane wraps its
// row of digits.
func (j *judge) lookSurvey(top int) {
	near := j.rows[max(0, top-5):top]
	if !slices.ContainsFunc(near, func(r row) bool { return strings.Contains(r.text, surveyDismiss) }) {
		return
	}
	text := ""
	for y := top - 1; y >= top-len(near); y-- {
		r := &j.rows[y]
		text = r.body() + "  " + text
		if !strings.Contains(text, "1: ") || !strings.Contains(text, surveyDismiss) {
			continue
		}
		j.set(factSurvey, y, top-1)
		j.panel = panel{top: y, Dialog: Dialog{Selected: -1}}
		for f := range strings.SplitSeq(text, "  ") {
			if _, l, ok := strings.Cut(trim(f), ": "); ok {
				j.panel.Options = append(j.panel.Options, l)
			}
		}
		if y > 0 {
			j.panel.Title = trim(strings.TrimLeft(j.rows[y-1].text, "●⏺ "))
		}
		return
	}
}

// lookUnboxed finds what stands at the bottom when no whole box does.
func (j *judge) lookUnboxed() {
	s := &j.screen
	for y := s.last; y >= 0 && y > s.last-2; y-- {
		if strings.HasPrefix(s.rows[y].body(), viewerTitle) {
			j.set(factViewer, y, y)
		}
	}
	if y := s.findSuspended(); y >= 0 {
		j.set(factSuspended, y, y)
	}
	if j.lookReader() {
		return
	}
	if y := s.findShell(j.e.CursorX, j.e.CursorY, j.broken); y >= 0 {
		j.set(factShell, y, y)
		return
	}
	if j.have&(factViewer|factSuspended) != 0 {
		return
	}
	p, ok := s.findPanel()
	if !ok {
		j.lookTurn(s.last+1, nil)
		j.have &^= factLimitEvent | factAuthEvent // without a box these prove nothing
		return
	}
	j.panel = p
	j.set(factDialog, p.top, s.last)
	if limitChoice(p.Options) {
		j.set(factLimitMenu, p.top, s.last)
		t := s.findTurn(p.top, nil)
		j.turn = t
		if t.kind == eventLimit {
			j.resolve(t.body)
		}
	}
}

// clip cuts text to n runes, for a person to read.
func clip(t string, n int) string {
	i := 0
	for p := range t {
		if i == n {
			return t[:p] + "…"
		}
		i++
	}
	return t
}
