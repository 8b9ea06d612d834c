package transport

import (
	"context"
	"errors"
	"fmt"
)

// sshConn runs scripts on an endpoint over the connections of its route.
type sshConn struct {
	pool  *Pool
	route *route
}

// Run implements Conn.
func (c *sshConn) Run(ctx context.Context, s Script) (Result, error) {
	e := c.route.key.Endpoint
	if err := checkScript(e, s); err != nil {
		return Result{}, err
	}
	ctx, leave, err := c.pool.enter(ctx, e)
	if err != nil {
		return Result{}, err
	}
	defer leave()
	res, lost, rerr := c.runOnce(ctx, s, c.abandon)
	if lost != nil && s.Repeatable && ctx.Err() == nil {
		c.endLost(ctx, *lost)
		// It has run once, whatever keeps it from running again.
		res, lost, rerr = c.runOnce(ctx, s, c.abandon)
		rerr = startedError(rerr, true)
	}
	if lost != nil && !s.Finish {
		c.pool.endScript(func() { c.endLost(c.pool.ctx, *lost) })
	}
	if rerr != nil {
		return Result{}, rerr
	}
	return res, nil
}

// startedError is err, or nil, of a script that may have begun before that. Err may be
// that of a dial, which others share.
func startedError(err *Error, started bool) *Error {
	if err == nil || !started || err.Started {
		return err
	}
	e := *err
	e.Started = true
	return &e
}

// runOnce runs s on one channel; abandon ends it if it is not waited for. lost
// is not nil if the connection, or a shell that was to run more than s, died
// under it: what is known of the run then.
func (c *sshConn) runOnce(ctx context.Context, s Script, abandon func(*channel, *frames)) (_ Result, lost *runID, _ *Error) {
	repeatable := s.sharesShell()
	tried := false // a shell was given s, and may have begun it
	if repeatable {
		if ch := c.route.takeShell(); ch != nil {
			res, lost, err := c.runOn(ctx, ch, s, abandon)
			if err == nil || !errors.Is(err, errStill) && (lost != nil || ch.frames.begun() || ctx.Err() != nil) {
				return res, lost, err
			}
			// The shell had ended meanwhile, as a host may end what sits idle, or was
			// stopped.
			tried = true
		}
	}
	ch, err := c.route.channel(ctx)
	if err != nil {
		return Result{}, nil, startedError(err, tried)
	}
	ch.startShell(repeatable && c.route.keepShell(ch))
	res, lost, rerr := c.runOn(ctx, ch, s, abandon)
	still := rerr != nil && errors.Is(rerr, errStill)
	if !still && (!ch.lasting || rerr == nil || rerr.Kind != KindProtocol || lost != nil || ch.frames.begun() || ctx.Err() != nil) {
		return res, lost, startedError(rerr, tried)
	}
	// What does not run one script after another may still run one.
	if ch, err = c.route.channel(ctx); err != nil {
		return Result{}, nil, startedError(err, true)
	}
	ch.startShell(false)
	if res, lost, rerr = c.runOn(ctx, ch, s, abandon); rerr == nil {
		c.route.noShell()
	}
	return res, lost, startedError(rerr, true)
}

// errStill is that of a script that a persistent shell has not begun, or not
// answered in full, although the connection lives. A shell of its own may run it.
var errStill = errors.New("the shell stands still")

// still is whether a persistent shell that was idle does not begin its script: it
// was stopped, or frozen with others.
func (c *sshConn) still(ctx context.Context, ch *channel) bool {
	pause := wakeTime(ctx)
	if ch.begins(ctx, pause) || !isClosed(ch.frames.fed) {
		return false
	}
	select {
	case <-ch.link.ask():
	case <-ch.frames.stdout.began:
	case <-ch.over:
	case <-ctx.Done():
	}
	return !ch.begins(ctx, pause/2) // the script may have come with the question
}

// runOn is runOnce on a shell that was started for it.
func (c *sshConn) runOn(ctx context.Context, ch *channel, s Script, abandon func(*channel, *frames)) (_ Result, lost *runID, _ *Error) {
	e := c.route.key.Endpoint
	fr := ch.give(s)
	if ch.id.known() && c.still(ctx, ch) {
		c.endStill(ch, fr)
		return Result{}, nil, &Error{Kind: KindProtocol, Endpoint: e, Started: true, Err: errStill}
	}
	if !ch.await(ctx) {
		c.route.forgetShell(ch)
		if ch.lasting && !ch.id.known() && isClosed(fr.fed) && !fr.begun() {
			c.route.noShell() // or every caller's time would go like this
		}
		if s.Finish {
			ch.link.verifySoon()
			ch.finish()
		} else {
			abandon(ch, fr)
		}
		return Result{}, nil, contextError(ctx, e, "running the script", true)
	}
	var ended error
	if isClosed(ch.over) {
		ended = ch.err
	}
	res, aerr := fr.answer(e, ended)
	switch {
	case aerr == nil && ended == nil && ch.lasting && fr.stderr.torn() >= 0:
		// What stands in between may hold the rest back until the shell's end.
		c.route.noShell()
		c.endStill(ch, fr)
		return Result{}, nil, &Error{Kind: KindProtocol, Endpoint: e, Started: true, Err: errStill}
	case aerr == nil:
		if whole, ready := ch.answered(ctx); !s.sharesShell() || !c.route.ran(ch, whole, ready) {
			ch.finish()
		}
		return res, nil, nil
	case !isClosed(ch.over): // too much output, or a broken frame
		c.route.forgetShell(ch)
		abandon(ch, fr)
		return Result{}, nil, aerr
	case !ch.accepted && ch.refused():
		return Result{}, nil, &Error{
			Kind: KindSession, Endpoint: e, Err: fmt.Errorf("the server refused to run a command: %s", Neutralise(ch.err.Error())),
			Hint: "see whether the account may run commands there, and whether the machine has processes and memory left",
		}
	case ch.lostLink():
		id := fr.run()
		return Result{}, &id, &Error{
			Kind: KindConnect, Endpoint: e, Started: true, Err: errors.New("the connection broke while the script ran"),
			Hint: "whether the script did its work is not known: look before running it again",
		}
	}
	// The command was accepted, so what is not known to have begun may have.
	aerr.Started = aerr.Started || ch.accepted
	if ch.lasting && fr.begun() {
		id := fr.run()
		return Result{}, &id, aerr
	}
	return Result{}, nil, aerr
}
