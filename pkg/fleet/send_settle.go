package fleet

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transcript"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

const (
	// proofWait bounds the wait for the record; the client writes it within
	// about 0.1 s of taking the prompt.
	proofWait = 15 * time.Second
	proofTick = 200 * time.Millisecond
	// lostWait bounds how long a machine is called whose link broke in the middle
	// of the typing. What was typed there is known there alone.
	lostWait = 45 * time.Second
)

// settle says what became of an attempt that may have typed: the error is nil
// when the conversation, or the client's queue, has the prompt.
func (s *sending) settle(ctx context.Context, a attempt) error {
	s.out.Started = true
	s.out.Conversation, s.out.offset, s.out.at = a.conversation, a.offset, a.at
	if s.out.digest != "" && s.out.digest != a.digest {
		return &Error{Class: ClassUsage, Host: s.h.Name, Msg: "not sent: another prompt was sent under the id " + s.id + "; nothing was typed now",
			Hint: "give each prompt an id of its own"}
	}
	s.out.digest = a.digest
	a, err := s.finished(ctx, a)
	if err != nil {
		return s.lost(ctx, err)
	}
	s.out.State = detect.Ready
	if a.queued {
		s.out.State = detect.Busy
	}
	if a.last() == tmux.StageErased {
		s.unstash(ctx)
		return s.failed(ClassTyped, "the prompt never stood whole in the input box, so it was not submitted; what was typed of it was taken out again", "send it again")
	}
	r, result, answered, err := s.proof(ctx, a)
	if result == Queued && s.atRest(ctx) {
		if r, result, answered, err = s.proof(ctx, a); result == Queued {
			return s.failed(ClassTyped, "the prompt was "+takenBack, "see what was said since: claude-fleet read "+s.h.Name)
		}
	}
	switch {
	case result == Typed:
		return s.blocked(ctx, a, r)
	case result == Refused:
		return s.failed(ClassUnproven, "the prompt was submitted, but the client says: "+r.Text(), "see which commands it has: claude-fleet attach "+s.h.Name)
	case result != "":
		s.out.Result, s.out.Record = result, r.ID
		s.out.Detail = "accepted: the conversation holds the prompt"
		if result == Queued {
			s.out.Detail = "queued: the client lets it in when the turn that runs allows"
		}
		s.restored(ctx)
		return nil
	case !answered && err != nil:
		return s.lost(ctx, err)
	}
	return s.without(ctx, a, err)
}

// blocked is the end of a prompt that a hook of the session did not let through.
// The client puts it back into the input box: there it would be in the way of all
// that comes later, so the one that sent it takes it out again.
func (s *sending) blocked(ctx context.Context, a attempt, r transcript.Record) error {
	reason, _ := transcript.BlocksDigest(r, a.digest)
	msg := "a hook of that session refused the prompt: " + cut(neutral(reason), 300)
	cleared, empty := false, 0 // looks that found the box empty
	for try := 0; try < keyTries && empty < restLooks; try++ {
		look := s.f.probeOne(ctx, s.h)
		mine := look.State == detect.Ready && !s.out.Repeated && (restoredAs(look.Draft, s.prompt.text) || s.prompt.chip(look.Draft))
		switch {
		case look.Draft == "" && cleared && look.State == detect.Ready:
			return s.failed(ClassTyped, msg+"; it was taken out of the input box again", "change the prompt, or the hook: its command is in the settings of that session (/hooks)")
		case look.Draft == "":
			empty++
		case !mine || s.clear(ctx, look) != nil:
			words := "; text stands in the input box"
			if s.did["stash"] { // the client puts the prompt beneath it
				words = "; the draft that was put aside stands in the input box again, perhaps with the prompt beneath it"
			}
			return s.failed(ClassTyped, msg+words, "see it, and the hooks, with: claude-fleet attach "+s.h.Name)
		default:
			cleared = true
		}
		if !wait(ctx, pause) {
			break
		}
	}
	return s.failed(ClassTyped, msg, "see its input box, and the hooks, with: claude-fleet attach "+s.h.Name)
}

// atRest tells whether the session is ready and nothing waits in its queue, for
// more than the moment between a turn and the next.
func (s *sending) atRest(ctx context.Context) bool {
	for range restLooks {
		if now := s.f.probeOne(ctx, s.h); now.State != detect.Ready || now.Input.Queued {
			return false
		}
		if !wait(ctx, pause) {
			return false
		}
	}
	return true
}

// finished waits until nothing more comes of an attempt's script.
func (s *sending) finished(ctx context.Context, a attempt) (attempt, error) {
	ctx, cancel := s.f.conns.WithTimeout(ctx, typeLimit+lostWait)
	defer cancel()
	for !a.over() {
		if !wait(ctx, pause) {
			return a, ctx.Err()
		}
		next, err := s.f.attempt(ctx, s.h, s.id)
		switch {
		case err == nil:
			a = next
		case errors.Is(err, errNoAttempt): // it is gone: its age, or a person's hand
			a.alive = false
		}
	}
	return a, nil
}

// proof looks for the record of the prompt behind what the conversation held
// before. answered is whether the conversation was read at all.
func (s *sending) proof(ctx context.Context, a attempt) (r transcript.Record, result Result, answered bool, err error) {
	if a.conversation == "" {
		return r, "", true, nil
	}
	most := proofWait
	switch a.last() {
	case tmux.StageTyping, tmux.StageTyped, tmux.StageStuck: // Enter was not pressed, or not taken
		most = 2 * time.Second
	}
	ctx, cancel := s.f.conns.WithTimeout(ctx, most)
	defer cancel()
	gates := 0
	for {
		records, failure := s.f.recordsSince(ctx, s.h, a.conversation, a.offset)
		if failure == nil {
			answered = true
			if r, result := a.shows(records); result != "" {
				return r, result, true, nil
			}
			now := s.f.probeOne(ctx, s.h)
			if r, ok := s.elsewhere(ctx, a, now); ok {
				return r, Accepted, true, nil
			}
			// A command that opens a panel is recorded when that is closed, or never.
			if gates++; now.State != detect.Gate {
				gates = 0
			}
			if gates >= restLooks && s.prompt.command != "" {
				return r, "", true, nil
			}
		}
		if ctx.Err() == nil {
			err = failure
		}
		if !wait(ctx, proofTick) {
			return r, "", answered, err
		}
	}
}

// elsewhere looks for the record in a conversation that has begun since: /clear
// opens one, and its record is the first in it, at once. One that is there much
// later is another's.
func (s *sending) elsewhere(ctx context.Context, a attempt, now seen) (r transcript.Record, ok bool) {
	id := conversation(now)
	if now.Err != nil || id == "" || id == a.conversation {
		return r, false
	}
	records, err := s.f.recordsSince(ctx, s.h, id, 0)
	if err != nil {
		return r, false
	}
	for _, r := range records {
		if a.own(r) && (a.noted.IsZero() || r.Sent.Before(a.noted.Add(ownWithin))) && transcript.MatchesDigest(r, a.digest) {
			s.out.Conversation, s.out.offset = id, 0
			return r, true
		}
	}
	return r, false
}

// recordsSince are the records of a conversation behind its first offset bytes.
func (f *Fleet) recordsSince(ctx context.Context, h Host, id string, offset int64) ([]transcript.Record, error) {
	res, err := f.conn(h).Run(ctx, transport.Script{Text: transcript.SinceFragment(id, offset), Repeatable: true})
	if err != nil {
		return nil, err
	}
	return transcript.ParseRecords(res.Stdout), nil
}

// without says what is true of an attempt that no record proves. err is why the
// conversation could not be read at the end; it may be nil.
func (s *sending) without(ctx context.Context, a attempt, err error) error {
	look := "look with: claude-fleet attach " + s.h.Name
	read := "do not send it again before you have looked: claude-fleet read " + s.h.Name
	if a.last() == tmux.StageSubmitted || a.last() == tmux.StageEnter {
		msg := "the prompt was submitted, but the conversation does not show it"
		switch {
		case ctx.Err() != nil:
			msg = "the prompt was submitted; interrupted before the conversation could show it"
		case a.conversation == "":
			msg = "the prompt was submitted, and nothing can prove that it was accepted (this client keeps no session file to tell which conversation is its own)"
		case err != nil:
			msg += "; reading it: " + cause(err)
		default:
			now := s.f.probeOne(ctx, s.h)
			switch {
			case now.Draft != "" && a.last() == tmux.StageEnter: // the script died over its Enter, or a person types
				msg += ", and text stands in the input box"
			case now.State == detect.Gate:
				msg = "the prompt was submitted, and now " + now.Why
				read = sendHint(now.Status)
			}
		}
		if a.last() == tmux.StageEnter {
			msg = strings.Replace(msg, "the prompt was submitted", "the prompt was typed, and Enter may have been pressed", 1)
		}
		return s.failed(ClassUnproven, msg, read+"; ask again with: claude-fleet outcome "+s.h.Name+" "+s.id)
	}
	if s.o.ReplaceDraft && s.did["stash"] {
		s.warn("the draft is still put aside; the client puts it back with the next prompt, or at Ctrl+S in the empty box")
	}
	now := s.f.probeOne(ctx, s.h)
	switch {
	case now.Err != nil:
		return s.failed(ClassTyped, "the prompt was typed, at least in part, and not submitted; whether it is still in the input box is not known: "+cause(now.Err), s.ask())
	case now.State == detect.Down || now.State == detect.Crashed:
		return s.failed(ClassTyped, "the prompt was typed, at least in part, and not submitted; the session's state is "+string(now.State)+" now ("+now.Why+"), and the input box is not to be seen",
			sendHint(now.Status)+"; then send it again under another id")
	case now.State == detect.Gate:
		return s.failed(ClassTyped, "the prompt was typed, at least in part, and not submitted: a dialog came in front of it ("+now.Why+"); it may stand beneath, or in the dialog",
			sendHint(now.Status)+"; then see whether it is in the input box")
	case now.Draft == "" && a.last() == tmux.StageStuck:
		return s.failed(ClassUnproven, "the prompt was typed and Enter pressed; it is no longer in the input box, and the conversation does not show it", read)
	case now.Draft == "" && now.State == detect.Ready:
		return s.failed(ClassTyped, "the prompt was typed, at least in part, and not submitted; it is no longer in the input box", "see that nobody has submitted it: claude-fleet read "+s.h.Name+"; then send it again under another id")
	case a.last() == tmux.StageStuck:
		return s.failed(ClassTyped, "the prompt was typed into the input box, and the client took no Enter; it is still there", look+"; press Enter to submit it or Ctrl+U to drop it")
	}
	return s.failed(ClassTyped, "the prompt was typed, at least in part, and not submitted; it is still in the input box", look+"; Ctrl+U drops it")
}

func (s *sending) failed(c Class, msg, hint string) *Error {
	return &Error{Class: c, Host: s.h.Name, State: s.out.State, Rule: s.out.Rule, Msg: transport.Neutralise(msg), Hint: hint}
}

// ask is what to do when it is not known what became of the prompt.
func (s *sending) ask() string {
	return "ask with: claude-fleet outcome " + s.h.Name + " " + s.id + "; to send it again with --id " + s.id + " is safe too"
}

// lost is the end of a send whose machine stopped answering after the typing
// may have begun.
func (s *sending) lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return s.failed(ClassUnproven, "interrupted while the prompt was being typed; what became of it is not known", s.ask())
	}
	e := unreachable(s.h.Name, err)
	e.Class = ClassUnreachable
	e.Msg = "the machine stopped answering while the prompt was being typed; what became of it is not known: " + cause(err)
	e.Hint = s.ask()
	return e
}

// recover goes on after the answer of a sending script was lost, or when another
// attempt of the same id was there first. again means that nothing was typed.
func (s *sending) recover(ctx context.Context, cause error) (again bool, err error) {
	s.out.Started = true
	call, cancel := s.f.conns.WithTimeout(ctx, lostWait)
	defer cancel()
	for {
		a, err := s.f.attempt(call, s.h, s.id)
		switch {
		case err == nil:
			return false, s.settle(ctx, a)
		case errors.Is(err, errNoAttempt):
			// The script may not have begun: it is on its way still, or will find that
			// the next one was there first.
			s.out.Started = false
			return true, failed(s.h.Name, "sending", cause)
		}
		cause = err
		if !wait(call, time.Second) {
			return false, s.lost(ctx, cause)
		}
	}
}
