package relay

import (
	"slices"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// TestSleepTwice passes over no connection that lives when the machine sleeps again
// while that still answers for the sleep before.
func TestSleepTwice(t *testing.T) {
	_, h, e := box(t, rig.HostSpec{Proxy: true})
	path := socket(t)
	s := serving(t, Options{}, path)
	p := program(t, transport.Options{}, NewClient("", nil, path))
	run(t, p, e, "true")
	slept := func(d time.Duration) []<-chan struct{} {
		s.waking.Lock()
		s.looked = time.Now()
		s.waking.Unlock()
		s.mu.Lock()
		s.now = func() (time.Time, time.Time) { t := time.Now(); return t.Round(0).Add(d), t }
		s.mu.Unlock()
		return s.afterSleep()
	}
	h.Proxy.Stall()
	first := slept(time.Hour)
	second := slept(time.Hour)
	if len(first) != 1 || !slices.Contains(second, first[0]) {
		t.Errorf("nobody waits for what has not answered yet: %v, then %v", first, second)
	}
	slept(0)
	h.Proxy.Resume()
	run(t, p, e, "true")
	wantLogins(t, h, 1)
	s.wake(within(t, time.Minute))
	if third := slept(time.Hour); len(third) != 1 {
		t.Errorf("%d are waited for, after all have answered", len(third))
	}
}
