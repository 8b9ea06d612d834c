package main

import (
	"strconv"
	"strings"
)

// cell is one character of a row with the names of its attributes, such as
// "bold 246 on 237"; empty for a plain one. A character that is two columns
// wide is one cell.
type cell struct {
	r    rune
	look string
}

// attributes are those of SGR that have a name here.
var attributes = map[int]string{1: "bold", 2: "dim", 3: "slanted", 4: "underlined", 5: "blinking", 7: "reversed", 8: "hidden", 9: "struck"}

// endings are the attributes that an SGR number ends.
var endings = map[int][]int{22: {1, 2}, 23: {3}, 24: {4}, 25: {5}, 27: {7}, 28: {8}, 29: {9}}

// style is what SGR has set so far. tmux carries it over from row to row.
type style struct {
	on     [10]bool
	fg, bg string // a name of the colour; empty for the terminal's own
}

// name is the style in words.
func (s *style) name() string {
	var words []string
	for n, on := range s.on {
		if on {
			words = append(words, attributes[n])
		}
	}
	if s.fg != "" {
		words = append(words, s.fg)
	}
	if s.bg != "" {
		words = append(words, "on "+s.bg)
	}
	return strings.Join(words, " ")
}

// set takes in the numbers between ESC [ and m.
func (s *style) set(numbers string) {
	fields := strings.FieldsFunc(numbers, func(r rune) bool { return r == ';' || r == ':' })
	if len(fields) == 0 {
		*s = style{}
	}
	for i := 0; i < len(fields); i++ {
		n, _ := strconv.Atoi(fields[i])
		switch {
		case n == 0:
			*s = style{}
		case attributes[n] != "":
			s.on[n] = true
		case endings[n] != nil:
			for _, ended := range endings[n] {
				s.on[ended] = false
			}
		case n == 38 || n == 48:
			name, used := colour(fields[i+1:])
			i += used
			if n == 38 {
				s.fg = name
			} else {
				s.bg = name
			}
		case n >= 30 && n <= 37 || n >= 90 && n <= 97:
			s.fg = "ansi" + strconv.Itoa(n)
		case n >= 40 && n <= 47 || n >= 100 && n <= 107:
			s.bg = "ansi" + strconv.Itoa(n-10)
		case n == 39:
			s.fg = ""
		case n == 49:
			s.bg = ""
		}
	}
}

// colour reads what follows a 38 or 48: 5;N or 2;R;G;B.
func colour(fields []string) (name string, used int) {
	switch {
	case len(fields) >= 2 && fields[0] == "5":
		return fields[1], 2
	case len(fields) >= 4 && fields[0] == "2":
		return strings.Join(fields[1:4], ","), 4
	}
	return "", len(fields)
}

// parseCells reads a capture into rows of cells. Escapes other than SGR are
// dropped, and so are blanks at the end of a row that have no attributes.
func parseCells(raw string) [][]cell {
	var rows [][]cell
	var now style
	for line := range strings.SplitSeq(strings.TrimSuffix(raw, "\n"), "\n") {
		var row []cell
		for at := 0; at < len(line); {
			if span := escapes.FindStringIndex(line[at:]); span != nil && span[0] == 0 {
				if seq := line[at : at+span[1]]; strings.HasPrefix(seq, "\x1b[") {
					now.set(seq[2 : len(seq)-1])
				}
				at += span[1]
				continue
			}
			for i, r := range line[at:] {
				if i == 0 {
					row = append(row, cell{r, now.name()})
					at += max(1, len(string(r)))
				}
				break
			}
		}
		for len(row) > 0 && row[len(row)-1] == (cell{' ', ""}) {
			row = row[:len(row)-1]
		}
		rows = append(rows, row)
	}
	return rows
}

// marked writes a row with a mark in braces wherever the attributes change.
func marked(row []cell) string {
	var b strings.Builder
	look := ""
	for _, c := range row {
		if c.look != look {
			look = c.look
			b.WriteString("{" + look + "}")
		}
		b.WriteRune(c.r)
	}
	return b.String()
}
