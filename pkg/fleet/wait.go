package fleet

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// WaitOptions says what Wait waits for.
type WaitOptions struct {
	For     []detect.State // any of these will do; none is detect.Ready
	Any     bool           // one host in such a state is enough
	Timeout time.Duration  // for all of it; 0 is as long as the context lasts
}

const (
	// waitPause is the mean pause between two looks at a machine.
	waitPause = time.Second
	// maxWaitPause is what the pause grows to, doubling, while a machine does not
	// answer.
	maxWaitPause = 16 * time.Second
	// personPause is the pause where a machine can't be reached until a person does
	// something: asking one again and again would be no help.
	personPause = time.Minute
)

// Wait looks at the hosts, all of them when none is given, until each is in a
// state that is waited for, and yields its last Status as soon as it is known;
// with o.Any it ends when one is there, and yields nothing of those that it was
// still waiting for. A draft in the input box does not keep a session from being
// ready.
//
// A host that won't get there gives a Status with Err set, to an *Error: of
// ClassNeedsPerson when two looks in a row found it in a state that no waiting
// ends (gate, unauth, crashed, down) and that was not asked for; and when the time
// is up, of ClassUnreachable or, for the state unknown, ClassNeedsPerson, and else
// of ClassFailed. When ctx ends, each host that is left gives one of ClassFailed.
//
// Hosts on one machine share a look, about once a second; those that are done
// are looked at no more. Each look has the host's own deadline, so that a dead
// machine holds up no other. It types nothing.
func (f *Fleet) Wait(ctx context.Context, o WaitOptions, hosts ...Host) iter.Seq[Status] {
	if len(hosts) == 0 {
		hosts = f.table.Hosts
	}
	if len(o.For) == 0 {
		o.For = []detect.State{detect.Ready}
	}
	return func(yield func(Status) bool) {
		w := waiting{fleet: f, WaitOptions: o, outer: ctx, turns: newLookTurns()}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		if o.Timeout > 0 {
			var stop context.CancelFunc
			ctx, stop = f.conns.WithTimeout(ctx, o.Timeout)
			defer stop()
		}
		gs := groups(hosts)
		for s := range streamAll(ctx, gs, len(gs), w.group) {
			if o.Any && s.Err == nil {
				w.enough.Store(true)
				cancel()
			}
			if !yield(s) || w.enough.Load() {
				return
			}
		}
	}
}

// waiting is one call of Wait.
type waiting struct {
	WaitOptions
	fleet  *Fleet
	outer  context.Context // the caller's: it ends for another reason than the time
	enough atomic.Bool     // with Any: one host is there
	turns  lookTurns
}

// group looks at the hosts of one group until all of them are done.
func (w *waiting) group(ctx context.Context, g group, emit func(Status)) {
	g = g.remembering()
	answers := false
	left := g.hosts
	last := map[string]Status{}
	cut := map[string]bool{} // what is last known is that a look had begun there when the time was up
	pause := waitPause
	for {
		now := g
		now.hosts = left
		left = nil
		reached := false
		// There is no long wait when ctx ends: those that look end then too.
		done, _ := w.turns.take(context.WithoutCancel(ctx), len(last) > 0, answers)
		w.fleet.probe(ctx, now, func(_ int, s seen) {
			before, seenBefore := last[s.Host.Name]
			if s.State != detect.Unreachable || ctx.Err() == nil || !seenBefore {
				last[s.Host.Name] = s.Status // a look that was cut short tells less than the one before
				cut[s.Host.Name] = ctx.Err() != nil && s.Err != nil && transport.Started(s.Err)
			}
			if end, done := w.done(before, s.Status); done {
				emit(end)
				return
			}
			reached = reached || s.State != detect.Unreachable
			left = append(left, s.Host)
		})
		done()
		answers = reached
		if len(left) == 0 {
			return
		}
		switch {
		case reached:
			pause = waitPause
		case !slices.ContainsFunc(left, func(h Host) bool { return !mendsItself(last[h.Name].Reason) }):
			pause = min(2*pause, maxWaitPause)
		default:
			pause = personPause
		}
		select {
		case <-time.After(jittered(pause)):
		case <-ctx.Done():
			for _, h := range left {
				if s, ok := last[h.Name]; ok && !w.enough.Load() {
					s.Err = w.ended(s, cut[h.Name])
					emit(s)
				}
			}
			return
		}
	}
}

// done tells whether the wait for a host is over, by the newest look and the one
// before, and with what. One look may be at a moment between two states, such as
// that in which somebody brings the session up.
func (w *waiting) done(before, now Status) (Status, bool) {
	switch {
	case slices.Contains(w.For, now.State):
		now.Err = nil // unreachable may be what was waited for
	case stuck(now.State) && before.State == now.State:
		now.Err = needsPerson(now)
	default:
		return now, false
	}
	return now, true
}

// mendsItself tells whether a machine that is unreachable for that reason may
// answer although no person does anything.
func mendsItself(reason string) bool {
	switch reason {
	case "auth", "config", "host key unknown", "host key changed":
		return false
	}
	return true
}

// stuck tells whether a session stays in a state until a person does something.
// Unknown and unreachable may pass.
func stuck(s detect.State) bool {
	switch s {
	case detect.Gate, detect.Unauth, detect.Crashed, detect.Down:
		return true
	}
	return false
}

func needsPerson(s Status) error {
	return &Error{
		Class: ClassNeedsPerson, Host: s.Host.Name, State: s.State, Rule: s.Rule,
		Msg: fmt.Sprintf("%s: a person is needed (%s)", s.State, s.Why), Hint: sendHint(s),
	}
}

// ended is why the wait for a host ended before it was done. cut is whether the time
// was up within the first look: the machine answers, and its state is not known.
func (w *waiting) ended(s Status, cut bool) error {
	e := &Error{Class: ClassFailed, Host: s.Host.Name, State: s.State, Rule: s.Rule, Err: s.Err}
	states := make([]string, len(w.For))
	for i, want := range w.For {
		states[i] = string(want)
	}
	waited := fmt.Sprintf("not %s within %s: it is %s", strings.Join(states, " or "), w.Timeout, s.State)
	switch {
	case w.outer.Err() != nil:
		e.Msg = fmt.Sprintf("the wait was broken off; it was %s", s.State)
		return e
	case s.State == detect.Unreachable && cut:
		waited = fmt.Sprintf("not %s within %s, as far as is known: a look at it had begun and was not over", strings.Join(states, " or "), w.Timeout)
		e.Hint = "allow more time"
	case s.State == detect.Unreachable:
		e.Class = ClassUnreachable
		if s.Err != nil {
			waited += ": " + cause(s.Err)
		}
		e.Hint = HintOf(s.Err)
	case s.State == detect.Unknown || stuck(s.State):
		e.Class = ClassNeedsPerson
		waited += " (" + s.Why + ")"
		e.Hint = sendHint(s)
	}
	e.Msg = waited
	return e
}
