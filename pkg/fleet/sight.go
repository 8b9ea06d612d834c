package fleet

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transcript"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// sight is the part of a look that finds panes, their clients and the processes
// below them. It is one section of a script, since each of its fragments goes by
// what the one before left in a variable.
type sight struct {
	panes   tmux.Query
	clients transcript.Query
	whole   bool
	nonce   string
}

// sighted is what a sight found.
type sighted struct {
	snap     tmux.Snapshot
	tmuxErr  error
	sessions []transcript.Session
	// table has every process if whole. Else it has, of each pane asked for, the
	// live client in front and what holds that, which is enough to judge a session
	// by: it tells nothing of what else runs there.
	table processes
	whole bool
}

// newSight asks for the sessions named. last is what the look before found on that
// machine, of whichever sessions, or nil: it makes the look cheaper and no less
// true. whole asks for every process, as the verbs need that end one.
func newSight(last *sighted, whole bool, sessions ...string) sight {
	var b [8]byte
	// crypto/rand.Read never fails: it ends the program instead.
	_, _ = rand.Read(b[:])
	s := sight{panes: tmux.NewQuery(sessions...), clients: transcript.NewQuery().Under(tmux.PanePIDs, tmux.DuePIDs), whole: whole, nonce: "fleet" + hex.EncodeToString(b[:])}
	if last != nil {
		s.panes, s.clients = s.panes.After(last.snap), s.clients.Knowing(last.sessions)
		if !whole { // nor does anybody type by it
			s.panes = s.panes.Unchanged(last.snap)
		}
	}
	return s
}

// sightPrelude defines the functions of a sight's fragment. It is one constant, so
// that a shell which stays is given it once.
const sightPrelude = tmux.QueryPrelude + transcript.QueryPrelude + `fleet_table() {
printf '%s processes\n' "$fleet_sn"
` + processFragment + `
printf '%s %s\n' "$fleet_sn" "$?"
}
`

// fragment is the sh text of the sight, where sightPrelude was run before. Where
// every pane asked for has its client, nobody asks for the processes; without panes
// nobody asks for anything more.
func (s sight) fragment() string {
	lone := `[ -z "$` + transcript.LonePIDs + `" ] || `
	if s.whole {
		lone = ""
	}
	return fmt.Sprintf("fleet_sn=%[1]s\n%[2]sif [ -n \"$%[3]s\" ]; then\nprintf '%%s clients\\n' \"$fleet_sn\"\n%[4]s%[5]sfleet_table\nfi\n",
		s.nonce, s.panes.Call(), tmux.PanePIDs, s.clients.Call(), lone)
}

// parse reads what the fragment printed.
func (s sight) parse(out transport.Section) sighted {
	rest, ended, all := bytes.Cut(out.Out, []byte(s.nonce+" processes\n"))
	panes, clients, _ := bytes.Cut(rest, []byte(s.nonce+" clients\n"))
	var found sighted
	found.snap, found.tmuxErr = tmuxAnswer(s.panes.Parse(panes))
	found.sessions = s.clients.Parse(clients)
	if all {
		if table, code, _ := bytes.Cut(ended, []byte(s.nonce+" ")); string(code) == "0\n" {
			found.table, found.whole = parseProcesses(transport.Section{Out: table, Ran: true}), true
		}
		return found
	}
	found.table = processes{}
	for _, p := range s.clients.Processes(clients) {
		found.table[p.PID] = process{parent: p.Parent, foreground: p.Foreground, stat: p.State, name: programName(p.Name)}
	}
	return found
}
