package fleet_test

import (
	"fmt"
	"slices"
	"strings"
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
	t.Parallel()
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha"}, rig.HostSpec{Name: "beta", Proxy: true})
	f := over(t, r, fleet.WithTimeout(8*time.Second))
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
