package main

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// details tell more of one host: the selected one, or the one that the keys are
// about now.
func (m *watchModel) details() []string {
	switch m.mode {
	case modePrompt:
		return []string{"A prompt for " + m.target + ": Enter sends it, Esc does not.", "Ctrl+J begins a new line; what is pasted may have several."}
	case modeText:
		return []string{"An answer for " + m.target + ": Enter gives it, Esc does not."}
	case modeChoose:
		return []string{"The dialog at " + m.target + ": Up and Down choose, Enter answers, Esc does not."}
	}
	w, ok := m.seen[m.selected]
	switch {
	case m.selected == "":
		return []string{"there are no hosts"}
	case !ok:
		return []string{m.selected + ": has not answered yet"}
	}
	return m.detailsOf(w)
}

// detailsOf is what a row has no room for, the most important first. Its lines are
// not neutralised.
func (m *watchModel) detailsOf(w fleet.Watched) []string {
	first := fmt.Sprintf("%s: %s", w.Host.Name, w.State)
	if age, stale := m.stale(w); stale {
		first += ", seen " + ageOf(age) + " ago"
	}
	if w.Why != "" && w.Err == nil {
		first += ": " + w.Why
	}
	lines := []string{first}
	if w.Err != nil {
		lines = append(lines, strings.Split(w.Err.Error(), "\n")...)
		if hint := fleet.HintOf(w.Err); hint != "" {
			lines = append(lines, strings.Split("what to do: "+hint, "\n")...)
		}
	}
	if d := w.Dialog; d != nil {
		lines = append(lines, "asks: "+d.Title)
		var options []string
		for i, o := range d.Options {
			if i == d.Selected {
				o = "> " + o
			}
			options = append(options, o)
		}
		if len(options) > 0 {
			lines = append(lines, "options: "+strings.Join(options, " | "))
		}
	}
	if w.Draft != "" {
		lines = append(lines, "draft: "+strings.ReplaceAll(w.Draft, "\n", " ⏎ "))
	}
	if w.ResetAt != nil {
		left := w.ResetAt.Sub(w.At.Add(m.now.Sub(w.SeenAt)))
		line := fmt.Sprintf("resets at %s, in %s", w.ResetAt.Format("2006-01-02 15:04 MST"), ageOf(left))
		if w.AutoResume {
			line += "; the client goes on by itself"
		}
		lines = append(lines, line)
	}
	if w.Retry != "" {
		lines = append(lines, w.Retry)
	}
	if w.Attached > 0 {
		lines = append(lines, fmt.Sprintf("attached terminals: %d", w.Attached))
	}
	return lines
}

// help are the keys, a line each.
func (m *watchModel) help() []string {
	var lines []string
	for _, k := range watchKeys {
		lines = append(lines, k.long)
	}
	return append(lines, "", "Any key leads back to the table.")
}

// dialog shows the dialog that is to be answered, and which of the lines is chosen.
func (m *watchModel) dialog() (lines []string, at int) {
	asks := m.asked.Asks
	if len(asks) == 0 && m.asked.Title != "" {
		asks = []string{m.asked.Title}
	}
	for _, row := range asks {
		lines = append(lines, m.folded(row)...)
	}
	lines = append(lines, "")
	for i, o := range m.asked.Options {
		mark := "  "
		if i == m.choice {
			mark, at = "> ", len(lines)
		}
		text := mark + o.Label
		switch {
		case o.Ticked != nil && *o.Ticked:
			text = mark + "[x] " + o.Label
		case o.Ticked != nil:
			text = mark + "[ ] " + o.Label
		}
		if o.Danger != "" {
			text += "  (" + o.Danger + ")"
		}
		lines = append(lines, m.folded(text)...)
	}
	return lines, at
}

// folded is a row of a dialog in lines of the terminal's width: what is approved has
// to be seen whole.
func (m *watchModel) folded(row string) []string {
	return strings.Split(ansi.Hardwrap(transport.Neutralise(row), max(1, m.width), true), "\n")
}

// foot is the last line, and the cursor's cell in it, -1 for none.
func (m *watchModel) foot() (string, int) {
	text := ""
	switch {
	case m.mode == modePrompt || m.mode == modeText:
		return m.footLine()
	case m.mode == modeConfirm:
		text = m.confirm + " y/N"
		if n := m.width - len(" y/N"); ansi.StringWidth(transport.Neutralise(text)) > m.width && n > 0 {
			text = cutEnd(transport.Neutralise(m.confirm), n) + " y/N"
		}
	case m.mode == modeFetch:
		text = "asking " + m.target + " for its dialog; Esc leads back"
	case m.note != "":
		text = m.note
	case m.mode == modeChoose:
		text = "up, down choose  enter answer  esc back"
	case m.mode == modeHelp:
		text = "any key leads back"
	default:
		var keys []string
		for _, k := range watchKeys {
			keys = append(keys, k.key+" "+k.short)
		}
		text = strings.Join(keys, "  ")
	}
	return cutEnd(transport.Neutralise(text), m.width), -1
}

// footLine is the line that is being written. Where there is little room, the text
// has it.
func (m *watchModel) footLine() (string, int) {
	label := "send to " + m.target + ": "
	if m.mode == modeText {
		label = "answer " + m.target + ": "
	}
	if m.note != "" {
		label += "(" + m.note + ") "
	}
	label = cutStart(transport.Neutralise(label), m.width/2)
	text, cursor := m.line.view(m.width - ansi.StringWidth(label))
	return label + text, min(ansi.StringWidth(label)+cursor, m.width-1)
}
