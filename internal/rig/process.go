package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a running process and the base name of its program.
type process struct {
	pid, parent int
	name        string
}

// KillClient kills every client of the host with SIGKILL and returns when they
// are gone. It fails where there is none.
func (h *Host) KillClient(ctx context.Context) error {
	pids, err := h.ClientPIDs()
	if err != nil {
		return err
	}
	if len(pids) == 0 {
		return fmt.Errorf("host %s: no client runs", h.Name)
	}
	if err := endProcesses(ctx, pids); err != nil {
		return fmt.Errorf("host %s: kill the client: %w", h.Name, err)
	}
	return nil
}

// endProcesses kills processes and returns when none of them is left.
func endProcesses(ctx context.Context, pids []int) error {
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("kill %d: %w", pid, err)
		}
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		pids = slices.DeleteFunc(slices.Clone(pids), ended)
		if len(pids) == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("processes %v do not end: %w", pids, ctx.Err())
		}
	}
}

// ended tells whether a process is gone, or a zombie that waits for its parent.
// One that is on its way out has no environment any more but is still there.
func ended(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err != nil || strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

// ClientPIDs are the processes that run as `claude` on the host, but for those
// that another such has started: a client's child has its name until it has
// become another program.
func (h *Host) ClientPIDs() ([]int, error) {
	all, err := h.processes()
	if err != nil {
		return nil, err
	}
	clients := map[int]bool{}
	for _, p := range all {
		clients[p.pid] = p.name == "claude"
	}
	var pids []int
	for _, p := range all {
		if clients[p.pid] && !clients[p.parent] {
			pids = append(pids, p.pid)
		}
	}
	return pids, nil
}

// processes are all that run on the host: those with its HOME, a folder that
// no other host has, in the environment that they began with.
func (h *Host) processes() ([]process, error) {
	if _, err := os.Stat("/proc/self/environ"); err == nil {
		return h.processesFromProc()
	}
	return h.processesFromPS()
}

func (h *Host) processesFromProc() ([]process, error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	var found []process
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() {
			continue
		}
		// A process that ended meanwhile, or another user's, is none of the host's.
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !slices.Contains(strings.Split(string(env), "\x00"), "HOME="+h.Home) {
			continue
		}
		args, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue
		}
		program, _, _ := bytes.Cut(args, []byte{0})
		found = append(found, process{pid, parentOf(string(stat)), filepath.Base(string(program))})
	}
	return found, nil
}

// parentOf reads the parent's pid from the text of /proc/PID/stat: the second
// field behind the program's name, which is in parentheses and may hold some.
func parentOf(stat string) int {
	fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:])
	if len(fields) < 2 {
		return 0
	}
	pid, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return pid
}

// processesFromPS is for systems with no /proc: their ps prints the environment
// behind the command, and that of this user's processes alone.
func (h *Host) processesFromPS() ([]process, error) {
	show := "-axEww"
	if runtime.GOOS == "linux" {
		show = "axeww"
	}
	out, err := exec.Command("ps", show, "-o", "pid=,ppid=,command=").Output()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var found []process
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || !slices.Contains(fields, "HOME="+h.Home) {
			continue
		}
		pid, err1 := strconv.Atoi(fields[0])
		parent, err2 := strconv.Atoi(fields[1])
		if err1 != nil || err2 != nil || pid == os.Getpid() {
			continue
		}
		found = append(found, process{pid, parent, filepath.Base(fields[2])})
	}
	return found, nil
}

// endAll kills whatever still runs on the host, until nothing does: what is
// killed may have started something meanwhile.
func (h *Host) endAll(ctx context.Context) error {
	for {
		left, err := h.processes()
		if err != nil || len(left) == 0 {
			return err
		}
		var pids []int
		for _, p := range left {
			pids = append(pids, p.pid)
		}
		if err := endProcesses(ctx, pids); err != nil {
			return fmt.Errorf("host %s: %w", h.Name, err)
		}
	}
}

// descendants are the children of a process, theirs, and so on, as long as
// their program's name begins with prefix.
func descendants(root int, prefix string) ([]int, error) {
	out, err := exec.Command("ps", "-axo", "pid=,ppid=,comm=").Output()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	children := map[int][]int{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || !strings.HasPrefix(filepath.Base(fields[2]), prefix) {
			continue
		}
		pid, err1 := strconv.Atoi(fields[0])
		parent, err2 := strconv.Atoi(fields[1])
		if err1 == nil && err2 == nil {
			children[parent] = append(children[parent], pid)
		}
	}
	var found []int
	for next := []int{root}; len(next) > 0; next = next[1:] {
		found = append(found, children[next[0]]...)
		next = append(next, children[next[0]]...)
	}
	return found, nil
}
