package fleet

import (
	"context"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

// TestBeside has a Notifier that is slow: no look waits for it, it is told the
// newest of those that came meanwhile, and of all that was queued at the end.
func TestBeside(t *testing.T) {
	defer goleak.VerifyNone(t)
	gate := make(chan struct{})
	n := newTeller()
	var mu sync.Mutex
	var got []string
	n.Notifier = NotifierFunc(func(_ context.Context, c StatusChange) error {
		<-gate
		mu.Lock()
		defer mu.Unlock()
		got = append(got, c.Status.Host.Name+" "+string(c.Status.State))
		return nil
	})
	looks := func(yield func(Watched) bool) {
		for _, l := range []struct {
			host  string
			state detect.State
		}{{"a", detect.Down}, {"b", detect.Down}, {"b", detect.Gate}, {"c", detect.Ready}} {
			s := statusOf(l.state, "")
			s.Host.Name = l.host
			if !yield(Watched{Status: s}) {
				return
			}
		}
		close(gate) // reached although nothing has been told
	}
	passed, after := 0, 0
	for range n.Beside(t.Context(), looks, func(r Dispatched) {
		if r.Host == "c" && !r.Notified && r.Marked {
			return // noted, since it is well
		}
		if !r.Notified || !r.Marked || r.Later || r.Err != nil {
			t.Errorf("%+v", r)
		}
		after++
	}) {
		passed++
	}
	want := "a down,b gate"
	if s := strings.Join(got, ","); s != want && s != "b gate,a down" || passed != 4 || after != 2 {
		t.Errorf("told %s, want %s; %d passed on, %d told of", s, want, passed, after)
	}
}

func TestBesideEnds(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithCancel(t.Context())
	n := newTeller()
	n.Notifier = NotifierFunc(func(ctx context.Context, _ StatusChange) error {
		<-ctx.Done()
		return ctx.Err()
	})
	looks := func(yield func(Watched) bool) {
		for _, host := range []string{"a", "b"} {
			s := statusOf(detect.Down, "")
			s.Host.Name = host
			if !yield(Watched{Status: s}) {
				return
			}
		}
		cancel()
	}
	for range n.Beside(ctx, looks, func(r Dispatched) { t.Errorf("%+v", r) }) {
	}
	if len(n.Notified) != 0 {
		t.Errorf("what was broken off counts as told: %v", n.Notified)
	}
	for range n.Beside(t.Context(), looks, func(r Dispatched) { t.Errorf("%+v", r) }) {
		break // the consumer's end is the Notifier's too
	}
}
