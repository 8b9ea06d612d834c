package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// TestWatchView looks at what the table shows of hosts.
func TestWatchView(t *testing.T) {
	draft := stateIs(detect.Ready)
	draft.Draft, draft.Flags = "half a\nthought", []string{"draft"}
	gate := stateIs(detect.Gate)
	gate.Why, gate.Dialog = "a menu is on the screen", &detect.Dialog{Title: "Which one?", Options: []string{"SQLite", "Postgres"}}
	limited := stateIs(detect.Limited)
	reset := noon.Add(2 * time.Hour)
	limited.At, limited.ResetAt, limited.AutoResume = noon, &reset, true
	dead := stateIs(detect.Unreachable)
	dead.Reason, dead.Err = "timeout", &fleet.Error{Class: fleet.ClassUnreachable, Host: "h0", Msg: "it is silent", Hint: "see whether it runs"}
	long := stateIs(detect.Busy)
	since := noon.Add(-59 * time.Second)
	long.Since, long.At = &since, noon
	for _, c := range []struct {
		name  string
		s     fleet.Status
		later time.Duration
		shows []string
		not   []string
	}{
		{"ready", stateIs(detect.Ready), 0, []string{"1 ready, 1 …  seen 12:00:00  /etc/fleet.conf", "> h0    app      ready", "  h1    app      …"}, []string{"ago"}},
		{"a draft", draft, 0, []string{"draft: half a ⏎ thought"}, nil},
		{"a dialog", gate, 0, []string{"h0: gate: a menu is on the screen", "asks: Which one?", "options: > SQLite | Postgres"}, nil},
		{"a limit", limited, time.Hour, []string{"resets at 2026-01-31 14:00 UTC, in 1h; the client goes on by itself"}, nil},
		{"no answer", dead, 0, []string{"unreachable", "(timeout)", "it is silent", "what to do: see whether it runs"}, nil},
		{"no answer for long", dead, time.Minute, nil, []string{"ago"}},
		{"since when", long, 0, []string{" 59s "}, []string{" 1m "}},
		{"since when, later", long, time.Second, []string{" 1m "}, []string{" 59s "}},
		{"seen within two looks", stateIs(detect.Ready), 20 * time.Second, nil, []string{"ago"}},
		{"stale", stateIs(detect.Ready), 21 * time.Second, []string{"ready (21s ago)", "h0: ready, seen 21s ago"}, nil},
	} {
		m, out := modelOf(t, 2)
		see(m, out, "h0", c.s)
		m.Update(tickMsg(noon.Add(c.later)))
		screen := screenOf(m)
		for _, want := range c.shows {
			if !strings.Contains(screen, want) {
				t.Errorf("%s: it does not show %q:\n%s", c.name, want, screen)
			}
		}
		for _, not := range c.not {
			if strings.Contains(screen, not) {
				t.Errorf("%s: it shows %q:\n%s", c.name, not, screen)
			}
		}
	}
}

// TestWatchScroll keeps the selected row in sight, and the selection at its host.
func TestWatchScroll(t *testing.T) {
	m, out := modelOf(t, 200)
	for _, move := range []string{"", "j", "G", "pgup", "pgup", "g", "pgdown", "end", "k", "home"} {
		keys(m, move)
		if !strings.Contains(screenOf(m), "> "+m.selected+" ") {
			t.Fatalf("after %s %s is selected and not in sight:\n%s", move, m.selected, screenOf(m))
		}
	}
	keys(m, "G")
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 8})
	see(m, out, "h3", stateIs(detect.Gate))
	if screen := screenOf(m); m.selected != "h199" || !strings.Contains(screen, "> h199 ") {
		t.Errorf("smaller, %s is selected:\n%s", m.selected, screen)
	}
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 40})
	if screen := screenOf(m); strings.Count(screen, "\n  h") < 25 {
		t.Errorf("larger, there is room left:\n%s", screen)
	}
}

// TestWatchSmall looks at the least screens on which the table says something.
func TestWatchSmall(t *testing.T) {
	for _, c := range []struct {
		width, height int
		want          string
	}{
		{20, 5, "1 ready, 1 busy\n> h0    busy\n  h1    ready\n\nenter read  a attac…"},
		{20, 2, "> h0    busy\nenter read  a attac…"},
		{12, 1, "> h0    busy"},
		{5, 1, "> …"},
		{0, 0, ""},
	} {
		m, out := modelOf(t, 2)
		see(m, out, "h0", stateIs(detect.Busy))
		see(m, out, "h1", stateIs(detect.Ready))
		m.lastSeen = time.Time{}
		m.path = ""
		m.Update(tea.WindowSizeMsg{Width: c.width, Height: c.height})
		var rows []string
		for _, l := range strings.Split(screenOf(m), "\n") {
			rows = append(rows, strings.TrimRight(l, " "))
		}
		if got := strings.Join(rows, "\n"); got != c.want {
			t.Errorf("%dx%d:\n%s\nnot\n%s", c.width, c.height, got, c.want)
		}
	}
}

// TestWatchColours says nothing by colour alone, and nothing in colour if told so.
func TestWatchColours(t *testing.T) {
	for _, mode := range []colourMode{colourAlways, colourNever} {
		m, out := modelOf(t, 2)
		m.app.colour = mode
		see(m, out, "h0", stateIs(detect.Gate))
		screen := screenOf(m)
		if coloured := strings.Contains(screen, "\x1b["); coloured != (mode == colourAlways) {
			t.Errorf("--color %s:\n%q", mode, screen)
		}
		if mode == colourAlways && !strings.Contains(screen, "\x1b[31mgate\x1b[0m") {
			t.Errorf("a gate is not red:\n%q", screen)
		}
		if !strings.Contains(ansi.Strip(screen), "> h0    app      gate") {
			t.Errorf("--color %s does not show what is selected:\n%s", mode, screen)
		}
	}
}

// hostile is a status in which every text of the host's is s.
func hostile(s string) fleet.Status {
	return fleet.Status{
		Verdict: detect.Verdict{State: detect.Gate, Why: s, Draft: s, Retry: s, Dialog: &detect.Dialog{Title: s, Options: []string{s, s}}},
		At:      noon, Git: &fleet.Git{Branch: s, Dirty: 3}, Reason: s, Flags: []string{"draft", s}, Err: errors.New(s),
	}
}

// FuzzWatchView holds the screen to its size and free of a host's escapes, whatever
// hosts say, in every mode and size.
func FuzzWatchView(f *testing.F) {
	for _, s := range []string{"plain", "\x1b[2J\x1b]0;title\a", "a\nb\rc\td", "世界世界世界世界世界", "e\u0301\u202e\u200b\u200d", "\xff\xfe", "👩‍👩‍👧‍👦🇳🇴", "[x] \x9b31m"} {
		for _, size := range []int{0, 1, 5, 20, 80} {
			f.Add(s, size, 24, "")
			f.Add(s, 80, size, "jn")
			f.Add(s, size, size/4, "s"+s)
		}
	}
	f.Fuzz(func(t *testing.T, text string, width, height int, pressed string) {
		if width < -1 || width > 300 || height < -1 || height > 100 || len(pressed) > 50 || len(text) > 1000 {
			return
		}
		m, out := modelOf(t, 9)
		m.Update(tea.WindowSizeMsg{Width: width, Height: height})
		see(m, out, "h0", hostile(text))
		see(m, out, "h1", stateIs(detect.Ready))
		keys(m, pressed)
		q := fleet.Question{Host: m.target, Asks: []string{text, text}, Answerable: true, Options: []fleet.Choice{{Label: text}, {Label: text, Danger: text}, {Label: text, Free: true}}}
		for _, step := range []string{"", "?", "x", "i", "n", "n", "j", "enter", "x", "j", "enter", text, "esc", "s", text, "enter"} {
			keys(m, step)
			if m.mode == modeFetch {
				q.Host = m.target
				m.Update(questionMsg{host: m.target, q: q})
			}
			m.do = action{}
			checkScreen(t, m, fmt.Sprintf("%q behind %q", step, pressed))
		}
		m.Update(questionMsg{host: m.target, err: errors.New(text)})
		out.notice = text
		m.Update(wakeMsg{})
		m.Update(tickMsg(noon.Add(time.Hour)))
		checkScreen(t, m, "a notice")
	})
}

func checkScreen(t *testing.T, m *watchModel, what string) {
	t.Helper()
	lines, cursor := m.lines()
	if len(lines) > max(0, m.height) || cursor >= max(1, m.width) {
		t.Fatalf("%s: %d lines, the cursor at %d, in %dx%d", what, len(lines), cursor, m.width, m.height)
	}
	for _, l := range lines {
		if n := ansi.StringWidth(l); n > m.width || strings.ContainsFunc(l, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
			t.Fatalf("%s: a line of %d cells in %dx%d, or not neutral: %q", what, n, m.width, m.height, l)
		}
	}
}
