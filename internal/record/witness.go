package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
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

// ask asks all of them. The process table is searched only while no client is
// known to live: it is read many times a second.
func (d *driver) ask() witnesses {
	w := witnesses{turns: d.rig.API().Open(), process: "gone"}
	state := processState(d.pid)
	if d.pid == 0 || state == "" || state == "Z" {
		d.pid = 0
		pids, err := d.host.ClientPIDs()
		if err != nil {
			w.process = err.Error()
		}
		if len(pids) == 0 {
			return w
		}
		d.pid = pids[0]
		state = processState(d.pid)
	}
	w.process = "running"
	if state == "T" {
		w.process = "stopped"
	}
	w.status, w.waitingFor = sessionStatus(filepath.Join(d.host.Home, ".claude", "sessions"), d.pid)
	return w
}

// processState is the letter that ps shows for a process, such as T for one that
// job control has suspended; empty for one that is gone.
func processState(pid int) string {
	out, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if _, noProc := os.Stat("/proc/self/stat"); noProc != nil {
		out, err = exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
		out = append([]byte(") "), out...)
	}
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(out), ") ")
	return rest[:min(1, len(rest))]
}

// sessionStatus reads the session file of a client. Versions before about
// 2.1.85 write none.
func sessionStatus(dir string, pid int) (status, waitingFor string) {
	raw, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(pid)+".json"))
	if err != nil {
		return "", ""
	}
	var session struct{ Status, WaitingFor string }
	if json.Unmarshal(raw, &session) != nil {
		return "", "" // it is being written
	}
	return session.Status, session.WaitingFor
}
