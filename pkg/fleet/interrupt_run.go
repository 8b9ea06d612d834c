package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// interrupting is one turn on its way to its end.
type interrupting struct {
	f   *Fleet
	c   choosing
	out Interruption

	busy seen // the look at which the turn was first seen to run
}

func (i *interrupting) run(ctx context.Context) error {
	look, err := i.press(ctx)
	if err != nil || len(i.c.keys) == 0 {
		return err
	}
	return i.prove(ctx, look)
}

// press presses Escape at the turn. Nothing is pressed, and nothing is wrong, when
// the turn has ended meanwhile.
func (i *interrupting) press(ctx context.Context) (seen, error) {
	for try := 1; ; try++ {
		look := i.f.probeOne(ctx, i.c.h)
		i.out.State, i.out.Rule = look.State, look.Rule
		if look.Err != nil {
			return look, look.Err
		}
		why, hint, sure := notATurn(look)
		switch {
		case why == "":
		case i.busy.State != "" && look.State == detect.Ready:
			i.out.Result, i.out.Detail = InterruptEnded, "the turn ended by itself; nothing was pressed"
			return look, nil
		case !sure && try < lookTries && wait(ctx, pause):
			continue
		default:
			return look, &Error{Class: ClassRefused, Host: i.c.h.Name, State: look.State, Rule: look.Rule, Msg: why + "; nothing was pressed", Hint: hint}
		}
		if i.busy.State == "" {
			i.busy = look
		}
		pressed, err := i.c.key(ctx, look, look.Input.Row, interruptKey)
		if err != nil {
			return look, i.failed(look, err)
		}
		if pressed {
			return look, nil
		}
	}
}

// notATurn says why Escape may not be pressed at what a look saw; empty when a
// turn runs there. What is not sure may be on its way to or from one.
func notATurn(s seen) (why, hint string, sure bool) {
	name := s.Host.Name
	switch {
	case s.State == detect.Gate, s.Dialog != nil:
		return fmt.Sprintf("no turn runs there that could be interrupted: a dialog waits (%s)", s.Why), "see it with: claude-fleet answer " + name, true
	case s.State == detect.Unknown, s.Rule == "witness.client-busy":
		return fmt.Sprintf("the screen does not show a turn that runs (%s)", s.Why), "look with: claude-fleet explain " + name, false
	case s.State != detect.Busy:
		return fmt.Sprintf("no turn runs there: the session's state is %s (%s)", s.State, s.Why), "", true
	case s.Rule == "busy.agents" || waitsForAgents(s):
		return "no turn runs there, only agents in the background, which the key would not reach", "see them with: claude-fleet attach " + name, true
	case s.Input.Queued:
		return "prompts are queued there, which the key would send", "take them out first: claude-fleet attach " + name, true
	case s.Input.Mark == "":
		return "the input box is not to be seen whole there, so that it is not known what the key would do", "look with: claude-fleet explain " + name, false
	}
	why, hint = s.taken()
	return why, hint, true
}

// waitsForAgents tells whether the line of the running turn says that only agents
// are waited for (2.1.202 and later).
func waitsForAgents(s seen) bool {
	rows := screenLines(s.pane.Screen)
	return s.Rule == "busy.spinner" && slices.ContainsFunc(s.Rows, func(y int) bool {
		if y >= len(rows) {
			return false
		}
		_, rest, ok := strings.Cut(rows[y], "Waiting for ")
		return ok && strings.Contains(rest, "background")
	})
}

// prove looks until the turn is known to have ended, and how.
func (i *interrupting) prove(ctx context.Context, look seen) error {
	again, since := true, time.Now()
	for looks := 0; (looks < enoughLooks || time.Since(since) < 2*stepWait) && wait(ctx, pause/2); looks++ {
		now := i.f.probeOne(ctx, i.c.h)
		if now.Err != nil {
			continue
		}
		look = now
		i.out.State, i.out.Rule = now.State, now.Rule
		if i.over(ctx, now) {
			return nil
		}
		// In vim's INSERT mode the first Escape only leaves that.
		if why, _, _ := notATurn(now); again && why == "" && insertShows(i.busy) && !insertShows(now) {
			pressed, err := i.c.key(ctx, now, now.Input.Row, interruptKey)
			if err != nil {
				return i.failed(now, err)
			}
			again = !pressed
		}
	}
	return i.failed(look, errUnended)
}

var errUnended = errors.New("the conversation does not tell that the turn was interrupted")

// insertShows tells whether the footer marks vim's INSERT mode.
func insertShows(s seen) bool {
	rows := screenLines(s.pane.Screen)
	return s.evidence.VimMode && slices.ContainsFunc(rows[min(s.Input.Row, len(rows)):], func(row string) bool {
		return strings.HasPrefix(strings.TrimSpace(row), "-- INSERT")
	})
}

// over tells whether the turn has ended, and says how.
func (i *interrupting) over(ctx context.Context, now seen) bool {
	if id := conversation(i.busy); id != "" {
		records, err := i.f.recordsSince(ctx, i.c.h, id, size(i.busy))
		if err != nil {
			return false // the next look asks again
		}
		for _, r := range records {
			switch {
			case r.Side:
			case r.Interrupted:
				i.interrupted(ctx, now, "")
				return true
			case r.APIError, r.Type == "system" && r.Subtype == "turn_duration":
				i.out.Result = InterruptEnded
				i.out.Detail = "the turn ended by itself just before the key came, which does nothing then"
				return true
			}
		}
	}
	s := sending{f: i.f, h: i.c.h}
	switch {
	case now.State == detect.Busy:
	case now.Draft != "" && i.busy.Draft == "" && s.withdrawn(ctx, now):
		i.interrupted(ctx, now, now.Draft)
		return true
	case conversation(i.busy) == "" && interruptions(now) > interruptions(i.busy):
		i.interrupted(ctx, now, "")
		return true
	}
	return false
}

// interruptions counts what the client draws beneath a turn that was interrupted,
// for versions that keep no file of their own (before about 2.1.85).
func interruptions(s seen) (n int) {
	for _, row := range screenLines(s.pane.Screen) {
		if strings.HasPrefix(strings.TrimLeft(row, "⎿ \u00a0"), "Interrupted") {
			n++
		}
	}
	return n
}

// interrupted ends a turn that is proven to be interrupted. A prompt that the
// client has put back into the box is taken out.
func (i *interrupting) interrupted(ctx context.Context, now seen, withdrawn string) {
	i.out.Result = Interrupted
	i.out.Detail = "the turn was interrupted"
	if withdrawn == "" {
		return
	}
	i.out.Withdrawn = withdrawn
	s := sending{f: i.f, h: i.c.h}
	for now.Draft == withdrawn && now.State == detect.Ready && !s.did["clear"] {
		if err := s.clear(ctx, now); err != nil {
			break
		}
		now = i.f.probeOne(ctx, i.c.h)
	}
	i.out.State, i.out.Rule = now.State, now.Rule
	if now.Draft != "" || now.Err != nil {
		i.out.Detail += ", and its prompt is back in the input box"
		i.out.Hint = "take it out with: claude-fleet attach " + i.c.h.Name
		return
	}
	i.out.Detail += " before it had said anything; its prompt, which the client put back into the input box, was taken out"
}

// failed says how far an interruption came that is not proven.
func (i *interrupting) failed(look seen, err error) error {
	e := &Error{Class: ClassUnproven, Host: i.c.h.Name, State: look.State, Rule: look.Rule, Hint: "look with: claude-fleet status " + i.c.h.Name, Err: err}
	why := transport.Neutralise(err.Error())
	if i.c.lost != nil {
		err = i.c.lost
	}
	if _, away := transport.KindOf(err); away {
		e = unreachable(i.c.h.Name, err)
		why = e.Msg
	}
	if len(i.c.keys) == 0 {
		if e.Class != ClassUnreachable {
			e.Class = ClassRefused
		}
		e.Msg = "nothing was pressed: " + why
		return e
	}
	e.Class = max(e.Class, ClassUnproven)
	verb := "was"
	if i.c.lost != nil {
		verb = "may have been"
	}
	e.Msg = fmt.Sprintf("Escape %s pressed, and nothing proves what came of it (the session's state is %s): %s", verb, look.State, why)
	return e
}
