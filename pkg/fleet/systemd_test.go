package fleet_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
)

// manager is the systemd of a host's account: a real user manager where one can
// run, else programs that stand in for it.
type manager struct {
	t    *testing.T
	h    *rig.Host
	real bool
}

// standIn puts systemctl, systemd-run and loginctl first on the host's PATH. They
// note their calls, and do of what the real ones do as much as is asked of them:
// a unit is known by its file, enabled by a link, and started by a tmux that
// works in the directory of ~/.fleet-workdir.
func standIn(t *testing.T, h *rig.Host, lingers string) manager {
	t.Helper()
	write := func(name, text string) {
		text = "#!/bin/sh\nprintf '%s\\n' \"" + name + " $*\" >> \"$HOME/calls\"\nd=$HOME/.config/systemd/user; u=claude-tmux.service; l=$d/default.target.wants/$u\n" + text
		if err := os.WriteFile(filepath.Join(filepath.Dir(h.Home), "bin", name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write("systemctl", `[ "$1" = --user ] || exit 1
case $2 in
  show) if [ -f "$d/$u" ]; then echo LoadState=loaded; else echo LoadState=not-found; fi ;;
  is-enabled) [ -e "$l" ] ;;
  enable) mkdir -p "${l%/*}" && ln -sf "$d/$u" "$l" ;;
  daemon-reload) ;;
  start) session=$(sed -n 's/^Environment="FLEET_SESSION=\(.*\)"$/\1/p' "$d/$u")
    tmux -u new-session -d -s "$session" -x 200 -y 50 -c "$(cat "$HOME/.fleet-workdir")" 'claude --dangerously-skip-permissions; exec sh' ;;
  stop) tmux -u kill-server ;;
  *) exit 1 ;;
esac
`)
	write("systemd-run", "shift 3\nexec \"$@\"\n")
	write("loginctl", "echo Linger="+lingers+"\n")
	return manager{t, h, false}
}

// beginManager runs a user manager for the host, in a mount namespace where /run
// is that of a machine with systemd and in a control group of its own, so that it
// takes nothing of the machine for its own. It takes root for both; where that, or
// systemd, is missing it says so and a stand-in is used.
func beginManager(t *testing.T, h *rig.Host, runtime string) (manager, error) {
	t.Helper()
	group, err := ownGroup()
	if err != nil {
		return manager{}, err
	}
	group = filepath.Join(group, fmt.Sprintf("fleet-test-%d-%s", os.Getpid(), filepath.Base(runtime)))
	if err := os.Mkdir(group, 0o755); err != nil {
		return manager{}, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, "unshare", "-m", "sh", "-c", `echo $$ > "$1/cgroup.procs" && grep -q "/${1##*/}$" /proc/self/cgroup || exit 9
mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system || exit 8
for f in /lib/systemd/systemd /usr/lib/systemd/systemd; do [ ! -x "$f" ] || exec "$f" --user --log-target=console; done
exit 7`, "manager", group)
	cmd.Env, cmd.WaitDelay = h.Env(), 5*time.Second
	if err := cmd.Start(); err != nil {
		cancel()
		return manager{}, err
	}
	var broken error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		broken = cmd.Wait()
	}()
	t.Cleanup(func() {
		m := manager{t, h, true}
		_, _ = m.systemctl("exit") // it ends its units first
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			cancel()
			<-ended
		}
		cancel()
		rigtest.Eventually(t, 20*time.Second, "the control groups are empty", func() (bool, string) {
			out, _ := exec.Command("find", group, "-depth", "-type", "d", "-exec", "rmdir", "{}", ";").CombinedOutput()
			_, err := os.Stat(group)
			return os.IsNotExist(err), string(out)
		})
	})
	m := manager{t, h, true}
	for deadline := time.Now().Add(20 * time.Second); ; {
		if _, err := m.systemctl("show-environment"); err == nil {
			return m, nil
		}
		select {
		case <-ended:
			return manager{}, fmt.Errorf("it ended: %w", broken)
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return manager{}, fmt.Errorf("it does not answer")
		}
	}
}

// ownGroup is the folder of this process's control group, by the hierarchy that
// systemd uses: its own of version 1, else that of version 2.
func ownGroup() (string, error) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	for _, kind := range []struct{ mark, root string }{{":name=systemd:", "/sys/fs/cgroup/systemd"}, {"0::", "/sys/fs/cgroup"}} {
		for line := range strings.Lines(string(text)) {
			if _, path, ok := strings.Cut(strings.TrimSpace(line), kind.mark); ok {
				dir := filepath.Join(kind.root, path)
				if _, err := os.Stat(filepath.Join(dir, "cgroup.procs")); err == nil {
					return dir, nil
				}
			}
		}
	}
	return "", fmt.Errorf("no control group of systemd's is known")
}

// systemctl asks the host's manager.
func (m manager) systemctl(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	out, err := m.h.Command(ctx, "systemctl", append([]string{"--user"}, args...)...).CombinedOutput()
	return string(out), err
}

// calls are what the stand-ins were called with.
func (m manager) calls() string {
	text, _ := os.ReadFile(filepath.Join(m.h.Home, "calls"))
	return string(text)
}

// group is the control group of the first process of a session's pane, by a line
// of its own or one of the manager's hierarchy.
func (m manager) group(p person, session string) string {
	p.t.Helper()
	pid := strings.TrimSpace(p.tmux("display-message", "-p", "-t", "="+session+":", "#{pane_pid}"))
	text, err := os.ReadFile("/proc/" + pid + "/cgroup")
	must(p, err)
	return string(text)
}
