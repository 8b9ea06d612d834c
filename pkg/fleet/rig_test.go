package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// open is a fleet over a rig's hosts, from its fleet.conf.
func open(t *testing.T, r *rig.Rig, opts ...fleet.Option) *fleet.Fleet {
	t.Helper()
	for _, v := range r.LocalEnv() {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	f, err := fleet.Load("", opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Errorf("close the fleet: %v", err)
		}
	})
	return f
}

func up(t *testing.T, f *fleet.Fleet) {
	t.Helper()
	hosts, err := f.Select()
	if err != nil {
		t.Fatal(err)
	}
	for res := range f.Up(t.Context(), hosts...) {
		if res.Err != nil || res.Status.State != detect.Ready {
			t.Fatalf("up %s: %s, %v (%v)", res.Status.Host.Name, res.Status.State, res.Err, res.Did)
		}
	}
}

func state(t *testing.T, f *fleet.Fleet, name string) fleet.Status {
	t.Helper()
	hosts, err := f.Select(name)
	if err != nil {
		t.Fatal(err)
	}
	for s := range f.Status(t.Context(), hosts...) {
		return s
	}
	t.Fatal("no status")
	return fleet.Status{}
}

func waitReady(t *testing.T, f *fleet.Fleet) {
	t.Helper()
	rigtest.Eventually(t, 30*time.Second, "alpha to be ready", func() (bool, string) {
		s := state(t, f, "alpha")
		return s.State == detect.Ready, fmt.Sprintf("%s by %s: %s", s.State, s.Rule, s.Why)
	})
}

// count is how often the API was given a prompt.
func count(r *rig.Rig, prompt string) int {
	n := 0
	for _, p := range r.API().Prompts() {
		if p == prompt {
			n++
		}
	}
	return n
}

// TestSendOnce has many senders at one session: each prompt is either accepted
// and reaches the API whole and once, or is refused and never does.
func TestSendOnce(t *testing.T) {
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true})
	f := open(t, r)
	up(t, f)
	const senders = 6
	errs := make([]error, senders)
	prompt := func(i int) string { return fmt.Sprintf("sender %d\nsays this\nin three lines", i) }
	var wg sync.WaitGroup
	for i := range senders {
		wg.Go(func() { _, errs[i] = f.Send(t.Context(), "alpha", prompt(i), fleet.SendOptions{}) })
	}
	wg.Wait()
	waitReady(t, f)
	accepted := 0
	for i, err := range errs {
		want := 0
		switch {
		case err == nil:
			accepted, want = accepted+1, 1
		case fleet.ClassOf(err) != fleet.ClassRefused:
			t.Errorf("sender %d: %v", i, err)
		}
		if n := count(r, prompt(i)); n != want {
			t.Errorf("sender %d (%v): the API has its prompt %d times, not %d", i, err, n, want)
		}
	}
	if accepted == 0 {
		t.Errorf("nobody got through: %v", errors.Join(errs...))
	}
	if n := len(r.API().Prompts()); n != accepted {
		t.Errorf("the API has %d prompts for %d accepted: %q", n, accepted, r.API().Prompts())
	}
}

// TestSendWithBrokenLink cuts the link at random points of a send. Whatever
// Send then says must be true.
func TestSendWithBrokenLink(t *testing.T) {
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true, Proxy: true})
	f := open(t, r)
	up(t, f)
	proxy := r.Host("alpha").Proxy
	results := map[fleet.Result]int{}
	for i := range 12 {
		waitReady(t, f)
		prompt := fmt.Sprintf("prompt %d over a bad link", i)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cut := time.AfterFunc(time.Duration(i)*250*time.Millisecond, proxy.Cut)
		out, err := f.Send(ctx, "alpha", prompt, fleet.SendOptions{})
		cut.Stop()
		cancel()
		results[out.Result]++
		switch out.Result {
		case fleet.Accepted:
			if err != nil {
				t.Errorf("%d: accepted with %v", i, err)
			}
			rigtest.Eventually(t, 10*time.Second, "the accepted prompt to reach the API", func() (bool, string) {
				return count(r, prompt) == 1, fmt.Sprint(count(r, prompt))
			})
		case fleet.Refused, fleet.Unreachable:
			waitReady(t, f)
			if s := state(t, f, "alpha"); count(r, prompt) != 0 || s.Draft != "" {
				t.Errorf("%d: %s (%v), but the API has it %d times and the draft is %q", i, out.Result, err, count(r, prompt), s.Draft)
			}
		case fleet.Typed, fleet.Submitted:
			// Said to be in doubt; it must still not be there twice. A draft
			// that stayed is taken out as a person would.
			if n := count(r, prompt); n > 1 {
				t.Errorf("%d: doubled: %d", i, n)
			}
			if s := state(t, f, "alpha"); s.Draft != "" {
				if _, err := r.Host("alpha").Tmux(ctx, "send-keys", "-t", "=claude:", "C-c"); err != nil {
					t.Log(err)
				}
			}
		default:
			t.Errorf("%d: no result: %v", i, err)
		}
	}
	t.Logf("results: %v", results)
}

// TestStatusDoesNotWait has one host that hangs: the others are yielded at
// once, and breaking off leaves nothing running.
func TestStatusDoesNotWait(t *testing.T) {
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha"}, rig.HostSpec{Name: "beta"}, rig.HostSpec{Name: "here", Local: true})
	f := open(t, r, fleet.WithTimeout(20*time.Second))
	if err := r.Host("beta").FreezeSSHD(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Host("beta").ThawSSHD() }()
	running := goleak.IgnoreCurrent()
	var got []string
	for s := range f.Status(t.Context()) {
		got = append(got, s.Host.Name)
		if len(got) == 2 {
			break // beta alone is missing, and is cancelled here
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, []string{"alpha", "here"}) {
		t.Errorf("first came %v", got)
	}
	// What the pool keeps is a live connection to alpha; close it and look.
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if err := goleak.Find(running, goleak.IgnoreTopFunction("internal/poll.runtime_pollWait")); err != nil {
		t.Error(err)
	}
}

// TestStatusWithin holds a host that hangs to its own deadline, and an answer
// that a deadline cut short to be unreachable for that reason.
func TestStatusWithin(t *testing.T) {
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha"}, rig.HostSpec{Name: "beta", Proxy: true})
	f := open(t, r, fleet.WithTimeout(8*time.Second))
	for s := range f.Status(t.Context()) { // both connections are made
		if s.State != detect.Down {
			t.Fatalf("%s: %s", s.Host.Name, s.State)
		}
	}
	r.Host("beta").Proxy.Stall()
	start := time.Now()
	for s := range f.Status(t.Context()) {
		switch {
		case s.Host.Name == "alpha" && s.State != detect.Down:
			t.Errorf("alpha: %s", s.State)
		case s.Host.Name == "beta" && (s.State != detect.Unreachable || s.Reason != "timeout"):
			t.Errorf("beta: %s (%s)", s.State, s.Reason)
		}
	}
	if d := time.Since(start); d > 25*time.Second {
		t.Errorf("it took %s", d)
	}
	r.Host("beta").Proxy.Resume()
	rigtest.Eventually(t, 20*time.Second, "beta to be back", func() (bool, string) {
		s := state(t, f, "beta")
		return s.State == detect.Down, string(s.State)
	})
}
