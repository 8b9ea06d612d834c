package fleet

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// TestLookClock looks again without what it knew where the host's clock was set back.
func TestLookClock(t *testing.T) {
	dir, err := os.MkdirTemp("", "fleet") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMUX_TMPDIR", dir)
	t.Setenv("HOME", dir)
	t.Setenv("TMUX", "")
	t.Cleanup(func() {
		_ = exec.Command("tmux", "kill-server").Run()
		_ = os.RemoveAll(dir)
	})
	if out, err := exec.Command("tmux", "-u", "new-session", "-d", "-s", "work", "printf shown; exec sleep 1000").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f := &Fleet{conns: transport.NewPool(transport.Options{})}
	defer func() { _ = f.conns.Close() }()
	g := groups([]Host{{Name: "a", Transport: TransportLocal, Session: "work", Workdir: dir, Timeout: time.Minute}})[0].remembering()
	look := func() seen {
		t.Helper()
		s := f.look(t.Context(), g)[0]
		if s.pane == nil || string(s.pane.Screen[:5]) != "shown" {
			t.Fatalf("%+v", s)
		}
		return s
	}
	rigtest.Eventually(t, time.Minute, "the screen not to be printed again", func() (bool, string) {
		s := look()
		return s.pane.Drawn.Before(g.memory.sight.snap.Time), s.pane.Drawn.String()
	})
	ahead := g.memory.sight.snap.Time.Add(8 * time.Second)
	g.memory.sight.snap.Time = ahead
	if s := look(); !g.memory.sight.snap.Time.Before(ahead) || !s.pane.Drawn.Equal(g.memory.sight.snap.Time) {
		t.Errorf("printed at %v, and looked at %v", s.pane.Drawn, g.memory.sight.snap.Time)
	}
}
