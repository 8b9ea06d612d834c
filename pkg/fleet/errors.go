package fleet

import (
	"context"
	"errors"
	"fmt"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// Class says, once for every verb, what kind of failure an error is. The CLI
// turns each into an exit code.
type Class int

const (
	// ClassFailed is whatever is none of the others.
	ClassFailed Class = iota + 1
	// ClassUsage is a bad call or a bad fleet.conf.
	ClassUsage
	// ClassRefused is a verb that declined to act: nothing was typed.
	ClassRefused
	// ClassTyped is a prompt that was typed and not submitted.
	ClassTyped
	// ClassUnproven is a prompt that was submitted, or may have been, without
	// proof that it was accepted.
	ClassUnproven
	// ClassUnreachable is a machine that did not answer truthfully in time. Nothing
	// was typed there, unless Outcome.Started says that something may have been.
	ClassUnreachable
	// ClassNeedsPerson is a session at which nothing goes on until a person comes.
	ClassNeedsPerson
)

// String is the class in one word.
func (c Class) String() string {
	switch c {
	case ClassUsage:
		return "usage"
	case ClassRefused:
		return "refused"
	case ClassTyped:
		return "typed"
	case ClassUnproven:
		return "unproven"
	case ClassUnreachable:
		return "unreachable"
	case ClassNeedsPerson:
		return "needs a person"
	}
	return "failed"
}

// Error is what the verbs return, always as a pointer. Its text is safe to print:
// what came from a host is neutralised. It is not written to once it was returned.
type Error struct {
	Class Class
	Host  string       // label of the host
	State detect.State // as last seen; empty when it is not known
	Rule  string       // that gave the state
	Msg   string       // what is true now
	Hint  string       // what to do next; may be empty
	Err   error        // the cause; may be nil
}

// Error is "HOST: message" on one line; the hint is not part of it.
func (e *Error) Error() string {
	if e == nil { // an importer's mistake, which must not end its program
		return "no error"
	}
	if e.Host == "" {
		return e.Msg
	}
	return e.Host + ": " + e.Msg
}

// Unwrap is the cause, such as a *transport.Error or context.DeadlineExceeded.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// ClassOf classifies any error of this package, wrapped or joined: 0 for nil,
// ClassFailed for a stranger and for an *Error without a class. Of several errors
// that are joined it is the class of the first.
func ClassOf(err error) Class {
	if err == nil {
		return 0
	}
	var fe *Error
	var ce *ConfigError
	switch {
	case errors.As(err, &fe) && fe != nil && fe.Class != 0:
		return fe.Class
	case errors.As(err, &ce):
		return ClassUsage
	}
	return ClassFailed
}

// HintOf is what to do about an error; empty when nothing is known, and for a
// *ConfigError, whose text has its hint.
func HintOf(err error) string {
	var fe *Error
	var te *transport.Error
	switch {
	case errors.As(err, &fe) && fe != nil && fe.Hint != "":
		return fe.Hint
	case errors.As(err, &te) && te != nil:
		return te.Hint
	}
	return ""
}

// cause is what err says of the thing itself, without the machine's name.
func cause(err error) string {
	var te *transport.Error
	if errors.As(err, &te) {
		return te.Err.Error()
	}
	return transport.Neutralise(fmt.Sprint(err))
}

// unreachable wraps what a transport said of a host.
func unreachable(host string, err error) *Error {
	msg := "unreachable: " + err.Error()
	var te *transport.Error
	if errors.Is(err, transport.ErrPoolClosed) {
		return &Error{Class: ClassFailed, Host: host, State: detect.Unreachable, Msg: "not asked: the fleet was closed", Err: err}
	}
	if errors.As(err, &te) && te.Kind == transport.KindCanceled {
		return &Error{Class: ClassFailed, Host: host, State: detect.Unreachable, Msg: "interrupted before it answered", Err: err}
	}
	if te != nil { // its text would name the machine a second time
		msg = fmt.Sprintf("unreachable (%s): %v", te.Kind, te.Err)
	}
	return &Error{Class: ClassUnreachable, Host: host, State: detect.Unreachable, Msg: msg, Hint: HintOf(err), Err: err}
}

// failed wraps an error of a step that had reached the host. An error of the
// way there keeps its own class.
func failed(host, doing string, err error) *Error {
	if _, ok := transport.KindOf(err); ok {
		return unreachable(host, err)
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return unreachable(host, err)
	}
	return &Error{Class: ClassFailed, Host: host, Msg: fmt.Sprintf("%s: %s", doing, transport.Neutralise(err.Error())), Err: err}
}

// refused says that nothing was typed, and why.
func refused(s Status, hint string) *Error {
	msg := fmt.Sprintf("not sent: the session's state is %s (%s)", s.State, s.Why)
	if s.State == detect.Ready && s.Draft != "" {
		msg = "not sent: somebody's draft is in the input box"
	}
	return &Error{Class: ClassRefused, Host: s.Host.Name, State: s.State, Rule: s.Rule, Msg: msg + "; nothing was typed", Hint: hint}
}
