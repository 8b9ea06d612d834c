package fakeclient

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func nowhere(int) (int, bool) { return 0, false }

// drain takes off what is whole, texts that follow each other as one.
func drain(in *input, tokens []token) []token {
	for {
		t, ok, _ := in.next(nowhere)
		if !ok {
			return tokens
		}
		if n := len(tokens); t.kind == tokenText && n > 0 && tokens[n-1].kind == tokenText {
			tokens[n-1].text += t.text
			continue
		}
		tokens = append(tokens, t)
	}
}

func TestInput(t *testing.T) {
	key, text, paste, burst := func(s string) token { return token{tokenKey, s} }, func(s string) token { return token{tokenText, s} },
		func(s string) token { return token{tokenPaste, s} }, func(s string) token { return token{tokenBurst, s} }
	many := strings.Repeat("m", burstBytes)
	for _, c := range []struct {
		name string
		in   string // read at once
		want []token
		left string
	}{
		{"text and Enter", "hi\r", []token{text("hi"), key("Enter")}, ""},
		{"a paste between texts", "a\x1b[200~x\ny\x1b[201~b", []token{text("a"), paste("x\ny"), text("b")}, ""},
		{"an empty paste", "\x1b[200~\x1b[201~", []token{paste("")}, ""},
		{"a paste that ends its frame twice", "\x1b[200~x\x1b[201~\x1b[201~\r", []token{paste("x"), key("Esc[201~"), key("Enter")}, ""},
		{"a paste that is not over", "\x1b[200~x\x1b[20", nil, "\x1b[20"},
		{"arrows", "\x1b[A\x1bOB", []token{key("Up"), key("Down")}, ""},
		{"a lone Escape waits", "\x1b", nil, "\x1b"},
		{"two", "\x1b\x1b", []token{key("Escape")}, "\x1b"},
		{"Alt", "\x1bi\x1b\r", []token{key("M-i"), key("M-Enter")}, ""},
		{"controls", "\x03\x15\x7f\n\t", []token{key("C-c"), key("C-u"), key("BSpace"), key("C-j"), key("Tab")}, ""},
		{"half a rune waits", "é\xc3", []token{text("é")}, "\xc3"},
		{"a burst", many[1:] + "\r", []token{burst(many[1:] + "\r")}, ""},
		{"a burst of keys is nothing", strings.Repeat("\x15", burstBytes), []token{burst("")}, ""},
		{"one byte less is none", many[2:] + "\r", []token{text(many[2:]), key("Enter")}, ""},
		{"nor is one with a sequence in it", many + "\x1b[A\r", []token{text(many), key("Up"), key("Enter")}, ""},
	} {
		var in input
		in.add([]byte(c.in))
		got := drain(&in, nil)
		if !slices.Equal(got, c.want) || string(in.pending) != c.left {
			t.Errorf("%s: %q and %q left, want %q and %q", c.name, got, in.pending, c.want, c.left)
		}
	}
}

// TestInputStops holds that a paste stops at a place, wherever its bytes end.
func TestInputStops(t *testing.T) {
	whole := "\x1b[200~hello\x1b[201~"
	for cut := 1; cut < len(whole); cut++ {
		var in input
		var stops []int
		passed := -1
		until := func(have int) (int, bool) { return 2, passed < 2 && have <= 2 }
		var got []token
		for _, part := range []string{whole[:cut], whole[cut:]} {
			in.add([]byte(part))
			for {
				tok, ok, reached := in.next(until)
				if reached {
					passed = len(in.paste)
					stops = append(stops, passed)
				} else if ok {
					got = append(got, tok)
				} else {
					break
				}
			}
		}
		if !slices.Equal(stops, []int{2}) || !slices.Equal(got, []token{{tokenPaste, "hello"}}) {
			t.Errorf("cut at %d: stops %v, tokens %q", cut, stops, got)
		}
	}
}

// FuzzInput holds that what is read does not depend on where the reads end.
func FuzzInput(f *testing.F) {
	f.Add([]byte("a\x1b[200~x\ny\x1b[201~b\r\x1b[A\x1bi\x03"), 7)
	f.Add([]byte("\x1b[200~\x1b[20\xc3\xa9"), 3)
	f.Fuzz(func(t *testing.T, raw []byte, cut int) {
		whole := input{pending: bytes.Clone(raw)}
		want := drain(&whole, nil)
		cut = max(0, min(cut, len(raw)))
		halves := input{pending: bytes.Clone(raw[:cut])}
		got := drain(&halves, nil)
		halves.pending = append(halves.pending, raw[cut:]...)
		got = drain(&halves, got)
		// A rune that was cut is read whole; bytes that are none are read as they come.
		if utf8.Valid(raw) && (!slices.Equal(got, want) || !bytes.Equal(whole.pending, halves.pending)) {
			t.Errorf("in halves %q and %q left, whole %q and %q", got, halves.pending, want, whole.pending)
		}
	})
}
