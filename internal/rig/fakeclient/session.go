package fakeclient

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Version is the version of the real client that this one looks like.
const Version = "2.1.332"

// session is the file in which the client says what it does.
type session struct {
	path  string
	state sessionState
}

type sessionState struct {
	PID             int    `json:"pid"`
	SessionID       string `json:"sessionId"`
	CWD             string `json:"cwd"`
	StartedAt       int64  `json:"startedAt"`
	ProcStart       string `json:"procStart,omitempty"`
	Version         string `json:"version"`
	Kind            string `json:"kind"`
	Entrypoint      string `json:"entrypoint"`
	Tmux            string `json:"tmux,omitempty"`
	Status          string `json:"status"`
	UpdatedAt       int64  `json:"updatedAt"`
	StatusUpdatedAt int64  `json:"statusUpdatedAt"`
	WaitingFor      string `json:"waitingFor,omitempty"`
}

func openSession(home, cwd, id string) *session {
	return &session{
		path: filepath.Join(home, ".claude", "sessions", fmt.Sprint(os.Getpid(), ".json")),
		state: sessionState{
			PID: os.Getpid(), SessionID: id, CWD: cwd, StartedAt: time.Now().UnixMilli(), ProcStart: procStart(),
			Version: Version, Kind: "interactive", Entrypoint: "cli", Tmux: tmuxPlace(),
		},
	}
}

// say writes the status: "idle", "busy", or "waiting" and for what.
func (s *session) say(status, waitingFor string) error {
	if s.state.Status == status && s.state.WaitingFor == waitingFor {
		return nil
	}
	now := time.Now().UnixMilli()
	s.state.Status, s.state.WaitingFor, s.state.UpdatedAt, s.state.StatusUpdatedAt = status, waitingFor, now, now
	raw, err := json.Marshal(s.state)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	// By way of another file, so that nobody reads half of it.
	fresh := filepath.Join(filepath.Dir(s.path), fmt.Sprintf(".%d.new", s.state.PID))
	if err := os.WriteFile(fresh, raw, 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, s.path)
}

// remove takes the file away, as an orderly end does.
func (s *session) remove() { _ = os.Remove(s.path) }

// procStart is field 22 of this process's stat file; empty without one.
func procStart() string {
	raw, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}

// tmuxPlace is where in tmux this process runs, as the client writes it.
func tmuxPlace() string {
	pane := os.Getenv("TMUX_PANE")
	if pane == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "tmux", "-u", "display-message", "-p", "-t", pane, "#{session_name}:#{window_id}.#{pane_id}").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
