package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transcript"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// Discovered is a tmux session that runs a client and is no row of the table.
type Discovered struct {
	// Status is the state of the session as Fleet.Status would give it. Its Host is
	// the row that it would be; the name is new to the table and among the
	// discovered, and text in it that came from the machine is as it was found.
	Status
	Machine string // the label of the row whose machine it is on
	Skip    string // why it can't be a row as it is, neutralised; empty if it can
}

// MarshalJSON writes the status's object with "machine", "ssh" and "skip" added.
func (d Discovered) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		statusJSON
		SSH       string `json:"ssh"`
		SSHConfig string `json:"ssh_config"`
		Machine   string `json:"machine"`
		Skip      string `json:"skip"`
	}{d.json(), d.Host.SSH, d.Host.SSHConfig, d.Machine, d.Skip})
}

// Discover looks on the machines of the hosts, of all when none is given, for tmux
// sessions that run a client and are no rows of the table, in the order of the
// table. It types nothing. The second list has an *Error for each machine that did
// not answer in the deadline of its host.
func (f *Fleet) Discover(ctx context.Context, hosts ...Host) ([]Discovered, []error) {
	if len(hosts) == 0 {
		hosts = f.table.Hosts
	}
	var machines []group
	for _, g := range groups(hosts) {
		if !slices.ContainsFunc(machines, func(m group) bool { return m.endpoint == g.endpoint }) {
			machines = append(machines, g)
		}
	}
	type answer struct {
		at      int
		address string
		found   []Discovered
		err     error
	}
	at := make([]int, len(machines))
	for i := range at {
		at[i] = i
	}
	answers := make([]answer, len(machines))
	for a := range stream(ctx, at, func(ctx context.Context, i int, emit func(answer)) {
		found, err := f.discover(ctx, machines[i])
		emit(answer{i, f.address(ctx, machines[i].endpoint), found, err})
	}) {
		answers[a.at] = a
	}
	var all []Discovered
	var errs []error
	told := map[string]bool{}
	for _, a := range answers {
		if a.err != nil {
			errs = append(errs, a.err)
		}
		if a.address == "" || !told[a.address] { // a machine may go by several names
			all = append(all, a.found...)
		}
		told[a.address] = told[a.address] || a.err == nil
	}
	nameAll(f.table, all)
	return all, errs
}

// discover looks at one machine, and at those screens again that may have been
// half drawn, as status does.
func (f *Fleet) discover(ctx context.Context, g group) ([]Discovered, error) {
	ctx, cancel := f.conns.WithTimeout(ctx, g.timeout)
	defer cancel()
	var last []seen
	for try := 1; ; try++ {
		now, err := f.lookAtStrangers(ctx, g)
		switch {
		case err != nil && try == 1:
			return nil, err
		case err != nil: // what was seen is more than that a later look failed
			return discovered(g.hosts[0], last), nil
		case try == lookTries || !slices.ContainsFunc(now, func(s seen) bool { return torn(s, sameSession(last, s)) }):
			return discovered(g.hosts[0], now), nil
		}
		last = now
		select {
		case <-time.After(jittered(time.Duration(try) * lookPause)):
		case <-ctx.Done():
			return discovered(g.hosts[0], last), nil
		}
	}
}

// sameSession is what an earlier look saw of a session; empty if it did not.
func sameSession(before []seen, s seen) seen {
	for _, b := range before {
		if b.Host.Session == s.Host.Session {
			return b
		}
	}
	return seen{}
}

// lookAtStrangers is one look at all sessions of a machine that run a client and
// are no rows of the table.
func (f *Fleet) lookAtStrangers(ctx context.Context, g group) ([]seen, error) {
	host := g.hosts[0]
	panes, clients := tmux.NewQueryAll(), transcript.NewQuery()
	sections := transport.NewSections()
	sections.Add("tmux", panes.Fragment())
	sections.Add("processes", processFragment)
	sections.Add("clients", clients.Fragment())
	around := newSite(nil)
	sections.Add("site", around.fragment())
	res, err := f.conns.Conn(g.endpoint).Run(ctx, transport.Script{Text: sections.Script(), Repeatable: true})
	if err != nil {
		return nil, unreachable(host.Name, err)
	}
	parts, err := sections.Parse(res.Stdout)
	if err != nil {
		return nil, unreachable(host.Name, err)
	}
	snap, err := tmuxAnswer(panes.Parse(parts["tmux"].Out))
	if err != nil {
		return nil, &Error{Class: ClassFailed, Host: host.Name, Msg: "its sessions can't be seen: " + neutral(err.Error()), Hint: "see what is wrong by: claude-fleet doctor " + host.Name, Err: err}
	}
	sys, table, sessions := around.parse(parts["site"].Out).system, parseProcesses(parts["processes"]), clients.Parse(parts["clients"].Out)
	var all []seen
	for _, name := range f.unknownSessions(ctx, g.endpoint, clientSessions(snap, table, sessions)) {
		row := Host{Transport: host.Transport, SSH: host.SSH, SSHConfig: host.SSHConfig, Session: name, Command: DefaultCommand, Timeout: host.Timeout}
		s := judge(row, sys, snap, nil, table, sessions)
		switch {
		case s.session != nil && s.session.Dir != "":
			s.Host.Workdir = s.session.Dir
		case s.pane != nil:
			s.Host.Workdir = s.pane.Path
		default:
			s.Host.Workdir = snap.Session(name)[0].Path
		}
		if s.Draft != "" {
			s.Flags = []string{"draft"}
		}
		all = append(all, s)
	}
	return all, nil
}

// clientSessions are the sessions of a server in which a client runs, each once, in
// tmux's order. Without a process table those count that a client says it is in.
func clientSessions(snap tmux.Snapshot, table processes, sessions []transcript.Session) []string {
	alive := map[int]bool{}
	for _, c := range sessions {
		alive[c.PID] = alive[c.PID] || c.Alive
	}
	var names []string
	for _, p := range snap.Panes {
		runs := false
		if table != nil {
			_, runs = table.client(p.PID, alive)
		} else {
			runs = sessionOf(p, nil, sessions) != nil
		}
		if runs && !slices.Contains(names, p.Session) {
			names = append(names, p.Session)
		}
	}
	return names
}

// unknownSessions are those of a machine's sessions that are no rows of the table,
// under whichever name of the machine: two destinations are one machine if
// ssh_config makes the same address of them.
func (f *Fleet) unknownSessions(ctx context.Context, e transport.Endpoint, names []string) []string {
	left := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(f.table.Hosts, func(h Host) bool { return h.Session == name && h.endpoint() == e })
	})
	// Only now, since many hosts have sessions of the same name.
	return slices.DeleteFunc(left, func(name string) bool {
		return slices.ContainsFunc(f.table.Hosts, func(h Host) bool {
			return h.Session == name && h.endpoint() != e && f.address(ctx, e) != "" && f.address(ctx, h.endpoint()) == f.address(ctx, e)
		})
	})
}

// address is where ssh_config says that a machine is; empty for this machine, and
// where ssh_config does not say.
func (f *Fleet) address(ctx context.Context, e transport.Endpoint) string {
	if e.Local {
		return ""
	}
	c, err := f.conns.Resolve(ctx, e)
	if err != nil {
		return ""
	}
	return strings.ToLower(fmt.Sprintf("%s@%s:%d %s %s", c.User, c.HostName, c.Port, c.ProxyJump, c.ProxyCommand))
}

// discovered makes what was seen on the machine of a host into rows.
func discovered(host Host, all []seen) []Discovered {
	var found []Discovered
	for _, s := range all {
		d := Discovered{Status: s.Status, Machine: host.Name}
		if f := checkSession(s.Host.Session); f != nil {
			d.Skip = "its session: " + printable(f.msg+"; "+f.hint) + " (tmux rename-session)"
		} else if f := checkWorkdir(s.Host.Workdir); f != nil {
			d.Skip = "its directory: " + printable(f.msg)
		} else if !utf8.ValidString(s.Host.Workdir) {
			d.Skip = "its directory: its name is not UTF-8, as a fleet.conf is"
		}
		if s.State == "" {
			d.State = detect.Unknown
		}
		found = append(found, d)
	}
	return found
}
