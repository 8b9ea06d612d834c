package fleet

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// rests notes the pauses between looks, and makes none.
type rests struct {
	mu     sync.Mutex
	pauses map[string][]time.Duration
}

func (r *rests) rest(ctx context.Context, g group, d time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pauses == nil {
		r.pauses = map[string][]time.Duration{}
	}
	r.pauses[g.hosts[0].Name] = append(r.pauses[g.hosts[0].Name], d)
	return ctx.Err() == nil
}

// about tells whether a pause with its jitter may be one of d.
func about(pause, d time.Duration) bool {
	// The look itself, which is taken off, takes next to nothing here.
	return pause > d/2 && pause <= d*5/4
}

// over watches machines m0, m1, …, with the pauses noted in r.
func (r *rests) over(ctx context.Context, o WatchOptions, machines int, look func(ctx context.Context, machine string) Status) iter.Seq[Watched] {
	var gs []group
	for i := range machines {
		name := fmt.Sprintf("m%d", i)
		gs = append(gs, group{endpoint: transport.Endpoint{Destination: name}, hosts: []Host{{Name: name}}})
	}
	return watching{WatchOptions: o, rest: r.rest, look: func(ctx context.Context, g group, tell func(int, seen)) {
		s := look(ctx, g.hosts[0].Name)
		s.Host = g.hosts[0]
		tell(0, seen{Status: s})
	}}.over(ctx, gs)
}

func TestWatchCount(t *testing.T) {
	defer goleak.VerifyNone(t)
	states := map[string][3]detect.State{"m0": {detect.Ready, detect.Busy, detect.Busy}, "m1": {detect.Down, detect.Down, detect.Ready}}
	asked := map[string]*atomic.Int32{"m0": {}, "m1": {}}
	looks, changes := map[string]int{}, map[string]string{}
	var r rests
	for w := range r.over(t.Context(), WatchOptions{Interval: time.Minute, Count: 3}, 2, func(_ context.Context, m string) Status {
		return statusOf(states[m][asked[m].Add(1)-1], "")
	}) {
		looks[w.Host.Name]++
		if w.Poll != looks[w.Host.Name] || (w.Before == nil) != (w.Poll == 1) || w.SeenAt.IsZero() {
			t.Errorf("%s: look %d says %d, before %v", w.Host.Name, looks[w.Host.Name], w.Poll, w.Before)
		}
		if w.Changed {
			changes[w.Host.Name] += fmt.Sprintf("%d %s>%s ", w.Poll, w.Before.State, w.State)
		}
	}
	if looks["m0"] != 3 || looks["m1"] != 3 {
		t.Errorf("looks: %v", looks)
	}
	if changes["m0"] != "2 ready>busy " || changes["m1"] != "3 down>ready " {
		t.Errorf("changes: %v", changes)
	}
	for m, pauses := range r.pauses {
		if len(pauses) != 2 || !about(pauses[0], time.Minute) || !about(pauses[1], time.Minute) {
			t.Errorf("%s: two pauses of a minute are %v", m, pauses)
		}
	}
}

// TestWatchDead has a dead machine looked at more and more seldom, until it answers,
// and one that a person has to mend once a minute; not so where looks are counted.
func TestWatchDead(t *testing.T) {
	defer goleak.VerifyNone(t)
	answers := []Status{}
	for range 7 {
		answers = append(answers, statusOf(detect.Unreachable, "timeout"))
	}
	answers = append(answers, statusOf(detect.Ready, ""), statusOf(detect.Unreachable, "timeout"), statusOf(detect.Unreachable, "auth"), statusOf(detect.Ready, ""))
	second := time.Second
	for _, c := range []struct {
		name     string
		o        WatchOptions
		want     []time.Duration
		answered int
	}{
		{"as often as it is wanted", WatchOptions{Interval: second}, []time.Duration{second, 2 * second, 4 * second, 8 * second, 16 * second, 16 * second, 16 * second, second, second, time.Minute}, 10},
		{"more seldom than it would be anyway", WatchOptions{Interval: 10 * second}, []time.Duration{10 * second, 10 * second, 10 * second, 10 * second, 16 * second, 16 * second, 16 * second, 10 * second, 10 * second, time.Minute}, 10},
		{"counted", WatchOptions{Interval: second, Count: 11}, []time.Duration{second, second, second, second, second, second, second, second, second, second}, 11},
	} {
		var r rests
		var n atomic.Int32
		got := 0
		for range r.over(t.Context(), c.o, 1, func(context.Context, string) Status { return answers[min(int(n.Add(1)), len(answers))-1] }) {
			if got++; got == len(answers) {
				break
			}
		}
		pauses := r.pauses["m0"]
		if len(pauses) < len(c.want) {
			t.Errorf("%s: %v", c.name, pauses)
			continue
		}
		for i, want := range c.want {
			if !about(pauses[i], want) {
				t.Errorf("%s: pause %d is %s, want %s", c.name, i, pauses[i], want)
			}
		}
	}
}

// TestWatchMany has more machines than may be looked at at once: each gets its turn.
func TestWatchMany(t *testing.T) {
	defer goleak.VerifyNone(t)
	const count = 2*maxParallel + 9
	var now, most atomic.Int32
	var r rests
	looks := map[string]int{}
	for w := range r.over(t.Context(), WatchOptions{Count: 3}, count, func(context.Context, string) Status {
		n := now.Add(1)
		defer now.Add(-1)
		for {
			if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
				return statusOf(detect.Unreachable, "timeout")
			}
		}
	}) {
		looks[w.Host.Name]++
	}
	if len(looks) != count || most.Load() > maxParallel {
		t.Errorf("%d machines were looked at, %d at once", len(looks), most.Load())
	}
	for m, n := range looks {
		if n != 3 {
			t.Errorf("%s was looked at %d times", m, n)
		}
	}
}

func TestWatchCancel(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	var r rests
	for w := range r.over(ctx, WatchOptions{}, 3, func(ctx context.Context, m string) Status {
		if m == "m2" {
			<-ctx.Done()
			return statusOf(detect.Unreachable, "canceled")
		}
		return statusOf(detect.Ready, "")
	}) {
		if n++; n == 6 {
			cancel()
		}
		if w.State != detect.Ready {
			t.Errorf("a look that was cut short gave %s", w.State)
		}
	}
	n = 0
	for range r.over(t.Context(), WatchOptions{}, 3, func(context.Context, string) Status { return statusOf(detect.Ready, "") }) {
		if n++; n == 5 {
			break
		}
	}
	// The pause itself ends with the context.
	ended, end := context.WithCancel(t.Context())
	end()
	if rest(ended, group{}, time.Hour) || !rest(t.Context(), group{}, 0) {
		t.Error("a pause goes by something else than its context and its length")
	}
}

// TestWatchSilent has more silent machines than may be looked at at once, each of
// which takes until the end: those that answer are looked at all the same.
func TestWatchSilent(t *testing.T) {
	defer goleak.VerifyNone(t)
	const silent, looks = 2 * maxParallel, 5
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var seen sync.Map // machines that were looked at once
	var r rests
	polls := 0
	for w := range r.over(ctx, WatchOptions{Interval: time.Minute}, silent+1, func(ctx context.Context, m string) Status {
		if m == fmt.Sprintf("m%d", silent) {
			return statusOf(detect.Ready, "")
		}
		if _, again := seen.LoadOrStore(m, true); again {
			<-ctx.Done()
		}
		return statusOf(detect.Unreachable, "timeout")
	}) {
		if w.State == detect.Ready {
			if polls++; polls == looks {
				break
			}
		}
	}
	if polls != looks {
		t.Errorf("the machine that answers was looked at %d times", polls)
	}
}
