package examples

import (
	"context"
	"errors"
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

// TestExamples builds the programs and runs them on a fleet with one host up, one
// down and one that does not answer.
func TestExamples(t *testing.T) {
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", bin+"/", "./...").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	r := rigtest.Start(t, rig.HostSpec{Name: "here", Local: true, Trusted: true, BypassAccepted: true}, rig.HostSpec{Name: "alpha"}, rig.HostSpec{Name: "beta"})
	if err := r.Host("beta").StopSSHD(); err != nil {
		t.Fatal(err)
	}
	first, err := r.PatientFleet()
	if err != nil {
		t.Fatal(err)
	}
	here := r.Host("here")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if _, err := here.Tmux(ctx, "new-session", "-d", "-s", "here", "-x", "120", "-y", "40", "-c", here.Workdir, "--", "claude", "--dangerously-skip-permissions"); err != nil {
		t.Fatal(err)
	}
	// run gives the lines that a program prints, sorted, and its exit code.
	run := func(program string, args ...string) (string, int) {
		cmd := exec.CommandContext(ctx, filepath.Join(bin, program), args...)
		cmd.Env = append(r.LocalEnv(), "CLAUDE_FLEET_CONFIG="+first)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		slices.Sort(lines)
		return strings.Join(lines, "\n"), cmd.ProcessState.ExitCode()
	}
	want := "alpha is down (rule no-server)\nbeta is unreachable (rule no-answer)\nhere is ready (rule ready.box)"
	rigtest.Eventually(t, 2*time.Minute, "the fleet to be seen", func() (bool, string) {
		out, code := run("status")
		return out == want && code == 0, out
	})

	// The second fleet calls another machine by the first one's name.
	other := filepath.Join(t.TempDir(), "fleet.conf")
	if err := os.WriteFile(other, []byte("[defaults]\ntimeout = \"40s\"\nssh_config = \""+r.SSHConfig()+"\"\n[hosts.here]\nssh = \"alpha\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	inOrder := func(lines ...string) string {
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	}
	for _, c := range []struct {
		program string
		args    []string
		want    string // the lines, sorted
		code    int
	}{
		{"ask", []string{"here", "SAY hello"}, "here: hello", 0},
		{"ask", []string{"alpha", "SAY hello"}, "alpha: not sent: the session's state is down (no tmux server runs there); nothing was typed; start it with: claude-fleet up alpha", 1},
		{"ask", []string{"nobody", "SAY hello"}, "", 1},
		{"ask", []string{"here"}, "", 1},
		{"twofleets", []string{"1", first, other}, inOrder(first+" here is ready", first+" alpha is down", first+" beta is unreachable", other+" here is down"), 0},
		{"twofleets", []string{"1", filepath.Join(bin, "none")}, "", 1},
		{"twofleets", []string{"once", first}, "", 1},
	} {
		if out, code := run(c.program, c.args...); out != c.want || code != c.code {
			t.Errorf("%s %q printed, with exit code %d:\n%s\nwant %d:\n%s", c.program, c.args, code, out, c.code, c.want)
		}
	}
	if prompts := r.API().Prompts(); len(prompts) != 1 {
		t.Errorf("prompts: %q", prompts)
	}
}
