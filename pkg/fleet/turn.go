package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/transcript"
)

// Turned is how the turn of a prompt ended.
type Turned struct {
	// Text is the last that the turn said: the model's text behind its last tool,
	// what a command printed, or why the service refused. It is not neutralised.
	Text string `json:"text"`
	// State is the session's behind the turn.
	State detect.State `json:"state"`
	// Interrupted is whether a person broke the turn off.
	Interrupted bool `json:"interrupted"`
	// APIError is whether the service refused; APIStatus is the HTTP status, 0
	// when it is not known.
	APIError  bool `json:"api_error"`
	APIStatus int  `json:"api_status"`
	// Stopped is what is known of a hook of the session that ended the turn; empty
	// where none did. It is not neutralised.
	Stopped string `json:"stopped"`
}

// Waited is an outcome, and how the turn of the prompt ended.
type Waited struct {
	Outcome
	Turn *Turned // nil when the prompt was not accepted, or the turn has not ended
	Err  error   // of Send, or of WaitTurn: nil, or an *Error
}

// MarshalJSON writes the outcome's object with "turn" and "failure" added: how the
// turn ended, or null; and why the wait for its end failed, or "".
func (w Waited) MarshalJSON() ([]byte, error) {
	j := struct {
		Outcome
		Turn    *Turned `json:"turn"`
		Failure string  `json:"failure"`
	}{Outcome: w.Outcome, Turn: w.Turn}
	if w.Err != nil && w.Outcome.Err == nil {
		j.Failure = w.Err.Error()
	}
	return json.Marshal(j)
}

const (
	// turnTick is the mean time between two looks at a turn that runs.
	turnTick = time.Second
	// restLooks is how many looks running must find a session at rest for that to
	// count, where the conversation does not tell that a turn has ended.
	restLooks = 3
)

// SendAndWait is Send to several hosts at once, and WaitTurn for each. No turn is
// waited for longer than limit, which begins when its prompt was accepted: the sending
// has bounds of its own. 0 is as long as the context lasts. Where Send finds
// that a command has opened a dialog, that is the end. It yields each host's end as
// it comes; for no host there is none.
func (f *Fleet) SendAndWait(ctx context.Context, prompt string, o SendOptions, limit time.Duration, hosts ...Host) iter.Seq[Waited] {
	return stream(ctx, hosts, func(ctx context.Context, h Host, emit func(Waited)) {
		out, err := f.Send(ctx, h.Name, prompt, o)
		w := Waited{Outcome: out, Err: err}
		if err == nil {
			if limit > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, limit)
				defer cancel()
			}
			var t Turned
			if t, w.Err = f.WaitTurn(ctx, out); w.Err == nil || ClassOf(w.Err) == ClassNeedsPerson || t.APIError {
				w.Turn = &t
			}
		}
		emit(w)
	})
}

// WaitTurn waits until the turn of a prompt that Send, or Outcome, said to be
// accepted or queued has ended, or ctx has, which alone bounds it. An Outcome
// that was kept as JSON will do if it has a Record (of a queued prompt it has none:
// ask Outcome anew); all of the conversation is read then.
//
// The errors are *Error: ClassUsage when there is no turn to wait for,
// ClassNeedsPerson when the turn stands still until a person comes (a dialog, a
// login, a client that is gone), and ClassFailed when the service refused the turn,
// when a person broke it off, and when ctx ended first. Turned holds what was said
// so far in each case.
func (f *Fleet) WaitTurn(ctx context.Context, out Outcome) (Turned, error) {
	h, err := f.host(out.Host)
	if err != nil {
		return Turned{}, err
	}
	if out.Result != Accepted && out.Result != Queued {
		return Turned{}, &Error{Class: ClassUsage, Host: out.Host, Msg: "there is no turn to wait for: the prompt was not accepted"}
	}
	if out.Record == "" && out.digest == "" {
		return Turned{}, &Error{Class: ClassUsage, Host: out.Host, Msg: "the turn can't be found: the outcome has no record", Hint: "ask for the outcome by its id, and wait for that"}
	}
	w := turnWait{f: f, h: h, group: groups([]Host{h})[0].remembering(), out: out}
	for {
		over, err := w.look(ctx)
		if over || err != nil {
			return w.turn, err
		}
		if !wait(ctx, turnTick) {
			return w.turn, w.late(ctx)
		}
	}
}

// takenBack is what became of a prompt that waited in the queue, and of which no
// turn came.
const takenBack = "queued, is queued no more and never ran: somebody took it back, or its client was ended"

// turnWait is the waiting for the end of one turn.
type turnWait struct {
	f     *Fleet
	h     Host
	group group // of the host alone
	out   Outcome
	turn  Turned
	last  detect.State // at the newest look
	same  int          // looks running that found it
	lost  error        // why the newest look failed
}

// look looks once. over is whether the turn has ended.
func (w *turnWait) look(ctx context.Context) (over bool, err error) {
	s := w.f.probeAlone(ctx, w.group)
	if ctx.Err() != nil {
		return false, nil // what failed is the waiting
	}
	if w.lost = s.Err; s.Err != nil {
		return false, nil // it may come back
	}
	w.same++
	if s.State != w.last {
		w.last, w.same = s.State, 1
	}
	w.turn.State = s.State
	records, err := w.f.recordsSince(ctx, w.h, w.out.Conversation, w.out.offset)
	if err != nil {
		if ctx.Err() == nil {
			w.lost = err
		}
		return false, nil
	}
	i := slices.IndexFunc(records, func(r transcript.Record) bool {
		return r.ID != "" && r.ID == w.out.Record || !r.Sent.Before(w.out.at) && transcript.MatchesDigest(r, w.out.digest)
	})
	begun := i >= 0
	if begun {
		end, ended := transcript.TurnEnd(records[i:])
		w.turn.Text, w.turn.Interrupted, w.turn.APIError, w.turn.APIStatus, w.turn.Stopped = end.Text, end.Interrupted, end.Error, end.Status, end.Stopped
		if ended {
			return true, w.ended()
		}
	}
	if w.same < restLooks {
		return false, nil
	}
	switch s.State {
	case detect.Ready:
		return w.rests(s, records[max(i, 0):], begun)
	case detect.Limited:
		return false, &Error{Class: ClassFailed, Host: w.h.Name, State: s.State, Rule: s.Rule, Msg: "the turn met a usage limit", Hint: sendHint(s.Status)}
	case detect.Gate, detect.Unauth, detect.Crashed, detect.Down:
		return false, &Error{Class: ClassNeedsPerson, Host: w.h.Name, State: s.State, Rule: s.Rule,
			Msg: fmt.Sprintf("the prompt was accepted, and the session's state is %s now (%s)", s.State, s.Why), Hint: sendHint(s.Status)}
	}
	return false, nil
}

// rests judges a session that has come to rest although the conversation does
// not tell that the turn has ended.
func (w *turnWait) rests(s seen, records []transcript.Record, begun bool) (over bool, err error) {
	fail := func(msg string) (bool, error) {
		return false, &Error{Class: ClassFailed, Host: w.h.Name, State: s.State, Rule: s.Rule, Msg: msg, Hint: "see what was said with: claude-fleet read " + w.h.Name}
	}
	if !begun {
		return fail("the prompt was " + takenBack)
	}
	if _, command := records[0].Command(); command {
		return true, nil // it may have nothing to print, as /clear
	}
	// From 2.1.202 on every turn that ends says so. Those before say at least what
	// the model said.
	if w.turn.Text != "" && (s.session == nil || !detect.VersionAtLeast(s.session.Version, "2.1.202")) {
		return true, nil
	}
	return fail("the prompt was accepted, and its turn was broken off: the session is ready, and no end of it is recorded")
}

// ended is the error that goes with a turn that ended otherwise than it should.
func (w *turnWait) ended() error {
	switch {
	case w.turn.APIError && (w.turn.APIStatus == 401 || w.turn.APIStatus == 403 || w.turn.State == detect.Unauth):
		return &Error{Class: ClassNeedsPerson, Host: w.h.Name, State: detect.Unauth, Msg: "the prompt was accepted, and the service refused the credentials: " + neutral(cut(w.turn.Text, 300)),
			Hint: sendHint(Status{Host: w.h, Verdict: detect.Verdict{State: detect.Unauth}})}
	case w.turn.APIError:
		return &Error{Class: ClassFailed, Host: w.h.Name, State: w.turn.State, Msg: "the prompt was accepted, and the service refused the turn: " + neutral(cut(w.turn.Text, 300)),
			Hint: "look with: claude-fleet status " + w.h.Name}
	case w.turn.Interrupted:
		return &Error{Class: ClassFailed, Host: w.h.Name, State: w.turn.State, Msg: "the prompt was accepted, and the turn was interrupted", Hint: "look with: claude-fleet read " + w.h.Name}
	case w.turn.Stopped != "":
		return &Error{Class: ClassFailed, Host: w.h.Name, State: w.turn.State, Msg: "the prompt was accepted, and " + neutral(cut(w.turn.Stopped, 300)), Hint: "look with: claude-fleet read " + w.h.Name}
	}
	return nil
}

// late is the error of a wait whose context ended first.
func (w *turnWait) late(ctx context.Context) error {
	e := &Error{Class: ClassFailed, Host: w.h.Name, State: w.last, Err: ctx.Err(),
		Msg: "the prompt was accepted, and its turn has not ended yet", Hint: "wait on with: claude-fleet wait " + w.h.Name + "; then read it"}
	if w.lost != nil {
		e.Class, e.State = ClassUnreachable, detect.Unreachable
		e.Msg = "the prompt was accepted, and the machine does not answer any more: " + cause(w.lost)
	}
	return e
}
