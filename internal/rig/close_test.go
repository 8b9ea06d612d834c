package rig_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
)

// alive tells whether a process is there and no zombie.
func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

// memory is what a process holds, in words for a log.
func memory(pid int) string {
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return err.Error()
	}
	kib, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d MiB resident", kib>>10)
}

// startedPIDs starts a session on the host, with something that would outlive
// it, and returns what runs there: sshd, tmux server, pane and stray.
func startedPIDs(t *testing.T, r *rig.Rig, host string) []int {
	t.Helper()
	d := newDriver(t, r, host)
	out := d.mustSh("", "tmux -u new-session -d -s claude 'trap \"\" HUP; sleep 1000' && tmux -u list-panes -a -F '#{pid} #{pane_pid}'; nohup sleep 1000 >/dev/null 2>&1 </dev/null & echo $!")
	var pids []int
	for _, field := range strings.Fields(out) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatalf("not pids: %q", out)
		}
		pids = append(pids, pid)
	}
	if raw, err := os.ReadFile(filepath.Join(r.Dir(), host, "sshd", "pid")); err == nil {
		pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	for _, pid := range pids {
		if !alive(pid) {
			t.Fatalf("process %d of %v is not there", pid, pids)
		}
	}
	return pids
}

func TestCloseLeavesNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), appears)
	defer cancel()
	given, err := os.MkdirTemp("/tmp", "given-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(given) })
	for _, dir := range []string{"", given} {
		r, err := rig.Start(ctx, rig.Options{Dir: dir, Hosts: []rig.HostSpec{
			{Name: "alpha", Proxy: true}, {Name: "home", Local: true},
		}})
		if err != nil {
			t.Fatal(err)
		}
		pids := append(startedPIDs(t, r, "alpha"), startedPIDs(t, r, "home")...)
		if len(pids) != 7 {
			t.Errorf("want 7 processes: %v", pids)
		}
		if err := r.Host("alpha").FreezeSSHD(); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		for _, pid := range pids {
			if alive(pid) {
				t.Errorf("process %d of %v outlives Close", pid, pids)
			}
		}
		if dir == "" {
			if _, err := os.Stat(r.Dir()); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: %v", r.Dir(), err)
			}
		} else if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("in the given folder: %v, %v", left, err)
		}
		if err := r.Close(); err != nil {
			t.Errorf("a second Close: %v", err)
		}
	}
}

func TestFailedStartLeavesNothing(t *testing.T) {
	t.Parallel()
	given, err := os.MkdirTemp("/tmp", "given-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(given) })
	_, err = rig.Start(context.Background(), rig.Options{Dir: given, Client: "/bin/true", Hosts: []rig.HostSpec{
		{Name: "alpha"}, {Name: "beta", SSHDConfig: []string{"NoSuchKeyword yes"}},
	}})
	if err == nil || !strings.Contains(err.Error(), "host beta: sshd refuses its config") {
		t.Errorf("error %v", err)
	}
	if left, err := os.ReadDir(given); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestKilledProcessLeavesNothing kills a process that has a rig with SIGKILL:
// the reaper has to clean up.
func TestKilledProcessLeavesNothing(t *testing.T) {
	t.Parallel()
	if os.Getenv("RIG_TEST_VICTIM") != "" {
		r, err := rig.Start(context.Background(), rig.Options{Client: "/bin/true", Hosts: []rig.HostSpec{
			{Name: "alpha"}, {Name: "home", Local: true},
		}})
		if err != nil {
			t.Fatal(err)
		}
		pids := append(startedPIDs(t, r, "alpha"), startedPIDs(t, r, "home")...)
		fmt.Printf("victim %s %v\n", r.Dir(), pids)
		select {} // until it is killed
	}
	ctx, cancel := context.WithTimeout(context.Background(), appears)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestKilledProcessLeavesNothing$")
	cmd.Env = append(os.Environ(), "RIG_TEST_VICTIM=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var dir string
	var pids []int
	for lines := bufio.NewScanner(out); lines.Scan(); {
		rest, ok := strings.CutPrefix(lines.Text(), "victim ")
		if !ok {
			continue
		}
		var list string
		dir, list, _ = strings.Cut(rest, " ")
		for _, field := range strings.Fields(strings.Trim(list, "[]")) {
			pid, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
		break
	}
	if len(pids) != 7 {
		t.Fatalf("want 7 processes: %v", pids)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	rigtest.Eventually(t, 20*time.Second, "nothing is left", func() (bool, string) {
		for _, pid := range pids {
			if alive(pid) {
				return false, fmt.Sprintf("process %d of %v", pid, pids)
			}
		}
		_, err := os.Stat(dir)
		return errors.Is(err, os.ErrNotExist), dir
	})
}
