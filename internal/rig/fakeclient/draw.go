package fakeclient

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// boxWidth is the width of the text in the box of a terminal so wide, and
// boxRows how many rows of it a terminal so high shows (15 of 40, 5 of 20).
func boxWidth(width int) int { return max(1, width-4) }
func boxRows(height int) int { return max(1, height/2-5) }

// draw shows the state of everything, unless the script holds the screen.
func (c *client) draw() {
	if c.frozen {
		return
	}
	width, height := c.screen.size()
	f := frame{rows: make([]string, height), title: c.title()}
	var bottom []string
	var x, y int
	if c.dialog != nil {
		bottom, x, y = c.dialog.draw(width, c.journal.cwd)
	} else {
		bottom, x, y = c.drawBottom(width, height)
	}
	if cut := len(bottom) - height; cut > 0 {
		bottom, y = bottom[cut:], max(0, y-cut)
	}
	top := height - len(bottom)
	past := c.drawPast(width)
	past = past[max(0, len(past)-top):]
	copy(f.rows, past)
	copy(f.rows[top:], bottom)
	f.x, f.y = min(x, width-1), top+y
	c.screen.show(f)
}

func (c *client) title() string {
	glyph := "✳"
	if c.script.BusyTitle && c.turn != nil && c.dialog == nil {
		glyph = []string{"◐", "◑"}[c.ticks/2%2]
	}
	return glyph + " Claude Code"
}

// drawPast is the head and the conversation.
func (c *client) drawPast(width int) []string {
	dir := c.journal.cwd
	if rest, ok := strings.CutPrefix(dir, c.home+"/"); ok {
		dir = "~/" + rest
	}
	rows := []string{
		"",
		rose + " ▐▛███▛█   " + plainText + bold + "Claude Code" + plainText + " " + grey + "v" + Version,
		rose + "▝▜█████▀  " + grey + "Sonnet 5.5 · Claude API",
		rose + " ▝▝   ▝▝   " + grey + ansi.Truncate(dir, max(0, width-12), "…"),
		"",
	}
	// What is far above the screen is not worth drawing.
	for _, it := range c.items[max(0, len(c.items)-60):] {
		rows = append(rows, "")
		rows = append(rows, it.draw(width)...)
	}
	return append(rows, "")
}

// draw is an item of the conversation in rows.
func (it item) draw(width int) []string {
	text := ansi.Wrap(it.text, max(1, width-4), "")
	var rows []string
	for i, line := range strings.Split(text, "\n") {
		switch {
		case it.kind == itemPrompt && i == 0:
			line = grey + onGrey + "❯ " + white + line
		case it.kind == itemPrompt:
			line = onGrey + "  " + white + line
		case it.kind == itemDone:
			line = grey + "✻ Cooked for " + line + " · done " + time.Now().Format("3:04 PM")
		case it.kind == itemInterrupted:
			line = grey + "  ⎿ \u00a0Interrupted · What should Claude do instead?"
		case it.kind == itemNote && i == 0:
			line = grey + "●" + plainText + " " + line
		case it.kind == itemNote:
			line = grey + "  ⎿ \u00a0" + line
		case i == 0:
			line = white + "●" + plainText + " " + line
		case line != "":
			line = "  " + line
		}
		rows = append(rows, line)
	}
	return rows
}

// drawBottom is what stands at the lower end while no dialog is up: what is
// queued, the turn's spinner, the survey, the box and the footer.
func (c *client) drawBottom(width, height int) (rows []string, x, y int) {
	for _, q := range c.queue {
		first, _, _ := strings.Cut(shown(q), "\n")
		rows = append(rows, grey+onGrey+"❯ "+ansi.Truncate(first, max(1, width-4), "…"), grey+"  ⎿  Queued · ctrl+x ctrl+s to send now")
	}
	if t := c.turn; t != nil && !t.said {
		if len(rows) > 0 {
			rows = append(rows, "")
		}
		passed := ""
		if d := time.Since(t.began).Truncate(time.Second); d >= 2*time.Second {
			passed = grey + fmt.Sprintf(" (%s · ↓ 42 tokens)", d)
		}
		rows = append(rows, rose+[]string{"·", "✢", "✳", "✶", "✻", "✽"}[c.ticks%6]+plainText+" "+rose+"Pondering…"+passed)
		rows = append(rows, grey+"  ⎿ \u00a0Tip: Start small, ask Claude for a plan")
	}
	if c.survey {
		rows = append(rows, grey+"●"+plainText+" How is Claude doing this session? (optional)",
			"  "+blue+"1"+plainText+": Bad    "+blue+"2"+plainText+": Fine   "+blue+"3"+plainText+": Good   "+blue+"0"+plainText+": Dismiss")
	}
	rows = append(rows, c.drawNotice(width))
	box, x, boxY := c.drawBox(width, height)
	y = len(rows) + boxY
	rows = append(rows, box...)
	return append(rows, c.drawFooter(width)), x, y
}

// drawNotice is the row above the box: what its keys would do, and the draft
// that is put aside.
func (c *client) drawNotice(width int) string {
	var parts []string
	switch {
	case c.escHint:
		parts = append(parts, noticeEscape)
	case slices.ContainsFunc(c.box.cells, func(x cell) bool { return x.r == '\n' }):
		parts = append(parts, noticeEditor)
	case c.notice != "":
		parts = append(parts, c.notice)
	case c.turn == nil && len(c.stash) == 0:
		parts = append(parts, noticeEffort)
	}
	if len(c.stash) > 0 {
		parts = append(parts, " "+noticeStashed)
	}
	if len(parts) == 0 {
		return ""
	}
	return right(strings.Join(parts, " ·"), width)
}

// drawBox is the input box with its two rules. What does not fit is scrolled out
// of sight at the top, which the upper rule tells.
func (c *client) drawBox(width, height int) (rows []string, x, y int) {
	glyph := plainText
	if c.turn != nil {
		glyph = grey
	}
	glyph += "❯\u00a0" + plainText
	lower := rule(ruleGrey, width)
	if c.box.empty() {
		content := reverse + " "
		if len(c.queue) > 0 {
			content = reverse + "P" + plainText + dim + "ress up to edit queued messages"
		}
		return []string{lower, glyph + content, lower}, 2, 1
	}
	l := layOut(c.box.cells, c.box.at, boxWidth(width))
	shownRows := slices.Clone(l.rows)
	shownRows[l.y] = withCursor(shownRows[l.y], l.x)
	upper := lower
	from := 0
	if most := boxRows(height); len(shownRows) > most {
		from = min(max(0, l.y-most+1), len(shownRows)-most)
		shownRows = shownRows[from : from+most]
		if from > 0 {
			more := fmt.Sprintf("↑ %d more", from)
			upper = ruleGrey + "───" + plainText + " " + dim + more + plainText + " " + ruleGrey + strings.Repeat("─", max(0, width-5-ansi.StringWidth(more)))
		}
	}
	rows = []string{upper}
	for i, row := range shownRows {
		if from+i == 0 {
			rows = append(rows, glyph+row)
		} else {
			rows = append(rows, "  "+row)
		}
	}
	return append(rows, lower), 2 + l.x, 1 + l.y - from
}

// withCursor draws the cursor's cell in reverse.
func withCursor(row string, x int) string {
	before, rest := ansi.Truncate(row, x, ""), ansi.TruncateLeft(row, x, "")
	under := " "
	for _, r := range rest {
		under, rest = string(r), rest[len(string(r)):]
		break
	}
	return before + reverse + under + plainText + rest
}

// drawFooter is the mode row, or what stands in its place.
func (c *client) drawFooter(width int) string {
	switch {
	case c.exitHint:
		return "  " + grey + "Press Ctrl-C again to exit"
	case c.expandable():
		return "  " + grey + "paste again to expand"
	}
	mode, more := "", ""
	if c.vim && !c.vimNow {
		mode = grey + "-- INSERT -- " + plainText
	}
	switch {
	case c.turn != nil && c.box.empty():
		more = " · esc to interrupt"
	case c.turn == nil && c.box.empty() && c.notice == "" && len(c.stash) == 0:
		more = " · ← for agents"
	}
	if c.script.Restless > 0 {
		more += fmt.Sprintf(" · %d notices", c.ticks)
	}
	return ansi.Truncate("  "+mode+pink+"⏵⏵ bypass permissions on"+grey+" (shift+tab to cycle)"+more, width, "…")
}
