package transport

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseDestination(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want target
		bad  bool
	}{
		{in: "box", want: target{host: "box"}},
		{in: "me@box", want: target{user: "me", host: "box"}},
		{in: "me@box:2222", want: target{user: "me", host: "box", port: 2222}},
		{in: "box:22", want: target{host: "box", port: 22}},
		{in: "me@example.org@box", want: target{user: "me@example.org", host: "box"}},
		{in: "ssh://me@box:1", want: target{user: "me", host: "box", port: 1}},
		{in: "[::1]:22", want: target{host: "::1", port: 22}},
		{in: "me@[fe80::1%eth0]", want: target{user: "me", host: "fe80::1%eth0"}},
		{in: "::1", want: target{host: "::1"}},
		{in: "box:65535", want: target{host: "box", port: 65535}},
		{in: "box:65536", bad: true},
		{in: "box:-1", bad: true},
		{in: "box:ssh", bad: true},
		{in: "box:", bad: true},
		{in: "[::1]:", bad: true},
		{in: "[::1", bad: true},
		{in: "[::1]x", bad: true},
		{in: "@box", bad: true},
		{in: "", bad: true},
		{in: "me@", bad: true},
		{in: "-F/tmp/x", bad: true},
		{in: "-me@box", bad: true},
		{in: "a b", bad: true},
		{in: "$(id)", bad: true},
	} {
		got, err := parseDestination(tc.in)
		if (err != nil) != tc.bad || err == nil && got != tc.want {
			t.Errorf("%q: got %+v, %v; want %+v, bad %t", tc.in, got, err, tc.want, tc.bad)
		}
	}
}

func TestNeutralise(t *testing.T) {
	for _, tc := range []struct{ in, line, lines string }{
		{"plain é ✳ 👩‍💻", "plain é ✳ 👩‍💻", "plain é ✳ 👩‍💻"},
		{"a\nb\tc\r\n", "a␊b␉c␍␊", "a\nb\tc\n"},
		{"a\rb", "a␍b", "a␍b"},
		{"\x1b[31mred\x07\x00\x7f", "␛[31mred␇␀␡", "␛[31mred␇␀␡"},
		{"\u009b31m\u0085", `\u{009b}31m\u{0085}`, `\u{009b}31m\u{0085}`},
		{"\x9b31m", `\x9b31m`, `\x9b31m`},
		{"a\u202eb\u2066c\u200f", `a\u{202e}b\u{2066}c\u{200f}`, `a\u{202e}b\u{2066}c\u{200f}`},
		{"a\u2028b\ufeff", `a\u{2028}b\u{feff}`, `a\u{2028}b\u{feff}`},
		{"\U000e0041", `\u{e0041}`, `\u{e0041}`},
		{"\ufffd", "\ufffd", "\ufffd"},
		{"", "", ""},
	} {
		if got := Neutralise(tc.in); got != tc.line {
			t.Errorf("Neutralise(%q) = %q, want %q", tc.in, got, tc.line)
		}
		if got := NeutraliseLines(tc.in); got != tc.lines {
			t.Errorf("NeutraliseLines(%q) = %q, want %q", tc.in, got, tc.lines)
		}
	}
}

func FuzzNeutralise(f *testing.F) {
	for _, s := range []string{"a", "\x1b]0;x\x07", "\xc2\x9b", "\xff\n\t", "\u202e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		one, many := Neutralise(s), NeutraliseLines(s)
		for _, r := range one + strings.NewReplacer("\n", "", "\t", "").Replace(many) {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || hidden(r) {
				t.Fatalf("%q became %q and %q", s, one, many)
			}
		}
		if !utf8.ValidString(one) || Neutralise(one) != one || NeutraliseLines(many) != many {
			t.Fatalf("%q became %q and %q, which do not stay so", s, one, many)
		}
	})
}

func TestExcerpt(t *testing.T) {
	for _, tc := range []struct {
		in, want string
		n        int
	}{
		{"abc", "abc", 3}, {"abcd", "abc…", 3}, {"  a\x1b\n", "a␛", 5}, {"ééé", "éé…", 2}, {"", "", 3},
	} {
		if got := excerpt([]byte(tc.in), tc.n); got != tc.want {
			t.Errorf("excerpt(%q, %d) = %q, want %q", tc.in, tc.n, got, tc.want)
		}
	}
}

func TestErrors(t *testing.T) {
	inner := &Error{Kind: KindAuth, Endpoint: Endpoint{Destination: "hop"}, Started: true, Err: errors.New("no")}
	outer := fmt.Errorf("wrapped: %w", &Error{Kind: KindProxy, Endpoint: Endpoint{Destination: "box\x1b"}, Err: inner})
	if k, ok := KindOf(outer); k != KindProxy || !ok {
		t.Errorf("the outermost kind is %v, %t", k, ok)
	}
	if Started(outer) || !Started(inner) || !Started(errors.New("foreign")) || !Started(nil) {
		t.Error("Started is wrong")
	}
	if k, ok := KindOf(errors.New("foreign")); ok {
		t.Errorf("a foreign error has kind %v", k)
	}
	if got := outer.Error(); got != "wrapped: box␛: proxy: hop: auth: no" {
		t.Errorf("text %q", got)
	}
	for k := KindConfig; k <= KindProtocol; k++ {
		if strings.HasPrefix(k.String(), "kind ") {
			t.Errorf("kind %d has no name", int(k))
		}
	}
	if Kind(0).String() != "kind 0" {
		t.Error("no kind has a name")
	}
}

func TestSections(t *testing.T) {
	conn := newPool(t, Options{}).Conn(Endpoint{Local: true})
	s := NewSections()
	s.Add("plain", "echo a")
	s.Add("binary", `printf '\000\n\377'; exit 3`)
	s.Add("empty", "")
	s.Add("syntax", "if true; then")
	s.Add("variable", "x=1; cd /; set -e; false")
	s.Add("after", `echo "${x-unset}"; cat; cat <<'E'
it's
E`)
	s.Add("forged", "printf '%s' '"+s.nonce[:31]+"e0 0\n'")
	res, err := conn.Run(within(t, 20e9), Script{Text: s.Script()})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Parse(res.Stdout)
	if err != nil {
		t.Fatalf("%v: %q", err, res.Stdout)
	}
	for name, want := range map[string]Section{
		"plain":    {Out: []byte("a\n"), Ran: true},
		"binary":   {Out: []byte("\x00\n\xff"), ExitCode: 3, Ran: true},
		"empty":    {Out: []byte{}, Ran: true},
		"syntax":   {Out: []byte{}, ExitCode: 2, Ran: true},
		"variable": {Out: []byte{}, ExitCode: 1, Ran: true},
		"after":    {Out: []byte("unset\nit's\n"), Ran: true},
		"forged":   {Out: []byte(s.nonce[:31] + "e0 0\n"), Ran: true},
	} {
		if g := got[name]; !bytes.Equal(g.Out, want.Out) || g.ExitCode != want.ExitCode || g.Ran != want.Ran {
			t.Errorf("%s: got %q %d %t, want %q %d %t", name, g.Out, g.ExitCode, g.Ran, want.Out, want.ExitCode, want.Ran)
		}
	}

	for cut := range res.Stdout {
		got, err := s.Parse(res.Stdout[:cut])
		if err == nil || len(got) != 7 {
			t.Fatalf("an answer cut after %d of %d bytes: %v", cut, len(res.Stdout), err)
		}
	}
	if _, err := NewSections().Parse(res.Stdout); err != nil {
		t.Errorf("no section at all: %v", err)
	}
	other := NewSections()
	other.Add("plain", "echo a")
	if got, err := other.Parse(res.Stdout); err == nil || got["plain"].Ran {
		t.Error("the answer of another run was taken")
	}
	defer func() {
		if recover() == nil {
			t.Error("a name was taken twice")
		}
	}()
	s.Add("plain", "")
}

func FuzzSectionsParse(f *testing.F) {
	// The nonce is replaced by a fixed one, which the fuzzer may then forge.
	const n = "0123456789abcdef0123456789abcdef"
	f.Add([]byte(n + "b0\nout" + n + "e0 0\n" + n + "b1\n" + n + "e1 255\n"))
	f.Add([]byte(n + "b0\n" + n + "b1\n" + n + "e1 3\n" + n + "e0 x\n"))
	f.Fuzz(func(t *testing.T, out []byte) {
		s := &Sections{nonce: n, names: []string{"a", "b"}, fragments: []string{"", ""}}
		got, err := s.Parse(out)
		if len(got) != 2 {
			t.Fatalf("%d sections", len(got))
		}
		if whole := got["a"].Ran && got["b"].Ran; whole != (err == nil) {
			t.Fatalf("%+v with %v", got, err)
		}
		for _, g := range got {
			if g.Ran && !bytes.Contains(out, g.Out) || g.ExitCode < 0 || g.ExitCode > 255 {
				t.Fatalf("%+v is not in the answer", g)
			}
		}
	})
}
