package fleet

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

// DefaultInterval is the time between two looks of Watch at one machine.
const DefaultInterval = 5 * time.Second

// minInterval keeps a mistaken unit from making one look follow another.
const minInterval = 100 * time.Millisecond

// WatchOptions says how Watch looks.
type WatchOptions struct {
	// Interval is the time between the beginnings of two looks at one machine; 0 is
	// DefaultInterval, and a tenth of a second the least. A machine that answers more slowly is looked at as soon as it
	// has answered.
	Interval time.Duration
	// Count is how often each machine is looked at; 0 is until the context ends.
	Count int
}

// Watched is what one look of Watch found at one host.
type Watched struct {
	Status
	Poll    int       // 1 for the first look at this host
	Before  *Mark     // what the look before found; nil for the first
	Changed bool      // it tells another thing than Before (see Mark.Same); false for the first
	SeenAt  time.Time // by this machine's clock
}

// MarshalJSON writes the status's object with "poll", "changed", "seen_at" and "before"
// added.
func (w Watched) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		statusJSON
		Poll    int       `json:"poll"`
		Changed bool      `json:"changed"`
		SeenAt  time.Time `json:"seen_at"`
		Before  *Mark     `json:"before"`
	}{w.json(), w.Poll, w.Changed, w.SeenAt, w.Before})
}

// Watch looks at the hosts, all of them when none is given, again and again, and
// yields each answer as it comes. Each machine is looked at in its own rhythm and
// within its hosts' own deadline, so that a dead one holds up no other. While a
// machine does not answer, the pause before the next look at it doubles, up to 16 s,
// and where only a person can mend it (a refused login, a changed host key) it is a
// minute, unless the interval is longer or there is a Count. It types nothing. What a look found that
// ctx cut short is not yielded.
//
// What costs a machine much is not asked for at each look: what is told of folders,
// and of the account's settings, is up to 5 s old, and of that the count of changed
// files and the room on the disk up to 30 s, unless something was committed, staged or
// checked out meanwhile.
func (f *Fleet) Watch(ctx context.Context, o WatchOptions, hosts ...Host) iter.Seq[Watched] {
	if len(hosts) == 0 {
		hosts = f.table.Hosts
	}
	return watching{WatchOptions: o, look: f.probe, rest: rest}.over(ctx, groups(hosts))
}

// over watches groups of hosts.
func (w watching) over(ctx context.Context, gs []group) iter.Seq[Watched] {
	if w.Interval <= 0 {
		w.Interval = DefaultInterval
	}
	w.Interval = max(w.Interval, minInterval)
	w.turns = newLookTurns()
	return streamAll(ctx, gs, len(gs), w.group)
}

// watching is one call of Watch.
type watching struct {
	WatchOptions
	look  func(context.Context, group, func(int, seen))
	rest  func(context.Context, group, time.Duration) bool // false: ctx ended
	turns lookTurns
}

// rest waits for d, or until ctx ends.
func rest(ctx context.Context, _ group, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// group looks at the hosts of one group until there were enough looks.
func (w *watching) group(ctx context.Context, g group, emit func(Watched)) {
	g = g.remembering()
	before := Marks{}
	var dead time.Duration
	answers := false
	for poll := 1; w.Count == 0 || poll <= w.Count; poll++ {
		done, ok := w.turns.take(ctx, poll > 1, answers)
		if !ok {
			return
		}
		began, reached, mends := time.Now(), false, false
		w.look(ctx, g, func(_ int, s seen) {
			if ctx.Err() != nil {
				return
			}
			now := Watched{Status: s.Status, Poll: poll, SeenAt: time.Now()}
			if was, ok := before[s.Host.Name]; ok {
				now.Before = &was
				now.Changed = !was.Same(s.Mark(now.SeenAt))
			}
			before.Note(s.Status, now.SeenAt)
			reached = reached || s.State != detect.Unreachable
			mends = mends || mendsItself(s.Reason)
			emit(now)
		})
		done()
		answers = reached
		pause := w.Interval
		switch {
		case reached || w.Count > 0:
			dead = 0
		case mends:
			dead = min(max(2*dead, waitPause), maxWaitPause)
			pause = max(pause, dead)
		default:
			pause = max(pause, personPause)
		}
		if poll == w.Count {
			return
		}
		if !w.rest(ctx, g, max(0, jittered(pause)-time.Since(began))) {
			return
		}
	}
}
