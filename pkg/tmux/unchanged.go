package tmux

import (
	"fmt"
	"strings"
	"time"
)

const (
	// quiet is how long before its screen was printed a pane's window has to have had
	// its last output for the time of that to tell any output after it: the time is in
	// whole seconds, and a clock that is set back by less than two goes unseen.
	quiet = 3 * time.Second
	// drawnAge is how long a screen is told that is not printed again.
	drawnAge = 20 * time.Second
)

// Unchanged is the query of one who has seen last of that machine, and to whom a
// screen need not be printed again whose pane has had no output since: Parse takes it
// from last. A screen changes without any where somebody resets the terminal (send-keys
// -R, with the cursor at 0,0), or swaps the pane into another window and back while it
// has output. So each is printed every 20 seconds at least, and this is for looks that
// only tell, and not for typing by.
//
// It goes by the time of a window's last output, which tmux 3.0 and newer keep for
// each, whatever monitor-activity says (3.3a).
func (q Query) Unchanged(last Snapshot) Query {
	q.drawn, q.last = map[string]Pane{}, last
	if !last.compares() || last.read.IsZero() {
		return q
	}
	since := max(q.asked.Sub(last.read), q.asked.Round(0).Sub(last.read.Round(0))) // the first leaves out that we slept
	for _, p := range last.Panes {
		if validPane(p.ID) && p.Screen != nil && !p.InMode && !p.Dead && !p.Activity.IsZero() &&
			p.Drawn.Sub(p.Activity) >= quiet && last.Time.Sub(p.Drawn)+max(since, 0) < drawnAge {
			q.drawn[p.ID] = p
		}
	}
	return q
}

// compares is whether the server compares two texts for us.
func (s Snapshot) compares() bool {
	var major int
	n, err := fmt.Sscanf(strings.TrimPrefix(s.Version, "next-"), "%d.", &major)
	return n == 1 && err == nil && major >= 3
}

// mark is markFormat of a pane.
func (p Pane) mark() string {
	alternate := 0
	if p.Alternate {
		alternate = 1
	}
	return fmt.Sprintf("%d/%d/%d/%d/%d/%d/%d/0/0", p.PID, p.Activity.Unix(), p.Width, p.Height, p.CursorX, p.CursorY, alternate)
}

// after is whether the server's clock has gone on since last as ours did, or further.
func (s Snapshot) after(last Snapshot) bool {
	least := s.asked.Sub(last.read) - time.Second // both are cut to whole ones
	return !s.Time.IsZero() && !last.read.IsZero() && s.Time.Sub(last.Time) >= max(least, 0)
}
