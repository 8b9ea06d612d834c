package main

import (
	"fmt"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

// judge asks detect for its verdict on the screen alone.
func (c config) judge(v *view) detect.Verdict {
	return detect.Classify(detect.Evidence{
		Screen: []byte(v.raw), Width: c.width, Height: c.height, CursorX: v.x, CursorY: v.y,
		Title: v.title, Alternate: v.alt, CopyMode: v.mode,
	})
}

// dialogWords is a dialog as labels.tsv writes it: the labels, the chosen one
// with a star.
func dialogWords(d *detect.Dialog) string {
	if d == nil || len(d.Options) == 0 {
		return "-"
	}
	var words []string
	for i, option := range d.Options {
		if i == d.Selected {
			option = "*" + option
		}
		words = append(words, option)
	}
	return strings.Join(words, " | ")
}

// disagreements compares what was meant, what the witnesses say and what detect
// says of the screen.
func disagreements(s scene, w witnesses, v detect.Verdict) []string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	got := string(v.State)
	if !oneOf(s.state, got) {
		add("meant %s, detect says %s (%s)", s.state, got, v.Rule)
	}
	if word := draftWord(v.Draft); !oneOf(s.draft, word) && !(word == empty && oneOf(s.draft, noBox)) {
		add("a draft is meant: %s, detect sees %q", s.draft, v.Draft)
	}
	switch {
	case w.process == "gone" || w.process == "stopped":
		if got != crashed {
			add("the client is %s, detect says %s", w.process, got)
		}
		return all
	case got == crashed:
		add("the client is running, detect says crashed")
	}
	switch {
	case w.status == "busy" && got != busy && got != limited:
		add("the session file says busy, detect says %s", got)
	case w.status == "waiting" && got != gate && got != limited: // its menu waits too
		add("the session file says %s, detect says %s", w.session(), got)
	case w.status == "idle" && got == busy:
		add("the session file says idle, detect says busy")
	}
	if w.turns > 0 && got != busy && got != gate {
		add("the API answers %d turns, detect says %s", w.turns, got)
	}
	return all
}

func draftWord(text string) string {
	if text == "" {
		return empty
	}
	return draft
}

// oneOf tells whether a word is among those that "|" joins.
func oneOf(words, word string) bool {
	for w := range strings.SplitSeq(words, "|") {
		if w == word {
			return true
		}
	}
	return false
}
