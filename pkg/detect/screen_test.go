package detect

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

func TestParseScreen(t *testing.T) {
	cases := []struct {
		name, in string
		row      int
		text     string
		end      int // columns
		indent   int
		cursor   int
	}{
		{"plain", "ab c", 0, "ab c", 4, 0, -1},
		{"second row", "ab\n  cd", 1, "  cd", 4, 2, -1},
		{"trailing blanks", "ab  \u00a0 ", 0, "ab", 2, 0, -1},
		{"escapes", "\x1b[1;38;5;246mab\x1b[0m", 0, "ab", 2, 0, -1},
		{"cursor cell", "a\x1b[7mb\x1b[0mc", 0, "abc", 3, 0, 1},
		{"cursor cell that was cut", "❯\u00a0\x1b[7m", 0, "❯", 1, 0, 2},
		{"wide", "a테b", 0, "a테b", 4, 0, -1},
		{"joined", "👩‍💻!", 0, "👩‍💻!", 3, 0, -1},
		{"combining", "e\u0301x", 0, "e\u0301x", 2, 0, -1},
		{"emoji selector", "⚠\ufe0fx", 0, "⚠\ufe0fx", 3, 0, -1},
		{"selector before the first character", "\ufe0f❯\u00a0a", 0, "\ufffd❯\u00a0a", 4, 0, -1},
		{"tab", "a\tb", 0, "a       b", 9, 0, -1},
		{"hyperlink", "\x1b]8;;http://h\x1b\\link\x1b]8;;\x1b\\", 0, "link", 4, 0, -1},
		{"link ended by a bell", "\x1b]8;;http://h\alink\x1b]8;;\a", 0, "link", 4, 0, -1},
		{"link that never ends", "a\x1b]8;;x\n❯\u00a0b", 0, "a\ufffd]8;;x", 7, 0, -1},
		{"row behind a link that never ends", "a\x1b]8;;x\n❯\u00a0b", 1, "❯\u00a0b", 3, 0, -1},
		{"character sets and carriage returns", "a\x0eb\x0fc\r", 0, "abc", 3, 0, -1},
		{"colour with colons", "\x1b[38:2::1:2:3ma\x1b[4:3mb", 0, "ab", 2, 0, -1},
		// No capture holds these: none may hide what stands before or behind it.
		{"other escapes", "\x1b[2Ja\x1b(Bb", 0, "\ufffd[2Ja\ufffd(Bb", 9, 0, -1},
		{"escape before the glyph", "\x1b\x18❯\u00a0b", 0, "\ufffd\ufffd❯\u00a0b", 5, 0, -1},
		{"a string that is no link", "\x1bX❯\u00a0b", 0, "\ufffdX❯\u00a0b", 5, 0, -1},
		{"controls", "a\x07\x08b\x7f", 0, "a\ufffd\ufffdb\ufffd", 5, 0, -1},
		{"broken UTF-8", "a\xffb", 0, "a", -1, 0, -1},
		{"escape that never ends", "a\x1b[38;5", 0, "a\ufffd[38;5", 7, 0, -1},
	}
	for _, c := range cases {
		var r reader
		s := r.parseScreen([]byte(c.in), 0)
		row := &s.rows[c.row]
		if c.end < 0 { // only that it does not break what stands before
			if !strings.HasPrefix(row.text, c.text) {
				t.Errorf("%s: %q", c.name, row.text)
			}
			continue
		}
		if row.text != c.text || row.end != c.end || row.indent != c.indent || row.cursor != c.cursor {
			t.Errorf("%s: %q end %d indent %d cursor %d, want %q %d %d %d", c.name, row.text, row.end, row.indent, row.cursor, c.text, c.end, c.indent, c.cursor)
		}
	}
}

func TestStyles(t *testing.T) {
	cases := []struct {
		name, sgr string
		want      style
	}{
		{"none", "", style{}},
		{"basic", "\x1b[31m", style{fg: colourIndexed | 1}},
		{"bright", "\x1b[90;107m", style{fg: colourIndexed | 8, bg: colourIndexed | 15}},
		{"256", "\x1b[38;5;246m", style{fg: colourIndexed | 246}},
		{"256 with colons", "\x1b[38:5:246m", style{fg: colourIndexed | 246}},
		{"true colour", "\x1b[38;2;153;152;151m", style{fg: colourRGB | 153<<16 | 152<<8 | 151}},
		{"true colour with colons", "\x1b[38:2::1:2:3m", style{fg: colourRGB | 1<<16 | 2<<8 | 3}},
		{"two in one", "\x1b[38;5;1;48;5;2;1m", style{fg: colourIndexed | 1, bg: colourIndexed | 2, attrs: attrBold}},
		{"underline colour is passed over", "\x1b[58;5;2;3m", style{attrs: attrItalic}},
		{"a 2 inside a colour is not dim", "\x1b[38;5;2m", style{fg: colourIndexed | 2}},
		{"dim", "\x1b[0;2m", style{attrs: attrDim}},
		{"curly underline is not italic", "\x1b[4:3m", style{}},
		{"bold and dim off", "\x1b[1;2;22m", style{}},
		{"reverse off", "\x1b[7;27m", style{}},
		{"reset", "\x1b[1;31m\x1b[m", style{}},
		{"colours off", "\x1b[31;41m\x1b[39m\x1b[49m", style{}},
		{"cut short", "\x1b[38;5m", style{fg: colourIndexed}},
	}
	for _, c := range cases {
		var r reader
		s := r.parseScreen([]byte(c.sgr+"x"), 0)
		if got := s.styleAt(0, 0); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestNeutral(t *testing.T) {
	for _, c := range []colour{colourIndexed | 246, colourIndexed | 241, colourIndexed | 239, colourIndexed | 8, colourIndexed | 16, colourIndexed | 231, colourIndexed | 59, colourRGB | 0x999999, colourRGB | 0x888a8c} {
		if !c.neutral() {
			t.Errorf("%x is a grey", uint32(c))
		}
	}
	for _, c := range []colour{colourDefault, colourIndexed | 174, colourIndexed | 153, colourIndexed | 211, colourIndexed | 1, colourRGB | 0xd77757, colourRGB | 0xb1b9f9} {
		if c.neutral() {
			t.Errorf("%x is no grey", uint32(c))
		}
	}
}

// noWidth reports whether a rune takes no column: with nothing before it that it
// could combine with, it is drawn nowhere.
func noWidth(r rune) bool { return ansi.StringWidth(string(r)) == 0 }

// FuzzParse holds that the parser agrees with x/ansi on what text is there,
// stays within its bounds, and that its columns and texts fit each other.
func FuzzParse(f *testing.F) {
	for _, c := range loadCorpus(f, "testdata/screens") {
		f.Add(c.e.Screen)
	}
	f.Add([]byte("a\x1b[38;2;1;2mb\xffc\u0301\t👩‍💻"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r reader
		s := r.parseScreen(b, 0)
		if len(s.rows) > maxRows+1 {
			t.Fatalf("%d rows", len(s.rows))
		}
		if !utf8.Valid(b) || bytes.ContainsAny(b, "\t\r\x1b\x7f") || bytes.ContainsFunc(b, func(r rune) bool { return r < 0x20 && r != '\n' || r >= 0x80 && r < 0xa0 }) {
			b = nil
		}
		lines := strings.Split(string(b), "\n")
		for y := range s.rows {
			row := &s.rows[y]
			if row.indent > row.end || row.end > len(row.cells) || row.blank() != (row.text == "") {
				t.Fatalf("row %d: indent %d end %d of %d, %q", y, row.indent, row.end, len(row.cells), row.text)
			}
			if got := row.span(0, row.indent) + row.body(); got != row.text {
				t.Fatalf("row %d: %q is not %q", y, got, row.text)
			}
			if b != nil && len(b) < maxScreen && y < len(lines) {
				want := strings.TrimRight(lines[y], " \u00a0")
				if row.text != want && !strings.ContainsFunc(want, noWidth) && ansi.StringWidth(want) == len([]rune(want)) {
					t.Fatalf("row %d: %q, want %q", y, row.text, want)
				}
			}
		}
	})
}

// FuzzSGR holds that the short cut for plain sequences gives what x/ansi gives.
func FuzzSGR(f *testing.F) {
	for _, s := range []string{"0", "38;5;246", "1;38;2;1;2;3;7", "", ";", "48;5", "0;2", "999;1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, ps string) {
		seq := []byte("\x1b[" + ps + "m")
		var a, b reader
		a.parseScreen(nil, 0)
		b.parseScreen(nil, 0)
		if n := a.plainSGR(seq); n != len(seq) {
			return
		}
		p := ansi.GetParser()
		defer ansi.PutParser(p)
		if b.sequence(seq, p); a.cur != b.cur {
			t.Errorf("%q: %+v, x/ansi gives %+v", ps, a.cur, b.cur)
		}
	})
}

// TestFrameIsUnaltered puts a mark that combines on each character of an idle
// box's frame: it is no frame then.
func TestFrameIsUnaltered(t *testing.T) {
	rule := strings.Repeat("─", 40)
	for _, mark := range []string{"", "\u0301", "\u20dd", "\u200d\u0301"} {
		for _, glyph := range []string{"❯", ">"} {
			for _, rows := range []string{rule + "\n" + glyph + mark + "\u00a0\n" + rule, "─" + mark + rule + "\n" + glyph + "\u00a0\n" + rule} {
				var r reader
				b, ok := r.parseScreen([]byte(rows), 41).findBox()
				if got := ok && b.live && b.whole; got != (mark == "") {
					t.Errorf("%q: a box: %v", rows, got)
				}
			}
		}
	}
}
