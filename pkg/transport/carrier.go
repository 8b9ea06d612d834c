package transport

import (
	"context"
	"errors"
)

// ErrNotCarried is what a Carrier gives for a script that it has not run: the Pool
// then runs it over its own connections.
var ErrNotCarried = errors.New("not carried")

// Carrier runs scripts over connections that somebody else holds. It is safe for
// concurrent use.
type Carrier interface {
	// Carry is Conn.Run for the endpoint e, which is not local, and who is asked
	// and told. Where nothing was run and the Pool's own connections should do it,
	// the error wraps ErrNotCarried; else it is an *Error.
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
	if !errors.Is(err, ErrNotCarried) {
		return res, err
	}
	return c.sshConn.Run(ctx, s)
}

func (c *carriedConn) carry(ctx context.Context, p *Pool, e Endpoint, s Script) (Result, error) {
	ctx, leave, err := p.enter(ctx, e)
	if err != nil {
		return Result{}, err
	}
	defer leave()
	who := &Person{Warn: p.opts.Warn}
	if p.opts.Ask != nil {
		who.Ask = p.ask
	}
	return p.opts.Carrier.Carry(ctx, e, s, who)
}

// StoppedError is the Error of a call whose ctx has ended while it did what doing
// says; started is whether its script may have begun.
func StoppedError(ctx context.Context, e Endpoint, doing string, started bool) *Error {
	return contextError(ctx, e, doing, started)
}
