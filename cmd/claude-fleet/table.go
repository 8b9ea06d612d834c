package main

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// column is one column of a table, and what may become of it where the table is
// wider than the terminal: whole columns go first, then cells are cut.
type column struct {
	head string
	// giveUp is the place in the order in which columns are given up, 1 being the
	// first; a column with 0 stays.
	giveUp int
	// enough is how many display cells of its text are worth more than a column:
	// longer text is cut to that before any column is given up. With 0 no text is.
	enough int
	// least is how many display cells its text may be cut down to when no more
	// columns can go; with 0 it is cut last of all, where the terminal is too
	// narrow even for what must stay.
	least int
	// usual and most are for a table whose rows come one by one: how wide the
	// column is made before its text is known, and how far it may grow into room
	// that is left over.
	usual, most int
	// cut shortens text to a number of cells, and marks where; nil takes its end
	// away (cutEnd).
	cut func(text string, width int) string
}

// tight is how many cells text that must stay is cut down to while there is
// another way: three letters and the ellipsis still tell every state from all others.
const tight = 4

// gap is the number of blanks between columns.
const gap = 2

// grid is how a table is laid out.
type grid struct {
	columns []column
	widths  []int // of each column, in cells; -1 is one that was given up
	width   int   // of the terminal; 0 has no limit
}

// fit lays out a table of which some rows, or none, are known. A width of 0 gives
// every column as much as its widest text needs, since a program reads it then.
func fit(columns []column, rows [][]string, width int) grid {
	g := grid{columns: columns, widths: make([]int, len(columns)), width: width}
	for i, c := range columns {
		g.widths[i] = max(ansi.StringWidth(c.head), c.usual)
		for _, row := range rows {
			if i < len(row) {
				g.widths[i] = max(g.widths[i], ansi.StringWidth(transport.Neutralise(row[i])))
			}
		}
	}
	if width > 0 {
		wanted := slices.Clone(g.widths)
		g.shrink(func(c column) int { return c.enough })
		g.giveUp()
		g.shrink(func(c column) int { return c.least })
		g.giveUpCut()
		g.shrink(func(column) int { return tight })
		g.shrink(func(column) int { return 1 })
		g.grow(wanted)
	}
	return g
}

// total is how wide a full row is.
func (g grid) total() int {
	n := -gap
	for _, w := range g.widths {
		if w >= 0 {
			n += w + gap
		}
	}
	return n
}

// giveUp leaves out columns, the least important first, until the rest fits.
func (g grid) giveUp() {
	for g.total() > g.width {
		next := -1
		for i, c := range g.columns {
			if g.widths[i] >= 0 && c.giveUp > 0 && (next < 0 || c.giveUp < g.columns[next].giveUp) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		g.widths[next] = -1
	}
}

// giveUpCut leaves out columns that were cut as far as they may be, the last of
// them first: what must stay is cut after that.
func (g grid) giveUpCut() {
	for i := len(g.columns) - 1; i >= 0 && g.total() > g.width; i-- {
		if g.columns[i].least > 0 {
			g.widths[i] = -1
		}
	}
}

// shrink narrows columns, the widest first, as far as least allows.
func (g grid) shrink(least func(column) int) {
	for g.total() > g.width {
		widest := -1
		for i, c := range g.columns {
			if n := least(c); n > 0 && g.widths[i] > n && (widest < 0 || g.widths[i] > g.widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		g.widths[widest]--
	}
}

// grow gives room that is left back to columns that were narrowed, then to those
// whose text is not known yet; the last column has the rest, as nothing follows it.
func (g grid) grow(wanted []int) {
	to := func(i, width int) {
		if room := g.width - g.total(); g.widths[i] >= 0 && width > g.widths[i] && room > 0 {
			g.widths[i] = min(width, g.widths[i]+room)
		}
	}
	last := -1
	for i := range g.columns {
		to(i, wanted[i])
	}
	for i, c := range g.columns {
		to(i, c.most)
		if g.widths[i] >= 0 {
			last = i
		}
	}
	if last >= 0 {
		to(last, g.width)
	}
}

// head is the line of the columns' names.
func (g grid) head() string {
	cells := make([]string, len(g.columns))
	for i, c := range g.columns {
		cells[i] = c.head
	}
	return g.line(cells, nil)
}

// line is one row, without a line end: neutralised, in its columns, nothing at
// its end, and never wider than the terminal. paint, if it is not nil, is given the text of
// each cell as it is shown and the number of its column, and returns it coloured.
func (g grid) line(cells []string, paint func(column int, text string) string) string {
	var b strings.Builder
	used, owed := 0, 0
	for i, text := range cells {
		if i >= len(g.widths) || g.widths[i] < 0 {
			continue
		}
		room := g.widths[i]
		if g.width > 0 {
			room = min(room, g.width-used-owed)
		}
		if text = transport.Neutralise(text); g.width > 0 && ansi.StringWidth(text) > room {
			text = g.columns[i].shorten(text, room)
		}
		n := ansi.StringWidth(text)
		if text != "" {
			b.WriteString(strings.Repeat(" ", owed))
			used, owed = used+owed+n, 0
			if paint != nil {
				text = paint(i, text)
			}
			b.WriteString(text)
		}
		// A wider cell, which only a table without a limit has, pushes the rest.
		owed += max(0, g.widths[i]-n) + gap
	}
	return b.String()
}

func (c column) shorten(text string, width int) string {
	if c.cut != nil {
		return c.cut(text, width)
	}
	return cutEnd(text, width)
}

// layout gives the lines of a table whose rows are all known, the head first.
// No line is wider than width; a width of 0 has no limit.
func layout(columns []column, rows [][]string, width int) []string {
	g := fit(columns, rows, width)
	lines := []string{g.head()}
	for _, row := range rows {
		lines = append(lines, g.line(row, nil))
	}
	return lines
}
