package fleet

import (
	"context"
	"sync"
)

// queue has the newest look at each host that was not judged yet.
type queue struct {
	mu     sync.Mutex
	latest map[string]Watched
	order  []string
	ended  bool
	wake   chan struct{}
}

func (q *queue) put(s Watched) {
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
func (q *queue) take(ctx context.Context) (Watched, bool) {
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
			return Watched{}, false
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
			return Watched{}, false
		}
	}
}
