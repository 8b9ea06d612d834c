package fakeclient

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

func TestLayOut(t *testing.T) {
	label := cell{chip: &chip{label: "[Pasted text #1 +3 lines]"}}
	for _, c := range []struct {
		name  string
		cells []cell
		at    int
		want  []string
		x, y  int
		start int
	}{
		{"nothing", nil, 0, []string{""}, 0, 0, 0},
		{"a line", plain("hello"), 5, []string{"hello"}, 5, 0, 0},
		{"two", plain("one\ntwo"), 7, []string{"one", "two"}, 3, 1, 4},
		{"the end of the first", plain("one\ntwo"), 3, []string{"one", "two"}, 3, 0, 0},
		{"an empty last", plain("one\n"), 4, []string{"one", ""}, 0, 1, 4},
		{"broken at a blank", plain("hello there world"), 17, []string{"hello ", "there ", "world"}, 5, 2, 12},
		{"at a blank without room", plain("abcdefghij kl"), 13, []string{"abcdefghij", "kl"}, 2, 1, 11},
		{"broken in a word", plain("abcdefghijklmno"), 15, []string{"abcdefghij", "klmno"}, 5, 1, 10},
		{"wide runes", plain("五五五五五五"), 6, []string{"五五五五五", "五"}, 2, 1, 5},
		{"a chip", append(plain("a "), label), 3, []string{"a [Pasted ", "text #1 +3", "lines]"}, 6, 2, 2},
	} {
		l := layOut(c.cells, c.at, 10)
		if !slices.Equal(l.rows, c.want) || l.x != c.x || l.y != c.y || l.rowStart != c.start {
			t.Errorf("%s: %q, cursor %d,%d, row from %d", c.name, l.rows, l.x, l.y, l.rowStart)
		}
	}
}

// FuzzLayOut holds that no text but blanks is lost or drawn beyond the width, and that the
// cursor is in it.
func FuzzLayOut(f *testing.F) {
	f.Add("hello there\n五五 world", 3, 7)
	f.Fuzz(func(t *testing.T, text string, at, width int) {
		cells := plain(text)
		at, width = max(0, min(at, len(cells))), max(2, min(width, 200))
		l := layOut(cells, at, width)
		drawn := strings.NewReplacer("\n", "", " ", "")
		if got, want := drawn.Replace(strings.Join(l.rows, "")), drawn.Replace(string([]rune(text))); got != want {
			t.Errorf("rows %q of %q", l.rows, text)
		}
		for _, row := range l.rows {
			if !strings.ContainsFunc(row, func(r rune) bool { return unicode.IsControl(r) || r > 0xff }) && ansi.StringWidth(row) > width {
				t.Errorf("row %q is over %d wide", row, width)
			}
		}
		if l.y >= len(l.rows) || l.rowStart > at {
			t.Errorf("cursor in row %d of %d, which begins at %d, not behind %d", l.y, len(l.rows), l.rowStart, at)
		}
	})
}
