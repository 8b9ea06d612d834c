package detect

import "strings"

// lookFooter reads the rows from y on, beneath the box. The user's own status
// line stands there too, in the client's grey, so only whole phrases in the
// places where the client prints them count.
func (j *judge) lookFooter(y int) {
	s := &j.screen
	for ; y <= s.last; y++ {
		r := &s.rows[y]
		if r.blank() {
			continue
		}
		body := r.body()
		if interruptOffered(body) {
			j.set(factInterrupt, y, y)
		}
		for _, a := range authFooters {
			if apart(body, a) {
				j.set(factAuthFooter, y, y)
			}
		}
		if strings.HasPrefix(body, "⚠") && strings.Contains(body, "limit reached") {
			j.set(factLimitStrip, y, y)
			if j.reset.IsZero() {
				j.resolve(body)
			}
		}
		if low := strings.ToLower(body); j.have&factLimitStrip != 0 && strings.Contains(low, "continuing automatically") {
			j.auto = true
		}
		if apart(body, searchPrompts) {
			j.set(factSearch, y, y)
		}
	}
}

// apart reports whether a phrase starts a footer row, or stands in it behind a
// gap or a notice that was cut to make room.
func apart(body, phrase string) bool {
	i := strings.Index(body, phrase)
	return i == 0 || i > 0 && (strings.HasSuffix(body[:i], "  ") || strings.HasSuffix(body[:i], "… "))
}

// interruptOffered reports whether a footer row is the client's mode row and
// offers esc to interrupt, perhaps cut short: `esc to …`.
func interruptOffered(body string) bool {
	known := false
	for _, m := range modeMarks {
		known = known || strings.HasPrefix(body, m)
	}
	if !known {
		// Screen readers get the mode in words.
		known = strings.Contains(body, "(shift+tab to cycle)")
	}
	if !known {
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
		return len(head) >= 3 && strings.HasPrefix(phrase, strings.TrimRight(head, " "))
	}
	return seg == "esc to"
}
