package rig_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
)

// TestStrays tells what runs in a host's sessions from what runs beside them, and
// kills the latter, but nothing that is not the host's.
func TestStrays(t *testing.T) {
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", NoClient: true}, rig.HostSpec{Name: "beta", NoClient: true})
	h := r.Host("alpha")
	for _, name := range []string{"alpha", "beta"} {
		if _, err := r.Host(name).Tmux(t.Context(), "new-session", "-d", "-s", "work", "sh -c 'sleep 600 & wait'"); err != nil {
			t.Fatal(err)
		}
	}
	strays := func(want int) []string {
		t.Helper()
		var found []string
		rigtest.Eventually(t, appears, fmt.Sprintf("%d strays", want), func() (bool, string) {
			var err error
			found, err = h.Strays(t.Context())
			return err == nil && len(found) == want, fmt.Sprintf("%v %q", err, found)
		})
		return found
	}
	strays(0)
	stray := h.Command(t.Context(), "sleep", "600")
	if err := stray.Start(); err != nil {
		t.Fatal(err)
	}
	if found := strays(1); found[0] != fmt.Sprintf("%d sleep", stray.Process.Pid) {
		t.Errorf("the strays are %q", found)
	}
	for _, pid := range []int{0, 1, os.Getpid()} {
		if there, err := h.KillProcess(pid); there || err != nil {
			t.Errorf("process %d is the host's: %v, %v", pid, there, err)
		}
	}
	if there, err := r.Host("beta").KillProcess(stray.Process.Pid); there || err != nil {
		t.Errorf("it is another host's, too: %v, %v", there, err)
	}
	if there, err := h.KillProcess(stray.Process.Pid); !there || err != nil {
		t.Errorf("kill: %v, %v", there, err)
	}
	_ = stray.Wait() // killed
	strays(0)
}

// TestKillSessions breaks the connections that stand, and no later one.
func TestKillSessions(t *testing.T) {
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", NoClient: true})
	d := newDriver(t, r, "alpha")
	open := d.h.Command(t.Context(), "ssh", "-F", r.SSHConfig(), "alpha", "echo here; exec sleep 600")
	out, err := open.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := open.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 5)
	if n, err := out.Read(line); err != nil || string(line[:n]) != "here\n" {
		t.Fatalf("%q, %v", line[:n], err)
	}
	if err := d.h.KillSessions(); err != nil {
		t.Fatal(err)
	}
	if err := open.Wait(); err == nil {
		t.Error("the connection ended well")
	}
	if got := strings.TrimSpace(d.mustSh("", "echo again")); got != "again" {
		t.Errorf("%q", got)
	}
}
