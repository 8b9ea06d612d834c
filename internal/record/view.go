package main

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// view is one look at the pane and at the witnesses beside it.
type view struct {
	raw   string   // what capture-pane -e printed
	rows  []string // the same without escapes
	facts string   // the line for the meta file
	title string
	alt   bool
	mode  bool
	x, y  int

	witnesses
}

// metaFormat is the form that every corpus of screens has.
const metaFormat = "cmd=#{pane_current_command} alt=#{alternate_on} cursor=#{cursor_x},#{cursor_y} title=#{pane_title} mode=#{pane_in_mode} hist=#{history_size}"

var metaLine = regexp.MustCompile(`^cmd=.* alt=([01]) cursor=(\d+),(\d+) title=(.*) mode=(\d*) hist=\d*$`)

var escapes = regexp.MustCompile("\x1b\\[[0-9;:]*m|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[\x0e\x0f]")

// see reads the facts and the screen in one command of tmux: a cursor of
// another moment belongs to another screen.
func (d *driver) see(ctx context.Context) (*view, error) {
	out, err := d.host.Tmux(ctx, "display-message", "-p", "-t", pane, metaFormat, ";", "capture-pane", "-p", "-e", "-t", pane)
	if err != nil {
		return nil, err
	}
	v, err := parseView(out)
	if err != nil {
		return nil, err
	}
	v.witnesses = d.ask()
	return v, nil
}

func parseView(out string) (*view, error) {
	facts, raw, _ := strings.Cut(out, "\n")
	m := metaLine.FindStringSubmatch(facts)
	if m == nil {
		return nil, fmt.Errorf("tmux told no facts of the pane: %q", facts)
	}
	v := &view{raw: raw, facts: facts, title: m[4], alt: m[1] == "1", mode: m[5] != "" && m[5] != "0"}
	v.x, _ = strconv.Atoi(m[2])
	v.y, _ = strconv.Atoi(m[3])
	v.rows = strings.Split(strings.TrimSuffix(escapes.ReplaceAllString(raw, ""), "\n"), "\n")
	return v, nil
}

// text is the whole screen in words.
func (v *view) text() string { return strings.Join(v.rows, "\n") }

// has tells whether the screen shows a text, wherever its lines were broken.
func (v *view) has(text string) bool {
	return strings.Contains(v.text(), text) || strings.Contains(squeeze(v.text()), squeeze(text))
}

// squeeze drops what a narrow pane changes: blanks, line breaks and frames.
func squeeze(text string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case ' ', '\n', '\u00a0', '│', '─':
			return -1
		}
		return r
	}, text)
}

// glyphs are how the row of a live input box begins: with a no-break space.
var glyphs = []string{"❯\u00a0", ">\u00a0", "!\u00a0", "#\u00a0"}

// boxRow is the row of the live input box, -1 where none is drawn.
func (v *view) boxRow() int {
	for i := len(v.rows) - 1; i >= 0; i-- {
		row := strings.TrimLeft(v.rows[i], "│ ")
		for _, glyph := range glyphs {
			if strings.HasPrefix(row, glyph) {
				return i
			}
		}
		// A screen reader gets a "$" instead.
		if strings.HasPrefix(row, "$") && v.has("[Screen Reader Mode") {
			return i
		}
	}
	return -1
}

// box is what the live input box holds, and whether there is one. Shell mode's
// "!" is a part of it.
func (v *view) box() (text string, ok bool) {
	at := v.boxRow()
	if at < 0 {
		return "", false
	}
	row := strings.Trim(v.rows[at], "│ ")
	mark, rest, found := strings.Cut(row, "\u00a0")
	if !found {
		return strings.TrimSpace(strings.TrimPrefix(row, "$")), true
	}
	_, raw, _ := strings.Cut(strings.Split(v.raw, "\n")[at], "\u00a0")
	text = withoutHint(strings.TrimRight(rest, " │\u00a0"), raw)
	if mark == "!" || mark == "#" {
		text = mark + text
	}
	return text, true
}

var (
	dimHint = regexp.MustCompile("^(?:\x1b\\[[0-9;]*m)*[^\x1b]\x1b\\[(?:0;)?2m")
	hints   = []string{"Press up to edit", "Once fixed, resend", `Try "`}
)

// withoutHint drops a hint: its first cell is the cursor and the rest is dim,
// or it is one of those known, where there are no colours.
func withoutHint(text, raw string) string {
	if dimHint.MatchString(raw) {
		return ""
	}
	for _, hint := range hints {
		if strings.HasPrefix(text, hint) {
			return ""
		}
	}
	return text
}
