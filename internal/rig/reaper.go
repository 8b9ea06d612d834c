package rig

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// reaper cleans up behind a process that was killed before it could Close its
// rig. It is a shell that waits for the end of its input, a pipe that closes
// with this process however it dies, and then ends the sshds, the tmux servers
// and whatever else has its HOME in the rig's folder. It is a session of its
// own, so that a Ctrl-C for the test does not end it too.
//
// Compared with the parent-death signal that Linux has, it works on macOS as well,
// does not depend on which thread started a child, and reaches the tmux
// servers, which are nobody's children.
type reaper struct {
	cmd   *exec.Cmd
	input io.Closer
}

// reaperScript gets: the rig's folder, tmux, and "own" where the folder is the
// rig's to remove. A pid is only signalled while the process still has the
// folder in its command line: it may be another's by now.
const reaperScript = `
trap '' HUP INT TERM
read -r _
for f in "$1"/*/sshd/pid; do
	[ -f "$f" ] || continue
	pid=$(cat "$f")
	case $(ps -o args= -p "$pid") in *"$1"*) kill -9 "$pid" ;; esac
done
for s in "$1"/*/t/tmux-*/*; do
	[ -S "$s" ] && "$2" -S "$s" kill-server
done
# What ignored its hangup, known by the HOME that it began with.
if [ -r /proc/self/environ ]; then
	grep -lsaF "HOME=$1/" /proc/[0-9]*/environ | cut -d / -f 3
else
	ps -axEww -o pid=,command= | grep -F "HOME=$1/" | awk '{ print $1 }'
fi | while read -r pid; do
	kill -9 "$pid"
done
if [ "$3" = own ]; then
	# What was killed may still write for a moment.
	for _ in 1 2 3 4 5; do
		rm -rf "$1" && break
		sleep 1
	done
fi
exit 0
`

func startReaper(dir, tmux string, own bool) (*reaper, error) {
	whose := "given"
	if own {
		whose = "own"
	}
	cmd := exec.Command("/bin/sh", "-c", reaperScript, "rig-reaper", dir, tmux, whose)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("make the reaper's pipe: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the reaper: %w", err)
	}
	return &reaper{cmd, input}, nil
}

// close lets the reaper go, which finds nothing left to do.
func (r *reaper) close() error {
	_ = r.input.Close()
	late := time.AfterFunc(15*time.Second, func() { _ = r.cmd.Process.Kill() })
	defer late.Stop()
	if err := r.cmd.Wait(); err != nil {
		return fmt.Errorf("end the reaper: %w", err)
	}
	return nil
}
