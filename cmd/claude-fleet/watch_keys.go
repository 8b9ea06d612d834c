package main

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// watchKeys are the keys of the table, for its foot and its help.
var watchKeys = []struct{ key, short, long string }{
	{"enter", "read", "enter, r   read what was said last"},
	{"a", "attach", "a          attach to the session; leave it by tmux's detach key (Ctrl+B D)"},
	{"s", "send", "s          write a prompt and send it"},
	{"n", "answer", "n          show the dialog that waits, and choose an option"},
	{"e", "explain", "e          tell how the state was come to"},
	{"i", "interrupt", "i          interrupt the turn that runs"},
	{"u", "look", "u          look again now"},
	{"?", "help", "j k g G    select a host; also the arrows, PgUp, PgDn, Home, End"},
	{"q", "quit", "q, Ctrl+C  quit; Ctrl+Z suspend"},
}

// press does what a key means in the present mode.
func (m *watchModel) press(key tea.KeyPressMsg) {
	name := key.String()
	switch {
	case name == "ctrl+c":
		m.do = action{verb: verbQuit}
	case name == "ctrl+z":
		m.do = action{verb: verbSuspend}
	case m.mode == modeTable:
		m.pressTable(name)
	case m.mode == modeConfirm:
		m.mode = modeTable
		if name == "y" || name == "Y" {
			m.do = m.then
		} else {
			m.note = "nothing was done"
		}
	case m.mode == modeHelp, name == "esc", name == "q" && m.mode != modePrompt && m.mode != modeText:
		m.mode = modeTable
	case m.mode == modeChoose:
		m.pressChoose(name)
	case m.mode == modePrompt, m.mode == modeText:
		m.pressLine(key)
	}
}

func (m *watchModel) pressTable(name string) {
	page := max(1, m.bodyRows()-1)
	switch name {
	case "q":
		m.do = action{verb: verbQuit}
	case "up", "k":
		m.move(-1)
	case "down", "j":
		m.move(1)
	case "pgup", "ctrl+b":
		m.move(-page)
	case "pgdown", "ctrl+f", "space":
		m.move(page)
	case "g", "home":
		m.move(-len(m.hosts))
	case "G", "end":
		m.move(len(m.hosts))
	case "?":
		m.mode = modeHelp
	case "u":
		m.note = "looking again"
		m.out.lookAgain()
	default:
		if m.selected != "" {
			m.pressHost(name)
		}
	}
}

// pressHost is a key that is about the selected host.
func (m *watchModel) pressHost(name string) {
	m.target = m.selected
	switch name {
	case "enter", "r":
		m.do = action{verb: verbRead, host: m.target}
	case "a":
		m.do = action{verb: verbAttach, host: m.target}
	case "e":
		m.do = action{verb: verbExplain, host: m.target}
	case "s":
		m.mode, m.line = modePrompt, line{}
		m.line.insert(m.unsent[m.target])
	case "n":
		m.mode = modeFetch
		m.out.question(m.target)
	case "i":
		m.mode, m.confirm = modeConfirm, "interrupt the turn at "+m.target+"?"
		m.then = action{verb: verbInterrupt, host: m.target}
	}
}

// pressLine edits the line in the foot. Enter alone ends it, and an empty line is
// never taken for anything.
func (m *watchModel) pressLine(key tea.KeyPressMsg) {
	switch name := key.String(); {
	case name == "enter" && strings.TrimSpace(m.line.String()) == "":
		m.note = "it is empty; Esc leads back"
	case name == "enter" && m.mode == modePrompt:
		m.mode = modeTable
		m.do = action{verb: verbSend, host: m.target, prompt: m.line.String()}
	case name == "enter":
		m.choose(m.asked.Options[m.choice], m.line.String())
	case m.line.press(name):
	case key.Text != "" && key.Mod&(tea.ModCtrl|tea.ModAlt) == 0:
		m.line.insert(key.Text)
	}
}

// answered takes in the dialog that was asked for, if it is still wanted.
func (m *watchModel) answered(msg questionMsg) {
	if m.mode != modeFetch || msg.host != m.target {
		return
	}
	m.mode = modeTable
	switch {
	case msg.err != nil:
		m.note = msg.err.Error()
	case !msg.q.Answerable || len(msg.q.Options) == 0:
		m.note = fmt.Sprintf("%s: answer it by attaching (a): %s", msg.host, msg.q.Why)
	default:
		m.mode, m.asked, m.choice = modeChoose, msg.q, 0
		m.opened = time.Now()
		for i, o := range msg.q.Options {
			if o.Selected {
				m.choice = i
			}
		}
	}
}

// hesitation is how long a dialog stands before Enter chooses the row that the session
// has selected: an Enter that was on its way is not for a dialog that nobody has read.
const hesitation = 700 * time.Millisecond

func (m *watchModel) pressChoose(name string) {
	last := len(m.asked.Options) - 1
	switch name {
	case "up", "k", "down", "j", "g", "home", "G", "end":
		m.opened = time.Time{} // it has been read
	}
	switch name {
	case "up", "k":
		m.choice = max(m.choice-1, 0)
	case "down", "j":
		m.choice = min(m.choice+1, last)
	case "g", "home":
		m.choice = 0
	case "G", "end":
		m.choice = last
	case "enter":
		if lines, _ := m.dialog(); len(lines) > m.columnsRows()+m.bodyRows() {
			m.note = "this terminal has no room for all that it asks: attach (a), or make it larger"
			return
		}
		if time.Since(m.opened) < hesitation {
			m.note = "read it first, then press Enter"
			return
		}
		if o := m.asked.Options[m.choice]; o.Free {
			m.mode, m.line = modeText, line{}
		} else {
			m.choose(o, "")
		}
	}
}

// choose answers with an option, after one more question where the option needs
// --yes.
func (m *watchModel) choose(o fleet.Choice, text string) {
	do := action{verb: verbAnswer, host: m.target, asked: m.asked, answer: fleet.AnswerOptions{Label: o.Label, Text: text, Yes: o.Danger != ""}}
	if o.Danger == "" {
		m.mode, m.do = modeTable, do
		return
	}
	m.mode, m.then = modeConfirm, do
	m.confirm = fmt.Sprintf("at %s %s: choose %s?", m.target, o.Danger, o.Label) // the end may be cut
}
