package fleet

import (
	"errors"
	"fmt"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transcript"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// startGrace is how long after a launch a pane without a client is taken to be
// on its way: login shells with long start-up files take seconds, and a second
// operator must not launch into that.
const startGrace = 20 * time.Second

// judge gathers the evidence on one host and gives the verdict.
func judge(h Host, sys system, snap tmux.Snapshot, tmuxErr error, table processes, sessions []transcript.Session) seen {
	s := seen{Status: Status{Host: h, At: sys.now}}
	state := func(st detect.State, rule, why string) seen {
		s.Verdict = detect.Verdict{State: st, Rule: rule, Why: transport.Neutralise(why)}
		return s
	}
	switch panes := snap.Session(h.Session); {
	case errors.Is(tmuxErr, tmux.ErrNotInstalled):
		s.Reason = "tmux missing"
		return state(detect.Unknown, "no-tmux", tmuxErr.Error())
	case tmuxErr != nil:
		s.Reason = "tmux"
		return state(detect.Unknown, "tmux-error", tmuxErr.Error())
	case !snap.Running:
		return state(detect.Down, "no-server", "no tmux server runs there")
	case len(panes) == 0:
		return state(detect.Down, "no-session", fmt.Sprintf("the tmux server has no session %q", h.Session))
	default:
		alive := map[int]bool{}
		for _, c := range sessions {
			if c.Alive {
				alive[c.PID] = true
			}
		}
		pane, ok := clientPane(panes, table, alive, sessions)
		if !ok {
			s.Reason = "several panes"
			return state(detect.Unknown, "several-panes", "the session has several panes and none of them is known to be the client's; close the others")
		}
		s.pane = &pane
		s.session = sessionOf(pane, table, sessions)
		s.Attached = pane.Attached
		s.jobs = table.jobs(pane.PID, alive)
		s.client = table.clientOf(pane.PID, alive, s.session)
		s.around = table.around(pane.PID, s.client)
		s.evidence = evidence(pane, s.session, table.state(pane.PID, alive), sys)
		if t := s.evidence.Transcript; t != nil {
			t.Outdated = outdated(pane, t.At, sys.login)
		}
		s.behind = pane.Launched.Before(sys.login.Truncate(time.Second)) && !pane.Launched.IsZero()
	}
	s.Verdict = detect.Classify(s.evidence)
	s.Why = transport.Neutralise(s.Why) // it goes into errors, and may quote the screen
	p := s.pane
	if s.evidence.Process != detect.ProcessRunning && s.evidence.Process != detect.ProcessStopped && !p.Ended && !p.Dead && s.launchedWithin(startGrace) {
		return state(detect.Unknown, "starting", "the client was launched a moment ago and is not there yet")
	}
	if s.Verdict.Since == nil {
		since := p.Activity
		if s.session != nil && !s.session.Since.IsZero() {
			since = s.session.Since
		}
		if !since.IsZero() {
			s.Verdict.Since = &since
		}
	}
	return s
}

// outdated tells whether an event is from before the token that the client in the
// pane was launched with. The clocks are all the host's; that of the launch tells whole
// seconds, and so may that of the token.
func outdated(p tmux.Pane, at, login time.Time) bool {
	return !at.IsZero() && !login.IsZero() && !p.Launched.IsZero() && at.Before(login) && !p.Launched.Before(login.Truncate(time.Second))
}

// launchedWithin tells whether the session's pane was launched so short a time
// ago, by the host's clock, which may be set meanwhile.
func (s seen) launchedWithin(d time.Duration) bool {
	age := s.At.Sub(s.pane.Launched)
	return !s.pane.Launched.IsZero() && age < d && age > -d
}

// clientPane picks the pane of a session that runs, or ran, the client: the one
// where a client runs; else the one that it was launched in; else the only one.
// A person may have opened others beside it.
func clientPane(panes []tmux.Pane, table processes, alive map[int]bool, sessions []transcript.Session) (tmux.Pane, bool) {
	var running, launched []tmux.Pane
	for _, p := range panes {
		if st := table.state(p.PID, alive); st == detect.ProcessRunning || st == detect.ProcessStopped || table == nil && sessionOf(p, table, sessions) != nil {
			running = append(running, p)
		}
		if !p.Launched.IsZero() {
			launched = append(launched, p)
		}
	}
	for _, candidates := range [][]tmux.Pane{running, launched, panes} {
		if len(candidates) == 1 {
			return candidates[0], true
		}
		// Of several that run a client, the one that was launched as such.
		var both []tmux.Pane
		for _, p := range candidates {
			if !p.Launched.IsZero() {
				both = append(both, p)
			}
		}
		if len(both) == 1 {
			return both[0], true
		}
		if len(candidates) > 1 {
			return tmux.Pane{}, false
		}
	}
	return tmux.Pane{}, false
}

// sessionOf finds what the client in a pane wrote of itself, and not what one wrote
// that it has started. Without a process table the pane that the client names has
// to do.
func sessionOf(p tmux.Pane, table processes, sessions []transcript.Session) (of *transcript.Session) {
	for i := range sessions {
		s := &sessions[i]
		if !s.Alive || s.Kind != "" && s.Kind != "interactive" {
			continue
		}
		if table == nil && s.Pane != "" && s.Pane == p.ID {
			of = s
			break
		}
		if table != nil && table.under(s.PID, p.PID) && (of == nil || table.under(of.PID, s.PID)) {
			of = s
		}
	}
	if of == nil {
		return nil
	}
	found := *of
	return &found
}

func evidence(p tmux.Pane, s *transcript.Session, proc detect.Process, sys system) detect.Evidence {
	e := detect.Evidence{
		Screen: p.Screen, Width: p.Width, Height: p.Height, CursorX: p.CursorX, CursorY: p.CursorY, Title: p.Title,
		Alternate: p.Alternate, CopyMode: p.InMode, Dead: p.Dead, Process: proc, VimMode: sys.vim, Now: sys.now, Zone: sys.zone,
	}
	if s != nil {
		e.Client = &detect.Client{Status: s.Status, WaitingFor: s.WaitingFor, Since: s.Since}
		e.Transcript = newest(s.Tail)
	}
	return e
}

// newest is the newest event of a conversation that bears on its state. A
// refusal by the service stays the newest event when the turn's end is recorded
// behind it.
func newest(tail []transcript.Record) *detect.Transcript {
	ended := time.Time{}
	for i := len(tail) - 1; i >= 0; i-- {
		r := tail[i]
		switch {
		case r.Side, r.Enqueued():
		case r.Type == "system":
			if r.Subtype == "turn_duration" && ended.IsZero() {
				ended = r.At
			}
		case r.Type == "assistant" && r.APIError:
			return &detect.Transcript{Event: "api_error", APIStatus: r.APIStatus, Text: r.Text(), At: r.At}
		case !ended.IsZero():
			return &detect.Transcript{Event: "turn_end", Text: r.Text(), At: ended}
		case r.Meta:
		default:
			return &detect.Transcript{Event: r.Type, Text: r.Text(), At: r.At}
		}
	}
	return nil
}

// flags are the warnings of a host's row.
func flags(s seen, f folder) []string {
	flags := []string{}
	if f.path == "" {
		flags = append(flags, "nodir")
	}
	dir := ""
	switch {
	case s.session != nil && s.session.Dir != "":
		dir = s.session.Dir
	case s.pane != nil:
		dir = s.pane.Path
	}
	if dir != "" && f.path != "" && dir != f.path {
		flags = append(flags, "wrongdir")
	}
	if f.disk != nil && f.disk.low() {
		flags = append(flags, "disk")
	}
	if s.Draft != "" {
		flags = append(flags, "draft")
	}
	return flags
}
