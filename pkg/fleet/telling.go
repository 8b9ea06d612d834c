package fleet

import (
	"context"
	"iter"
	"sync"
)

// Told is what came of telling a Notifier of one look.
type Told struct {
	Host  string
	Told  bool  // it was told, and Telling.Told has changed
	Later bool  // there is a change that was not told yet
	Err   error // why it could not be told; nil where only the limit was in the way
}

// Beside passes looks on and tells of them from a goroutine of its own, so that a slow
// Notifier holds up no look; of several looks at a host that wait to be told the newest
// counts. after is called from there for each look that was told, or is to be told
// later, and may read t.Told. When looks ends, what waits is told before Beside ends;
// when ctx ends, it is not, nor is after called any more.
func (t *Telling) Beside(ctx context.Context, looks iter.Seq[Watched], after func(Told)) iter.Seq[Watched] {
	return func(yield func(Watched) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		q := queue{latest: map[string]Status{}, wake: make(chan struct{}, 1)}
		var done sync.WaitGroup
		done.Go(func() { t.work(ctx, &q, after) })
		defer done.Wait()
		defer q.end()
		for w := range looks {
			q.put(w.Status)
			if !yield(w) {
				cancel()
				return
			}
		}
	}
}

// work tells what is queued until the queue or ctx ends.
func (t *Telling) work(ctx context.Context, q *queue, after func(Told)) {
	for {
		s, ok := q.take(ctx)
		if !ok {
			return
		}
		r := Told{Host: s.Host.Name}
		r.Told, r.Later, r.Err = t.Look(ctx, s)
		if ctx.Err() != nil && !r.Told {
			return
		}
		if r.Told || r.Later {
			after(r)
		}
	}
}

// queue has the newest look at each host that was not judged yet.
type queue struct {
	mu     sync.Mutex
	latest map[string]Status
	order  []string
	ended  bool
	wake   chan struct{}
}

func (q *queue) put(s Status) {
	q.mu.Lock()
	if _, ok := q.latest[s.Host.Name]; !ok {
		q.order = append(q.order, s.Host.Name)
	}
	q.latest[s.Host.Name] = s
	q.mu.Unlock()
	q.signal()
}

func (q *queue) end() {
	q.mu.Lock()
	q.ended = true
	q.mu.Unlock()
	q.signal()
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take waits for the next look; false is the end of the queue or of ctx.
func (q *queue) take(ctx context.Context) (Status, bool) {
	for {
		q.mu.Lock()
		if len(q.order) > 0 {
			s := q.latest[q.order[0]]
			delete(q.latest, q.order[0])
			q.order = q.order[1:]
			q.mu.Unlock()
			return s, ctx.Err() == nil
		}
		ended := q.ended
		q.mu.Unlock()
		if ended {
			return Status{}, false
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
			return Status{}, false
		}
	}
}
