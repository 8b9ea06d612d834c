package fleet

import (
	"slices"

	"github.com/claude-fleet/claude-fleet/pkg/transcript"
)

// around is what runs in a pane around its client.
type around struct {
	holders []int    // what the client runs in, but for shells: npx, a supervisor
	beside  []string // the names of what runs there and holds no client
}

// clientOf is the process of the client that runs in a pane: the one that says so
// itself, else the one that is called so. It is 0 where none is known.
func (t processes) clientOf(pane int, known map[int]bool, s *transcript.Session) int {
	if s != nil {
		return s.PID
	}
	pid, _ := t.client(pane, known)
	return pid
}

// around sorts what runs under a pane, but for shells, their helpers and what the
// client has started.
func (t processes) around(pane, client int) (a around) {
	for pid, p := range t {
		switch {
		case !t.under(pid, pane) || shells[p.name] || helper(p.name):
		case client != 0 && t.under(pid, client):
		case client != 0 && t.under(client, pid):
			a.holders = append(a.holders, pid)
		case pid != pane:
			a.beside = append(a.beside, p.name)
		}
	}
	slices.Sort(a.holders)
	slices.Sort(a.beside)
	return a
}
