package fakeclient

import (
	"fmt"
	"strings"
)

// draw is the dialog in rows, as 2.1.332 draws it, and the cursor on its
// selected row.
func (d *dialog) draw(width int) (rows []string, x, y int) {
	if d.name == DialogQuestion {
		return d.drawQuestion(width)
	}
	edge := faint + strings.Repeat("╌", width)
	rows = []string{
		rule(blue, width),
		" " + bold + blue + "Bash command",
		" " + bold + `Tip: auto mode handles these prompts for you — choose "switch to auto mode" below`,
		" " + grey + "Run the command",
		edge,
		" " + askedCommand,
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
		rows = append(rows, fmt.Sprintf(" %s%s%d. %s%s%s", mark, grey, i+1, label, o.label, note))
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
		bold + white + askedQuestion,
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
		if i == d.free {
			label = grey
			if d.selected == i && d.typed != "" {
				text, label = d.typed, plainText
			}
		}
		if i == d.selected {
			mark, y = blue+"❯"+plainText+" ", len(rows)
			if i != d.free {
				label = blue
			} else {
				x = 5 + len([]rune(d.typed))
			}
		}
		rows = append(rows, fmt.Sprintf("%s%s%d.%s %s%s", mark, number, i+1, plainText, label, text))
		if o.note != "" {
			rows = append(rows, "     "+grey+o.note)
		}
	}
	return append(rows, "", grey+"Enter to select · ↑/↓ to navigate · Esc to cancel"), x, y
}
