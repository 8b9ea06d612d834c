package transport

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Quote gives s as one word of POSIX sh that is taken literally. s must hold no
// NUL; Run refuses a script with one.
//
// To feed text to a command, write "printf %s " + Quote(text) + " | command":
// printf is built in, so the text reaches no argument list, and every byte
// arrives. A here-document would not do for arbitrary text: it always ends in a
// line feed, and dash (0.5.12 and before) drops a byte above 127 that follows the
// first characters of the delimiter at the start of a line.
func Quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Neutralise gives s as one harmless line: control characters (C0, DEL, C1),
// line separators, overrides of the writing direction, invisible tag characters
// and bytes that are not UTF-8 are replaced by something visible. Text from a
// host goes through it on its way to a terminal or an error.
func Neutralise(s string) string { return neutralise(s, false) }

// NeutraliseLines is Neutralise for text of several lines: line feeds and tabs
// stay, and a carriage return before a line feed is dropped.
func NeutraliseLines(s string) string {
	return neutralise(strings.ReplaceAll(s, "\r\n", "\n"), true)
}

func neutralise(s string, lines bool) string {
	clean := true
	for i := 0; i < len(s) && clean; i++ {
		clean = s[i] >= 0x20 && s[i] < 0x7f || lines && (s[i] == '\n' || s[i] == '\t')
	}
	if clean { // by far the most frequent case
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n <= 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case lines && (r == '\n' || r == '\t'):
			b.WriteRune(r)
		case r < 0x20:
			b.WriteRune(0x2400 + r) // the picture of that control character
		case r == 0x7f:
			b.WriteRune(0x2421)
		case hidden(r):
			fmt.Fprintf(&b, `\u{%04x}`, r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// hidden is whether a terminal would act on r, or show text otherwise than it
// reads, because of it. Joiners stay: emoji and several scripts need them.
func hidden(r rune) bool {
	switch {
	case r >= 0x80 && r <= 0x9f, // C1: U+009B is a one-character CSI
		r == 0x061c, r == 0x200e, r == 0x200f, // direction marks
		r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, // embeddings, overrides, isolates
		r == 0x2028, r == 0x2029, // line and paragraph separators
		r == 0xfeff, r >= 0xfff9 && r <= 0xfffb, // byte order mark, annotations
		r >= 0xe0000 && r <= 0xe007f: // tags: text that only a machine sees
		return true
	}
	return false
}

// excerpt is b as one harmless line of at most n characters, for errors.
func excerpt(b []byte, n int) string {
	s := strings.TrimSpace(strings.ToValidUTF8(string(b[:min(len(b), 4*n)]), "�"))
	if r := []rune(Neutralise(s)); len(r) > n {
		return string(r[:n]) + "…"
	} else {
		return string(r)
	}
}
