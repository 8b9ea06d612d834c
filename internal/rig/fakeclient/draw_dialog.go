package fakeclient

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// draw is the dialog in rows, as 2.1.332 draws it, and the cursor on its
// selected row. dir is what a permission is about.
func (d *dialog) draw(width int, dir string) (rows []string, x, y int) {
	switch d.name {
	case DialogQuestion:
		return d.drawQuestion(width)
	case DialogBoxes:
		return d.drawBoxes(width)
	case DialogBypass:
		return d.drawBypass(width)
	}
	edge := faint + strings.Repeat("╌", width)
	rows = []string{
		rule(blue, width),
		" " + bold + blue + "Bash command",
		" " + bold + `Tip: auto mode handles these prompts for you — choose "switch to auto mode" below`,
		" " + grey + "Run the command",
		edge,
		" " + d.about,
		edge,
		" Do you want to proceed?",
	}
	for i, o := range d.options {
		mark, label := "  ", plainText
		if i == d.selected {
			mark, label, y = blue+"❯"+plainText+" ", blue, len(rows)
		}
		note := ""
		if o.note != "" {
			note = grey + " · " + o.note
		}
		text := strings.Replace(o.label, dir, bold+dir+plainText+label, 1)
		rows = append(rows, fmt.Sprintf(" %s%s%d. %s%s%s", mark, grey, i+1, label, text, note))
	}
	keys := "Esc to cancel"
	if d.selected == 0 {
		keys += " · Tab to amend"
	}
	return append(rows, "", " "+grey+keys), 1, y
}

func (d *dialog) drawQuestion(width int) (rows []string, x, y int) {
	rows = []string{
		rule(grey, width),
		onBlue + " ☐ Database ",
		"",
		bold + white + d.about,
		"",
	}
	for i, o := range d.options {
		last := i == len(d.options)-1
		if last {
			rows = append(rows, rule(grey, width))
		}
		mark, number, label := "  ", grey, plainText
		if last {
			number = plainText
		}
		text := o.label
		var more []string
		if i == d.free {
			label = grey
		}
		if i == d.selected {
			mark, y = blue+"❯"+plainText+" ", len(rows)
			if i != d.free {
				label = blue
			} else {
				text, more = d.field()
				label, x, y = plainText, 5+d.column(), y+len(more)
			}
		}
		rows = append(rows, fmt.Sprintf("%s%s%d.%s %s%s", mark, number, i+1, plainText, label, text))
		rows = append(rows, more...)
		if o.note != "" {
			rows = append(rows, "     "+grey+o.note)
		}
	}
	keys := "Enter to select · ↑/↓ to navigate · "
	if d.touched {
		keys += "ctrl+g to edit in Vim · "
	}
	return append(rows, "", grey+keys+"Esc to cancel"), x, y
}

// field is the row to type in while it is selected, and the rows below it that
// it takes.
func (d *dialog) field() (first string, more []string) {
	if d.typed == "" {
		return reverse + "T" + plainText + dim + "ype something.", nil
	}
	lines := strings.Split(d.typed, "\n")
	lines[len(lines)-1] += reverse + " "
	for _, l := range lines[1:] {
		more = append(more, "     "+l)
	}
	return lines[0], more
}

// column is where in the field the cursor stands.
func (d *dialog) column() int {
	return ansi.StringWidth(d.typed[strings.LastIndexByte(d.typed, '\n')+1:])
}
