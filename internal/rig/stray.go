package rig

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Strays name what runs on the host and is part neither of its tmux sessions nor
// of the clients that these have started: what a product left behind, or has not
// ended yet. Its sshd is not among them. The host's tmux server must run.
func (h *Host) Strays(ctx context.Context) ([]string, error) {
	all, err := h.processes()
	if err != nil {
		return nil, err
	}
	out, err := h.Tmux(ctx, "display-message", "-p", "#{pid}")
	if err != nil {
		return nil, err
	}
	server, err := strconv.Atoi(strings.TrimSpace(out))
	if err != nil {
		return nil, fmt.Errorf("host %s: tmux names its server %q: %w", h.Name, out, err)
	}
	parent := map[int]int{}
	for _, p := range all {
		parent[p.pid] = p.parent
	}
	var strays []string
	for _, p := range all {
		pid := p.pid
		for pid != server && parent[pid] != 0 {
			pid = parent[pid]
		}
		// What the client has detached from itself is its own.
		if pid != server && p.name != "claude" && !ended(p.pid) {
			strays = append(strays, fmt.Sprintf("%d %s", p.pid, p.name))
		}
	}
	return strays, nil
}

// KillSessions kills the processes of the host's sshd that serve connections,
// with SIGKILL: each breaks, and what ran in it may go on. The daemon takes new
// ones.
func (h *Host) KillSessions() error {
	if h.sshd == nil {
		return fmt.Errorf("host %s: no sshd runs", h.Name)
	}
	pids, err := descendants(h.sshd.cmd.Process.Pid, "sshd")
	if err != nil {
		return err
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("host %s: kill a session of sshd: %w", h.Name, err)
		}
	}
	return nil
}

// KillProcess kills one process of the host with SIGKILL; false when the host
// has none of that id.
func (h *Host) KillProcess(pid int) (bool, error) {
	all, err := h.processes()
	if err != nil || !slices.ContainsFunc(all, func(p process) bool { return p.pid == pid }) {
		return false, err
	}
	err = syscall.Kill(pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return false, nil
	}
	return err == nil, err
}
