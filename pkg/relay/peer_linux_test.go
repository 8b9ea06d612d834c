package relay

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPlaceClaimed takes no call from other namespaces, whatever its greeting says.
func TestPlaceClaimed(t *testing.T) {
	path := socket(t)
	serving(t, Options{}, path)
	if err := samePlace(os.Getpid(), -1); err != nil {
		t.Error(err)
	}
	if err := samePlace(0, -1); err == nil {
		t.Error("a process that can't be seen passes")
	}
	for _, c := range []struct {
		away bool
		how  string
		says string
	}{{false, "lie", "destination has no host"}, {true, "lie", "n {\"why\":\"it runs in another place"}, {false, "lie and ask", "\"pid\""}, {true, "lie and ask", "EOF"}} {
		cmd := exec.Command(os.Args[0], path)
		cmd.Env = append(os.Environ(), otherEnv+"="+c.how)
		if c.away {
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
			if os.Getuid() != 0 {
				cmd.SysProcAttr = &syscall.SysProcAttr{
					Cloneflags:  syscall.CLONE_NEWUSER,
					UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
				}
			}
		}
		out, err := cmd.Output()
		if errors.Is(err, syscall.EPERM) && os.Getuid() != 0 {
			return // this system lets no such account have namespaces
		}
		if err != nil || !strings.Contains(string(out), c.says) {
			t.Errorf("away %t, %s: %s, %v", c.away, c.how, out, err)
		}
	}
}

// TestPlaceEnded trusts no process that merely has the number of the one that called.
func TestPlaceEnded(t *testing.T) {
	cmd := exec.Command("sleep", "300")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	handle, err := unix.PidfdOpen(cmd.Process.Pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(handle) }()
	if err := samePlace(os.Getpid(), handle); err != nil {
		t.Errorf("while it runs: %v", err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if err := samePlace(os.Getpid(), handle); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("when it has ended: %v", err)
	}
}

// TestPlaceLeft takes no call of a process that has gone, has a handle of the one that
// is there, where the system gives any, and keeps none.
func TestPlaceLeft(t *testing.T) {
	path := filepath.Dir(socket(t))
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	open := countFDs(t)
	cmd := exec.Command(os.Args[0], path)
	cmd.Env = append(os.Environ(), otherEnv+"=dial")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	if err := checkPlace(c); err != nil {
		t.Errorf("while it runs: %v", err)
	}
	handle, err := peerHandle(c)
	if err != nil {
		t.Fatal(err)
	}
	if handle < 0 {
		var u unix.Utsname
		var major, minor int
		_ = unix.Uname(&u)
		if n, _ := fmt.Sscanf(unix.ByteSliceToString(u.Release[:]), "%d.%d", &major, &minor); n != 2 || major > 6 || major == 6 && minor >= 5 {
			t.Errorf("no handle, on Linux %s", u.Release)
		}
	} else {
		info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", handle))
		if want := fmt.Sprintf("Pid:\t%d\n", cmd.Process.Pid); err != nil || !strings.Contains(string(info), want) {
			t.Errorf("the handle is %q, %v, want %q", info, err, want)
		}
		_ = unix.Close(handle)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if err := checkPlace(c); err == nil {
		t.Error("when it has gone: it is let in")
	}
	_ = c.Close()
	if n := countFDs(t); n > open {
		t.Errorf("%d files are open, and %d were", n, open)
	}
}

func countFDs(t *testing.T) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(fds)
}
