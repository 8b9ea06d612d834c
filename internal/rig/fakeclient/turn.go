package fakeclient

import (
	"strings"
	"time"
)

// turn is the one that runs.
type turn struct {
	prompts [][]cell // one, or all that was queued
	began   time.Time
	said    bool // the first words of the answer show
	called  bool // a tool was called
	over    bool // its time is up, but a dialog keeps it
	silent  bool // it is not written down
}

// prompt is what is in the box as it gets into the conversation.
func (c *client) prompt(cells []cell) string { return prompt(cells, c.pasteID) }

// about is a turn's prompts, one below the other.
func (c *client) about(t *turn) string {
	var texts []string
	for _, p := range t.prompts {
		texts = append(texts, c.prompt(p))
	}
	return strings.Join(texts, "\n")
}

// beginning is what shows of an answer before its turn has ended.
const beginning = "Beginning."

// item is a part of what shows of the conversation.
type item struct {
	kind itemKind
	text string
}

type itemKind uint8

const (
	itemPrompt itemKind = iota
	itemAnswer
	itemDone
	itemInterrupted
	itemNote
)

// begin begins a turn with prompts; source says how they came.
func (c *client) begin(prompts [][]cell, source string) {
	t := &turn{prompts: prompts, began: time.Now(), silent: c.script.Record.Never}
	c.turn = t
	for _, p := range prompts {
		text := c.prompt(p)
		c.log.add(Submitted, text)
		c.items = append(c.items, item{itemPrompt, sent(p)})
		c.write(t, c.journal.user(text, source), c.script.Record.After, c.script.Record.Torn)
	}
	c.status()
	c.moment(OnTurn, 0)
	c.after(c.script.FirstToken, func() {
		if c.turn == t && !t.said && c.dialog == nil {
			c.say(t, beginning)
		}
	})
	c.after(c.script.Turn, func() {
		if c.turn != t {
			return
		}
		t.over = true
		if c.dialog == nil {
			c.endTurn()
		}
	})
}

// say shows what there is of a turn's answer.
func (c *client) say(t *turn, text string) {
	if !t.said {
		t.said = true
		c.items = append(c.items, item{itemAnswer, text})
		return
	}
	for i := len(c.items) - 1; i >= 0; i-- {
		if c.items[i].kind == itemAnswer {
			c.items[i].text = text
			return
		}
	}
}

// write puts a record of a turn into the conversation, unless the turn is kept
// out of it.
func (c *client) write(t *turn, o object, wait, torn time.Duration) {
	if !t.silent {
		c.journal.add(o, wait, torn)
	}
}

// endTurn ends the turn with its answer, and goes on with what is queued.
func (c *client) endTurn() {
	t := c.turn
	if t == nil {
		return
	}
	answer := c.script.Answer
	if answer == "" {
		first, _, _ := strings.Cut(strings.TrimSpace(shown(t.prompts[len(t.prompts)-1])), "\n")
		answer = "Done: " + first
	}
	took := time.Since(t.began)
	c.say(t, answer)
	c.items = append(c.items, item{itemDone, took.Truncate(time.Second).String()})
	next := c.dequeue()
	c.write(t, c.journal.assistant(object{"type": "text", "text": answer}, "end_turn"), 0, 0)
	c.write(t, c.journal.turnDuration(took), 0, 0)
	c.log.add(Ended, c.about(t))
	c.turn = nil
	c.goOn(next)
	c.moment(OnIdle, 0)
}

// enqueue lets a prompt wait for the end of the turn.
func (c *client) enqueue(cells []cell) {
	text := c.prompt(cells)
	c.log.add(Queued, text)
	c.queue = append(c.queue, cells)
	c.write(c.turn, c.journal.queued("enqueue", text), c.script.Record.After, c.script.Record.Torn)
}

// dequeue takes all that waits; the turn that it waited for still runs.
func (c *client) dequeue() [][]cell {
	all := c.queue
	for range all {
		c.write(c.turn, c.journal.queued("dequeue", ""), 0, 0)
	}
	c.queue = nil
	return all
}

// unqueue puts all that waits back into the box, before what is there.
func (c *client) unqueue() {
	var cells []cell
	for i, q := range c.queue {
		if i > 0 {
			cells = append(cells, cell{r: '\n'})
		}
		cells = append(cells, q...)
		c.write(c.turn, c.journal.queued("popAll", c.prompt(q)), 0, 0)
	}
	c.queue = nil
	c.log.add(Unqueued, shown(cells))
	if !c.box.empty() {
		cells = append(cells, cell{r: '\n'})
	}
	c.box.set(append(cells, c.box.cells...))
}

// goOn begins a turn with what was queued, all of it in one.
func (c *client) goOn(next [][]cell) {
	if len(next) > 0 {
		c.begin(next, "queued")
		return
	}
	c.status()
}

// interrupt breaks the turn off, and what is queued begins at once. Before the
// first word of an answer the prompt goes back into the box, and its record
// stays with nothing behind it.
func (c *client) interrupt() {
	t := c.turn
	c.log.add(Interrupted, c.about(t))
	next := c.dequeue()
	c.turn = nil
	if !t.said && !t.called && c.box.empty() && len(next) == 0 {
		for n := range t.prompts {
			if last := len(c.items) - 1; last >= n && c.items[last].kind == itemPrompt {
				c.items = c.items[:last]
			}
			if n > 0 {
				c.box.insert(plain("\n"))
			}
			c.box.insert(t.prompts[n])
		}
	} else {
		c.items = append(c.items, item{itemInterrupted, ""})
		if t.said {
			c.write(t, c.journal.assistant(object{"type": "text", "text": beginning}, nil), 0, 0)
		}
		c.write(t, c.journal.interrupted("[Request interrupted by user]"), 0, 0)
	}
	c.goOn(next)
}

// refuse ends the turn whose call a person did not allow or answer.
func (c *client) refuse(d *dialog) {
	t := c.turn
	if t == nil {
		return
	}
	c.log.add(Interrupted, c.about(t))
	c.write(t, c.journal.result(d.tool, "The user doesn't want to proceed with this tool use.", true), 0, 0)
	next := c.dequeue()
	c.write(t, c.journal.interrupted("[Request interrupted by user for tool use]"), 0, 0)
	c.turn = nil
	c.goOn(next)
}

// status says in the session file what the client does.
func (c *client) status() {
	var err error
	switch {
	case c.dialog != nil:
		err = c.session.say("waiting", c.dialog.waitingFor)
	case c.turn != nil:
		err = c.session.say("busy", "")
	default:
		err = c.session.say("idle", "")
	}
	if err != nil {
		c.log.add(Failed, err.Error())
	}
}
