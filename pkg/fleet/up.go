package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
)

const (
	// upLimit bounds one host's way up: a cold client takes 2 to 5 s to its first
	// screen, and two dialogs may stand before the box.
	upLimit = 90 * time.Second
	upTick  = 300 * time.Millisecond
	// unknownGrace is how long an unknown screen that up did not cause is looked
	// at again before it is given up: it may be half drawn.
	unknownGrace = 3 * time.Second
)

// exitNotFound is the exit code with which sh says that there is no such command.
const exitNotFound = 127

// inherited are the variables that the tmux server may have from a client it
// was started under; with the first, a client refuses to start.
var inherited = []string{"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID"}

// UpResult is how a host came up, or did not.
type UpResult struct {
	Status Status   // as last seen
	Did    []string // what was done, in order; empty when there was nothing to do
	Err    error    // an *Error; nil when the session ended ready, busy or limited
}

// MarshalJSON writes the result as one object; error and hint are empty when
// there is none.
func (r UpResult) MarshalJSON() ([]byte, error) {
	j := struct {
		Status Status   `json:"status"`
		Did    []string `json:"did"`
		Error  string   `json:"error"`
		Hint   string   `json:"hint"`
	}{Status: r.Status, Did: r.Did}
	if j.Did == nil {
		j.Did = []string{}
	}
	if r.Err != nil {
		j.Error, j.Hint = r.Err.Error(), HintOf(r.Err)
	}
	return json.Marshal(j)
}

// Up brings the sessions of hosts up, each as gently as it can be: a session
// that is down is started, one whose client is gone gets it back with the
// conversation it had, and the two start-up dialogs (trust in the folder,
// bypassed permissions) are accepted by their labels. Nothing else is answered,
// and a session that runs is left alone. Results are yielded as they come; for
// no host there are none.
func (f *Fleet) Up(ctx context.Context, hosts ...Host) iter.Seq[UpResult] {
	return stream(ctx, hosts, func(ctx context.Context, h Host, emit func(UpResult)) {
		emit(f.climb(ctx, h, climb{}))
	})
}

// Restart ends what runs in a host's session, a turn as well, and starts the
// client anew with the conversation it had. A session that is down is started.
func (f *Fleet) Restart(ctx context.Context, name string) (UpResult, error) {
	h, err := f.host(name)
	if err != nil {
		return UpResult{}, err
	}
	s := f.probeOne(ctx, h)
	if s.Err != nil {
		return UpResult{Status: s.Status, Err: s.Err}, s.Err
	}
	var c climb
	if s.pane != nil {
		id := ""
		if s.session != nil && s.session.Size > 0 {
			id = s.session.ID
		} else if id, err = f.lastConversation(ctx, s); err != nil {
			return UpResult{Status: s.Status, Err: err}, err
		}
		if err := tmux.Relaunch(ctx, f.conn(h), s.pane.ID, nil, launch(h, id)); err != nil {
			err = failed(h.Name, "restarting", err)
			return UpResult{Status: s.Status, Err: err}, err
		}
		c = climb{launched: true, resumed: id != "", did: []string{launchWords("relaunched", h, id)}}
	} else if s.State != detect.Down {
		err := &Error{Class: ClassRefused, Host: h.Name, State: s.State, Rule: s.Rule, Msg: "not restarted: " + s.Why, Err: nil}
		return UpResult{Status: s.Status, Err: err}, err
	}
	r := f.climb(ctx, h, c)
	return r, r.Err
}

// climb is how far one host has come on its way up.
type climb struct {
	did      []string
	launched bool // by us: what the screen does not yet tell will come
	resumed  bool // the launch asked for a conversation
	fresh    bool // a launch without one was tried
	unknown  time.Time
}

// climb looks, takes one step, and looks again, until there is nothing to do or
// nothing that may be done.
func (f *Fleet) climb(ctx context.Context, h Host, c climb) UpResult {
	ctx, cancel := f.conns.WithTimeout(ctx, upLimit)
	defer cancel()
	tick := time.NewTicker(upTick)
	defer tick.Stop()
	var last seen
	for {
		s := f.probeOne(ctx, h)
		if s.Err != nil && ctx.Err() != nil && last.State != "" {
			s = last // it is our time that ran out, not the host's
		}
		last = s
		done, err := f.step(ctx, h, s, &c)
		if !done && ctx.Err() != nil {
			done, err = true, &Error{Class: ClassFailed, Host: h.Name, State: s.State, Rule: s.Rule,
				Msg:  fmt.Sprintf("not ready in %s; it is %s (%s)", upLimit, s.State, s.Why),
				Hint: "see its screen with: claude-fleet attach " + h.Name, Err: context.Cause(ctx)}
		}
		if done {
			return UpResult{Status: s.Status, Did: c.did, Err: err}
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
		if _, err := tmux.Start(ctx, f.conn(h), h.Session, launch(h, "")); err != nil {
			return true, launchError(h, "starting", err)
		}
		c.launched = true
		c.did = append(c.did, launchWords("started", h, ""))
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
			Hint: "end it there (claude-fleet attach " + h.Name + "), or end it all with: claude-fleet restart " + h.Name}
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
	if c.launched {
		c.fresh = true
	} else {
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
	way := choosing{f: f, h: h}
	after, reached, err := way.choose(ctx, s, start, option, func(face) bool { return false })
	if len(way.keys) > 0 {
		c.launched = true // what follows is the client's start
	}
	switch {
	case errors.Is(err, errRestless), errors.Is(err, errOther):
		return false, nil
	case err != nil && ctx.Err() != nil:
		return false, nil // climb says what it came to
	case errors.Is(err, errUnmoved), err == nil && reached == reachLate && start.stands(after):
		return true, &Error{Class: ClassFailed, Host: h.Name, State: s.State, Rule: s.Rule,
			Msg: "the " + name + " dialog takes no keys: " + stepWait.String() + " behind " + way.keys[len(way.keys)-1] + " it shows nothing of it", Hint: "answer it with: claude-fleet attach " + h.Name}
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

func launch(h Host, conversation string) tmux.Launch {
	return tmux.Launch{Dir: h.Workdir, Command: resuming(h.Command, conversation), Unset: inherited}
}

func launchWords(verb string, h Host, conversation string) string {
	if conversation != "" && resuming(h.Command, conversation) != h.Command {
		return verb + " with conversation " + conversation
	}
	return verb
}

func launchError(h Host, doing string, err error) error {
	switch {
	case errors.Is(err, tmux.ErrNoDirectory):
		return &Error{Class: ClassFailed, Host: h.Name, Msg: fmt.Sprintf("the workdir %s does not exist there", h.Workdir),
			Hint: "make it there, or set another workdir for " + h.Name + " in fleet.conf", Err: err}
	case errors.Is(err, tmux.ErrNotInstalled):
		return &Error{Class: ClassFailed, Host: h.Name, Msg: err.Error(), Hint: "install tmux on the host", Err: err}
	}
	return failed(h.Name, doing, err)
}
