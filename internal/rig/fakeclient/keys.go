package fakeclient

import (
	"slices"
	"strings"
	"time"
)

// What the row above the box says at its right end.
const (
	noticeEffort   = "◐ medium · /effort"
	noticeEditor   = "ctrl+g to edit in Vim"
	noticeYank     = "ctrl+y to paste deleted text"
	noticeEscape   = "esc again to clear"
	noticeStashed  = "draft stashed"
	noticeRestored = "draft restored"
)

// againWait is how long a key that has to be pressed twice waits for the
// second, and expandWait how long the footer offers to expand a paste (about
// that on 2.1.332).
const (
	againWait  = 800 * time.Millisecond
	expandWait = 8 * time.Second
)

// take gives one piece of input to what has the focus.
func (c *client) take(t token) {
	if t.kind == tokenPaste {
		c.passed = -1
		c.log.add(Paste, t.text)
		c.moment(OnPasted, 0)
		t.text = c.dropped(t.text)
	} else if t.kind == tokenBurst {
		c.log.add(Burst, t.text)
	} else if t.text != "FocusIn" && t.text != "FocusOut" {
		c.log.add(Key, t.text)
	}
	if t.kind == tokenKey && t.text == "Enter" {
		c.moment(OnEnter, 0)
	}
	if c.dialog != nil {
		c.dialogToken(t)
		return
	}
	switch t.kind {
	case tokenPaste:
		if d := c.script.DeafAfterPaste; d > 0 {
			c.deafTill = time.Now().Add(d)
		}
		c.pasted(t.text)
		c.moment(OnTaken, 0)
	case tokenBurst:
		c.pasted(t.text)
	case tokenText:
		c.text(t.text)
	case tokenKey:
		c.key(t.text)
	}
}

// dropped is a paste without what the script takes out of it.
func (c *client) dropped(text string) string {
	d := c.script.Drop
	if d.To <= d.From || d.To > len(text) {
		return text
	}
	return text[:d.From] + text[d.To:]
}

// text is what came unframed.
func (c *client) text(text string) {
	if c.vimNow {
		for _, r := range text {
			c.vimCommand(r)
		}
		return
	}
	c.typed(plain(text))
}

// pasted puts a paste into the box. A large one that is pasted again at once
// opens the chip that it was, which stays framed in the conversation.
func (c *client) pasted(text string) {
	_, rows := c.screen.size()
	cells := pasted(text, rows, &c.chips)
	if len(cells) != 1 || cells[0].chip == nil {
		c.typed(cells)
		return
	}
	if at := c.box.at; at > 0 && c.box.cells[at-1].chip != nil && c.box.cells[at-1].chip.text == cells[0].chip.text && c.expandable() {
		c.box.cells[at-1].chip.label = cells[0].chip.text
		c.chips--
		return
	}
	c.typed(cells)
	c.expandTill = time.Now().Add(expandWait)
	c.after(expandWait, func() {}) // the footer goes back by then
}

// expandable tells whether the large paste that came last may still be opened.
func (c *client) expandable() bool { return time.Now().Before(c.expandTill) }

// typed puts text into the box. A lone digit in an empty box answers the survey.
func (c *client) typed(cells []cell) {
	if c.survey && c.box.empty() && len(cells) == 1 && cells[0].r >= '0' && cells[0].r <= '3' {
		c.survey = false
		c.log.add(Rated, string(cells[0].r))
		return
	}
	c.box.insert(cells)
	c.past = 0
}

// vimCommand is a key in NORMAL mode: those that go on to INSERT, and x. The
// others do nothing here.
func (c *client) vimCommand(r rune) {
	if !c.vimNow {
		c.typed(plain(string(r))) // one before it in the same burst went on to INSERT
		return
	}
	switch r {
	case 'a':
		c.box.at = min(c.box.at+1, c.box.lineEnd())
		c.vimNow = false
	case 'i':
		c.vimNow = false
	case 'A':
		c.box.at = c.box.lineEnd()
		c.vimNow = false
	case 'I':
		c.box.at = c.box.lineStart()
		c.vimNow = false
	case 'x':
		if c.box.at < len(c.box.cells) {
			c.box.remove(c.box.at, c.box.at+1)
		}
	}
}

// key is one key in the box.
func (c *client) key(name string) {
	again, escAgain := c.exitHint, c.escHint
	c.exitHint, c.escHint = false, false
	if name != "C-u" {
		c.box.killing = false
	}
	switch name {
	case "Enter":
		c.enter()
	case "C-j", "M-Enter":
		c.typed(plain("\n"))
	case "BSpace":
		c.box.backspace()
	case "DC", "C-d":
		if c.box.at < len(c.box.cells) {
			c.box.remove(c.box.at, c.box.at+1)
		}
	case "Left", "C-b":
		c.box.at = max(0, c.box.at-1)
	case "Right", "C-f":
		c.box.at = min(len(c.box.cells), c.box.at+1)
	case "Home", "C-a":
		c.box.at = c.box.lineStart()
	case "End", "C-e":
		c.box.at = c.box.lineEnd()
	case "Up":
		c.up()
	case "Down":
		c.down()
	case "C-u":
		c.killRow()
	case "C-y":
		if !c.vimNow {
			c.typed(slices.Clone(c.box.killed))
		}
	case "C-s":
		c.stashKey()
	case "C-c":
		c.interruptKey(again)
	case "Escape":
		c.escapeKey(escAgain)
	}
}

func (c *client) killRow() {
	if c.box.empty() {
		return
	}
	width, _ := c.screen.size()
	c.box.kill(boxWidth(width))
	c.notice = noticeYank
}

// up goes through what is queued, the lines of the box, and what was sent, in
// that order.
func (c *client) up() {
	switch {
	case len(c.queue) > 0:
		c.unqueue()
	case c.box.upDown(true):
	case c.past < len(c.history):
		c.past++
		c.box.set(slices.Clone(c.history[len(c.history)-c.past]))
	}
}

func (c *client) down() {
	switch {
	case c.box.upDown(false):
	case c.past > 1:
		c.past--
		c.box.set(slices.Clone(c.history[len(c.history)-c.past]))
	case c.past == 1:
		c.past = 0
		c.box.clear()
	}
}

// stashKey puts the draft aside, over one that is there already, or takes it
// back into an empty box.
func (c *client) stashKey() {
	if c.box.empty() {
		c.unstash()
		return
	}
	c.log.add(Stashed, shown(c.box.cells))
	c.stash = c.box.cells
	c.box.clear()
}

func (c *client) unstash() {
	if len(c.stash) == 0 {
		return
	}
	c.log.add(Unstashed, shown(c.stash))
	c.notice = noticeRestored
	c.box.set(c.stash)
	c.stash = nil
}

// remember puts what was in the box where Up finds it.
func (c *client) remember() {
	c.history = append(c.history, slices.Clone(c.box.cells))
	c.past = 0
}

// interruptKey is C-c: it breaks a turn off and leaves the draft; else it drops
// the draft; and again, it ends the program.
func (c *client) interruptKey(again bool) {
	switch {
	case c.turn != nil:
		c.interrupt()
	case again:
		c.quit = true
	default:
		if !c.box.empty() {
			c.log.add(Cleared, shown(c.box.cells))
			c.remember()
			c.box.clear()
		}
		c.exitHint = true
		c.after(againWait, func() { c.exitHint = false })
	}
}

// escapeKey is Escape: it breaks a turn off; else it leaves INSERT, and twice it
// drops the draft.
func (c *client) escapeKey(again bool) {
	switch {
	case c.vim && !c.vimNow:
		// In NORMAL the cursor stands on a character, not behind the last.
		c.vimNow = true
		if c.box.at > c.box.lineStart() {
			c.box.at--
		}
	case c.turn != nil:
		c.interrupt()
	case again:
		c.log.add(Cleared, shown(c.box.cells))
		c.remember()
		c.box.clear()
	case !c.box.empty():
		c.escHint = true
		c.after(4*againWait, func() { c.escHint = false })
	}
}

// enter submits what is in the box, or waits with it behind a turn. Behind a
// backslash it is a line end.
func (c *client) enter() {
	switch {
	case c.box.at > 0 && c.box.cells[c.box.at-1].r == '\\':
		c.box.backspace()
		c.typed(plain("\n"))
		return
	case strings.TrimSpace(shown(c.box.cells)) == "":
		return
	case time.Now().Before(c.deafTill):
		c.log.add(EnterDeaf, "after a paste")
		return
	case c.script.DeafEnters > 0:
		c.script.DeafEnters--
		c.log.add(EnterDeaf, "by count")
		return
	}
	cells := c.box.cells
	c.remember()
	c.box.clear()
	c.expandTill = time.Time{}
	if strings.TrimSpace(shown(cells)) == "/exit" {
		c.quit = true
		return
	}
	if c.turn != nil {
		c.enqueue(cells)
	} else {
		c.begin([][]cell{cells}, "typed")
	}
	c.unstash()
	if d := c.script.LateRedraw; d > 0 {
		c.frozen = true
		c.after(d, func() { c.frozen = false })
	}
}
