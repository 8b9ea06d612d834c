package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// testHosts are hosts with names and projects as people give them.
func testHosts(names ...string) []fleet.Host {
	hosts := make([]fleet.Host, len(names))
	for i, n := range names {
		name, project, _ := strings.Cut(n, ":")
		hosts[i] = fleet.Host{Name: name, Project: project}
	}
	return hosts
}

func TestStatusLayout(t *testing.T) {
	hosts := testHosts("web:shop", "train-gpu:models", "db:データ")
	rows := [][]string{
		{"web", "shop", "ready", "12s", "main +1 *2", ""},
		{"train-gpu", "models", "unreachable", "-", "-", "(host key unknown)"},
		{"db", "データ", "crashed", "4m", "feature/very-long-name-of-a-branch +12 -3 *10", "wrongdir disk draft"},
	}
	tests := []struct {
		width int
		want  string
	}{
		{0, `
HOST       PROJECT  STATE        SINCE  GIT             FLAGS
web        shop     ready        12s    main +1 *2
train-gpu  models   unreachable  -      -               (host key unknown)
db         データ   crashed      4m     feature/very-long-name-of-a-branch +12 -3 *10  wrongdir disk draft`},
		{200, `
HOST       PROJECT  STATE        SINCE  GIT                           FLAGS
web        shop     ready        12s    main +1 *2
train-gpu  models   unreachable  -      -                             (host key unknown)
db         データ   crashed      4m     feature/very-lon… +12 -3 *10  wrongdir disk draft`},
		{80, `
HOST       PROJECT  STATE        SINCE  GIT                  FLAGS
web        shop     ready        12s    main +1 *2
train-gpu  models   unreachable  -      -                    (host key unknown)
db         データ   crashed      4m     feature… +12 -3 *10  wrongdir disk draft`},
		// One cell less than everything takes: the least important column goes.
		{74, `
HOST       STATE        SINCE  GIT                     FLAGS
web        ready        12s    main +1 *2
train-gpu  unreachable  -      -                       (host key unknown)
db         crashed      4m     feature/ve… +12 -3 *10  wrongdir disk draft`},
		{60, `
HOST       STATE        SINCE  FLAGS
web        ready        12s
train-gpu  unreachable  -      (host key unknown)
db         crashed      4m     wrongdir disk draft`},
		{40, `
HOST       STATE        FLAGS
web        ready
train-gpu  unreachable  (host key unkno…
db         crashed      wrongdir disk d…`},
		{25, `
HOST       STATE        …
web        ready
train-gpu  unreachable  …
db         crashed      …`},
		{22, `
HOST       STATE
web        ready
train-gpu  unreachable
db         crashed`},
		{14, `
HOST    STATE
web     ready
train…  unrea…
db      crash…`},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.width), func(t *testing.T) {
			g := statusGrid(hosts, tt.width)
			got := "\n" + g.head()
			for _, row := range rows {
				got += "\n" + g.line(row, nil)
			}
			if got != tt.want {
				t.Errorf("got:%s\nwant:%s", got, tt.want)
			}
		})
	}
}

// Names that differ at their ends, or within, stay different when they are cut,
// and so does every state.
func TestCutApart(t *testing.T) {
	tests := []struct {
		names []string
		width int
		want  []string
	}{
		{[]string{"alpha", "beta"}, 5, []string{"alpha", "beta"}},
		{[]string{"alphabet", "betamax"}, 4, []string{"alp…", "bet…"}},
		{[]string{"webserver-01", "webserver-02"}, 6, []string{"…er-01", "…er-02"}},
		{[]string{"a-webserver", "b-webserver", "a-webserves"}, 6, []string{"a-we…r", "b-we…r", "a-we…s"}},
		// Nothing keeps these apart: as much as there is.
		{[]string{"aaaa1aaaa", "aaaa2aaaa"}, 4, []string{"aaa…", "aaa…"}},
	}
	for _, tt := range tests {
		cut := cutApart(tt.names)
		var got []string
		for _, n := range tt.names {
			got = append(got, cut(n, tt.width))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q in %d: %q, want %q", tt.names, tt.width, got, tt.want)
		}
	}
	seen := map[string]detect.State{}
	for _, s := range fleet.StateNames() {
		short := cutEnd(s, tight)
		if other, taken := seen[short]; taken {
			t.Errorf("%s and %s both read %s", s, other, short)
		}
		seen[short] = detect.State(s)
	}
}

func TestCut(t *testing.T) {
	tests := []struct {
		name string
		cut  func(string, int) string
		text string
		in   int
		want string
	}{
		{"fits", cutEnd, "branch", 6, "branch"},
		{"does not", cutEnd, "branch", 5, "bran…"},
		{"one cell", cutEnd, "branch", 1, "…"},
		{"none", cutEnd, "branch", 0, ""},
		{"wide fits", cutEnd, "日本語", 6, "日本語"},
		{"wide, a cell too many", cutEnd, "日本語", 5, "日本…"},
		{"wide, half a character over", cutEnd, "日本語", 4, "日…"},
		{"wide from the start", cutStart, "日本語", 4, "…語"},
		{"combining marks stay with their letter", cutEnd, "e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"combining marks from the start", cutStart, "e\u0301e\u0301e\u0301", 2, "…e\u0301"},
		{"a family is one character", cutEnd, "x👩\u200d👩\u200d👧y", 3, "x…"},
		{"and fits as such", cutEnd, "x👩\u200d👩\u200d👧y", 4, "x👩\u200d👩\u200d👧y"},
		{"flags are pairs", cutEnd, "🇳🇴🇸🇪", 3, "🇳🇴…"},
		{"start", cutStart, "/srv/project/web", 9, "…ject/web"},
		{"middle", cutMiddle, "you@web.example.org", 9, "you@….org"},
		{"branch keeps its counts", cutBranch, "feature/login +1 *2", 12, "featu… +1 *2"},
		{"branch without counts", cutBranch, "feature/login", 8, "feature…"},
		{"no room for the counts", cutBranch, "feature/login +1 *2", 6, "featu…"},
	}
	for _, tt := range tests {
		if got := tt.cut(tt.text, tt.in); got != tt.want {
			t.Errorf("%s: %q in %d: %q, want %q", tt.name, tt.text, tt.in, got, tt.want)
		}
	}
}

func TestFold(t *testing.T) {
	items := []string{"one", "two", "three"}
	tests := []struct {
		width int
		want  string
	}{
		{-11, "one, two, three"}, {0, "one, two, three"}, {15, "one, two, three"}, {14, "one, two,|three"}, {8, "one,|two,|three"}, {1, "one,|two,|three"},
	}
	for _, tt := range tests {
		if got := strings.Join(fold(items, tt.width), "|"); got != tt.want {
			t.Errorf("in %d: %q, want %q", tt.width, got, tt.want)
		}
	}
}

// Text of a host is neutralised before it is measured.
func TestLineNeutralises(t *testing.T) {
	g := fit([]column{{head: "A"}, {head: "B"}}, [][]string{{"a\x1b[31m", "b"}}, 80)
	if got, want := g.line([]string{"a\x1b[31m", "b"}, nil), "a␛[31m  b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// shownCell is what a line shows of one column: from which display cell on, and
// what.
type shownCell struct {
	at   int
	text string
}

// shownIn takes a line apart by the marks that painting leaves around each cell.
func shownIn(g grid, row []string) (line string, cells map[int]shownCell) {
	cells = map[int]shownCell{}
	marked := g.line(row, func(i int, text string) string { return fmt.Sprintf("\x00%d\x01%s\x02", i, text) })
	at := 0
	for _, part := range strings.Split(marked, "\x02") {
		blanks, cell, found := strings.Cut(part, "\x00")
		line += blanks
		at += len(blanks)
		if !found {
			continue
		}
		number, text, _ := strings.Cut(cell, "\x01")
		var i int
		_, _ = fmt.Sscan(number, &i)
		cells[i] = shownCell{at, text}
		line += text
		at += ansi.StringWidth(text)
	}
	return line, cells
}

// wholeCharacters is whether a text is another with one run of whole characters
// replaced by an ellipsis.
func wholeCharacters(short, text string) bool {
	s, _ := split(short)
	c, _ := split(text)
	for i, part := range s {
		if part == ellipsis && len(s)-1 <= len(c) && slices.Equal(s[:i], c[:i]) && slices.Equal(s[i+1:], c[len(c)-len(s)+i+1:]) {
			return true
		}
	}
	return false
}

// FuzzLayout holds any table in any width to: no line is wider, every column that
// is kept begins at one place, no character is cut, and what has room is whole.
func FuzzLayout(f *testing.F) {
	f.Add("web\tshop\tready\ndb\tデータ\tcrashed", uint16(20), uint32(0x120))
	f.Add("a\t\u0301\t👩\u200d👩\u200d👧\nb\t\u200d\t🇳🇴🇸🇪🇩🇰", uint16(9), uint32(0x4321))
	f.Add("\x1b[31mred\t\x9b\xff\t\u202e", uint16(12), uint32(7))
	f.Add("\u0600\t\u0600\u0600x\t각각각", uint16(7), uint32(0x30201))
	f.Add("long text that is cut\tand more of it", uint16(1), uint32(0))
	f.Fuzz(func(t *testing.T, text string, width uint16, shape uint32) {
		cuts := []func(string, int) string{nil, cutStart, cutMiddle, cutBranch}
		limit := int(width % 300)
		var rows [][]string
		for _, r := range strings.Split(text, "\n") {
			rows = append(rows, strings.Split(r, "\t"))
		}
		columns := make([]column, min(8, len(rows[0])))
		for i := range columns {
			bits := int(shape >> (4 * i))
			columns[i] = column{head: fmt.Sprintf("HEAD%d", i), giveUp: bits & 3, least: bits >> 2 & 1, enough: bits >> 1 & 7, cut: cuts[bits&3]}
			if bits&8 != 0 {
				columns[i].usual, columns[i].most = bits&15, bits&31
			}
		}
		g := fit(columns, rows, limit)
		starts := map[int]int{}
		for _, row := range append([][]string{{"HEAD0", "HEAD1", "HEAD2", "HEAD3", "HEAD4", "HEAD5", "HEAD6", "HEAD7"}}, rows...) {
			line, cells := shownIn(g, row[:min(len(row), len(columns))])
			if plain := g.line(row[:min(len(row), len(columns))], nil); plain != line {
				t.Fatalf("painted %q is not %q", line, plain)
			}
			if n := ansi.StringWidth(line); limit > 0 && n > limit {
				t.Fatalf("%d cells of %d: %q", n, limit, line)
			}
			for i, c := range cells {
				if at, known := starts[i]; known && at != c.at {
					t.Fatalf("column %d begins at %d and at %d in %q", i, at, c.at, line)
				}
				starts[i] = c.at
				whole := transport.Neutralise(row[i])
				if c.text != whole && !wholeCharacters(c.text, whole) {
					t.Fatalf("column %d: %q is no cut of %q", i, c.text, whole)
				}
				if c.text != whole && (limit == 0 || ansi.StringWidth(whole) <= g.widths[i]) {
					t.Fatalf("column %d of %d: %q became %q although it had room", i, g.widths[i], whole, c.text)
				}
			}
		}
	})
}
