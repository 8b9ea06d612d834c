package fakeclient

import (
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
	tool       string // id of the call that waits for the answer; empty outside of a turn
}

// option is a row to choose.
type option struct{ label, note string }

// What the dialogs are about.
const (
	askedCommand  = "touch made.txt"
	askedQuestion = "Which database should it use?"
)

func newDialog(name, cwd string) *dialog {
	if name == DialogQuestion {
		return &dialog{name: name, waitingFor: "input needed", free: 2, options: []option{
			{"SQLite", "One file, no server"}, {"Postgres", "A server of its own"}, {"Type something.", ""}, {"Chat about this", ""},
		}}
	}
	return &dialog{name: DialogPermission, waitingFor: "permission prompt", free: -1, options: []option{
		{"Yes", ""}, {"Yes, and always allow access to " + cwd + " from this project", ""}, {"Yes, and switch to auto mode", "auto mode handles these prompts for you"}, {"No", ""},
	}}
}

// open shows a dialog over the box. In a turn it belongs to a tool's call.
func (c *client) open(name string) {
	d := newDialog(name, c.journal.cwd)
	if t := c.turn; t != nil {
		t.called = true
		d.tool = "toolu_" + randomHex(8)
		call := object{"type": "tool_use", "id": d.tool, "name": "Bash", "input": object{"command": askedCommand, "description": "Run the command"}}
		if name == DialogQuestion {
			call["name"], call["input"] = "AskUserQuestion", object{"questions": []object{{"question": askedQuestion, "header": "Database"}}}
		}
		c.write(t, c.journal.assistant(call, "tool_use"), 0, 0)
	}
	c.dialog = d
	c.log.add(Opened, name)
	c.status()
}

// dialogToken is what a dialog does with what comes (measured on 2.1.332): a
// lone digit chooses, Enter takes the row that is selected, Escape cancels. A
// burst of text is lost, and so is a paste, unless there is a row to type in:
// it takes that.
func (c *client) dialogToken(t token) {
	d := c.dialog
	if t.kind == tokenPaste || t.kind == tokenBurst {
		c.log.add(DialogPaste, t.text)
		if d.free >= 0 {
			d.selected, d.touched = d.free, true
			d.typed += strings.TrimRight(t.text, "\n")
		}
		return
	}
	c.log.add(DialogKey, t.text)
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
	case t.text == "Up":
		d.selected = max(0, d.selected-1)
	case t.text == "Down":
		d.selected = min(len(d.options)-1, d.selected+1)
	case t.text == "C-u" && typing:
		d.typed = ""
	case t.text == "BSpace" && typing && d.typed != "":
		runes := []rune(d.typed)
		d.typed = string(runes[:len(runes)-1])
	case t.text == "Enter" && !(typing && d.typed == ""):
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
		c.close("Did not run 1 call\n$ " + askedCommand)
		c.refuse(d)
		return
	}
	said, result := "Answered Claude's questions:\n· "+askedQuestion+" → "+label, fmt.Sprintf("Your questions have been answered: %q=%q.", askedQuestion, label)
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
	if d.name == DialogQuestion {
		c.close("Declined to answer Claude's questions:\n· " + askedQuestion)
	} else {
		c.close("Did not run 1 call\n$ " + askedCommand)
	}
	c.refuse(d)
}

// close takes the dialog off, and says in the conversation what became of it.
func (c *client) close(said string) {
	c.items = append(c.items, item{itemNote, said})
	c.dialog = nil
	c.status()
}
