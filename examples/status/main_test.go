package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
)

// TestExample builds the program and runs it on a fleet with one host up, one
// down and one that does not answer.
func TestExample(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "status")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	r := rigtest.Start(t, rig.HostSpec{Name: "here", Local: true, Trusted: true, BypassAccepted: true}, rig.HostSpec{Name: "alpha"}, rig.HostSpec{Name: "beta"})
	if err := r.Host("beta").StopSSHD(); err != nil {
		t.Fatal(err)
	}
	here := r.Host("here")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if _, err := here.Tmux(ctx, "new-session", "-d", "-s", "here", "-x", "120", "-y", "40", "-c", here.Workdir, "--", "claude", "--dangerously-skip-permissions"); err != nil {
		t.Fatal(err)
	}
	want := []string{"alpha is down (rule no-server)", "beta is unreachable (rule no-answer)", "here is ready (rule ready.box)"}
	rigtest.Eventually(t, time.Minute, "the example to show the fleet", func() (bool, string) {
		cmd := exec.CommandContext(ctx, bin)
		cmd.Env = r.LocalEnv()
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		slices.Sort(lines)
		return slices.Equal(lines, want), string(out)
	})
}
