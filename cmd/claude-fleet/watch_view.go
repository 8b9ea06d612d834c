package main

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// Attributes of text, painted as colours are.
const (
	bold  colour = "1"
	faint colour = "2"
)

// What a lower screen does without, from the top: details, the columns' head, the
// head line, the foot. One row of the table stays to the last.
func (m *watchModel) headRows() int    { return atLeast(m.height, 3, 1) }
func (m *watchModel) footRows() int    { return atLeast(m.height, 2, 1) }
func (m *watchModel) columnsRows() int { return atLeast(m.height, 6, 1) }
func (m *watchModel) detailRows() int {
	return max(atLeast(m.height, 7, 1), atLeast(m.height, 10, 3), atLeast(m.height, 16, 6))
}

func atLeast(height, least, rows int) int {
	if height >= least {
		return rows
	}
	return 0
}

// bodyRows is how many rows of the table have room.
func (m *watchModel) bodyRows() int {
	return max(0, m.height-m.headRows()-m.footRows()-m.columnsRows()-m.detailRows())
}

// View implements tea.Model.
func (m *watchModel) View() tea.View {
	lines, x := m.lines()
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen = true
	if x >= 0 {
		v.Cursor = tea.NewCursor(x, len(lines)-1)
	}
	return v
}

// lines are the rows of the screen, none wider than it and no more than it has, and
// the cell of the cursor in the last of them, -1 for none.
func (m *watchModel) lines() (lines []string, cursor int) {
	if m.width <= 0 || m.height <= 0 {
		return nil, -1
	}
	if m.headRows() > 0 {
		lines = append(lines, m.paint(bold, cutEnd(m.headLine(), m.width)))
	}
	rows := m.columnsRows() + m.bodyRows()
	switch m.mode {
	case modeHelp:
		lines = append(lines, m.block(m.help(), 0, rows)...)
	case modeChoose, modeText:
		text, at := m.dialog()
		lines = append(lines, m.block(text, at, rows)...)
	default:
		lines = append(lines, m.table()...)
	}
	if n := m.detailRows(); n > 0 {
		lines = append(lines, m.block(append([]string{m.rule()}, m.details()...), 0, n)...)
	}
	if m.footRows() > 0 {
		foot, x := m.foot()
		return append(lines, foot), x
	}
	return lines, -1
}

func (m *watchModel) paint(c colour, text string) string { return m.app.paint(c, text) }

// block shows plain lines in that many rows, cut to the width: the part around the
// line at, and blank rows where there are too few.
func (m *watchModel) block(text []string, at, rows int) []string {
	from := min(max(0, at-rows/2), max(0, len(text)-rows))
	lines := make([]string, rows)
	for i := range lines {
		if from+i < len(text) {
			lines[i] = cutEnd(transport.Neutralise(text[from+i]), m.width)
		}
	}
	return lines
}

// headLine tells of the whole fleet: first what counts most, since its end is cut.
func (m *watchModel) headLine() string {
	counts := map[detect.State]int{}
	waits := 0
	for _, h := range m.hosts {
		if w, ok := m.seen[h.Name]; ok {
			counts[w.State]++
		} else {
			waits++
		}
	}
	var parts []string
	for _, s := range []detect.State{detect.Ready, detect.Busy, detect.Gate, detect.Limited, detect.Unauth, detect.Crashed, detect.Down, detect.Unknown, detect.Unreachable} {
		if n := counts[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	if waits > 0 {
		parts = append(parts, fmt.Sprintf("%d %s", waits, ellipsis))
	}
	line := strings.Join(parts, ", ")
	if !m.lastSeen.IsZero() {
		line += "  seen " + m.lastSeen.Format(time.TimeOnly)
	}
	if m.path != "" {
		line += "  " + transport.Neutralise(m.path)
	}
	return line
}

// table are the head of the columns and the rows in sight.
func (m *watchModel) table() []string {
	body := m.bodyRows()
	selected := m.index()
	m.top = min(max(m.top, selected-body+1), selected)
	m.top = max(0, min(m.top, len(m.hosts)-body))

	cells := make([][]string, len(m.hosts))
	for i, h := range m.hosts {
		cells[i] = m.cells(h)
	}
	g := fit(statusColumns(m.hosts), cells, max(1, m.width-2))
	var lines []string
	if m.columnsRows() > 0 {
		lines = append(lines, cutEnd("  "+g.head(), m.width))
	}
	for i := m.top; i < m.top+body; i++ {
		if i >= len(m.hosts) {
			lines = append(lines, "")
			continue
		}
		mark := "  "
		if i == selected {
			mark = "> "
		}
		lines = append(lines, ansi.Truncate(m.paint(bold, mark)+g.line(cells[i], m.painter(m.hosts[i])), m.width, ""))
	}
	return lines
}

// cells is the row of a host. Staleness is said in words, in a column that stays.
func (m *watchModel) cells(h fleet.Host) []string {
	w, ok := m.seen[h.Name]
	if !ok {
		return []string{h.Name, h.Project, ellipsis}
	}
	s := w.Status
	if !s.At.IsZero() {
		s.At = s.At.Add(m.now.Sub(w.SeenAt)) // what it is on the host's clock now
	}
	cells := statusCells(s)
	if age, stale := m.stale(w); stale {
		cells[statusState] += " (" + ageOf(age) + " ago)"
	}
	return cells
}

func ageOf(age time.Duration) string {
	now := time.Unix(0, 0).Add(age)
	from := time.Unix(0, 0)
	return since(&from, now)
}

func (m *watchModel) painter(h fleet.Host) func(int, string) string {
	w, ok := m.seen[h.Name]
	if _, stale := m.stale(w); !ok || stale {
		return func(_ int, text string) string { return m.paint(faint, text) }
	}
	paint := m.app.paintStatus(w.Status)
	return func(column int, text string) string {
		if column != statusState && h.Name == m.selected {
			return m.paint(bold, text)
		}
		return paint(column, text)
	}
}

// rule parts the table from what is below it.
func (m *watchModel) rule() string { return strings.Repeat("-", max(0, m.width)) }
