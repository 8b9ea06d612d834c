package transport

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// growPause is how long a route that has a connection waits after it failed to
// make another one.
const growPause = 5 * time.Second

// givePause is how long a caller waits for the slot of a shell that gives way, a
// round trip mostly, before it makes a connection: a login that is broken off shows
// in the host's log, and may count against us there.
const givePause = time.Second

// routeKey is an endpoint and the way to it. jump overrides ProxyJump, for the
// hops of a chain.
type routeKey struct {
	Endpoint
	jump string
}

// route shares the connections of one endpoint between its callers.
type route struct {
	pool *Pool
	key  routeKey

	mu        sync.Mutex
	links     []*link
	dial      *dialing      // the one under way, or nil
	changed   chan struct{} // closed and replaced when a slot or a link is gained or lost
	growAfter time.Time
	warned    bool      // the settings that are not acted on were named
	runs      int       // repeatable scripts that were run
	shell     *channel  // the persistent shell, or nil
	shellless time.Time // until then, what runs scripts here is held not to run one after another
}

// dialing is a connection in the making. It belongs to nobody in particular: it
// goes on as long as one caller waits for it.
type dialing struct {
	cancel  context.CancelFunc
	waiters int
	stage   atomic.Pointer[string] // what it is doing, for the error of a caller out of time
	done    chan struct{}
	who     *Person // who is asked
	via     *link   // to the last hop; the dial's own
	// These belong to route.mu: the settings that it goes by, once they are read;
	// what ssh_config has said since it began; and whether that is something else.
	s, want  *settings
	outdated bool
	err      *Error // valid after done
}

func (d *dialing) doing(what string) { d.stage.Store(&what) }

// acquire gives a link with a channel slot on it, or, with slot false, a link
// to forward through. The caller gives it back with put.
func (r *route) acquire(ctx context.Context, slot bool) (*link, *Error) {
	var mine *dialing          // the dial that counts this caller
	var given <-chan time.Time // until then, a shell that gave way may leave its slot
	defer func() {
		r.mu.Lock()
		r.leave(mine)
		r.mu.Unlock()
	}()
	for {
		r.mu.Lock()
		if ln := r.pick(slot); ln != nil {
			r.mu.Unlock()
			if !slot {
				return ln, nil
			}
			if err := begin(ctx, r.key.Endpoint); err != nil {
				r.put(ln, slot)
				return nil, err
			}
			return ln, nil
		}
		if slot && r.dropShell() {
			given = time.After(givePause)
		}
		if ctx.Err() != nil {
			r.mu.Unlock()
			return nil, contextError(ctx, r.key.Endpoint, mine.what(), false)
		}
		live := r.usable()
		if r.dial == nil && given == nil && r.standing() < r.pool.opts.MaxConns && (live == 0 || time.Now().After(r.growAfter)) {
			r.startDial(ctx)
		}
		if r.dial != mine {
			r.leave(mine)
			if mine = r.dial; mine != nil {
				mine.waiters++
			}
		}
		changed := r.changed
		var dialed chan struct{}
		if mine != nil {
			dialed = mine.done
		}
		r.mu.Unlock()

		select {
		case <-ctx.Done():
		case <-aside(ctx):
			return nil, &Error{Kind: KindCanceled, Endpoint: r.key.Endpoint, Err: ErrAside, Hint: stoppedHint(false)}
		case <-changed:
		case <-given:
			given = nil
		case <-dialed:
			r.mu.Lock()
			live, outdated := r.usable(), mine.outdated
			r.mu.Unlock()
			// A link that lives will have a free slot some time: that one more
			// could not be made is no failure then.
			if mine.err != nil && live == 0 && !outdated && !mine.who.another(ctx) {
				return nil, mine.err
			}
		}
	}
}

func (d *dialing) what() string {
	if d != nil {
		if s := d.stage.Load(); s != nil {
			return *s
		}
	}
	return awaitingChannel
}

// pick takes the fullest usable link that has room, so that others may idle out.
func (r *route) pick(slot bool) *link {
	var best *link
	for _, ln := range r.links {
		if !ln.suspect && (!slot || ln.used+r.reserved(ln) < ln.limit) && (best == nil || ln.used > best.used) {
			best = ln
		}
	}
	if best == nil {
		return nil
	}
	if slot {
		best.used++
	} else {
		best.forwards++
	}
	return best
}

// standing is how many links count against MaxConns: one that is retired ends with
// what runs on it.
func (r *route) standing() int {
	n := 0
	for _, ln := range r.links {
		if !ln.retired {
			n++
		}
	}
	return n
}

func (r *route) usable() int {
	n := 0
	for _, ln := range r.links {
		if !ln.suspect {
			n++
		}
	}
	return n
}

// leave takes a caller off d, and ends d if nobody waits for it any more.
func (r *route) leave(d *dialing) {
	if d == nil {
		return
	}
	if d.waiters--; d.waiters == 0 {
		d.cancel()
		if r.dial == d {
			r.dial = nil // a later caller begins anew
		}
	}
}

// startDial begins a connection. It takes the values of ctx, not its end.
func (r *route) startDial(ctx context.Context) {
	ctx, unhook := withEnd(context.WithoutCancel(ctx), r.pool.ctx)
	ctx, cancel := r.pool.WithTimeout(ctx, dialRounds*r.pool.opts.DialTimeout)
	d := &dialing{cancel: cancel, done: make(chan struct{}), who: personOf(ctx)}
	d.doing("connecting")
	r.dial = d
	r.pool.own(func() {
		defer unhook()
		defer cancel()
		ln, err := r.connect(ctx, d)
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.dial == d {
			r.dial = nil
		}
		if err != nil {
			d.err = err
			r.growAfter = time.Now().Add(growPause)
		} else {
			r.links = append(r.links, ln)
			r.pool.own(ln.watch)
			if d.want != nil && !ln.s.same(d.want) {
				r.retireLocked(ln)
			}
		}
		close(d.done)
		r.broadcast()
	})
}

// withEnd gives ctx that also ends when other does.
func withEnd(ctx, other context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(other, func() { cancel(context.Cause(other)) })
	return ctx, func() { stop(); cancel(nil) }
}

func (r *route) broadcast() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// put gives back what acquire gave.
func (r *route) put(ln *link, slot bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slot {
		ln.used--
	} else {
		ln.forwards--
	}
	ln.idleSince = time.Now()
	r.broadcast()
}

// full records that the server refused one more channel on ln: its MaxSessions
// is what others hold now. alone is whether nobody else holds any.
func (r *route) full(ln *link) (alone bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	others := ln.used - 1 + r.reserved(ln)
	ln.limit = max(1, others)
	return others == 0
}

// suspect keeps new work off ln, or lets it back; false means that it was so
// already.
func (r *route) suspect(ln *link, yes bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ln.suspect == yes || ln.retired {
		return false
	}
	ln.suspect = yes
	r.broadcast()
	return true
}

// drop forgets a dead link.
func (r *route) drop(ln *link) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.links = slices.DeleteFunc(r.links, func(o *link) bool { return o == ln })
	r.broadcast()
}

// dropIdle forgets ln if nobody has used it for a while.
func (r *route) dropIdle(ln *link, after time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ln.used > 0 || ln.forwards > 0 || time.Since(ln.idleSince) < after {
		return false
	}
	r.links = slices.DeleteFunc(r.links, func(o *link) bool { return o == ln })
	return true
}

// jitter is d, give or take a half.
func jitter(d time.Duration) time.Duration {
	return d/2 + rand.N(d)
}

// pause waits for d, or less if ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
