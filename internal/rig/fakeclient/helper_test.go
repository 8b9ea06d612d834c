package fakeclient_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/fakeclient"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// within bounds each wait, on a loaded machine too.
const within = 30 * time.Second

// bench is a local host with a fake client, and the product that looks at it.
type bench struct {
	*testing.T
	host  *rig.Host
	fleet *fleet.Fleet
	pane  string // as a target of tmux
	seen  int    // events of the clients before this one
}

// start starts a host whose client has a script, and the client, past the
// product: in a tmux session of 120 by 40.
func start(t *testing.T, s fakeclient.Script) *bench {
	t.Helper()
	b := prepare(t, rig.HostSpec{Name: "alpha", Local: true, Trusted: true, BypassAccepted: true, Fake: &s})
	b.launch()
	return b
}

func prepare(t *testing.T, spec rig.HostSpec) *bench {
	t.Helper()
	r := rigtest.Start(t, spec)
	for _, v := range r.LocalEnv() {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	f, err := fleet.Load("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Errorf("close the fleet: %v", err)
		}
	})
	b := &bench{T: t, host: r.Host("alpha"), fleet: f, pane: "=alpha:"}
	if !spec.Local {
		b.pane = "=claude:" // the session that the product takes for a host over SSH
	}
	t.Cleanup(func() {
		if t.Failed() {
			b.Logf("the fake client's log:\n%s", b.text())
		}
	})
	return b
}

const command = "claude --dangerously-skip-permissions"

// launch starts a client, in the session that is there or a new one, and waits
// for its first screen.
func (b *bench) launch() {
	b.Helper()
	b.seen = len(b.log())
	if _, err := b.tmux("respawn-pane", "-k", "-t", b.pane, command); err != nil {
		b.must("new-session", "-d", "-s", "alpha", "-x", "120", "-y", "40", command)
	}
	b.eventually("the client starts", func() bool { return len(b.events(fakeclient.Started)) > 0 })
}

// relaunch starts a client with another script.
func (b *bench) relaunch(s fakeclient.Script) {
	b.Helper()
	if err := b.host.SetFake(s); err != nil {
		b.Fatal(err)
	}
	b.launch()
}

func (b *bench) tmux(args ...string) (string, error) { return b.host.Tmux(b.Context(), args...) }

func (b *bench) must(args ...string) string {
	b.Helper()
	out, err := b.tmux(args...)
	if err != nil {
		b.Fatal(err)
	}
	return out
}

// keys presses keys by their tmux names.
func (b *bench) keys(names ...string) {
	b.Helper()
	b.must(append([]string{"send-keys", "-t", b.pane}, names...)...)
}

// escape presses Escape and waits until it was taken: a key right behind it
// would make another of the two.
func (b *bench) escape() {
	b.Helper()
	n := len(b.events(fakeclient.Key))
	b.keys("Escape")
	b.eventually("Escape to be taken", func() bool { return slices.Contains(b.events(fakeclient.Key)[n:], "Escape") })
}

// paste pastes text as the product does.
func (b *bench) paste(text string) {
	b.Helper()
	cmd := b.host.Command(b.Context(), "tmux", "-u", "load-buffer", "-b", "p", "-", ";", "paste-buffer", "-p", "-r", "-d", "-b", "p", "-t", b.pane)
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("paste: %v: %s", err, out)
	}
}

func (b *bench) screen() string { return b.must("capture-pane", "-p", "-t", b.pane) }

// shows waits until the screen shows every text.
func (b *bench) shows(texts ...string) {
	b.Helper()
	rigtest.Eventually(b, within, fmt.Sprintf("the screen to show %q", texts), func() (bool, string) {
		s := b.screen()
		return !slices.ContainsFunc(texts, func(t string) bool { return !strings.Contains(s, t) }), s
	})
}

func (b *bench) log() []fakeclient.Event {
	b.Helper()
	events, err := b.host.FakeLog()
	if err != nil {
		b.Fatal(err)
	}
	return events
}

// ofClient are the events of the client that was launched last.
func (b *bench) ofClient() []fakeclient.Event {
	b.Helper()
	events := b.log()
	for i := len(events) - 1; i >= b.seen; i-- {
		if events[i].What == fakeclient.Started {
			pid := events[i].PID
			return slices.DeleteFunc(events[i:], func(e fakeclient.Event) bool { return e.PID != pid })
		}
	}
	return nil
}

// events are the texts of one kind of them.
func (b *bench) events(what string) []string {
	b.Helper()
	return fakeclient.Texts(b.ofClient(), what)
}

func (b *bench) text() string {
	var t strings.Builder
	for _, e := range b.log() {
		fmt.Fprintln(&t, e)
	}
	return t.String()
}

func (b *bench) eventually(what string, ok func() bool) {
	b.Helper()
	rigtest.Eventually(b, within, what, func() (bool, string) { return ok(), b.text() })
}

// status is the product's verdict.
func (b *bench) status() fleet.Status {
	b.Helper()
	hosts, err := b.fleet.Select("alpha")
	if err != nil {
		b.Fatal(err)
	}
	for s := range b.fleet.Status(b.Context(), hosts...) {
		return s
	}
	b.Fatal("no status")
	return fleet.Status{}
}

// judged waits until the product gives a verdict.
func (b *bench) judged(want detect.State) {
	b.Helper()
	rigtest.Eventually(b, within, "the verdict to be "+string(want), func() (bool, string) {
		s := b.status()
		return s.State == want, fmt.Sprintf("%s by %s: %s\n%s", s.State, s.Rule, s.Why, b.screen())
	})
}
