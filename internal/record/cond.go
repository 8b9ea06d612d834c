package main

import (
	"fmt"
	"strings"
	"time"
)

// cond is something to wait for.
type cond struct {
	what  string
	holds func(*view) bool
	// within is how long it may take; 0 means usual.
	within time.Duration
}

// usual is how long a screen may take to come; a client may take firstScreen to
// show its first.
const (
	usual       = 15 * time.Second
	firstScreen = 60 * time.Second
)

func (c cond) deadline() time.Duration {
	if c.within == 0 {
		return usual
	}
	return c.within
}

// slow gives a condition more time.
func slow(within time.Duration, c cond) cond {
	c.within = within
	return c
}

// shows: every one of the texts is on the screen.
func shows(texts ...string) cond {
	return cond{what: fmt.Sprintf("the screen shows %q", texts), holds: func(v *view) bool {
		for _, text := range texts {
			if !v.has(text) {
				return false
			}
		}
		return true
	}}
}

// showsAny: one of the texts is, as versions word it differently.
func showsAny(texts ...string) cond {
	return cond{what: fmt.Sprintf("the screen shows one of %q", texts), holds: func(v *view) bool {
		for _, text := range texts {
			if v.has(text) {
				return true
			}
		}
		return false
	}}
}

// idle: the box is live and empty, and nobody says that a turn runs.
var idle = cond{what: "the box is empty and idle", holds: func(v *view) bool {
	text, ok := v.box()
	return ok && text == "" && v.atRest()
}}

// typed: the box holds a text.
func typed(text string) cond {
	return cond{what: fmt.Sprintf("the box holds %q", text), holds: func(v *view) bool {
		got, ok := v.box()
		return ok && strings.HasPrefix(squeeze(got), squeeze(text))
	}}
}

// resting: the box is live, whatever it holds, and nobody says that a turn runs.
var resting = cond{what: "the box is idle", holds: func(v *view) bool {
	_, ok := v.box()
	return ok && v.atRest()
}}

// notWorking: nobody says that a turn runs, whether a box is drawn or not.
var notWorking = cond{what: "no turn runs", holds: func(v *view) bool {
	return v.turns == 0 && v.status != "busy" && (v.status != "" || !v.interruptible())
}}

// spins: the screen or its title shows that the client works. Which word it
// spins with is its own choice.
var spins = cond{what: "the client shows that it works", holds: func(v *view) bool {
	return v.has("esc to interrupt") || v.has("…") && strings.ContainsAny(v.text(), "✻✽✢✶·*") || strings.ContainsAny(v.title, spinGlyphs)
}}

// runs: a tool runs at the client, and the API waits for its result.
var runs = cond{what: "a tool runs", holds: func(v *view) bool {
	return v.turns == 0 && v.process == "running" && (v.status == "busy" || v.status == "" && v.interruptible())
}}

// gone: no input box is drawn, as while a dialog is up.
var gone = cond{what: "the input box is gone", holds: func(v *view) bool {
	_, ok := v.box()
	return !ok
}}

// working: the API is answering a turn.
var working = cond{what: "a turn is open", holds: func(v *view) bool { return v.turns > 0 }}

// ended: the client's process is gone.
var ended = cond{what: "the client has gone", holds: func(v *view) bool { return v.process == "gone" }}

// prompting: the cursor stands behind a shell's prompt. What a client left may
// still be to the right of it.
var prompting = cond{what: "the shell prompts", holds: func(v *view) bool {
	if v.y >= len(v.rows) {
		return false
	}
	row := []rune(v.rows[v.y] + " ")
	before := string(row[:min(v.x, len(row))])
	return strings.HasPrefix(before, "bash-") && (strings.HasSuffix(before, "# ") || strings.HasSuffix(before, "$ "))
}}

// suspended: job control has stopped it.
var suspended = cond{what: "the client is suspended", holds: func(v *view) bool { return v.process == "stopped" }}

// both: all of the conditions hold at once.
func both(conds ...cond) cond {
	var what []string
	var within time.Duration
	for _, c := range conds {
		what = append(what, c.what)
		within = max(within, c.within)
	}
	return cond{what: strings.Join(what, ", and "), within: within, holds: func(v *view) bool {
		for _, c := range conds {
			if !c.holds(v) {
				return false
			}
		}
		return true
	}}
}

// either: one of the conditions holds.
func either(a, b cond) cond {
	return cond{what: a.what + ", or " + b.what, within: max(a.within, b.within), holds: func(v *view) bool { return a.holds(v) || b.holds(v) }}
}

// not: the condition does not hold.
func not(c cond) cond {
	return cond{what: "not: " + c.what, within: c.within, holds: func(v *view) bool { return !c.holds(v) }}
}

// anything holds always: the screen only has to come to rest.
var anything = cond{what: "anything", holds: func(*view) bool { return true }}

// atRest tells whether every witness says that no turn runs. A version that
// writes no session file says it while it works, under the box or above it.
func (v *view) atRest() bool {
	if v.turns > 0 || v.process != "running" || v.mode {
		return false
	}
	if v.status != "" {
		// The file can be behind the screen by a moment.
		return v.status == "idle" && !strings.ContainsAny(v.title, spinGlyphs)
	}
	return !v.interruptible()
}

// interruptible tells whether the rows above the box say that Esc interrupts, that
// a retry is due or that a shell command runs, or the title that it works. Those farther up may be a quotation, and those below it a
// person's status line; versions that say it there have a session file.
func (v *view) interruptible() bool {
	at := max(0, v.boxRow())
	near := strings.Join(v.rows[max(0, at-4):at], "\n")
	for _, word := range []string{"esc to interrupt", "etrying in ", "Running…"} {
		if strings.Contains(near, word) {
			return true
		}
	}
	return strings.ContainsAny(v.title, spinGlyphs)
}

// spinGlyphs are those of the title while the client works, from 2.1.85 on.
const spinGlyphs = "⠂⠐◐◑◒◓"
