package main

import (
	"reflect"
	"testing"
	"time"
)

func TestReadScreen(t *testing.T) {
	plain := func(s string, n int) span { return span{style{}, s, n} }
	for _, c := range []struct {
		name, screen string
		want         [][]span
	}{
		{"plain rows", "a b\n\nc\n", [][]span{{plain("a b", 3)}, nil, {plain("c", 1)}}},
		{"a colour and its end", "x\x1b[31my\x1b[39mz\n", [][]span{{plain("x", 1), {style{fg: basic[1]}, "y", 1}, plain("z", 1)}}},
		{"a bright colour", "\x1b[92my\n", [][]span{{{style{fg: basic[10]}, "y", 1}}}},
		{"one of 256", "\x1b[38;5;246my\x1b[0m.\n", [][]span{{{style{fg: "#949494"}, "y", 1}, plain(".", 1)}}},
		{"one of 256 that is one of 16", "\x1b[38;5;1my\n", [][]span{{{style{fg: basic[1]}, "y", 1}}}},
		{"true colour as ground", "\x1b[48;2;1;2;3my\n", [][]span{{{style{bg: "#010203"}, "y", 1}}}},
		{"several at once", "\x1b[1;2;7my\x1b[22m!\x1b[m.\n", [][]span{{{style{bold: true, dim: true, reversed: true}, "y", 1}, {style{reversed: true}, "!", 1}, plain(".", 1)}}},
		{"a wide character", "漢x\n", [][]span{{plain("漢x", 3)}}},
		{"a style goes on in the next row", "\x1b[3ma\nb\n", [][]span{{{style{italic: true}, "a", 1}}, {{style{italic: true}, "b", 1}}}},
		{"another sequence", "a\x1b[2Kb\n", [][]span{{plain("ab", 2)}}},
	} {
		if got := readScreen(c.screen); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, not %+v", c.name, got, c.want)
		}
	}
}

func FuzzReadScreen(f *testing.F) {
	f.Add("a\x1b[38;5;246mb\x1b[0m\n")
	f.Add("\x1b[38;2;1m\x1b[48m漢\n")
	f.Fuzz(func(t *testing.T, screen string) {
		for _, row := range readScreen(screen) {
			for _, s := range row {
				if s.cells <= 0 || s.text == "" {
					t.Fatalf("an empty span: %+v", s)
				}
			}
		}
	})
}

func TestPrompted(t *testing.T) {
	for screen, want := range map[string]bool{
		"$\n\n":                   true,
		"$ ls\na b\n$\n":          true,
		"$ ls\n":                  false,
		"$ ls\na b\n":             false,
		"":                        false,
		"the price is 3 $\n\n\n":  false,
		"$ ls\nweb: busy\n$ \n\n": true,
	} {
		if got := prompted(screen); got != want {
			t.Errorf("%q: %v", screen, got)
		}
	}
}

func TestAllAged(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name, status string
		want         bool
	}{
		{"both", `[{"since":"2026-01-02T03:03:00Z"},{"since":"2026-01-02T03:02:30Z"}]`, true},
		{"one is too young", `[{"since":"2026-01-02T03:03:00Z"},{"since":"2026-01-02T03:03:30Z"}]`, false},
		{"one is soon two minutes old", `[{"since":"2026-01-02T03:03:00Z"},{"since":"2026-01-02T03:02:12Z"}]`, false},
		{"one has no age", `[{"since":"2026-01-02T03:03:00Z"},{"since":null}]`, false},
		{"one is missing", `[{"since":"2026-01-02T03:03:00Z"}]`, false},
		{"no JSON", `x`, false},
	} {
		if got := allAged([]byte(c.status), now, 2); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
