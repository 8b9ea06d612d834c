package transport

import (
	"context"
	"errors"
)

// Person is whom one call is for, where a Pool works for several: its questions
// and warnings then go there, and not to those of Options.
type Person struct {
	// ID is the same for all calls of one Person. One that can be asked does not
	// take over a login that failed while another was asked.
	ID string
	// Ask is as in Options, but may be called for several questions at once; nil
	// means that nobody is asked.
	Ask func(ctx context.Context, q Question) (string, error)
	// Warn is as in Options; what is known of ssh_config alone is told by Look.
	// Unhonoured is as in Options, and for a Carrier.
	Warn       func(e Endpoint, text string)
	Unhonoured func(e Endpoint, keywords []string)
	// Aside, once it is closed, ends with ErrAside the calls that wait for a
	// connection then, and none that has one. nil is never.
	Aside <-chan struct{}
	// Begin, which may be nil, is asked when a call has a connection and is about to
	// begin there; an error ends it, wrapped by an *Error with Started not set.
	Begin func() error
}

// begin is Person.Begin of whom the work of ctx is for.
func begin(ctx context.Context, e Endpoint) *Error {
	if who := personOf(ctx); who != nil && who.Begin != nil {
		if ctx.Err() != nil {
			return contextError(ctx, e, awaitingChannel, false)
		}
		if err := who.Begin(); err != nil {
			return &Error{Kind: KindCanceled, Endpoint: e, Err: err, Hint: stoppedHint(false)}
		}
	}
	return nil
}

// ErrAside is wrapped by the *Error, with Started not set, of a call that waited
// for a connection until Person.Aside was closed.
var ErrAside = errors.New("somebody else is being asked")

// aside is Person.Aside of whom the work of ctx is for.
func aside(ctx context.Context) <-chan struct{} {
	if who := personOf(ctx); who != nil {
		return who.Aside
	}
	return nil
}

type personKey struct{}

// WithPerson gives a context whose calls are for who.
func WithPerson(ctx context.Context, who *Person) context.Context {
	return context.WithValue(ctx, personKey{}, who)
}

// personOf is whom the work of ctx is for, or nil: the Pool's own.
func personOf(ctx context.Context) *Person {
	who, _ := ctx.Value(personKey{}).(*Person)
	return who
}

// canAsk is whether somebody can be asked for the work of ctx.
func (p *Pool) canAsk(ctx context.Context) bool {
	if who := personOf(ctx); who != nil {
		return who.Ask != nil
	}
	return p.opts.Ask != nil
}

// warnsOf is who is told what the user has to know of the work of ctx, or nil.
func (p *Pool) warnsOf(ctx context.Context) func(Endpoint, string) {
	if who := personOf(ctx); who != nil {
		return who.Warn
	}
	return p.opts.Warn
}

func (p *Pool) warn(ctx context.Context, e Endpoint, text string) {
	if tell := p.warnsOf(ctx); tell != nil {
		tell(e, text)
	}
}

// another is whether the work of ctx is for a person that can be asked, and is
// not who.
func (who *Person) another(ctx context.Context) bool {
	own := personOf(ctx)
	return own != nil && own.Ask != nil && (who == nil || who.ID != own.ID)
}
