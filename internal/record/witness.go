package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// witnesses are what knows of the client's state besides its screen.
type witnesses struct {
	status     string // of the session file; empty where there is none
	waitingFor string
	turns      int    // that the API is answering
	process    string // running, stopped, gone; or the reason why nobody knows
}

// session is status and waitingFor in one word.
func (w witnesses) session() string {
	if w.waitingFor == "" {
		return w.status
	}
	return w.status + " (" + w.waitingFor + ")"
}

// ask asks all of them.
func (d *driver) ask() witnesses {
	w := witnesses{turns: d.rig.API().Open(), process: "gone"}
	pids, err := d.host.ClientPIDs()
	if err != nil {
		w.process = err.Error()
		return w
	}
	if len(pids) == 0 {
		return w
	}
	w.process = "running"
	if stopped(pids[0]) {
		w.process = "stopped"
	}
	w.status, w.waitingFor = sessionStatus(filepath.Join(d.host.Home, ".claude", "sessions"), pids)
	return w
}

// stopped tells whether a process is suspended by job control.
func stopped(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "T")
}

// sessionStatus reads the session file of the first of these processes that
// has one. Versions before about 2.1.85 write none.
func sessionStatus(dir string, pids []int) (status, waitingFor string) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	for _, file := range files {
		pid, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(file), ".json"))
		if err != nil || !slices.Contains(pids, pid) {
			continue
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		var session struct{ Status, WaitingFor string }
		if json.Unmarshal(raw, &session) == nil {
			return session.Status, session.WaitingFor
		}
	}
	return "", ""
}
