package relay

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestPlaceClaimed takes no call from other namespaces, whatever its greeting says.
func TestPlaceClaimed(t *testing.T) {
	path := socket(t)
	serving(t, Options{}, path)
	if err := samePlace(os.Getpid()); err != nil {
		t.Error(err)
	}
	if err := samePlace(0); err == nil {
		t.Error("a process that can't be seen passes")
	}
	for _, away := range []bool{false, true} {
		cmd := exec.Command(os.Args[0], path)
		cmd.Env = append(os.Environ(), otherEnv+"=lie")
		if away {
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
		if err != nil || strings.Contains(string(out), "another place") != away {
			t.Errorf("away %t: %s, %v", away, out, err)
		}
	}
}
