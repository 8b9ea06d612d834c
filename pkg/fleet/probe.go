package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transcript"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// seen is all that one probe saw of one host. Status is the part of it that
// callers read.
type seen struct {
	Status
	pane     *tmux.Pane          // the client pane; nil when there is none
	session  *transcript.Session // of the client that runs in it; nil when none is known
	evidence detect.Evidence
	home     string   // the workdir as the host resolved it; empty when it is missing
	jobs     []string // what else runs under the pane than shells and the client
	behind   bool     // it was launched before the token's file was written
	client   int      // the client's process; 0 when none is known to run in the pane
	around            // the client
}

// group is what one probe asks for: hosts on the same machine with the same
// deadline.
type group struct {
	endpoint transport.Endpoint
	timeout  time.Duration
	hosts    []Host
	memory   *memory // of whoever looks again and again; nil: nothing is known
	lean     bool    // what runs in a pane beside its client is not asked for
	glance   bool    // of one look that only tells
	recall   *recall // where the memory is from, if a server keeps it
}

// remembering is the group for one who looks at its states again and again.
func (g group) remembering() group {
	g.memory, g.lean = newMemory(), true
	return g
}

// groups sorts hosts by machine and deadline, in table order.
func groups(hosts []Host) []group {
	var gs []group
	at := map[string]int{}
	for _, h := range hosts {
		key := fmt.Sprintf("%#v %d", h.endpoint(), h.Timeout)
		i, ok := at[key]
		if !ok {
			i = len(gs)
			at[key] = i
			gs = append(gs, group{endpoint: h.endpoint(), timeout: h.Timeout})
		}
		gs[i].hosts = append(gs[i].hosts, h)
	}
	return gs
}

// look looks at every host of a group with one script.
func (f *Fleet) look(ctx context.Context, g group) []seen {
	var names, workdirs []string
	for _, h := range g.hosts {
		names, workdirs = append(names, h.Session), append(workdirs, h.Workdir)
	}
	sight, site := newSight(g.memory.lastSight(), !g.lean, names...), newSite(g.memory, workdirs...)
	var around siteSeen
	known := false
	if g.lean { // else a step is taken by what is seen here
		around, known = g.memory.site(site.now, workdirs)
	}
	if known { // nor has it to be seen at once that a conversation went to another folder
		sight.clients = sight.clients.InPlace()
	}
	text, sections := g.recall.fragment()+sight.fragment(), transport.NewSections()
	if !known {
		sections.Add("sight", text)
		sections.Add("site", site.fragment())
		text = sections.Script()
	}
	res, err := f.conns.Conn(g.endpoint).Run(ctx, transport.Script{Prelude: sightPrelude, Text: text, Repeatable: true})
	parts := map[string]transport.Section{"sight": {Out: res.Stdout}}
	if err == nil && !known {
		parts, err = sections.Parse(res.Stdout)
	}
	if err != nil {
		return unreachableAll(g.hosts, err)
	}

	out, same := g.recall.parse(parts["sight"].Out)
	if !same { // what it was asked with is of another connection
		*g.memory = *newMemory()
		return f.look(ctx, g)
	}
	sighted := sight.parse(transport.Section{Out: out})
	if errors.Is(sighted.tmuxErr, tmux.ErrClockSet) {
		*g.memory = *newMemory()
		return f.look(ctx, g)
	}
	if !known {
		around = site.parse(parts["site"].Out)
	}
	if g.memory != nil {
		g.memory.sight = &sighted
	}
	all := make([]seen, len(g.hosts))
	for i, h := range g.hosts {
		folder := around.folders[h.Workdir]
		all[i] = judge(h, around.system, sighted.snap, sighted.tmuxErr, sighted.table, sighted.sessions)
		all[i].home = folder.path
		all[i].Git, all[i].Disk = folder.git, folder.disk
		all[i].Flags = flags(all[i], folder)
	}
	return all
}

// errTmuxSilent is a look at tmux that ended before it said anything.
var errTmuxSilent = errors.New("the look at tmux there gave no answer; try again")

// tmuxAnswer tells an answer from silence. The fragment prints tmux's version
// before all else, so that without it nothing was asked: that no server runs is
// then not known, and must not read as a session that is down.
func tmuxAnswer(snap tmux.Snapshot, err error) (tmux.Snapshot, error) {
	if err == nil && snap.Version == "" {
		err = errTmuxSilent
	}
	return snap, err
}

func unreachableAll(hosts []Host, err error) []seen {
	all := make([]seen, len(hosts))
	for i, h := range hosts {
		all[i].Host = h
		all[i].Err = unreachable(h.Name, err)
		all[i].Verdict = detect.Verdict{State: detect.Unreachable, Rule: "no-answer", Why: err.Error()}
		all[i].Reason = "protocol"
		if k, ok := transport.KindOf(err); ok {
			all[i].Reason = k.String()
		}
	}
	return all
}

// system is what a host says of itself.
type system struct {
	now  time.Time // by the host's clock
	zone *time.Location
	vim  bool
	// login is when the file of the token was written; zero where there is none.
	login time.Time
}
