package fleet

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

// teller is a Dispatcher whose clock and Notifier the test has.
type teller struct {
	Dispatcher
	at   time.Time
	got  []string
	fail error
}

func newTeller() *teller {
	n := &teller{at: date(12)}
	n.Notified = Marks{}
	n.Notifier = NotifierFunc(func(_ context.Context, c StatusChange) error {
		if n.fail == nil {
			n.got = append(n.got, c.Status.Host.Name+" "+string(c.Status.State))
		}
		return n.fail
	})
	n.now = func() time.Time { return n.at }
	return n
}

func (n *teller) look(t *testing.T, host string, s Status) (told, later bool) {
	t.Helper()
	s.Host.Name = host
	r := n.Look(t.Context(), s, n.at.Add(-time.Second))
	told, later, err := r.Notified, r.Later, r.Err
	if r.Host != host || r.Marked != (n.Notified[host].Same(s.Mark(n.at)) && n.Notified[host].At.Equal(n.at.Add(-time.Second))) {
		t.Errorf("%+v with the mark %+v", r, n.Notified[host])
	}
	if (err != nil) != (n.fail != nil && !told && len(n.times) > 0 && n.times[len(n.times)-1].Equal(n.at)) {
		t.Errorf("%s: %v", host, err)
	}
	return told, later
}

func TestDispatcherOnce(t *testing.T) {
	n := newTeller()
	down, ready, busy := statusOf(detect.Down, ""), statusOf(detect.Ready, ""), statusOf(detect.Busy, "")
	for _, s := range []Status{ready, busy, busy, down, down, down, ready, ready} {
		n.at = n.at.Add(time.Minute)
		n.look(t, "a", s)
	}
	if got := strings.Join(n.got, ","); got != "a busy,a down,a ready" {
		t.Errorf("told %s", got)
	}
	n = newTeller()
	n.Only = StatusChange.ConcernsPerson
	for _, s := range []Status{ready, busy, down, down, busy, ready} {
		n.at = n.at.Add(time.Minute)
		n.look(t, "a", s)
	}
	if got := strings.Join(n.got, ","); got != "a down,a busy" {
		t.Errorf("told %s", got)
	}
}

func TestDispatcherLimit(t *testing.T) {
	n := newTeller()
	n.Limit = 2
	down, ready := statusOf(detect.Down, ""), statusOf(detect.Ready, "")
	for _, h := range []string{"a", "b", "c", "d"} {
		if _, later := n.look(t, h, down); later != (h > "b") {
			t.Errorf("%s is left for later: %v", h, later)
		}
	}
	n.at = n.at.Add(59 * time.Second)
	n.look(t, "c", down)
	n.look(t, "d", ready) // it has passed before it could be told
	if got := strings.Join(n.got, ","); got != "a down,b down" {
		t.Errorf("told %s", got)
	}
	n.at = n.at.Add(time.Second)
	n.look(t, "c", down)
	n.look(t, "d", ready)
	if got := strings.Join(n.got, ","); got != "a down,b down,c down" {
		t.Errorf("told %s", got)
	}
	// Of a single run it is the limit, however long that takes.
	n = newTeller()
	n.Limit, n.Window = 2, time.Hour
	for _, h := range []string{"a", "b", "c"} {
		n.at = n.at.Add(10 * time.Minute)
		n.look(t, h, down)
	}
	if got := strings.Join(n.got, ","); got != "a down,b down" {
		t.Errorf("told %s", got)
	}
}

func TestDispatcherFails(t *testing.T) {
	n := newTeller()
	n.fail = errors.New("no route\x1b[2J")
	down := statusOf(detect.Down, "")
	n.look(t, "a", down)
	n.look(t, "b", down) // one failing host does not keep another from being told
	if len(n.times) != 2 {
		t.Errorf("%d tellings", len(n.times))
	}
	n.at = n.at.Add(time.Second)
	if told, later := n.look(t, "a", down); told || !later || len(n.times) != 2 {
		t.Error("tried again a second later")
	}
	n.at = n.at.Add(10 * time.Second)
	n.fail = nil
	if told, later := n.look(t, "a", down); !told || later {
		t.Error("not told when it could be")
	}
	if got := strings.Join(n.got, ","); got != "a down" {
		t.Errorf("told %s", got)
	}
	if err := notifyError("a", errors.New("x\x1b[2J")); strings.Contains(err.Error(), "\x1b") {
		t.Errorf("%q", err)
	}
}
