package fleet_test

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// TestUpBehindWrapper kills what the client runs in and not the client, in a
// directory with an older conversation: up must bring back the one that the
// client has, not the older, and leave one client.
func TestUpBehindWrapper(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true})
	f := over(t, r)
	h := r.Host("alpha")
	p := person{t, r, h}
	up(t, f)
	sends(t, f, "SAY the older conversation", fleet.SendOptions{}, fleet.Accepted)
	is(t, f, detect.Ready, "")
	p.tmux("kill-server")
	rigtest.Eventually(t, drawn, "the session to be down", func() (bool, string) {
		s := state(t, f, "alpha")
		pids, err := h.ClientPIDs()
		return s.State == detect.Down && len(pids) == 0, fmt.Sprint(s.State, pids, err)
	})
	up(t, f)
	sends(t, f, "SAY the newer conversation", fleet.SendOptions{}, fleet.Accepted)
	is(t, f, detect.Ready, "")
	pids, err := h.ClientPIDs()
	if err != nil || len(pids) != 1 {
		t.Fatal(pids, err)
	}
	parent := parentOf(t, pids[0])
	pane := strings.TrimSpace(p.tmux("display-message", "-p", "-t", "=claude:", "#{pane_pid}"))
	if strconv.Itoa(parent) == pane {
		t.Fatalf("the client's parent is the pane's own process")
	}
	if err := syscall.Kill(parent, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	rigtest.Eventually(t, drawn, "the session to be crashed", func() (bool, string) {
		s := state(t, f, "alpha")
		return s.State == detect.Crashed, describe(s)
	})
	if left, err := h.ClientPIDs(); err != nil || len(left) != 1 {
		t.Fatalf("the client went with its shell: %v (%v)", left, err)
	}
	reading, err := f.Read(t.Context(), "alpha", fleet.ReadOptions{})
	if err != nil || !strings.Contains(fmt.Sprint(reading), "the newer conversation") {
		t.Errorf("read: %+v, %v", reading, err)
	}
	res := upOne(t, f, "alpha")
	if s := p.screen(); !strings.Contains(s, "the newer conversation") {
		t.Errorf("%q shows\n%s", res.Did, s)
	}
	now, err := h.ClientPIDs()
	if err != nil || len(now) != 1 || now[0] == pids[0] {
		t.Errorf("clients %v, before %v (%v)", now, pids, err)
	}
}

// parentOf is the parent of a process.
func parentOf(t *testing.T, pid int) int {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ps", "-o", "ppid=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		t.Fatal(err)
	}
	parent, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	return parent
}
