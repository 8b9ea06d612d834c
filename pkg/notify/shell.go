package notify

import (
	"context"
	"os/exec"
	"syscall"
	"time"
)

// outputGrace is how long the output of a command is waited for that has ended:
// what it left in the background may hold the pipe open.
const outputGrace = time.Second

// shell is a line for this machine's /bin/sh, in a process group of its own that is
// killed when ctx ends.
func shell(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = outputGrace
	return cmd
}
