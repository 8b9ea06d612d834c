package detect

import (
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// sequence takes one escape sequence or grapheme, and says how long it was. Of
// the sequences a capture has only SGR and those that are silent: another one,
// or half a one, is drawn as a mark, and what follows it is text. What it would
// have hidden or moved is not guessed.
func (p *reader) sequence(b []byte, esc *ansi.Parser) int {
	seq, w, n, _ := ansi.DecodeSequence(b, ansi.NormalState, esc)
	if n <= 0 {
		seq, w, n = b[:1], 0, 1
	}
	switch {
	case w > 0:
		if r, size := utf8.DecodeRune(seq); r >= 0x20 && r != utf8.RuneError {
			if size < len(seq) {
				r = altered(r)
			}
			p.put(r, seq, w)
		} else {
			p.put(utf8.RuneError, []byte("\ufffd"), 1)
		}
	case seq[0] >= 0xcc && len(p.cells) > p.start:
		p.plain = append(p.plain, seq...) // a mark that combines with the last cell
		last := &p.cells[len(p.cells)-1]
		last.r = altered(last.r)
	case len(seq) > 2 && seq[0] == 0x1b && seq[len(seq)-1] == 'm' && esc.Command() == 'm':
		p.cur.apply(esc.Params())
		p.idx = p.intern(p.cur, p.idx)
	case seq[0] < 0x20 || seq[0] == 0x7f || seq[0] >= 0xc2:
		p.put(utf8.RuneError, []byte("\ufffd"), 1)
		if seq[0] < 0x80 {
			return 1
		}
	}
	return n
}

// altered is what a character counts as that something combines with: the
// client combines nothing with what it draws its frame of.
func altered(r rune) rune {
	if promptGlyph(r) || ruleRune(r) {
		return utf8.RuneError
	}
	return r
}

// silent says how long the sequence at the start of b is if it draws nothing: a
// whole OSC within one row, such as a link's, a change of character set or a
// carriage return.
func silent(b []byte) int {
	switch {
	case b[0] == 0x0e, b[0] == 0x0f, b[0] == '\r':
		return 1
	case len(b) < 2 || b[0] != 0x1b || b[1] != ']':
		return 0
	}
	for i := 2; i < len(b); i++ {
		switch c := b[i]; {
		case c == 0x07:
			return i + 1
		case c == 0x1b && i+1 < len(b) && b[i+1] == '\\':
			return i + 2
		case c < 0x20 || c == 0x7f:
			return 0
		}
	}
	return 0
}

// plainSGR takes an SGR sequence of nothing but numbers and semicolons, which is
// nearly every escape of a capture, and says how long it was; 0 leaves it to x/ansi.
func (p *reader) plainSGR(b []byte) int {
	if len(b) < 3 || b[0] != 0x1b || b[1] != '[' {
		return 0
	}
	var ps [16]ansi.Param
	n := 0
	for i := 2; i < len(b) && n < len(ps); i++ {
		switch c := b[i]; {
		case isDigit(c) && ps[n] < 1000:
			ps[n] = ps[n]*10 + ansi.Param(c-'0')
		case c == ';':
			n++
		case c == 'm':
			p.cur.apply(ps[:n+1])
			p.idx = p.intern(p.cur, p.idx)
			return i + 1
		default:
			return 0
		}
	}
	return 0
}

// simple reports whether b starts with a one-column character of U+2000 to
// U+2BFF that nothing can combine with: the next byte is ASCII, or starts
// another of the same kind. Dashes, arrows, rules, bullets, Braille.
func simple(b []byte) bool {
	if len(b) < 3 || b[1] < 0x80 || b[1] > 0xaf || b[2] < 0x80 || b[2] > 0xbf {
		return false
	}
	switch {
	case b[1] == 0x94 || b[1] == 0x95 || b[1] == 0x96: // box drawing, blocks
	case b[1] == 0x80 && b[2] >= 0x90 && b[2] <= 0xa7: // dashes, quotes, bullet, ellipsis
	case b[1] == 0x97 && b[2] >= 0x8b && b[2] <= 0x93: // ● and its halves
	case b[1] >= 0xa0 && b[1] <= 0xa3: // Braille
	default:
		return false
	}
	return len(b) == 3 || b[3] < 0x7f || (b[3] == 0xe2 && len(b) > 4 && b[4] >= 0x94 && b[4] <= 0x96)
}
