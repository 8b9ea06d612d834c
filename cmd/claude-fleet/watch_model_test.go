package main

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// stand is an outside that notes what it is asked for.
type stand struct {
	seen   []fleet.Watched
	typing bool
	notice string
	asked  []string
	looks  int
}

func (s *stand) news() ([]fleet.Watched, string) {
	seen, notice := s.seen, s.notice
	s.seen, s.notice = nil, ""
	return seen, notice
}
func (s *stand) writing(now bool)     { s.typing = now }
func (s *stand) lookAgain()           { s.looks++ }
func (s *stand) question(host string) { s.asked = append(s.asked, host) }

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// modelOf is a table of hosts h0, h1, … in 80x24.
func modelOf(t testing.TB, hosts int) (*watchModel, *stand) {
	t.Helper()
	out := &stand{}
	var hs []fleet.Host
	for i := range hosts {
		hs = append(hs, fleet.Host{Name: fmt.Sprintf("h%d", i), Project: "app"})
	}
	f := fleet.New(&fleet.Table{Path: "/etc/fleet.conf", Hosts: hs})
	t.Cleanup(func() { _ = f.Close() })
	m := newWatchModel(&app{out: &bytes.Buffer{}, colour: colourNever}, f, hs, 5*time.Second, out)
	m.now = noon
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	return m, out
}

// see has the model told of a look at a host, now.
func see(m *watchModel, out *stand, host string, s fleet.Status) {
	for _, h := range m.hosts {
		if h.Name == host {
			s.Host = h
		}
	}
	out.seen = append(out.seen, fleet.Watched{Status: s, SeenAt: m.now})
	m.Update(wakeMsg{})
}

func stateIs(s detect.State) fleet.Status { return fleet.Status{Verdict: detect.Verdict{State: s}} }

var namedKeys = map[string]tea.KeyPressMsg{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
	"pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
	"ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "ctrl+z": {Code: 'z', Mod: tea.ModCtrl}, "backspace": {Code: tea.KeyBackspace},
}

// keys presses keys: named ones, and the letters of all other words.
func keys(m *watchModel, words ...string) {
	for _, word := range words {
		if k, ok := namedKeys[word]; ok {
			m.Update(k)
			continue
		}
		for _, r := range word {
			m.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
}

func screenOf(m *watchModel) string {
	lines, _ := m.lines()
	return strings.Join(lines, "\n")
}

// TestWatchKeys presses keys at a table of 40 hosts and tells what it ends for.
func TestWatchKeys(t *testing.T) {
	for _, c := range []struct {
		name     string
		keys     []string
		selected string
		do       action
	}{
		{"nothing", nil, "h0", action{}},
		{"down", []string{"j", "down"}, "h2", action{}},
		{"up at the top", []string{"k", "up"}, "h0", action{}},
		{"the last", []string{"G"}, "h39", action{}},
		{"beyond the last", []string{"G", "j"}, "h39", action{}},
		{"and the first", []string{"end", "g"}, "h0", action{}},
		{"a page", []string{"pgdown", "pgup", "pgdown"}, "h14", action{}},
		{"read", []string{"j", "enter"}, "h1", action{verb: verbRead, host: "h1"}},
		{"read by letter", []string{"r"}, "h0", action{verb: verbRead, host: "h0"}},
		{"attach", []string{"a"}, "h0", action{verb: verbAttach, host: "h0"}},
		{"explain", []string{"e"}, "h0", action{verb: verbExplain, host: "h0"}},
		{"quit", []string{"q"}, "h0", action{verb: verbQuit}},
		{"quit by ctrl+c", []string{"ctrl+c"}, "h0", action{verb: verbQuit}},
		{"suspend", []string{"ctrl+z"}, "h0", action{verb: verbSuspend}},
		{"keys typed behind one that ends it", []string{"a", "jqr"}, "h0", action{verb: verbAttach, host: "h0"}},
		{"an unknown key", []string{"x", "esc"}, "h0", action{}},
		{"send", []string{"j", "s", "quit it", "enter"}, "h1", action{verb: verbSend, host: "h1", prompt: "quit it"}},
		{"send, edited", []string{"s", "ab", "backspace", "c", "enter"}, "h0", action{verb: verbSend, host: "h0", prompt: "ac"}},
		{"send nothing", []string{"s", "enter", "  ", "enter"}, "h0", action{}},
		{"send, left", []string{"s", "hello", "esc"}, "h0", action{}},
		{"send, left, then enter", []string{"s", "hello", "esc", "enter"}, "h0", action{verb: verbRead, host: "h0"}},
		{"no selection while a prompt is written", []string{"s", "jjj", "down"}, "h0", action{}},
		{"quit while a prompt is written", []string{"s", "hello", "ctrl+c"}, "h0", action{verb: verbQuit}},
		{"interrupt", []string{"j", "i", "y"}, "h1", action{verb: verbInterrupt, host: "h1"}},
		{"interrupt, not confirmed", []string{"i", "enter"}, "h0", action{}},
		{"interrupt, left", []string{"i", "esc", "y"}, "h0", action{}},
		{"help", []string{"?", "q"}, "h0", action{}},
	} {
		m, _ := modelOf(t, 40)
		keys(m, c.keys...)
		if m.selected != c.selected || !reflect.DeepEqual(m.do, c.do) {
			t.Errorf("%s: %s is selected and the table ends for %+v", c.name, m.selected, m.do)
		}
	}
}

// TestWatchPaste takes a paste for text where a line is written, and nowhere for keys.
func TestWatchPaste(t *testing.T) {
	m, _ := modelOf(t, 2)
	m.Update(tea.PasteMsg{Content: "jq\r"})
	if m.selected != "h0" || m.do.verb != verbNone {
		t.Errorf("a paste was taken for keys: %s, %+v", m.selected, m.do)
	}
	keys(m, "s")
	m.Update(tea.PasteMsg{Content: "one\r\ntwo\r"})
	if m.do.verb != verbNone || !strings.Contains(screenOf(m), "send to h0: one⏎two⏎") {
		t.Errorf("a paste sent itself, or does not show: %+v\n%s", m.do, screenOf(m))
	}
	keys(m, "enter")
	if m.do.prompt != "one\ntwo\n" {
		t.Errorf("the prompt is %q", m.do.prompt)
	}
}

// TestWatchAnswer chooses options of a dialog.
func TestWatchAnswer(t *testing.T) {
	q := fleet.Question{Host: "h1", Title: "Which one?", Answerable: true, Options: []fleet.Choice{
		{Label: "SQLite", Selected: true}, {Label: "Drop it", Danger: "it may destroy something"}, {Label: "Type something.", Free: true}}}
	do := func(o fleet.AnswerOptions) action { return action{verb: verbAnswer, host: "h1", asked: q, answer: o} }
	keysOnly, other := q, q
	keysOnly.Answerable, keysOnly.Why = false, "it offers keys"
	other.Host = "h0"
	for _, c := range []struct {
		name  string
		reply questionMsg
		keys  []string
		do    action
		shows string
	}{
		{"it shows", questionMsg{host: "h1", q: q}, nil, action{}, "> SQLite"},
		{"the selected one, unread", questionMsg{host: "h1", q: q}, []string{"enter"}, action{}, "read it first"},
		{"the selected one", questionMsg{host: "h1", q: q}, []string{"j", "k", "enter"}, do(fleet.AnswerOptions{Label: "SQLite"}), ""},
		{"a dangerous one", questionMsg{host: "h1", q: q}, []string{"j", "enter"}, action{}, "at h1 it may destroy something: choose Drop it? y/N"},
		{"a dangerous one, confirmed", questionMsg{host: "h1", q: q}, []string{"j", "enter", "y"}, do(fleet.AnswerOptions{Label: "Drop it", Yes: true}), ""},
		{"a dangerous one, not confirmed", questionMsg{host: "h1", q: q}, []string{"j", "enter", "enter"}, action{}, "nothing was done"},
		{"a text", questionMsg{host: "h1", q: q}, []string{"end", "enter", "mine", "enter"}, do(fleet.AnswerOptions{Label: "Type something.", Text: "mine"}), ""},
		{"no text", questionMsg{host: "h1", q: q}, []string{"end", "enter", "enter"}, action{}, "it is empty"},
		{"left", questionMsg{host: "h1", q: q}, []string{"esc"}, action{}, "HOST"},
		{"one of keys", questionMsg{host: "h1", q: keysOnly}, nil, action{}, "answer it by attaching (a): it offers keys"},
		{"none", questionMsg{host: "h1", err: errors.New("h1: no dialog waits there")}, nil, action{}, "no dialog waits there"},
		{"of another host", questionMsg{host: "h0", q: other}, []string{"enter"}, action{}, "asking h1"},
	} {
		m, out := modelOf(t, 2)
		keys(m, "j", "n")
		if len(out.asked) != 1 || out.asked[0] != "h1" {
			t.Fatalf("%s: it asked %v", c.name, out.asked)
		}
		m.Update(c.reply)
		keys(m, c.keys...)
		if !reflect.DeepEqual(m.do, c.do) || !strings.Contains(screenOf(m), c.shows) {
			t.Errorf("%s: the table ends for %+v and shows\n%s", c.name, m.do, screenOf(m))
		}
	}
	// What comes when it is not waited for any more is nothing.
	m, _ := modelOf(t, 2)
	keys(m, "n", "esc")
	m.Update(questionMsg{host: "h0", q: other})
	if m.mode != modeTable {
		t.Errorf("a dialog that nobody waits for is shown:\n%s", screenOf(m))
	}
}

// TestWatchLookAgain has u look again, and u in a prompt be a letter.
func TestWatchLookAgain(t *testing.T) {
	m, out := modelOf(t, 1)
	keys(m, "u")
	keys(m, "s", "u", "esc")
	if out.looks != 1 {
		t.Errorf("it looked again %d times", out.looks)
	}
}

// TestWatchUnsent has a refused prompt come back for another try, at its own host
// alone, and none that may have been typed.
func TestWatchUnsent(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		kept string
	}{
		{"refused", shown(&fleet.Error{Class: fleet.ClassRefused}), "do it"},
		{"accepted", nil, ""},
		{"typed", &fleet.Error{Class: fleet.ClassTyped}, ""},
		{"not allowed", &fleet.Error{Class: fleet.ClassUsage}, "do it"},
		{"unproven", &fleet.Error{Class: fleet.ClassUnproven}, ""},
		{"unreachable", &fleet.Error{Class: fleet.ClassUnreachable}, ""},
	} {
		m, _ := modelOf(t, 2)
		m.sent(action{verb: verbSend, host: "h0", prompt: "do it"}, c.err)
		m.pressTable("s")
		if got := m.line.String(); m.mode != modePrompt || m.target != "h0" || got != c.kept {
			t.Errorf("%s: the line holds %q, want %q", c.name, got, c.kept)
		}
		m.press(tea.KeyPressMsg{Code: tea.KeyEscape})
		m.pressTable("j")
		m.pressTable("s")
		if got := m.line.String(); m.target != "h1" || got != "" {
			t.Errorf("%s: %s is offered %q", c.name, m.target, got)
		}
	}
	m, _ := modelOf(t, 1)
	m.sent(action{host: "h0", prompt: "first"}, &fleet.Error{Class: fleet.ClassRefused})
	m.sent(action{host: "h0", prompt: "first"}, nil)
	if len(m.unsent) != 0 {
		t.Errorf("kept although it arrived: %v", m.unsent)
	}
}

// TestWatchWhole lets nobody approve what does not show whole: a dialog that has no
// room. Where it has, a long row is folded, and a moment later Enter chooses.
func TestWatchWhole(t *testing.T) {
	q := fleet.Question{Host: "h0", Answerable: true, Asks: []string{"rm -rf " + strings.Repeat("a/b ", 40) + "END"}, Options: []fleet.Choice{{Label: "Yes", Selected: true}, {Label: "No"}}}
	for _, c := range []struct {
		width, height int
		chosen        bool
	}{{80, 24, true}, {200, 24, true}, {40, 8, false}, {20, 5, false}} {
		m, _ := modelOf(t, 1)
		m.Update(tea.WindowSizeMsg{Width: c.width, Height: c.height})
		keys(m, "n")
		m.Update(questionMsg{host: "h0", q: q})
		if shown := strings.Contains(strings.ReplaceAll(screenOf(m), "\n", ""), "END"); c.chosen && !shown {
			t.Errorf("%dx%d: its end is out of sight:\n%s", c.width, c.height, screenOf(m))
		}
		m.opened = m.opened.Add(-hesitation)
		keys(m, "enter")
		if got := m.do.verb == verbAnswer; got != c.chosen {
			t.Errorf("%dx%d: chosen %v:\n%s", c.width, c.height, got, screenOf(m))
		}
	}
}

// TestWatchTyping has the questions of logins wait while somebody writes or chooses.
func TestWatchTyping(t *testing.T) {
	m, out := modelOf(t, 1)
	for _, c := range []struct {
		key    string
		typing bool
	}{{"j", false}, {"s", true}, {"x", true}, {"esc", false}, {"i", true}, {"x", false}, {"n", true}, {"esc", false}, {"?", false}} {
		keys(m, c.key)
		if out.typing != c.typing {
			t.Errorf("behind %s the keys are somebody's: %v", c.key, out.typing)
		}
	}
}
