package fleet

import (
	"fmt"
	"strings"
)

// Limits on the shape of a TOML file. Ours needs three parts and one list; the
// parser recurses into lists without a limit of its own, and 1 MiB of open
// brackets would exhaust the stack, which no caller can recover from.
const (
	maxKeyParts = 8
	maxNesting  = 8
)

// keyLines lists the line of each table header and each key of a TOML text, in
// the order of the text. That is the order in which the TOML package lists the
// keys themselves, but it keeps their lines to itself.
//
// It walks what is no TOML too, without hanging, but then its answer means
// nothing. It reports a text that goes past the limits, with the line.
func keyLines(text string) ([]int, int, *fault) {
	s := keyScanner{text: text, line: 1}
	for s.skip(true); s.more(); s.skip(true) {
		s.lines = append(s.lines, s.line)
		if s.text[s.pos] == '[' {
			s.pos++
			s.key(']') // the second bracket of [[…]] goes with the rest of the line
		} else {
			s.key('=')
			s.value(0)
		}
		if s.fault != nil {
			return nil, s.line, s.fault
		}
		for s.more() && s.text[s.pos] != '\n' {
			s.pos++
		}
	}
	return s.lines, 0, nil
}

// keyScanner knows of TOML just what it takes not to mistake a string, a comment
// or a value for a key.
type keyScanner struct {
	text  string
	pos   int
	line  int
	lines []int
	fault *fault
}

// more reports whether there is text left; none is once a limit is passed, so
// that every loop ends.
func (s *keyScanner) more() bool { return s.fault == nil && s.pos < len(s.text) }

// step moves over one byte and counts lines.
func (s *keyScanner) step() {
	if s.text[s.pos] == '\n' {
		s.line++
	}
	s.pos++
}

// skip moves over blanks and, when lines is set, over line ends, commas and
// comments.
func (s *keyScanner) skip(lines bool) {
	for s.more() {
		switch c := s.text[s.pos]; {
		case c == ' ' || c == '\t':
		case lines && (c == '\n' || c == '\r' || c == ','):
		case lines && c == '#':
			for s.more() && s.text[s.pos] != '\n' {
				s.pos++
			}
			continue
		default:
			return
		}
		s.step()
	}
}

// key moves over a key and the byte that ends it, or to the end of the line.
func (s *keyScanner) key(end byte) {
	parts := 1
	for s.more() {
		switch c := s.text[s.pos]; c {
		case end:
			s.pos++
			return
		case '\n':
			return
		case '"', '\'':
			s.str()
		case '.':
			if parts++; parts > maxKeyParts {
				s.fault = &fault{fmt.Sprintf("a key of more than %d parts", maxKeyParts), "the longest that means anything is hosts.NAME.KEY"}
				return
			}
			s.pos++
		default:
			s.pos++
		}
	}
}

// value moves over a value, up to what follows it.
func (s *keyScanner) value(depth int) {
	s.skip(false)
	if !s.more() {
		return
	}
	switch c := s.text[s.pos]; c {
	case '"', '\'':
		s.str()
	case '[', '{':
		if depth++; depth > maxNesting {
			s.fault = &fault{fmt.Sprintf("brackets nested more than %d deep", maxNesting), "no key takes more than one list"}
			return
		}
		s.pos++
		s.items(c, depth)
	default:
		for s.more() && !strings.ContainsRune(",]}#\n", rune(s.text[s.pos])) {
			s.pos++
		}
	}
}

// items moves over the items of a list or an inline table and its last bracket.
func (s *keyScanner) items(open byte, depth int) {
	for s.skip(true); s.more(); s.skip(true) {
		if c := s.text[s.pos]; c == ']' || c == '}' {
			s.pos++
			return
		}
		before := s.pos
		if open == '{' {
			s.lines = append(s.lines, s.line)
			s.key('=')
		}
		s.value(depth)
		if s.pos == before && s.more() { // no TOML; do not stand still
			s.step()
		}
	}
}

// str moves over a string of any of the four kinds; one that is not closed ends
// with its line, or with the text where it may hold lines.
func (s *keyScanner) str() {
	quote := s.text[s.pos : s.pos+1]
	long := strings.HasPrefix(s.text[s.pos:], strings.Repeat(quote, 3))
	if long {
		quote = strings.Repeat(quote, 3)
	}
	s.pos += len(quote)
	for s.more() {
		switch c := s.text[s.pos]; {
		case strings.HasPrefix(s.text[s.pos:], quote):
			s.pos += len(quote)
			// A long string may end in up to two quotes of its own.
			for i := 0; long && i < 2 && s.more() && s.text[s.pos] == quote[0]; i++ {
				s.pos++
			}
			return
		case c == '\n' && !long:
			return
		case c == '\\' && quote[0] == '"' && s.pos+1 < len(s.text) && (long || s.text[s.pos+1] != '\n'):
			s.pos++ // what it escapes is moved over below
		}
		s.step()
	}
}
