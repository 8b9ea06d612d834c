package fleet_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/fakeclient"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// TestWatchRemembers has one Watch look on while everything that it may have kept in
// mind changes under it: it tells what a look without a memory does, and asks git
// nothing while nothing changes.
func TestWatchRemembers(t *testing.T) {
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true, Fake: &fakeclient.Script{}})
	f := open(t, r, fleet.WithTimeout(time.Minute))
	h := r.Host("alpha")
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(filepath.Join(filepath.Dir(h.Home), "bin", "git"), fmt.Appendf(nil, "#!/bin/sh\necho >>%s\nexec %s \"$@\"\n", log, git), 0o700); err != nil {
		t.Fatal(err)
	}
	calls := func() int {
		out, err := os.ReadFile(log)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return len(out)
	}
	commit := func(subject string) {
		cmd := exec.Command(git, "-C", h.Workdir, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", subject)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	pane := func() string {
		id, err := h.Tmux(t.Context(), "list-panes", "-t", "=claude:", "-F", "#{pane_id}")
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(id)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	seen := make(chan fleet.Watched)
	go func() {
		defer close(seen)
		for w := range f.Watch(ctx, fleet.WatchOptions{Interval: 100 * time.Millisecond}) {
			select {
			case seen <- w:
			case <-ctx.Done():
			}
		}
	}()
	// fresh is the first answer of a look that began when this is called, or later.
	fresh := func() fleet.Watched {
		t.Helper()
		<-seen // may have been on its way
		<-seen
		w, ok := <-seen
		if !ok {
			t.Fatal("the watch has ended")
		}
		return w
	}
	until := func(want detect.State) {
		t.Helper()
		rigtest.Eventually(t, time.Minute, "the watch to tell "+string(want), func() (bool, string) {
			w := fresh()
			return w.State == want, fmt.Sprintf("%s by %s: %s", w.State, w.Rule, w.Why)
		})
		if s := state(t, f, "alpha"); s.State != want {
			t.Errorf("a look without a memory tells %s", s.State)
		}
	}

	// soon has the watch tell something of the folder, whose answer may be 5 s old.
	soon := func(what string, told func(fleet.Watched) bool) {
		t.Helper()
		began := time.Now()
		rigtest.Eventually(t, time.Minute, "the watch to tell "+what, func() (bool, string) {
			from := time.Now()
			w := fresh()
			if !told(w) && from.Sub(began) >= 5*time.Second {
				t.Fatalf("the watch does not tell %s after %v: %+v, %+v, %q", what, from.Sub(began), w.Git, w.Disk, w.Flags)
			}
			return told(w), fmt.Sprintf("%+v, %+v, %q", w.Git, w.Disk, w.Flags)
		})
	}

	until(detect.Down)
	up(t, f)
	until(detect.Ready)
	first := pane()

	// Nothing changes, and git is not asked: within the 30 s of a count.
	rigtest.Eventually(t, time.Minute, "git not to be asked", func() (bool, string) {
		before := calls()
		for range 4 {
			fresh()
		}
		return calls() == before, fmt.Sprintf("%d calls", calls())
	})
	commit("another")
	soon("of the commit", func(w fleet.Watched) bool {
		return w.Git != nil && w.Git.LastCommit != nil && w.Git.LastCommit.Subject == "another"
	})

	// The session goes, and another of its name comes.
	if _, err := h.Tmux(t.Context(), "new-session", "-d", "-s", "keeper", "exec sh"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Tmux(t.Context(), "kill-session", "-t", "=claude"); err != nil {
		t.Fatal(err)
	}
	until(detect.Down)
	up(t, f)
	until(detect.Ready)
	if pane() == first {
		t.Errorf("the session is in pane %s again: this proves nothing", first)
	}

	// The client ends between two looks.
	if err := h.KillClient(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(detect.Crashed)
	up(t, f)
	until(detect.Ready)

	// The workdir goes and comes again.
	if err := os.Rename(h.Workdir, h.Workdir+".away"); err != nil {
		t.Fatal(err)
	}
	soon("that its folder is missing", func(w fleet.Watched) bool {
		return w.Git == nil && w.Disk == nil && strings.Contains(strings.Join(w.Flags, " "), "nodir")
	})
	if err := os.Rename(h.Workdir+".away", h.Workdir); err != nil {
		t.Fatal(err)
	}
	soon("of its folder again", func(w fleet.Watched) bool { return w.Git != nil && w.Disk != nil && len(w.Flags) == 0 })
	cancel()
	for range seen { // to its end
		continue
	}
}
