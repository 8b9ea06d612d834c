package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
)

// climb is how far one host has come on its way up.
type climb struct {
	did      []string
	kept     tmux.Kept
	notes    []string
	launched bool // by us: what the screen does not yet tell will come
	resumed  bool // the launch asked for a conversation
	fresh    bool // a launch without one was tried
	// conversation is the one to resume, where that is known beforehand; none says
	// that none is to be.
	conversation string
	none         bool
	unknown      time.Time
}

// climb looks, takes one step, and looks again, until there is nothing to do or
// nothing that may be done.
func (f *Fleet) climb(ctx context.Context, h Host, c climb) UpResult {
	outer := ctx
	ctx, cancel := f.conns.WithTimeout(outer, upLimit)
	defer func() { cancel() }()
	tick := time.NewTicker(upTick)
	defer tick.Stop()
	g := groups([]Host{h})[0]
	g.memory = newMemory() // without it each of the looks would ask git
	var last seen
	for {
		s := f.probeAlone(ctx, g)
		if s.Err != nil && ctx.Err() != nil && last.State != "" {
			s = last // it is our time that ran out, not the host's
		}
		last = s
		taken := len(c.did)
		done, err := f.step(ctx, h, s, &c)
		if len(c.did) > taken && taken < upSteps && ctx.Err() == nil {
			// What follows a step has its own time: on a machine with much to do, two
			// dialogs in a row would else end within the second.
			cancel()
			ctx, cancel = f.conns.WithTimeout(outer, upLimit)
		}
		if !done && ctx.Err() != nil {
			done, err = true, &Error{Class: ClassFailed, Host: h.Name, State: s.State, Rule: s.Rule,
				Msg:  fmt.Sprintf("not ready in %s; it is %s (%s)", upLimit, s.State, s.Why),
				Hint: "see its screen with: claude-fleet attach " + h.Name, Err: context.Cause(ctx)}
		}
		if done {
			return UpResult{Status: s.Status, Did: c.did, Kept: c.kept, Notes: c.notes, Err: err}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// step does the one thing that a state asks for. It is done when the host is
// up, or when no further step may be taken: then err says why.
func (f *Fleet) step(ctx context.Context, h Host, s seen, c *climb) (done bool, err error) {
	stop := func(class Class, msg, hint string) (bool, error) {
		return true, &Error{Class: class, Host: h.Name, State: s.State, Rule: s.Rule, Msg: msg, Hint: hint}
	}
	if s.State != detect.Unknown {
		c.unknown = time.Time{}
	}
	switch s.State {
	case detect.Unreachable:
		return true, s.Err
	case detect.Ready, detect.Busy, detect.Limited:
		f.remember(ctx, s)
		return true, nil
	case detect.Unauth:
		return stop(ClassFailed, "the client has no valid login", sendHint(s.Status))
	case detect.Gate:
		return f.answerStart(ctx, h, s, c)
	case detect.Down:
		if c.launched {
			return stop(ClassFailed, "the session ended as soon as it was started", "run the command there by hand: "+h.Command)
		}
		started, err := tmux.StartKept(ctx, f.conn(h), h.Session, launch(h, ""), keeper(h))
		if err != nil {
			return true, launchError(h, "starting", err)
		}
		c.launched, c.kept = true, started.Kept
		for _, n := range started.Notes {
			c.notes = append(c.notes, noteWords(n, h))
		}
		did := launchWords("started", h, "")
		if started.Kept == tmux.KeptByUnit {
			did = "started through its systemd unit"
		}
		c.did = append(c.did, did)
		return false, nil
	case detect.Crashed:
		return f.relaunch(ctx, h, s, c)
	}
	switch {
	case s.Rule == "starting" || c.launched || s.pane != nil && s.launchedWithin(startGrace):
		return false, nil
	case c.unknown.IsZero():
		c.unknown = time.Now()
		return false, nil
	case time.Since(c.unknown) < unknownGrace && s.pane != nil:
		return false, nil
	}
	return stop(ClassRefused, "not touched: what it shows is not known ("+s.Why+")",
		"look at it with: claude-fleet attach "+h.Name+"; claude-fleet restart "+h.Name+" is the blunt way")
}

// relaunch brings the client back into its pane: with the conversation, and
// once without it if the client would not have it.
func (f *Fleet) relaunch(ctx context.Context, h Host, s seen, c *climb) (bool, error) {
	id := ""
	if len(s.jobs) > 0 {
		if c.launched { // an older client is called node until it has drawn its first screen
			return false, nil
		}
		return true, &Error{Class: ClassRefused, Host: h.Name, State: s.State, Rule: s.Rule,
			Msg:  "the client is gone, but something else runs in the session and would be ended: " + cut(neutral(strings.Join(s.jobs, ", ")), 80),
			Hint: "end it there (claude-fleet attach " + h.Name + "), or end it all with: claude-fleet restart --force " + h.Name}
	}
	if c.launched && s.pane.Ended && s.pane.ExitCode == exitNotFound {
		return true, &Error{Class: ClassFailed, Host: h.Name, State: s.State, Rule: s.Rule, Msg: "the command was not found there: " + h.Command,
			Hint: "install the client on the host, or name it by its path with command in fleet.conf"}
	}
	if c.launched && !c.resumed || c.fresh {
		why := s.Why
		if s.pane.Ended {
			why = fmt.Sprintf("exit code %d", s.pane.ExitCode)
		}
		if said := lastWords(s.pane); said != "" {
			why += "; it said: " + said
		}
		return true, &Error{Class: ClassFailed, Host: h.Name, State: s.State, Rule: s.Rule, Msg: "the client ended as soon as it was started (" + why + ")",
			Hint: "see what it said with: claude-fleet attach " + h.Name}
	}
	switch {
	case c.launched:
		c.fresh = true
	case c.none:
	case c.conversation != "":
		id = c.conversation
	default:
		var err error
		if id, err = f.lastConversation(ctx, s); err != nil {
			return true, err
		}
	}
	g := tmux.GuardOf(*s.pane)
	switch err := tmux.Relaunch(ctx, f.conn(h), s.pane.ID, &g, launch(h, id)); {
	case errors.Is(err, tmux.ErrChanged), errors.Is(err, tmux.ErrLocked):
		return false, nil // somebody is at it: look again
	case err != nil:
		return true, launchError(h, "relaunching", err)
	}
	c.launched, c.resumed = true, id != ""
	c.did = append(c.did, launchWords("relaunched", h, id))
	return false, nil
}

// answerStart accepts a start-up dialog by its label, as Answer does. Where the
// screen changed meanwhile it is judged anew.
func (f *Fleet) answerStart(ctx context.Context, h Host, s seen, c *climb) (bool, error) {
	only := func(hint string) (bool, error) {
		return true, &Error{Class: ClassRefused, Host: h.Name, State: s.State, Rule: s.Rule, Msg: "a dialog waits that only a person may answer", Hint: hint}
	}
	name, option, ok := startAnswer(s.Dialog, string(s.pane.Screen))
	if !ok {
		return only(sendHint(s.Status))
	}
	start, ok := faceOf(s)
	if !ok {
		return only("see it with: claude-fleet attach " + h.Name)
	}
	if why, hint := s.taken(); why != "" {
		return true, &Error{Class: ClassRefused, Host: h.Name, State: s.State, Rule: s.Rule, Msg: "the " + name + " dialog was not answered: " + why, Hint: hint}
	}
	way := choosing{f: f, h: h}
	after, reached, err := way.choose(ctx, s, start, option, func(face) bool { return false })
	if len(way.keys) > 0 {
		c.launched = true // what follows is the client's start
	}
	switch {
	case errors.Is(err, errRestless), errors.Is(err, errOther):
		return false, nil
	case ctx.Err() != nil && (err != nil || reached == reachLate):
		return false, nil // climb says what it came to; what Enter came to is not known
	case errors.Is(err, errUnmoved) && len(way.keys) > 0, err == nil && reached == reachLate && start.stands(after):
		return true, &Error{Class: ClassFailed, Host: h.Name, State: s.State, Rule: s.Rule,
			Msg: "the " + name + " dialog takes no keys: " + way.keys[len(way.keys)-1] + " was pressed, and nothing changed in " + stepWait.String(), Hint: "answer it with: claude-fleet attach " + h.Name}
	case err != nil:
		return true, failed(h.Name, "answering the "+name+" dialog", err)
	}
	c.did = append(c.did, "accepted the "+name+" dialog")
	return false, nil
}

// lastWords are the last rows of a pane above its cursor, where a shell waits
// now, in one line.
func lastWords(p *tmux.Pane) string {
	rows := screenLines(p.Screen)
	rows = rows[:min(len(rows), max(0, p.CursorY))]
	var words []string
	for _, row := range slices.Backward(rows) {
		if row = strings.TrimSpace(row); row == "" || len(words) == 3 {
			if len(words) > 0 {
				break
			}
			continue
		}
		words = append([]string{row}, words...)
	}
	return cut(strings.Join(words, " "), 200)
}
