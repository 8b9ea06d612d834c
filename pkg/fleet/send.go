package fleet

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/transcript"
)

// Result is what became of a prompt.
type Result string

// The results of a send.
const (
	Accepted    Result = "accepted"    // in the conversation, once; proven by its record
	Queued      Result = "queued"      // the client keeps it until the turn that runs lets it in; proven by its record
	Refused     Result = "refused"     // nothing was typed
	Typed       Result = "typed"       // it was typed, whole or in part, and not submitted
	Submitted   Result = "submitted"   // gone from the input box, with no proof of where to
	Unreachable Result = "unreachable" // the machine did not answer; see Outcome.Started
)

// Outcome is what became of a prompt that was sent.
type Outcome struct {
	Host string `json:"host"`
	// ID names the attempt on its host: Send with the same id never types the
	// prompt a second time, and Fleet.Outcome asks what became of it.
	ID     string       `json:"id"`
	Result Result       `json:"result"`
	State  detect.State `json:"state"` // when it was judged
	Rule   string       `json:"rule"`
	Detail string       `json:"detail"` // what is true now, in one line
	Hint   string       `json:"hint"`   // what to do; may be empty
	// Started is whether typing had begun, or may have: in this call, or in the one
	// that it reports.
	Started bool `json:"started"`
	// Repeated is whether the prompt had been sent under this id before, so that
	// nothing was typed now.
	Repeated bool `json:"repeated"`
	// Record and Conversation are the ids of the record that proves the prompt
	// accepted and of the conversation that it stands in.
	Record       string `json:"record"`
	Conversation string `json:"conversation"`
	// DroppedControls counts the control characters that were taken out.
	DroppedControls int `json:"dropped_controls"`
	// Draft is what stood in the input box and was put aside for the prompt
	// (SendOptions.ReplaceDraft), as far as the screen showed it.
	Draft string `json:"draft"`
	// Interrupted is whether a turn was interrupted for it (SendOptions.Force).
	Interrupted bool `json:"interrupted"`
	// Warnings are for people: a terminal that is attached, a draft that is still
	// put aside. Neutralised.
	Warnings []string `json:"warnings"`
	// Err is what Send returns beside the outcome.
	Err error `json:"-"`

	offset int64     // length of the conversation before the prompt
	at     time.Time // when the typing began, or earlier
	digest string
}

// SendOptions say what Send may do besides typing into a session that is ready
// and whose input box is empty. The zero value allows nothing.
type SendOptions struct {
	// ID names the attempt: up to 64 letters, digits, dots, dashes and underscores.
	// Send makes one where it is empty. When an attempt of that id is known on
	// the host and may have typed, Send reports what became of it and types nothing.
	ID string
	// Force interrupts a turn that runs, and nothing else: not a dialog, and not
	// somebody's draft.
	Force bool
	// Queue hands a prompt for a session that is busy to the client's own queue.
	Queue bool
	// ReplaceDraft has the client put somebody's draft aside and, once the prompt
	// is submitted, back.
	ReplaceDraft bool
}

// Send types a prompt into the session of one host and submits it, if and only
// if the session is proven ready and its input box empty (or as the options
// allow), and proves from the conversation that it arrived whole and once. It
// returns when the prompt has been accepted, not when the work is done: for that
// there is WaitTurn.
//
// The error is nil when the prompt was accepted or queued, else an *Error whose
// class says how far it came: ClassUsage and ClassRefused (nothing was typed),
// ClassTyped, ClassUnproven, ClassUnreachable (Outcome.Started says whether
// typing had begun). The Outcome says the same in all cases. Once typing has begun
// it is finished or given up within 40 s, whatever becomes of ctx.
//
// What Send does is written down on the host before it is done, in one file of
// less than a kilobyte under ~/.local/state/claude-fleet there, for JournalDays;
// the prompt itself is not in it.
func (f *Fleet) Send(ctx context.Context, name, prompt string, o SendOptions) (Outcome, error) {
	h, err := f.host(name)
	if err != nil {
		return refusedOutcome(name, err)
	}
	s := &sending{f: f, h: h, o: o, id: o.ID, given: o.ID != ""}
	if !s.given {
		s.id = newID()
	} else if err := checkID(s.id); err != nil {
		return refusedOutcome(name, err)
	}
	s.prompt, err = preparePrompt(prompt)
	if err != nil {
		class := ClassUsage
		if errors.Is(err, errCommand) {
			class = ClassRefused
		}
		return refusedOutcome(name, &Error{Class: class, Host: name, Msg: "not sent: " + err.Error() + "; nothing was typed", Err: err})
	}
	s.out = Outcome{ID: s.id, digest: transcript.Digest(s.prompt.text)}
	err = s.run(ctx)
	s.out.DroppedControls = s.prompt.dropped
	return s.out.as(name, err), err
}

// SendAll is Send to several hosts at once. It yields each outcome as it comes;
// Outcome.Err is what Send returns. For no host there is none.
func (f *Fleet) SendAll(ctx context.Context, prompt string, o SendOptions, hosts ...Host) iter.Seq[Outcome] {
	return stream(ctx, hosts, func(ctx context.Context, h Host, emit func(Outcome)) {
		out, _ := f.Send(ctx, h.Name, prompt, o)
		emit(out)
	})
}

// as completes an outcome for its host, from the error that goes with it.
func (o Outcome) as(host string, err error) Outcome {
	o.Host, o.Err = host, err
	if o.Warnings == nil {
		o.Warnings = []string{}
	}
	var fe *Error
	switch {
	case errors.As(err, &fe):
		o.Detail, o.Hint, o.Result = fe.Msg, fe.Hint, resultOf(fe.Class)
	case err != nil:
		o.Detail, o.Result = neutral(err.Error()), Refused
	}
	return o
}

func refusedOutcome(host string, err error) (Outcome, error) {
	return Outcome{}.as(host, err), err
}

// resultOf is the result that goes with the class of a failed send. Every other
// class, such as that of a call that was interrupted, comes before the typing.
func resultOf(c Class) Result {
	switch c {
	case ClassTyped:
		return Typed
	case ClassUnproven:
		return Submitted
	case ClassUnreachable:
		return Unreachable
	}
	return Refused
}

// Outcome asks a host what became of the prompt that was sent under an id in
// the last JournalDays. The errors are those of Send; where no such prompt was
// typed, ClassRefused.
func (f *Fleet) Outcome(ctx context.Context, name, id string) (Outcome, error) {
	h, err := f.host(name)
	if err != nil {
		return refusedOutcome(name, err)
	}
	if err := checkID(id); err != nil {
		return refusedOutcome(name, err)
	}
	s := &sending{f: f, h: h, id: id, out: Outcome{ID: id}}
	a, err := f.attempt(ctx, h, id)
	switch {
	case errors.Is(err, errNoAttempt):
		err = &Error{Class: ClassRefused, Host: name,
			Msg:  "nothing was typed under the id " + id,
			Hint: fmt.Sprintf("a host remembers a sending for %d days; if this one is not older, it is safe to send it again under that id", JournalDays)}
	case err != nil:
		err = failed(name, "asking for the outcome", err)
	default:
		err = s.report(ctx, a)
	}
	return s.out.as(name, err), err
}
