package transport

import (
	"context"
	"errors"
)

var (
	// ErrNotCarried is what a Carrier gives for a script that it has not run: the
	// Pool then runs it over its own connections.
	ErrNotCarried = errors.New("not carried")
	// ErrCarrierLost is wrapped by the *Error, with Started set, of a script that a
	// Carrier lost sight of. The Pool runs it again if it is Repeatable.
	ErrCarrierLost = errors.New("the holder of the connection is gone")
)

// Carrier runs scripts over connections that somebody else holds. It is safe for
// concurrent use.
type Carrier interface {
	// Carry is Conn.Run for the endpoint e, which is not local, and who is asked
	// and told. Its error wraps ErrNotCarried, or is an *Error.
	Carry(ctx context.Context, e Endpoint, s Script, who *Person) (Result, error)
}

// carriedConn runs scripts by the pool's Carrier, where that does.
type carriedConn struct {
	*sshConn
}

// Run implements Conn.
func (c *carriedConn) Run(ctx context.Context, s Script) (Result, error) {
	p, e := c.pool, c.route.key.Endpoint
	if err := checkScript(e, s); err != nil {
		return Result{}, err
	}
	res, err := c.carry(ctx, p, e, s)
	switch {
	case errors.Is(err, ErrNotCarried):
		return c.sshConn.Run(ctx, s)
	case errors.Is(err, ErrCarrierLost) && s.Repeatable && ctx.Err() == nil:
		res, err = c.sshConn.Run(ctx, s)
		if te, ok := asError(err); ok && !te.Started {
			again := *te // others may have the same one
			again.Started = true
			err = &again
		}
	}
	return res, err
}

func (c *carriedConn) carry(ctx context.Context, p *Pool, e Endpoint, s Script) (Result, error) {
	ctx, leave, err := p.enter(ctx, e)
	if err != nil {
		return Result{}, err
	}
	defer leave()
	who := &Person{Warn: p.opts.Warn, Unhonoured: p.opts.Unhonoured}
	if p.opts.Ask != nil {
		who.Ask = p.ask
	}
	return p.opts.Carrier.Carry(ctx, e, s, who)
}

// LostError is the Error of a script that a Carrier lost sight of.
func LostError(e Endpoint) *Error {
	return &Error{
		Kind: KindConnect, Endpoint: e, Started: true, Err: ErrCarrierLost,
		Hint: "whether the script did its work is not known: look before running it again",
	}
}

// StoppedError is the Error of a script whose ctx has ended and which may have begun.
func StoppedError(ctx context.Context, e Endpoint) *Error {
	return contextError(ctx, e, "running the script", true)
}
