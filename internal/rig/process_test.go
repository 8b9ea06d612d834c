package rig

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestParentOf(t *testing.T) {
	for stat, want := range map[string]int{
		"12 (claude) S 7 12 12 0":       7,
		"12 (odd) name) (x) S 8 12 12":  8,
		"12 (claude) S":                 0,
		"12 (claude) S x 1":             0,
		"":                              0,
		"12 no parentheses at all 5 55": 0,
	} {
		if got := parentOf(stat); got != want {
			t.Errorf("parentOf(%q) = %d, want %d", stat, got, want)
		}
	}
}

// TestProcesses holds both ways of listing against a process that is the
// host's and one that is not.
func TestProcesses(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	h := &Host{Name: "alpha", Home: filepath.Join(dir, "home")}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	start := func(home string) int {
		cmd := exec.CommandContext(ctx, sleep, "1000")
		cmd.Env = []string{"HOME=" + home}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		return cmd.Process.Pid
	}
	mine, other := start(h.Home), start(h.Home+"-2")
	for name, list := range map[string]func() ([]process, error){"proc": h.processes, "ps": h.processesFromPS} {
		waitUntil(t, name+" lists the host's process", func() bool {
			found, err := list()
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(found, func(p process) bool { return p.pid == other }) {
				t.Fatalf("%s takes another's process for the host's: %v", name, found)
			}
			return slices.ContainsFunc(found, func(p process) bool { return p.pid == mine && p.name == "sleep" && p.parent > 1 })
		})
	}
}
