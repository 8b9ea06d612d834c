package fleet

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// processFragment lists the processes: id, parent, foreground group of the
// terminal, state, name. An old busybox ps knows none of these columns and
// fails; then the screen and the client's own file have to do.
const processFragment = `ps -A -o pid= -o ppid= -o tpgid= -o stat= -o comm= 2>/dev/null`

// process is one row of a host's process table.
type process struct {
	parent, foreground int
	stat, name         string
}

func (p process) suspended() bool { return strings.HasPrefix(p.stat, "T") }

// processes is a host's process table by process id; nil when it is not known.
type processes map[int]process

func parseProcesses(s transport.Section) processes {
	if !s.Ran || s.ExitCode != 0 {
		return nil
	}
	table := processes{}
	for line := range strings.Lines(string(s.Out)) {
		f := strings.Fields(line)
		if len(f) < 5 {
			continue
		}
		pid, err := strconv.Atoi(f[0])
		if err != nil {
			continue
		}
		p := process{stat: f[3], name: programName(f[4])}
		p.parent, _ = strconv.Atoi(f[1])
		p.foreground, _ = strconv.Atoi(f[2])
		table[pid] = p
	}
	return table
}

// programName is what a table calls a process, without its folder, the dash of a
// login shell, and what stands behind a blank.
func programName(name string) string {
	word, _, _ := strings.Cut(name, " ")
	return path.Base(strings.TrimPrefix(word, "-"))
}

// under tells whether a process is root or descends from it.
func (t processes) under(pid, root int) bool {
	// A table that changed while it was printed can hold a loop.
	for range len(t) + 1 {
		if pid == root {
			return true
		}
		p, ok := t[pid]
		if !ok || p.parent == pid {
			return false
		}
		pid = p.parent
	}
	return false
}

// clientName is what a client's process is called, the native binary and the
// older program under Node alike (it sets its title).
const clientName = "claude"

// client finds the client that runs under a pane's process, given the ids of
// those that say they are one.
func (t processes) client(pane int, known map[int]bool) (pid int, found bool) {
	var all []int
	for id, p := range t {
		if (known[id] || p.name == clientName) && t.under(id, pane) {
			all = append(all, id)
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	// The lowest id: a client starts helpers that may bear its name. One that was
	// suspended gives way to one that was started beside it.
	slices.Sort(all)
	pid = all[0]
	for _, id := range all[1:] {
		if t[pid].suspended() && !t[id].suspended() && !t.under(id, pid) {
			pid = id
		}
	}
	return pid, true
}

var shells = map[string]bool{"sh": true, "bash": true, "dash": true, "zsh": true, "fish": true, "ksh": true, "mksh": true, "csh": true, "tcsh": true, "ash": true}

// hiding are programs whose own processes the host's table does not show: a
// client may run behind one of them.
var hiding = map[string]bool{
	"docker": true, "podman": true, "nerdctl": true, "kubectl": true, "lxc": true, "incus": true, "machinectl": true, "nspawn": true,
	"systemd-nspawn": true, "vagrant": true, "limactl": true, "multipass": true, "ssh": true, "mosh-client": true, "tmux": true, "screen": true,
}

// helper tells whether a program is one that a shell keeps for itself, such as
// the prompt of a zsh theme: nobody misses it.
func helper(name string) bool {
	return strings.HasPrefix(name, "gitstatusd") || name == "ssh-agent" || name == "gpg-agent"
}

// front is the program that holds a pane's terminal.
func (t processes) front(pane int) (process, bool) {
	p, ok := t[t[pane].foreground]
	return p, ok
}

// jobs are the names of what runs under a pane beside its shells and its
// client: what a relaunch would end.
func (t processes) jobs(pane int, known map[int]bool) []string {
	client, _ := t.client(pane, known)
	var names []string
	for pid, p := range t {
		if pid != pane && t.under(pid, pane) && !shells[p.name] && !helper(p.name) && (client == 0 || !t.under(pid, client)) {
			names = append(names, p.name)
		}
	}
	slices.Sort(names)
	return names
}

// state says whether the client of a pane runs. It is gone, or suspended, only
// while a shell holds the terminal; with anything else there it is not seen,
// unless that is a program that may hide a client.
func (t processes) state(pane int, known map[int]bool) detect.Process {
	if t == nil {
		return detect.ProcessUnknown
	}
	front, ok := t.front(pane)
	pid, runs := t.client(pane, known)
	suspended := runs && t[pid].suspended()
	switch {
	case runs && !suspended:
		return detect.ProcessRunning
	case !ok || hiding[front.name]:
		return detect.ProcessUnknown
	case shells[front.name] && suspended:
		return detect.ProcessStopped
	case shells[front.name]:
		return detect.ProcessGone
	}
	return detect.ProcessUnseen
}
