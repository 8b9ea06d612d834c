package fakeclient

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// tick ticks the box of a row, where it has one.
func (d *dialog) tick(row int, on bool) {
	if row < len(d.ticked) {
		d.ticked[row] = on
	}
}

// The rows of the question with boxes, below those that have one.
const (
	boxesSubmit = 3
	boxesChat   = 4
)

// boxesKey is a key in the question with boxes and in the page behind it (measured
// on 2.1.332): Enter ticks or unticks, Submit goes on to the review, whose answer
// is the dialog's. It is false for what is as in any dialog.
func (c *client) boxesKey(t token) bool {
	d := c.dialog
	last := len(d.options) - 1
	if d.review {
		last = 1
	}
	switch {
	case t.text == "Down":
		d.selected = min(last, d.selected+1)
	case t.text == "Enter" && d.review && d.selected == 1:
		c.cancel()
	case t.text == "Enter" && d.review:
		c.log.add(Answered, d.boxes())
		c.close("Answered Claude's questions:\n· " + d.about + " → " + d.boxes())
		if c.turn != nil && c.turn.over {
			c.endTurn()
		}
	case t.text == "Enter" && d.selected < boxesSubmit:
		d.ticked[d.selected] = !d.ticked[d.selected]
		c.log.add(Ticked, d.options[d.selected].label)
	case t.text == "Enter" && d.selected == boxesSubmit:
		d.review, d.selected = true, 0
		c.log.add(Opened, "review")
	case t.kind == tokenText && (d.review || d.selected != d.free):
		// Digits do much in the real one; nothing presses them here.
	default:
		return false
	}
	d.touched = d.touched || d.selected == d.free && !d.review
	return true
}

// boxes are the labels that are ticked.
func (d *dialog) boxes() string {
	var labels []string
	for i, on := range d.ticked {
		switch {
		case on && i == d.free:
			labels = append(labels, d.typed)
		case on:
			labels = append(labels, d.options[i].label)
		}
	}
	return strings.Join(labels, ", ")
}

const green = "\x1b[38;5;114m"

func (d *dialog) drawBoxes(width int) (rows []string, x, y int) {
	tab := "☐"
	if slices.Contains(d.ticked, true) {
		tab = "☒"
	}
	rows = []string{rule(grey, width), grey + "← " + onBlue + " " + tab + " Features " + plainText + " ✔ Submit  →", ""}
	mark := func(i int) string {
		if i != d.selected {
			return "  "
		}
		y = len(rows)
		return blue + "❯" + plainText + " "
	}
	if d.review {
		rows[1] = "←  " + tab + " Features " + onBlue + " ✔ Submit " + grey + " →"
		rows = append(rows, bold+white+"Review your answers", "", " ● "+d.about, "   "+green+"→ "+d.boxes(), "")
		rows = append(rows, mark(0)+grey+"1. "+plainText+"Submit answers")
		return append(rows, mark(1)+grey+"2. "+plainText+"Cancel", "", ""), 0, y
	}
	rows = append(rows, bold+white+d.about, "")
	for i, o := range d.options[:boxesSubmit] {
		box, label := "[ ]", o.label
		if d.ticked[i] {
			box = green + "[✔]" + plainText
		}
		colour := plainText
		if i == d.selected {
			colour = blue
		}
		if i == d.free {
			colour = grey
			if d.typed != "" {
				label, colour = ansi.Truncate(d.typed, max(1, width-10), ""), plainText
			}
		}
		gap := plainText + " "
		if i == d.free {
			gap = " " + plainText
		}
		rows = append(rows, mark(i)+grey+string(rune('1'+i))+"."+gap+box+" "+colour+label)
		if o.note != "" {
			rows = append(rows, "         "+grey+o.note)
		}
	}
	rows = append(rows, mark(boxesSubmit)+"   "+bold+"Submit", rule(grey, width))
	rows = append(rows, mark(boxesChat)+"4. Chat about this")
	keys := "Enter to select · ↑/↓ to navigate · "
	if d.touched {
		keys += "ctrl+g to edit in Vim · "
	}
	return append(rows, "", grey+keys+"Esc to cancel"), 0, y
}

// drawBypass is the dialog at the start; its words are the real one's, as far as
// anybody looks at them.
func (d *dialog) drawBypass(width int) (rows []string, x, y int) {
	rows = []string{
		rule(pink, width),
		"  " + bold + pink + "WARNING: Claude Code running in Bypass Permissions mode",
		"",
		"  By proceeding, you accept all responsibility for actions taken.",
		"",
	}
	for i, o := range d.options {
		mark, label := "  ", plainText
		if i == d.selected {
			mark, label, y = blue+"❯"+plainText+" ", blue, len(rows)
		}
		rows = append(rows, "  "+mark+label+o.label)
	}
	return append(rows, "", "  "+grey+"Enter to confirm · Esc to cancel"), 2, y
}

// holdScreen lets the screen stand still for a while behind a key in a dialog.
func (c *client) holdScreen() {
	if c.script.DialogLate <= 0 || c.frozen {
		return
	}
	c.frozen = true
	c.after(rand.N(c.script.DialogLate), func() { c.frozen = false })
}

// flicker draws a dialog anew again and again while it is up, its lower half
// missing for a moment.
func (c *client) flicker(d *dialog) {
	every := c.script.DialogFlicker
	if every <= 0 {
		return
	}
	c.after(every/2+rand.N(every), func() {
		if c.dialog != d {
			return
		}
		if !c.frozen {
			width, height := c.screen.size()
			f := frame{rows: make([]string, height), title: c.title()}
			rows, _, _ := d.draw(width, c.journal.cwd)
			rows = rows[:min(len(rows), 1+rand.IntN(len(rows)), height)]
			copy(f.rows[max(0, height-len(rows)-3):], rows)
			c.screen.show(f)
			c.frozen = true
			c.after(20*time.Millisecond+rand.N(60*time.Millisecond), func() { c.frozen = false })
		}
		c.flicker(d)
	})
}
