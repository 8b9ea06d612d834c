package man

import (
	"strings"
	"testing"
)

func TestEscape(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"plain words", "plain words"},
		{".SH NAME", `\&.SH NAME`}, // no request
		{"a\n'b", "a\n\\&\\(aqb"},
		{"a .b", "a .b"},
		{`a\fBb`, `a\efBb`},
		{"--for", `\-\-for`},
		{"~/x ^c `d` \"e\"", `\(ti/x \(hac \(gad\(ga \(dqe\(dq`},
		{"a…|→", `a\[u2026]|\[u2192]`},
		{"bell\a\r", "bell"},
		{"\a.so x", `\&.so x`}, // what is dropped hides no request
		{"\n\r.SH", "\n\\&.SH"},
	} {
		if got := escape(c.text); got != c.want {
			t.Errorf("escape(%q) is %q, not %q", c.text, got, c.want)
		}
	}
}

func TestParagraphs(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"one\ntwo\n\nthree", "one\ntwo\n.PP\nthree\n"},
		{"one\n\n  kept  so\n    more\n\ntwo", "one\n.PP\n.RS 4\n.nf\nkept  so\n  more\n.fi\n.RE\n.PP\ntwo\n"},
		{"one\n  kept\ntwo", "one\n.PP\n.RS 4\n.nf\nkept\n.fi\n.RE\n.PP\ntwo\n"},
	} {
		var b strings.Builder
		paragraphs(&b, c.text)
		if b.String() != c.want {
			t.Errorf("paragraphs(%q) is %q, not %q", c.text, b.String(), c.want)
		}
	}
}

// FuzzEscape holds that no text can begin a request or an escape sequence that is
// not one of ours.
func FuzzEscape(f *testing.F) {
	f.Add(".so /etc/passwd\n'x\\f")
	f.Fuzz(func(t *testing.T, text string) {
		for line := range strings.Lines(escape(text)) {
			if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
				t.Fatalf("%q begins a request", line)
			}
			for _, part := range strings.Split(line, `\`)[1:] {
				if part == "" || !strings.ContainsRune("&e-([", rune(part[0])) {
					t.Fatalf("%q has an escape sequence of its own", line)
				}
			}
		}
	})
}
