package main

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// style is how a cell looks. Colours are of the form #rrggbb, or empty for the
// terminal's own.
type style struct {
	fg, bg                      string
	bold, dim, italic, reversed bool
}

// span is cells of one style side by side. cells counts columns: a wide character
// has two.
type span struct {
	style
	text  string
	cells int
}

// readScreen reads what tmux's capture-pane -e prints, a row a line: text and SGR
// sequences, and nothing that moves the cursor. Other sequences are left out.
func readScreen(screen string) [][]span {
	var rows [][]span
	var now style
	p := ansi.NewParser()
	for line := range strings.SplitSeq(strings.TrimSuffix(screen, "\n"), "\n") {
		var row []span
		state := byte(0)
		for len(line) > 0 {
			seq, width, n, next := ansi.DecodeSequence(line, state, p)
			line, state = line[n:], next
			switch {
			case width > 0:
				if last := len(row) - 1; last >= 0 && row[last].style == now {
					row[last].text += seq
					row[last].cells += width
				} else {
					row = append(row, span{now, seq, width})
				}
			case ansi.Cmd(p.Command()) == 'm' && strings.HasPrefix(seq, "\x1b["):
				now = now.after(p.Params())
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// after is the style behind an SGR sequence with those parameters.
func (s style) after(params ansi.Params) style {
	if len(params) == 0 {
		return style{}
	}
	for i := 0; i < len(params); i++ {
		switch n := params[i].Param(0); {
		case n == 0:
			s = style{}
		case n == 1:
			s.bold = true
		case n == 2:
			s.dim = true
		case n == 3:
			s.italic = true
		case n == 7:
			s.reversed = true
		case n == 22:
			s.bold, s.dim = false, false
		case n == 23:
			s.italic = false
		case n == 27:
			s.reversed = false
		case n == 39:
			s.fg = ""
		case n == 49:
			s.bg = ""
		case n == 38 || n == 48:
			var c color.Color
			i += max(ansi.ReadStyleColor(params[i:], &c)-1, 0)
			if n == 38 {
				s.fg = hex(c)
			} else {
				s.bg = hex(c)
			}
		case n >= 30 && n <= 37:
			s.fg = basic[n-30]
		case n >= 90 && n <= 97:
			s.fg = basic[n-90+8]
		case n >= 40 && n <= 47:
			s.bg = basic[n-40]
		case n >= 100 && n <= 107:
			s.bg = basic[n-100+8]
		}
	}
	return s
}

// basic are the sixteen colours that a terminal has a say in, as this picture's
// does: each has a contrast of 4.5 or more to its ground, but for black.
var basic = [16]string{
	"#484f58", "#ff7b72", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#d0d7de",
	"#8b949e", "#ffa198", "#7ee787", "#f2cc60", "#a5d6ff", "#e2c5ff", "#b3f0ff", "#ffffff",
}

// hex writes a colour; one of the sixteen is the picture's own.
func hex(c color.Color) string {
	if c == nil {
		return ""
	}
	if b, ok := c.(ansi.BasicColor); ok {
		return basic[b%16]
	}
	if i, ok := c.(ansi.IndexedColor); ok && i < 16 {
		return basic[i]
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
