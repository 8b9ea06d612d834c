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
	s := sight{panes: tmux.NewQuery(sessions...), clients: transcript.NewQuery(), whole: whole, nonce: "fleet" + hex.EncodeToString(b[:])}
	if last != nil {
		s.panes, s.clients = s.panes.After(last.snap), s.clients.Knowing(last.sessions)
	}
	return s
}

// fragment is the sh text of the sight.
func (s sight) fragment() string {
	return fmt.Sprintf("(%s)\nprintf '%[2]s\\n'\n(%[3]s)\nprintf '%[2]s\\n'\n%[4]s", s.panes.Fragment(), s.nonce, s.clients.Fragment(), processFragment)
}

// parse reads what the fragment printed.
func (s sight) parse(out transport.Section) sighted {
	parts := bytes.SplitN(out.Out, []byte(s.nonce+"\n"), 3)
	for len(parts) < 3 {
		parts = append(parts, nil)
	}
	found := sighted{whole: true}
	found.snap, found.tmuxErr = tmuxAnswer(s.panes.Parse(parts[0]))
	found.sessions = s.clients.Parse(parts[1])
	found.table = parseProcesses(transport.Section{Out: parts[2], Ran: out.Ran, ExitCode: out.ExitCode})
	return found
}
