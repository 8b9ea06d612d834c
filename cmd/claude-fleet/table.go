package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// table is text in columns; the first row is its head.
type table [][]string

// print writes the table with columns as wide as their widest cell.
func (t table) print(w io.Writer) {
	widths := t.widths()
	for _, row := range t {
		printRow(w, row, widths)
	}
}

func (t table) widths() []int {
	var widths []int
	for _, row := range t {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(transport.Neutralise(c)))
		}
	}
	return widths
}

// printRow writes one row in columns of the given widths, two spaces apart and
// none at the end. A wider cell pushes the rest of its row.
func printRow(w io.Writer, row []string, widths []int) {
	var b strings.Builder
	for i, c := range row {
		c = transport.Neutralise(c)
		b.WriteString(c)
		if i < len(row)-1 {
			b.WriteString(strings.Repeat(" ", max(0, widths[i]-ansi.StringWidth(c))+2))
		}
	}
	fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
}
