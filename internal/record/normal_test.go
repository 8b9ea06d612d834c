package main

import (
	"slices"
	"strings"
	"testing"
)

func TestParseCells(t *testing.T) {
	for _, c := range []struct{ name, raw, want string }{
		{"plain", "one  \n", "one"},
		{"bold and back", "\x1b[1mone\x1b[0m two", "{bold}one{} two"},
		{"colours", "\x1b[38;5;246mgrey\x1b[39m \x1b[48;2;1;2;3mon\x1b[49m", "{246}grey{} {on 1,2,3}on"},
		{"sixteen", "\x1b[31mred\x1b[97;101mbright", "{ansi31}red{ansi97 on ansi91}bright"},
		{"endings", "\x1b[1;2;7mall\x1b[22mone", "{bold dim reversed}all{reversed}one"},
		{"reset among others", "\x1b[1ma\x1b[0;2mb", "{bold}a{dim}b"},
		{"carried over", "\x1b[2ma\nb", "{dim}a\n{dim}b"},
		{"blank with a background", "a\x1b[7m \x1b[0m", "a{reversed} "},
		{"cut short", "\x1b[38;5ma", "a"},
		{"not SGR", "a\x1b[2Jb", "a\x1b[2Jb"},
	} {
		var rows []string
		for _, row := range parseCells(c.raw) {
			rows = append(rows, marked(row))
		}
		if got := strings.Join(rows, "\n"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestNormal has pairs that only a run tells apart, and pairs that a version
// does: those must stay apart.
func TestNormal(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		alike      bool
	}{
		{"verb and glyph", "\x1b[38;5;174m✻ Pondering… \x1b[39m(2s)", "\x1b[38;5;174m· Cooking… \x1b[39m(11s)", true},
		{"a spinner's colour", "\x1b[38;5;174m✻ Pondering…", "\x1b[38;5;131m✻ Pondering…", false},
		{"a spinner and none", "✻ Pondering…", "Pondering", false},
		{"past verb", "✻ Cooked for 3s · done 4:04 PM", "✻ Sautéed for 1m 2s · done 11:58 PM", true},
		{"tokens", "↓ 12 tokens", "↓ 1.2k tokens", true},
		{"tokens and words", "↓ 12 tokens", "↓ 12 words", false},
		{"reset time", "resets 3pm (UTC)", "resets 11:10pm (UTC)", true},
		{"reset zone", "resets 3pm (UTC)", "resets 3pm (CET)", false},
		{"version", "Claude Code v2.1.300", "Claude Code v2.1.332", true},
		{"folder", base + "/1/dev", base + "/2/dev", true},
		{"another folder", base + "/1/dev", base + "/1/alpha", false},
		{"id", "id 01234567-89ab-cdef-0123-456789abcdef", "id 11234567-89ab-cdef-0123-456789abcdef", true},
		{"port", "(127.0.0.1:34837).", "(127.0.0.1:40001).", true},
		{"another address", "(127.0.0.1:34837).", "(10.0.0.1:34837).", false},
		{"blank rows", "a\n\n\nb", "a\n\nb", true},
		{"no blank row", "a\n\nb", "a\nb", false},
		{"rule", strings.Repeat("─", 120), strings.Repeat("─", 60), true},
		{"rule and dashes", strings.Repeat("─", 120), strings.Repeat("-", 120), false},
		{"a tip and none", "✻ Pondering…\n  ⎿  Tip: use it\n", "✻ Pondering…\n\n", true},
		{"a result and none", "a\n  ⎿  Done\n", "a\n\n", false},
		{"logo", " ▐▛███▛█   Claude", " ▐▛███▂█   Claude", true},
		{"logo and words", " ▐▛███▛█   Claude", " ▐▛███▂█   Clod", false},
		{"effort and none", "a\n      ◐ medium · /effort\nb", "a\n\nb", true},
		{"label", "1. Yes", "1. No", false},
		{"number", "1. Yes", "2. Yes", false},
		{"colour alone", "\x1b[38;5;246m❯", "\x1b[39m❯", false},
	} {
		if got := slices.Equal(normal(c.a), normal(c.b)); got != c.alike {
			t.Errorf("%s: alike %v\n%q\n%q", c.name, got, normal(c.a), normal(c.b))
		}
	}
}

func TestReplacedKeepsTheLookOfTheFirstCell(t *testing.T) {
	got := normal("at \x1b[1m3:4\x1b[0m5pm, \x1b[2mthen\x1b[0m 4pm")
	if want := "at {bold}3:4{}5pm, {dim}then{} <time>"; got[0] == want {
		t.Fatal("a time was not seen across a change of colour")
	}
	got = normal("at \x1b[1m3:04\x1b[0mpm, \x1b[2mthen\x1b[0m 4pm.")
	if want := "at {bold}<time>{}, {dim}then{} <time>."; got[0] != want {
		t.Errorf("%q, want %q", got[0], want)
	}
}

func TestNormalFacts(t *testing.T) {
	a := normalFacts("cmd=bash alt=1 cursor=2,37 title=⠂ Claude Code mode=0 hist=0")
	if b := normalFacts("cmd=sh alt=1 cursor=2,12 title=◐ Test session mode=0 hist=9"); a != b {
		t.Errorf("%q and %q", a, b)
	}
	for _, other := range []string{
		"cmd=bash alt=0 cursor=2,37 title=⠂ Claude Code mode=0 hist=0",
		"cmd=bash alt=1 cursor=3,37 title=⠂ Claude Code mode=0 hist=0",
		"cmd=bash alt=1 cursor=2,37 title=✳ Claude Code mode=0 hist=0",
		"cmd=bash alt=1 cursor=2,37 title=⠂ Claude Code mode=1 hist=0",
	} {
		if normalFacts(other) == a {
			t.Errorf("no difference to %q", other)
		}
	}
}

func TestUnified(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"equal", "a b c", "a b c", ""},
		{"changed", "a b c", "a x c", " a|-b|+x| c"},
		{"added", "a", "a b", " a|+b"},
		{"removed", "a b", "b", "-a| b"},
		{"far apart", "1 2 3 4 5 6 7 8 9", "x 2 3 4 5 6 7 8 y", "-1|+x| 2| 3|…| 7| 8|-9|+y"},
		{"from nothing", "", "a", "+a"},
	} {
		got := strings.Join(unified(strings.Fields(c.old), strings.Fields(c.new)), "|")
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
