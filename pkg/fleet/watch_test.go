package fleet

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// watchOver is Watch over machines that are given by what a look at each says.
func watchOver(ctx context.Context, o WatchOptions, machines int, look func(ctx context.Context, machine string) Status) iter.Seq[Watched] {
	var gs []group
	for i := range machines {
		name := fmt.Sprintf("m%d", i)
		gs = append(gs, group{endpoint: transport.Endpoint{Destination: name}, hosts: []Host{{Name: name}}})
	}
	return watch(ctx, o, gs, func(ctx context.Context, g group, tell func(int, seen)) {
		s := look(ctx, g.hosts[0].Name)
		s.Host = g.hosts[0]
		tell(0, seen{Status: s})
	})
}

func TestWatchCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		states := map[string][3]detect.State{"m0": {detect.Ready, detect.Busy, detect.Busy}, "m1": {detect.Down, detect.Down, detect.Ready}}
		asked := map[string]*atomic.Int32{"m0": {}, "m1": {}}
		looks := map[string]int{}
		var order []string
		began := time.Now()
		for w := range watchOver(t.Context(), WatchOptions{Interval: time.Minute, Count: 3}, 2, func(_ context.Context, m string) Status {
			return statusOf(states[m][asked[m].Add(1)-1], "")
		}) {
			looks[w.Host.Name]++
			if w.Poll != looks[w.Host.Name] || (w.Before == nil) != (w.Poll == 1) {
				t.Errorf("%s: look %d says %d, before %v", w.Host.Name, looks[w.Host.Name], w.Poll, w.Before)
			}
			if w.Changed {
				order = append(order, fmt.Sprintf("%s %d %s>%s", w.Host.Name, w.Poll, w.Before.State, w.State))
			}
		}
		if looks["m0"] != 3 || looks["m1"] != 3 {
			t.Errorf("looks: %v", looks)
		}
		if got := fmt.Sprint(order); got != "[m0 2 ready>busy m1 3 down>ready]" {
			t.Errorf("changes: %s", got)
		}
		if d := time.Since(began); d < 2*45*time.Second || d > 2*75*time.Second {
			t.Errorf("two pauses of a minute took %s", d)
		}
	})
}

// TestWatchDead has more dead machines than may be looked at at once: the others
// are looked at all the same, and the dead ones more and more seldom.
func TestWatchDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		const machines = maxParallel + 36
		looks := map[string]int{}
		for w := range watchOver(ctx, WatchOptions{}, machines, func(ctx context.Context, m string) Status {
			switch m {
			case "m99":
				return statusOf(detect.Ready, "")
			case "m98":
				return statusOf(detect.Unreachable, "auth")
			}
			select { // its deadline
			case <-time.After(10 * time.Second):
			case <-ctx.Done():
			}
			return statusOf(detect.Unreachable, "timeout")
		}) {
			looks[w.Host.Name]++
		}
		// Two rounds of dead machines take up to 10 s each before its turn comes.
		if n := looks["m99"]; n < 15 || n > 300/3 {
			t.Errorf("the live machine was looked at %d times in 5 minutes", n)
		}
		if n := looks["m98"]; n < 4 || n > 7 {
			t.Errorf("the machine that refuses logins was looked at %d times in 5 minutes", n)
		}
		if n := looks["m0"]; n < 10 || n > 30 {
			t.Errorf("a dead machine was looked at %d times in 5 minutes", n)
		}
	})
}

func TestWatchCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		n := 0
		for w := range watchOver(ctx, WatchOptions{}, 3, func(ctx context.Context, m string) Status {
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
		for range watchOver(t.Context(), WatchOptions{}, 3, func(context.Context, string) Status { return statusOf(detect.Ready, "") }) {
			if n++; n == 5 {
				break // leaves nothing running, or the bubble would not end
			}
		}
	})
}
