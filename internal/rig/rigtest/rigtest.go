// Package rigtest helps Go tests to use a rig.
//
// What may live here: what needs a testing.TB. What may not: what the demo or a
// benchmark program needs too, which belongs to package rig.
package rigtest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
)

// startWithin bounds the start of a rig, a first download of the client
// included.
const startWithin = 10 * time.Minute

// Start starts a rig with these hosts and closes it when the test ends. When
// the test has failed by then, what the rig logged, the screens of its hosts
// and the logs of their sshds go to the test's log first.
func Start(t testing.TB, specs ...rig.HostSpec) *rig.Rig {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	var notes notes
	r, err := rig.Start(ctx, rig.Options{Hosts: specs, Log: notes.add})
	if err != nil {
		t.Fatalf("start the rig: %v\n%s", err, notes.text())
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s%s", notes.text(), Describe(r))
		}
		if err := r.Close(); err != nil {
			t.Errorf("close the rig: %v", err)
		}
	})
	return r
}

// notes collects what a rig logs, from whichever goroutine.
type notes struct {
	mu    sync.Mutex
	lines strings.Builder
}

func (n *notes) add(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	fmt.Fprintf(&n.lines, format+"\n", args...)
}

func (n *notes) text() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lines.String()
}

// Describe says what the hosts of a rig show and what their sshds logged.
func Describe(r *rig.Rig) string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var b strings.Builder
	for _, h := range r.Hosts() {
		fmt.Fprintf(&b, "== host %s\n", h.Name)
		sessions, err := h.Tmux(ctx, "list-sessions", "-F", "#{session_name}")
		if err != nil {
			fmt.Fprintf(&b, "no tmux server\n")
			sessions = ""
		}
		for _, session := range strings.Fields(sessions) {
			screen, err := h.Screen(ctx, session)
			if err != nil {
				screen = err.Error()
			}
			fmt.Fprintf(&b, "-- session %s\n%s\n", session, strings.TrimRight(screen, "\n"))
		}
		if log := h.SSHDLog(); log != "" {
			fmt.Fprintf(&b, "-- sshd\n%s", lastLines(log, 20))
		}
	}
	fmt.Fprintf(&b, "== prompts\n%q\n", r.API().Prompts())
	return b.String()
}

func lastLines(text string, n int) string {
	lines := strings.SplitAfter(text, "\n")
	return strings.Join(lines[max(0, len(lines)-n-1):], "")
}

// The pauses of Eventually grow from the first to the last: what it asks often
// starts a program, which a loaded machine should not do forty times a second.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = 250 * time.Millisecond
)

// Eventually asks again and again until ok says true, and fails the test when
// that has not come about within the deadline. state is what ok saw last. It
// has to be called from the test's own goroutine.
func Eventually(t testing.TB, deadline time.Duration, what string, ok func() (done bool, state string)) {
	t.Helper()
	late := time.NewTimer(deadline)
	defer late.Stop()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		done, state := ok()
		if done {
			return
		}
		select {
		case <-time.After(pause):
		case <-late.C:
			t.Fatalf("%s: not within %s; last seen:\n%s", what, deadline, state)
		}
	}
}
