package fleet_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// crowdLimit bounds how long a crowd of senders takes until each is through.
const crowdLimit = 6 * time.Minute

// TestManySenders has eight senders in one process at one session. Each goes on
// while it is refused, and nothing else. All prompts arrive whole and once.
func TestManySenders(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true})
	f := over(t, r, fleet.WithTimeout(time.Minute))
	up(t, f)
	var all sync.WaitGroup
	var prompts []string
	tries := make([]int, 8)
	for i := range tries {
		prompt := taggedLines(fmt.Sprintf("sender%dq", i), 3)
		prompts = append(prompts, prompt)
		late := time.Now().Add(crowdLimit)
		all.Go(func() {
			for {
				tries[i]++
				out, err := f.Send(t.Context(), "alpha", prompt, fleet.SendOptions{})
				switch {
				case err == nil && out.Result == fleet.Accepted && out.Record != "":
					return
				case fleet.ClassOf(err) != fleet.ClassRefused || time.Now().After(late):
					t.Errorf("sender %d, try %d: %s, %v", i, tries[i], out.Result, err)
					return
				}
				pause(time.Duration(100+20*i)*time.Millisecond, nil)
			}
		})
	}
	all.Wait()
	t.Logf("tries until each was accepted: %v", tries)
	waitReady(t, f)
	arrived(t, r, "alpha", prompts, true)
}

// arrived holds that a session was given each of these prompts whole and once,
// in some order, and nothing else. apart is whether each began a turn.
func arrived(t *testing.T, r *rig.Rig, host string, prompts []string, apart bool) {
	t.Helper()
	for _, p := range prompts {
		tag, _, _ := strings.Cut(strings.TrimPrefix(p, "HOLD "), " ")
		is, err := truthOf(r, r.Host(host), chaosText{mute: !apart}, p, tag)
		if err != nil || is.records != 1 || len(is.parts) > 0 || apart && is.given != 1 {
			t.Errorf("%q is there %+v, %v", p, is, err)
		}
	}
	if given := r.API().Prompts(); apart && len(given) != len(prompts) {
		t.Errorf("the API was given %d prompts, not %d: %.4000q", len(given), len(prompts), given)
	}
}

// TestManyMachines has four processes on two machines, with a home and a table
// each, send three prompts one after the other to one session over SSH: at first
// to one that is ready, and then into the client's own queue behind a turn.
func TestManyMachines(t *testing.T) {
	t.Parallel()
	bin := buildBinary(t)
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true})
	machines := []machine{newMachine(t, r, bin, "one"), newMachine(t, r, bin, "two")}
	machines[0].up(t)
	h := newChaosHost(t, r, r.Host("alpha"), machines[0])
	for _, way := range []string{"", "--queue"} {
		var all sync.WaitGroup
		var mu sync.Mutex
		var prompts []string
		results := map[fleet.Result]int{}
		want := fleet.Accepted
		if way != "" {
			want = fleet.Queued
			if s := machines[0].run(t, "HOLD crowd", "send", "--json", "alpha", "-"); s.code != 0 {
				t.Fatal(s)
			}
			rigtest.Eventually(t, drawn, "the turn to run", func() (bool, string) { return r.API().Holding("crowd") > 0, "" })
		}
		for p := range 4 {
			all.Go(func() {
				for n := range 3 {
					prompt := taggedLines(fmt.Sprintf("from%d%dq%s", p, n, way), 3)
					mu.Lock()
					prompts = append(prompts, prompt)
					mu.Unlock()
					args := []string{"send", "--json", "--id", fmt.Sprintf("p%d-%d%s", p, n, way), "alpha", "-"}
					if way != "" {
						args = slices.Insert(args, 1, way)
					}
					s := machines[p%2].until(t, prompt, args...)
					mu.Lock()
					results[s.Result]++
					mu.Unlock()
				}
			})
		}
		all.Wait()
		t.Logf("send %s: %v", way, results)
		if results[want] != len(prompts) {
			t.Errorf("send %s: %v, want %d %s", way, results, len(prompts), want)
		}
		if way != "" {
			r.API().Release("crowd")
		}
		if draft := h.settled(t); draft != "" {
			t.Errorf("in the box is %q", draft)
		}
		arrived(t, r, "alpha", prompts, way == "")
	}
}

// until sends until that is not refused any more.
func (m machine) until(t *testing.T, stdin string, args ...string) said {
	t.Helper()
	for late := time.Now().Add(crowdLimit); ; {
		s := m.run(t, stdin, args...)
		if s.code != 3 || time.Now().After(late) {
			if s.code != 0 {
				t.Errorf("%v: %s", args, s)
			}
			return s
		}
		pause(200*time.Millisecond, nil)
	}
}

// TestSendTwins sends one prompt twice at once under one id, as a caller does who
// takes a slow sender for a dead one: it is typed once, and both say so, although
// its turn runs by the time the second one looks.
func TestSendTwins(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true})
	f := over(t, r, fleet.WithTimeout(time.Minute))
	up(t, f)
	for round := range 3 {
		hold := fmt.Sprintf("twins%dq", round)
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				out, err := f.Send(t.Context(), "alpha", "HOLD "+hold, fleet.SendOptions{ID: hold})
				if err != nil || out.Result != fleet.Accepted || out.Record == "" {
					t.Errorf("round %d: %s, %v", round, out.Result, err)
				}
			})
		}
		all.Wait()
		r.API().Release(hold)
		waitReady(t, f)
		arrived(t, r, "alpha", []string{"HOLD " + hold}, false)
	}
}
