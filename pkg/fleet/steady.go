package fleet

import (
	"bytes"
	"context"
	"math/rand/v2"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

const (
	// lookTries bounds the looks at a screen that no rule knows.
	lookTries = 3
	// lookPause is the mean pause before the second look; the third comes after
	// twice that. A client that was resized was seen to leave its frame torn for
	// 50 ms in the median and for up to 450 ms (2.1.332, idle, on a busy machine);
	// the time that a script takes comes on top.
	lookPause = 200 * time.Millisecond
)

// probe looks at every host of a group and tells each by its place in the group
// as soon as the look at it is over. Hosts whose screens may have been half drawn
// are looked at again, all others are told at once. The group's deadline bounds
// it all.
func (f *Fleet) probe(ctx context.Context, g group, tell func(int, seen)) {
	ctx, cancel := f.conns.WithTimeout(ctx, g.timeout)
	defer cancel()
	g, keep := f.recall(ctx, g)
	defer keep()
	again := make([]int, len(g.hosts)) // by place in the group
	for i := range again {
		again[i] = i
	}
	last := make([]seen, len(g.hosts))
	for try := 1; len(again) > 0; try++ {
		now := g
		now.hosts = nil
		for _, i := range again {
			now.hosts = append(now.hosts, g.hosts[i])
		}
		var open []int
		for k, s := range f.look(ctx, now) {
			i := again[k]
			before := last[i]
			if try > 1 && s.Err != nil {
				s = before // what was seen is more than that a later look failed
			}
			if try < lookTries && s.Err == nil && torn(s, before) {
				last[i], open = s, append(open, i)
				continue
			}
			tell(i, s)
		}
		again = open
		if len(again) == 0 {
			return
		}
		select {
		case <-time.After(jittered(time.Duration(try) * lookPause)):
		case <-ctx.Done():
			for _, i := range again {
				tell(i, last[i])
			}
			return
		}
	}
}

// probeOne looks at one host.
func (f *Fleet) probeOne(ctx context.Context, h Host) seen {
	return f.probeAlone(ctx, groups([]Host{h})[0])
}

// probeAlone looks at the one host of a group.
func (f *Fleet) probeAlone(ctx context.Context, g group) (one seen) {
	f.probe(ctx, g, func(_ int, s seen) { one = s })
	return one
}

// torn tells whether a screen may have been half drawn when it was read: no rule
// knows it, or it shows a dialog that the client's own file knows nothing of; a
// client may be there to draw the rest; and it is not what the look before found.
// A screen that stays is drawn, and waiting would not help.
func torn(s, before seen) bool {
	if s.pane == nil || before.pane != nil && bytes.Equal(before.pane.Screen, s.pane.Screen) {
		return false
	}
	if p := s.evidence.Process; p != detect.ProcessRunning && p != detect.ProcessUnknown {
		return false
	}
	switch s.State {
	case detect.Unknown:
		return s.Rule != "viewer.transcript" && s.Rule != "starting" // these are sure of what they see
	case detect.Gate:
		// Seen to read as dialogs, for the moment behind a resize: a past prompt whose
		// box was not drawn yet, and the strip beneath a box that was too narrow. At
		// a true one, be it /help, the file says "waiting" (2.1.332).
		c := s.evidence.Client
		return c != nil && (c.Status == "busy" || c.Status == "idle")
	}
	return false
}

// jittered is d, give or take a quarter: many operators must not fall into step.
func jittered(d time.Duration) time.Duration {
	return d*3/4 + rand.N(d/2)
}
