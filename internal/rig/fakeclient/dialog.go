package fakeclient

import (
	"cmp"
	"fmt"
	"strings"
)

// dialog is one that is up.
type dialog struct {
	name       string
	waitingFor string // in the session file
	options    []option
	selected   int
	free       int    // the row in which an answer can be typed; -1 for none
	typed      string // what was typed there
	touched    bool   // that row was selected once
	about      string // what it asks about
	ticked     []bool // by row, where there are boxes to tick
	review     bool   // the page behind the boxes is up
	tool       string // id of the call that waits for the answer; empty outside of a turn
}

// option is a row to choose.
type option struct{ label, note string }

// What the dialogs are about.
const (
	askedCommand  = "touch made.txt"
	askedQuestion = "Which database should it use?"
	askedBoxes    = "Which features should it have?"
)

func newDialog(name, about, cwd string) *dialog {
	d := &dialog{name: name, waitingFor: "input needed", free: -1, about: about}
	switch name {
	case DialogQuestion:
		d.about, d.free = cmp.Or(about, askedQuestion), 2
		d.options = []option{{"SQLite", "One file, no server"}, {"Postgres", "A server of its own"}, {"Type something.", ""}, {"Chat about this", ""}}
	case DialogBoxes:
		d.about, d.free = cmp.Or(about, askedBoxes), 2
		d.options = []option{{"Search", "Find a record by its words"}, {"Export", "Write all records to a file"}, {"Type something", ""}, {"Submit", ""}, {"Chat about this", ""}}
		d.ticked = make([]bool, 3)
	case DialogBypass:
		d.options = []option{{"No, exit", ""}, {"Yes, I accept", ""}}
	default:
		d.name, d.waitingFor, d.about = DialogPermission, "permission prompt", cmp.Or(about, askedCommand)
		d.options = []option{
			{"Yes", ""}, {"Yes, and always allow access to " + cwd + " from this project", ""}, {"Yes, and switch to auto mode", "auto mode handles these prompts for you"}, {"No", ""},
		}
	}
	return d
}

// open shows a dialog over the box. In a turn it belongs to a tool's call.
func (c *client) open(f Fault) {
	name := f.Dialog
	d := newDialog(name, f.About, c.journal.cwd)
	d.selected = f.Selected
	if t := c.turn; t != nil && name != DialogBypass {
		t.called = true
		d.tool = "toolu_" + randomHex(8)
		call := object{"type": "tool_use", "id": d.tool, "name": "Bash", "input": object{"command": d.about, "description": "Run the command"}}
		if name != DialogPermission {
			call["name"], call["input"] = "AskUserQuestion", object{"questions": []object{{"question": d.about, "header": "Database"}}}
		}
		c.write(t, c.journal.assistant(call, "tool_use"), 0, 0)
	}
	c.dialog = d
	c.log.add(Opened, name)
	c.status()
	c.flicker(d)
}

// dialogToken is what a dialog does with what comes (measured on 2.1.332): a
// lone digit chooses, Enter takes the row that is selected, Escape cancels. A
// burst of text is lost, and so is a paste, unless there is a row to type in:
// it takes that. Above the first row of a question is the last that is not set off.
func (c *client) dialogToken(t token) {
	c.moment(OnChoice, 0)
	d := c.dialog
	if d == nil {
		return
	}
	if c.script.DeafChoices > 0 {
		c.script.DeafChoices--
		c.log.add(DialogDeaf, t.text)
		return
	}
	c.holdScreen()
	if t.kind == tokenPaste || t.kind == tokenBurst {
		c.log.add(DialogPaste, t.text)
		if d.free >= 0 && !d.review {
			d.selected, d.touched = d.free, true
			d.typed += strings.TrimRight(t.text, "\n")
			d.tick(d.free, true)
		}
		return
	}
	c.log.add(DialogKey, t.text)
	if d.name == DialogBoxes && c.boxesKey(t) {
		return
	}
	defer func() { d.touched = d.touched || d.free >= 0 && d.selected == d.free }()
	typing := d.free >= 0 && d.selected == d.free
	switch {
	case t.kind == tokenText && typing:
		d.typed += t.text
	case t.kind == tokenText:
		if n := int(t.text[0] - '1'); len(t.text) == 1 && n >= 0 && n < len(d.options) {
			d.selected = n
			if n != d.free {
				c.answer()
			}
		}
	case t.text == "Up" && d.selected == 0 && d.name == DialogQuestion:
		d.selected = d.free
	case t.text == "Up":
		d.selected = max(0, d.selected-1)
	case t.text == "Down":
		d.selected = min(len(d.options)-1, d.selected+1)
	case t.text == "C-u" && typing:
		d.typed = ""
	case t.text == "BSpace" && typing && d.typed != "":
		runes := []rune(d.typed)
		d.typed = string(runes[:len(runes)-1])
	case t.text == "Enter" && typing && d.typed == "":
		c.cancel()
	case t.text == "Enter":
		c.answer()
	case t.text == "Escape":
		c.cancel()
	}
}

// answer closes the dialog with the row that is selected. The last of a
// permission says no.
func (c *client) answer() {
	d := c.dialog
	label := d.options[d.selected].label
	if d.selected == d.free {
		label = d.typed
	}
	c.log.add(Answered, label)
	if d.name == DialogPermission && d.selected == len(d.options)-1 {
		c.close("Did not run 1 call\n$ " + d.about)
		c.refuse(d)
		return
	}
	if d.name == DialogBypass {
		c.quit = d.selected == 0
		c.dialog = nil
		c.status()
		return
	}
	said, result := "Answered Claude's questions:\n· "+d.about+" → "+label, fmt.Sprintf("Your questions have been answered: %q=%q.", d.about, label)
	if d.name == DialogPermission {
		said, result = "Ran 1 shell command", "done"
	}
	if c.turn != nil && d.tool != "" {
		c.write(c.turn, c.journal.result(d.tool, result, false), 0, 0)
	}
	c.close(said)
	if c.turn != nil && c.turn.over {
		c.endTurn()
	}
}

func (c *client) cancel() {
	d := c.dialog
	c.log.add(Cancelled, d.name)
	switch d.name {
	case DialogBypass:
		c.quit = true
	case DialogPermission:
		c.close("Did not run 1 call\n$ " + d.about)
	default:
		c.close("Declined to answer Claude's questions:\n· " + d.about)
	}
	c.refuse(d)
}

// close takes the dialog off, and says in the conversation what became of it.
func (c *client) close(said string) {
	c.items = append(c.items, item{itemNote, said})
	c.dialog = nil
	c.status()
}
