package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// TestLineKeys edits a line; | is the cursor.
func TestLineKeys(t *testing.T) {
	for _, c := range []struct{ before, key, after string }{
		{"ab|", "left", "a|b"},
		{"|ab", "left", "|ab"},
		{"a|b", "right", "ab|"},
		{"ab|", "right", "ab|"},
		{"a|b", "home", "|ab"},
		{"a|b", "ctrl+e", "ab|"},
		{"ab|c", "backspace", "a|c"},
		{"|abc", "backspace", "|abc"},
		{"a|bc", "delete", "a|c"},
		{"abc|", "delete", "abc|"},
		{"one two|", "ctrl+w", "one |"},
		{"one two  |", "ctrl+w", "one |"},
		{"|one", "ctrl+w", "|one"},
		{"one t|wo", "ctrl+u", "|wo"},
		{"one t|wo", "ctrl+k", "one t|"},
		{"one two|", "alt+left", "one |two"},
		{"|one two", "alt+right", "one| two"},
		{"a|b", "ctrl+j", "a\n|b"},
		{"é世|", "backspace", "é|"},
	} {
		l := lineOf(c.before)
		if !l.press(c.key) {
			t.Errorf("%s is not known", c.key)
		}
		if got := markLine(l); got != c.after {
			t.Errorf("%q, %s: %q, not %q", c.before, c.key, got, c.after)
		}
	}
	l := lineOf("ab|")
	if l.press("f5") || l.press("enter") || markLine(l) != "ab|" {
		t.Errorf("a key that edits nothing left %q", markLine(l))
	}
}

func lineOf(s string) *line {
	before, after, _ := strings.Cut(s, "|")
	l := &line{}
	l.insert(after)
	l.at = 0
	l.insert(before)
	return l
}

func markLine(l *line) string { return string(l.text[:l.at]) + "|" + string(l.text[l.at:]) }

// TestLineInsert keeps what is pasted, but for the ends of lines.
func TestLineInsert(t *testing.T) {
	for _, c := range []struct{ pasted, want string }{
		{"one\r\ntwo\rthree\n", "one\ntwo\nthree\n"},
		{"a\tb  c", "a\tb  c"},
		{"世界 é", "世界 é"},
		{"\x1b[31m", "\x1b[31m"}, // send tells what it takes out
	} {
		l := lineOf("<|>")
		l.insert(c.pasted)
		if got := markLine(l); got != "<"+c.want+"|>" {
			t.Errorf("%q: %q", c.pasted, got)
		}
	}
}

// FuzzLineView holds the view of a line to its room, and the cursor into it.
func FuzzLineView(f *testing.F) {
	f.Add("hello", 3, 4)
	f.Add("世界世界", 1, 3)
	f.Add("a\nb\x1b[2J\u202e\xff", 2, 5)
	f.Add("", 0, 0)
	f.Fuzz(func(t *testing.T, text string, at, width int) {
		if width < -1 || width > 300 || !utf8.ValidString(text) {
			return // no width of a terminal, or no text of a keyboard
		}
		l := &line{}
		l.insert(text)
		l.at = min(max(at, 0), len(l.text))
		shown, cursor := l.view(width)
		if n := ansi.StringWidth(shown); n > max(0, width) || ansi.Strip(shown) != shown {
			t.Fatalf("%q in %d cells: %q has %d", text, width, shown, n)
		}
		if cursor < 0 || width > 0 && cursor >= width {
			t.Fatalf("%q in %d cells: the cursor is at %d", text, width, cursor)
		}
	})
}
