package detect

import "strings"

// lookFooter reads the rows from y on, beneath the box. The user's own status
// line stands there too, in the client's grey, so only whole phrases in the
// places where the client prints them count.
func (j *judge) lookFooter(y int) {
	var before []flow
	for ; y <= j.last; y++ {
		r := &j.rows[y]
		if r.blank() {
			before = nil
			continue
		}
		// Half of what is wrapped in its column tells too: a capture may lack a row.
		if first, rest, _ := strings.Cut(r.body(), "  "); (first == "prompts:" || first == "prompt:") && rest == "" && r.indent == 2 || first == "search" && r.cursor >= 0 {
			j.set(factSearch, y, y)
		}
		j.lookFooterText(r.body(), y, y)
		before = flows(r, y, before)
		for _, f := range before {
			if f.from < y {
				j.lookFooterText(f.text, f.from, y)
			}
		}
	}
}

// lookFooterText reads one row of the footer, or what a narrow pane wrapped into
// several.
func (j *judge) lookFooterText(body string, from, to int) {
	if interruptOffered(body) {
		j.set(factInterrupt, from, to)
	}
	if agentsRun(body) {
		j.set(factAgents, from, to)
	}
	for _, a := range authFooters {
		if apart(body, a) && loginOffered(body, a) {
			j.set(factAuthFooter, from, to)
		}
	}
	if strings.HasPrefix(body, "⚠") && strings.Contains(body, "sage limit reached") {
		j.set(factLimitStrip, from, to)
		if j.reset.IsZero() {
			j.resolve(body)
		}
	}
	if low := strings.ToLower(body); j.have&factLimitStrip != 0 && strings.Contains(low, "continuing automatically") {
		j.auto = true
	}
	for _, p := range searchPrompts {
		if apart(body, p) {
			j.set(factSearch, from, to)
		}
	}
}

// loginOffered reports whether what follows a phrase about missing credentials
// is the client's offer to mend it, perhaps cut short.
func loginOffered(body, phrase string) bool {
	_, rest, _ := strings.Cut(body, phrase)
	rest = trim(rest)
	return strings.HasPrefix(rest, loginOffer) || strings.HasPrefix(loginOffer, strings.TrimSuffix(rest, "…"))
}

// flow is a text of the footer that goes down a column of its own: in a narrow
// pane the client wraps each of its remarks in place, side by side.
type flow struct {
	col, from int
	text      string
}

// maxFlow bounds the length of a flow in bytes: a remark has far less.
const maxFlow = 400

// flows cuts a row at its gaps, and lets each piece go on with the flow before
// it that began in the same column.
func flows(r *row, y int, before []flow) []flow {
	var now []flow
	for x := r.indent; x < r.end; {
		end := x
		for end < r.end && !(blankRune(r.at(end)) && (end+1 >= r.end || blankRune(r.at(end+1)))) {
			end++
		}
		f := flow{col: x, from: y, text: trim(r.span(x, end))}
		for _, b := range before {
			if b.col == x && len(b.text) < maxFlow {
				f.from, f.text = b.from, b.text+" "+f.text
			}
		}
		now = append(now, f)
		for x = end; x < r.end && blankRune(r.at(x)); x++ {
		}
	}
	return now
}

func blankRune(r rune) bool { return r == ' ' || r == nbsp }

// apart reports whether a phrase starts a footer row, or stands in it behind a
// gap or a notice that was cut to make room.
func apart(body, phrase string) bool {
	i := strings.Index(body, phrase)
	return i == 0 || i > 0 && (strings.HasSuffix(body[:i], "  ") || strings.HasSuffix(body[:i], "… "))
}

// agentsRun reports whether a footer row is the client's mode row and counts
// background agents (`· 1 local agent ·`, 2.1.85; newer versions print a line
// above the box).
func agentsRun(body string) bool {
	if !modeRow(body) {
		return false
	}
	for seg := range strings.SplitSeq(body, "·") {
		seg = trim(seg)
		n := leadingDigits(seg)
		if what := trim(seg[len(n):]); n != "" && (what == "local agent" || what == "local agents") {
			return true
		}
	}
	return false
}

// modeRow reports whether a footer row starts as the one with the permission mode.
func modeRow(body string) bool {
	for _, m := range modeMarks {
		if strings.HasPrefix(body, m) {
			return true
		}
	}
	return false
}

// interruptOffered reports whether a footer row is the client's mode row and
// offers esc to interrupt, perhaps cut short: `esc to …`.
func interruptOffered(body string) bool {
	// Screen readers get the mode in words.
	if !modeRow(body) && !strings.Contains(body, "(shift+tab to cycle)") {
		return false
	}
	for len(body) > 0 {
		seg, rest, _ := strings.Cut(body, "·")
		body = rest
		seg = trim(seg)
		if i := strings.Index(seg, "  "); i > 0 {
			seg = seg[:i]
		}
		if seg == interruptKey || cutShort(seg, interruptKey) {
			return true
		}
		// A notice may follow a cut phrase after a single blank.
		if i := strings.IndexRune(seg, '…'); i > 0 && cutShort(seg[:i+len("…")], interruptKey) {
			return true
		}
	}
	return false
}

// cutShort reports whether seg is the start of phrase, cut by the width: with
// an ellipsis, or after its first words at a row's end.
func cutShort(seg, phrase string) bool {
	if head, ok := strings.CutSuffix(seg, "…"); ok {
		return len(head) >= 2 && strings.HasPrefix(phrase, strings.TrimRight(head, " "))
	}
	return len(seg) >= 3 && strings.HasPrefix(phrase, seg)
}
