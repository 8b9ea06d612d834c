package fleet_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// TestWait has hosts that become ready one after the other, one that asks for a
// person, and one that is dead: each is told when it is so, and holds up nobody.
func TestWait(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t,
		rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true},
		rig.HostSpec{Name: "beta"},
		rig.HostSpec{Name: "gamma"},
	)
	f := over(t, r, fleet.WithTimeout(time.Minute))
	hosts, err := f.Select("alpha", "beta", "gamma")
	if err != nil {
		t.Fatal(err)
	}
	for res := range f.Up(t.Context(), hosts[:1]...) {
		if res.Err != nil {
			t.Fatal(res.Err)
		}
	}
	p := person{t, r, r.Host("alpha")}
	p.submits("HOLD w-1")
	p.holding("w-1")
	if err := r.Host("gamma").FreezeSSHD(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Host("gamma").ThawSSHD() }()

	// beta is down, which ends its wait; only then the turn of alpha ends; gamma
	// never answers, and is given up when the others are known.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []string
	for s := range f.Wait(ctx, fleet.WaitOptions{}, hosts...) {
		got = append(got, fmt.Sprintf("%s %s %s", s.Host.Name, s.State, fleet.ClassOf(s.Err)))
		switch s.Host.Name {
		case "beta":
			r.API().Release("w-1")
		case "alpha":
			cancel()
		}
	}
	want := []string{"beta down needs a person", "alpha ready " + fleet.Class(0).String()}
	if len(got) < 2 || !slices.Equal(got[:2], want) || len(got) > 3 || len(got) == 3 && got[2] != "gamma unreachable failed" {
		t.Errorf("%q", got)
	}

	// Any: the one that is there is enough, whatever the others are.
	got = nil
	for s := range f.Wait(t.Context(), fleet.WaitOptions{Any: true}, hosts[0], hosts[2]) {
		got = append(got, s.Host.Name)
	}
	if !slices.Equal(got, []string{"alpha"}) {
		t.Errorf("any: %q", got)
	}

	// A dialog that comes while one waits.
	var looked atomic.Bool
	p.submits("ASK")
	for s := range f.Wait(t.Context(), fleet.WaitOptions{For: []detect.State{detect.Limited}, Timeout: drawn}, hosts[0]) {
		looked.Store(true)
		if s.State != detect.Gate || fleet.ClassOf(s.Err) != fleet.ClassNeedsPerson {
			t.Errorf("%s: %v", s.State, s.Err)
		}
	}
	if !looked.Load() {
		t.Error("nothing was told of the dialog")
	}
}

// TestWaitBrokenOff leaves a wait in every way there is; nothing runs on.
func TestWaitBrokenOff(t *testing.T) {
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha"}, rig.HostSpec{Name: "beta"}, rig.HostSpec{Name: "here", Local: true})
	f := open(t, r, fleet.WithTimeout(20*time.Second))
	if err := r.Host("beta").FreezeSSHD(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Host("beta").ThawSSHD() }()
	running := goleak.IgnoreCurrent()

	// Nobody is ready: the first that is known ends the loop.
	for s := range f.Wait(t.Context(), fleet.WaitOptions{}) {
		if s.State != detect.Down || fleet.ClassOf(s.Err) != fleet.ClassNeedsPerson {
			t.Errorf("%s: %s, %v", s.Host.Name, s.State, s.Err)
		}
		break
	}
	// The time is up: all are told, each with its own reason.
	got := map[string]fleet.Class{}
	for s := range f.Wait(t.Context(), fleet.WaitOptions{For: []detect.State{detect.Busy}, Timeout: 15 * time.Second}) {
		got[s.Host.Name] = fleet.ClassOf(s.Err)
	}
	if len(got) != 3 || got["beta"] != fleet.ClassUnreachable || got["here"] != fleet.ClassNeedsPerson || got["alpha"] != fleet.ClassNeedsPerson {
		t.Errorf("%v", got)
	}
	// The caller gives up amid it.
	ctx, cancel := context.WithCancel(t.Context())
	for s := range f.Wait(ctx, fleet.WaitOptions{}) {
		cancel()
		if s.Err == nil {
			t.Errorf("%s: %s", s.Host.Name, s.State)
		}
	}
	cancel()
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if err := goleak.Find(running, goleak.IgnoreTopFunction("internal/poll.runtime_pollWait")); err != nil {
		t.Error(err)
	}
}
