package fleet

import (
	"slices"
	"strings"
	"unicode"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

// face is a dialog as it stands on a screen: enough to tell it from the next one,
// and from itself with another option selected.
type face struct {
	*detect.Dialog
	rows []string // of the panel, plain, from its top on
	top  int      // the panel's first row on the screen
	at   []int    // the first row of each option, counted in rows
}

// frameRunes draw the upper edge of a panel, in whichever way the version draws it.
const frameRunes = "─▔╭"

// faceOf reads the dialog that a session waits at. It is false where there is
// none, or none with a list of options of which one is marked as selected: tabs, a
// row of keys, a survey, or a menu that a small pane has cut.
func faceOf(s seen) (face, bool) {
	if s.Dialog == nil || s.pane == nil || len(s.Dialog.Options) == 0 {
		return face{}, false
	}
	f := face{Dialog: s.Dialog}
	if len(s.Rows) > 0 {
		f.top = s.Rows[0]
	}
	all := screenLines(s.pane.Screen)
	f.rows = all[min(f.top, len(all)):]
	return f, f.locate() && f.marked()
}

// locate finds the row of each option, from the bottom up: what a dialog says
// above its options may hold their words.
func (f *face) locate() bool {
	f.at = make([]int, len(f.Options))
	y := len(f.rows) - 1
	mark := f.markRow()
	for i, label := range slices.Backward(f.Options) {
		if i == f.Selected && mark >= 0 && mark <= y && beginsOption(f.rows[mark], label) {
			y = mark // what is typed into a row may go on below it in any words
		}
		for y >= 0 && !beginsOption(f.rows[y], label) {
			y--
		}
		if y < 0 {
			return false
		}
		f.at[i] = y
		y--
	}
	return true
}

// markRow is the lowest row with the mark, -1 for none.
func (f *face) markRow() int {
	for y, row := range slices.Backward(f.rows) {
		if hasMark(row) {
			return y
		}
	}
	return -1
}

func hasMark(row string) bool {
	return strings.HasPrefix(strings.TrimLeft(row, "│ \u00a0"), selectMark)
}

// beginsOption tells whether a row is the first of the option with that label,
// which a narrow pane wraps and which a description may follow.
func beginsOption(row, label string) bool {
	text := optionText(row)
	return text != "" && (strings.HasPrefix(text, label) || strings.HasPrefix(label, text))
}

// optionText is an option's row without its frame, its mark and its number.
func optionText(row string) string {
	text := strings.TrimFunc(row, func(r rune) bool { return r == '│' || unicode.IsSpace(r) })
	text = strings.TrimSpace(strings.TrimPrefix(text, selectMark))
	text = strings.TrimLeft(strings.TrimLeft(text, "↓↑"), " ")
	if n, rest, ok := strings.Cut(text, "."); ok && n != "" && len(n) < 3 && strings.Trim(n, "0123456789") == "" {
		text = strings.TrimSpace(rest)
	}
	return strings.TrimSpace(strings.TrimPrefix(text, "✔"))
}

// selectMark stands before the option that Enter would choose.
const selectMark = "❯"

// marked tells whether the one mark on the dialog stands at the option that is
// said to be selected. It may stand at the second row of a label (2.1.85).
func (f *face) marked() bool {
	if f.Selected < 0 || f.Selected >= len(f.Options) {
		return false
	}
	var marks []int
	for y := f.at[0]; y < len(f.rows); y++ {
		if hasMark(f.rows[y]) {
			marks = append(marks, y)
		}
	}
	return len(marks) == 1 && marks[0] >= f.at[f.Selected] && marks[0] < f.end(f.Selected)
}

// end is the row behind the last of an option.
func (f *face) end(i int) int {
	last := len(f.rows)
	if i+1 < len(f.at) {
		last = f.at[i+1]
	}
	for y := f.at[i] + 1; y < last; y++ {
		if strings.TrimSpace(f.rows[y]) == "" || isFrame(f.rows[y]) {
			return y
		}
	}
	return last
}

func isFrame(row string) bool {
	text := strings.TrimSpace(row)
	return text != "" && strings.ContainsAny(text[:min(len(text), 3)], frameRunes+"╰╌")
}

// text is all that the dialog says of an option, in one line.
func (f *face) text(i int) string {
	return strings.Join(strings.Fields(strings.Join(f.rows[f.at[i]:f.end(i)], " ")), " ")
}

// asks are the rows above the options, without edges and blank ones. A notice may
// be set into the upper edge (2.1.300 and later), which changes by itself.
func (f *face) asks() []string {
	asks := []string{}
	for y, row := range f.rows[:f.at[0]] {
		if y == 0 && strings.ContainsAny(row, frameRunes) {
			continue
		}
		row = strings.TrimFunc(row, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("│─▔╭╮╌", r) })
		if row != "" {
			asks = append(asks, row)
		}
	}
	return asks
}

// same tells whether two looks saw one dialog, whichever option is selected.
func (f *face) same(g face) bool {
	return f.sameBut(g, -1) && slices.Equal(f.Options, g.Options)
}

// partOf tells whether a dialog is the upper part of another: one that is being
// drawn, of which the last options are to come.
func (f *face) partOf(g face) bool {
	return len(f.Options) < len(g.Options) && f.Title == g.Title && slices.Equal(f.asks(), g.asks()) && slices.Equal(f.Options, g.Options[:len(f.Options)])
}

// sameBut is same for a dialog whose option i may have been ticked or typed into;
// the tab of its question then shows that as well.
func (f *face) sameBut(g face, i int) bool {
	untick := func(asks []string) string { return strings.ReplaceAll(strings.Join(asks, "\n"), "☒", "☐") }
	if len(f.Options) != len(g.Options) {
		return false
	}
	a, b := f.asks(), g.asks()
	if f.cut()+g.cut() != "" {
		n := min(len(a), len(b))
		a, b = a[len(a)-n:], b[len(b)-n:]
	} else if f.Title != g.Title {
		return false
	}
	if untick(a) != untick(b) {
		return false
	}
	for k := range f.Options {
		if k != i && f.Options[k] != g.Options[k] {
			return false
		}
	}
	return true
}

// cut is the row that says that the dialog is longer than the screen, which shows
// its end alone; empty for none. A row more of key hints, which some options bring,
// then takes one from its top.
func (f *face) cut() string {
	for _, row := range f.rows[f.at[len(f.at)-1]:] {
		row = strings.TrimSpace(row)
		if strings.HasPrefix(row, "↑ ") && (strings.HasSuffix(row, " more lines") || row == "↑ 1 more line") {
			return row
		}
	}
	return ""
}

// stands tells whether a look saw this dialog.
func (f *face) stands(s seen) bool {
	g, ok := faceOf(s)
	return ok && f.sameBut(g, -1)
}

// holds tells whether an option shows a typed text and nothing else. A row wraps
// where the client likes, so that spaces do not count.
func (f *face) holds(i int, text string) bool {
	shown := append([]string{bare(optionText(f.rows[f.at[i]]))}, f.rows[f.at[i]+1:f.end(i)]...)
	return solid(strings.Join(shown, "")) == solid(text)
}

// settings tells that Enter changes a value, or goes through a list that is
// searched, in a panel that stays: no question that is answered.
func (f *face) settings() bool {
	for y, row := range f.rows {
		row = strings.TrimLeft(row, "│ \u00a0")
		if strings.HasPrefix(row, "⌕") || y > f.at[len(f.at)-1] && (strings.Contains(row, " to change") || strings.Contains(row, "Type to ")) {
			return true
		}
	}
	return false
}

// guarded is the first row of the screen that has to stay as it is for a key to be
// pressed. Where the panel has an edge of its own, what moves above it is
// another's, such as the turn of an agent.
func (f *face) guarded() int {
	if len(f.rows) > 0 && strings.ContainsAny(f.rows[0], frameRunes) {
		return f.top
	}
	return 0
}
