package fleet

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"
)

// Dispatcher tells a Notifier what changed: each change once, and no more of them at
// once than the limit. What is beyond it, and what the Notifier could not be told, is
// not lost: the next look at that host shows the change still, or that it has passed.
// It is not safe for concurrent use.
type Dispatcher struct {
	Notifier Notifier
	// Notified is what the Notifier was last told, and changes with each telling. It must
	// not be nil.
	Notified Marks
	// Limit is how many changes are told in any Window; 0 is DefaultNotifyLimit, and
	// Window is a minute if it is 0.
	Limit  int
	Window time.Duration
	// Only says which changes are told; nil is all of them. The others count as told.
	Only func(StatusChange) bool

	times  []time.Time // of the last tellings, at most Limit
	failed map[string]failing
	now    func() time.Time
}

// failing is a host whose change could not be told.
type failing struct {
	until time.Time // not tried again before
	pause time.Duration
}

const (
	// retryNotify is how long a change is left alone that could not be told; it
	// doubles each time.
	retryNotify    = 5 * time.Second
	maxRetryNotify = 5 * time.Minute
)

// Look tells what differs between s, seen at that time by this machine's clock, and
// what was told of its host last.
func (d *Dispatcher) Look(ctx context.Context, s Status, at time.Time) Dispatched {
	now := time.Now
	if d.now != nil {
		now = d.now
	}
	r := Dispatched{Host: s.Host.Name}
	change, changed := d.Notified.Change(s, at)
	if !changed || d.Only != nil && !d.Only(change) {
		r.Marked = d.Notified.Note(s, at)
		delete(d.failed, s.Host.Name)
		return r
	}
	if t := now(); t.Before(d.failed[s.Host.Name].until) || !d.mayTell(t) {
		r.Later = true
		return r
	}
	d.times = append(d.times, now())
	if err := d.Notifier.Notify(ctx, change); err != nil {
		if d.failed == nil {
			d.failed = map[string]failing{}
		}
		pause := min(max(2*d.failed[s.Host.Name].pause, retryNotify), maxRetryNotify)
		d.failed[s.Host.Name] = failing{until: now().Add(jittered(pause)), pause: pause}
		r.Later, r.Err = true, notifyError(s.Host.Name, err)
		return r
	}
	delete(d.failed, s.Host.Name)
	d.Notified.Note(s, at)
	r.Notified, r.Marked = true, true
	return r
}

// mayTell tells whether the limit allows one telling more.
func (d *Dispatcher) mayTell(at time.Time) bool {
	limit := d.Limit
	if limit <= 0 {
		limit = DefaultNotifyLimit
	}
	window := d.Window
	if window <= 0 {
		window = time.Minute
	}
	for len(d.times) > 0 && at.Sub(d.times[0]) >= window {
		d.times = d.times[1:]
	}
	return len(d.times) < limit
}

func notifyError(host string, err error) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return err
	}
	return &Error{Class: ClassFailed, Host: host, Msg: "a change could not be told: " + neutral(err.Error()), Err: err}
}

// Dispatched is what came of telling a Notifier of one look.
type Dispatched struct {
	Host     string
	Notified bool  // the Notifier was called, and had no error
	Marked   bool  // Dispatcher.Notified has changed: it was told, or needs not be
	Later    bool  // there is a change that is left for a later look
	Err      error // why it could not be told; nil where only the limit was in the way
}

// Beside passes looks on and tells of them from a goroutine of its own, so that a slow
// Notifier holds up no look; of several looks at a host that wait to be told the newest
// counts. after is called from there for each look of which something came, and may read
// d.Notified. When looks ends, what waits is told before Beside ends;
// when ctx ends, it is not, nor is after called any more.
func (d *Dispatcher) Beside(ctx context.Context, looks iter.Seq[Watched], after func(Dispatched)) iter.Seq[Watched] {
	return func(yield func(Watched) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		q := queue{latest: map[string]Watched{}, wake: make(chan struct{}, 1)}
		var done sync.WaitGroup
		done.Go(func() { d.work(ctx, &q, after) })
		defer done.Wait()
		defer q.end()
		for w := range looks {
			q.put(w)
			if !yield(w) {
				cancel()
				return
			}
		}
	}
}

// work tells what is queued until the queue or ctx ends.
func (d *Dispatcher) work(ctx context.Context, q *queue, after func(Dispatched)) {
	for {
		w, ok := q.take(ctx)
		if !ok {
			return
		}
		r := d.Look(ctx, w.Status, w.SeenAt)
		if ctx.Err() != nil && !r.Marked {
			return
		}
		if r.Marked || r.Later {
			after(r)
		}
	}
}
