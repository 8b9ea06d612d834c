package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The size of the terminal, in cells. The README is read in a column of some 90.
const (
	stageCols = 84
	stageRows = 22
)

// stageConf makes a tmux that adds nothing of its own: no status row, which has
// the time and the machine's name in it, and no prefix key, which is for the tmux
// that is attached to within it.
const stageConf = `set -g status off
set -g prefix None
set -g default-terminal tmux-256color
set -s escape-time 0
`

// stage is a shell in a tmux server of its own, which a person might sit at.
type stage struct{ socket string }

// openStage starts the shell in that home and environment and waits for its first
// prompt. The stage's own files are made in dir. The shell does not know that it is
// in a tmux: what it runs would take that server for the local host's.
func openStage(ctx context.Context, dir, home string, env []string) (*stage, error) {
	conf := filepath.Join(dir, "stage.conf")
	if err := os.WriteFile(conf, []byte(stageConf), 0o600); err != nil {
		return nil, err
	}
	s := &stage{socket: filepath.Join(dir, "stage")}
	cmd := exec.CommandContext(ctx, "tmux", "-u", "-S", s.socket, "-f", conf, "new-session", "-d", "-c", home,
		"-x", fmt.Sprint(stageCols), "-y", fmt.Sprint(stageRows), "unset TMUX TMUX_PANE; PS1='$ ' exec /bin/sh")
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("tmux: %w: %s", err, out)
	}
	return s, s.until(ctx, prompted)
}

// close ends the tmux server, and the shell with it.
func (s *stage) close(ctx context.Context) error {
	_, err := s.tmux(context.WithoutCancel(ctx), "kill-server")
	return err
}

func (s *stage) tmux(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "tmux", append([]string{"-u", "-S", s.socket}, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, out)
	}
	return string(out), nil
}

// typed types text as it stands; key presses one key by tmux's name for it.
func (s *stage) typed(ctx context.Context, text string) error {
	_, err := s.tmux(ctx, "send-keys", "-l", "--", text)
	return err
}

func (s *stage) key(ctx context.Context, name string) error {
	_, err := s.tmux(ctx, "send-keys", name)
	return err
}

// shot is the screen with its colours.
func (s *stage) shot(ctx context.Context) (string, error) {
	return s.tmux(ctx, "capture-pane", "-p", "-e")
}

// until waits until the screen, without its colours, is as cond wants it.
func (s *stage) until(ctx context.Context, cond func(screen string) bool) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	last := ""
	for {
		screen, err := s.tmux(ctx, "capture-pane", "-p")
		if err == nil {
			// One look more, since a screen may be taken half drawn.
			if screen == last && cond(screen) {
				return nil
			}
			last = screen
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("the screen did not become what the story needs; it is:\n%s", last), ctx.Err(), err)
		}
	}
}

// prompted tells that the shell waits for a command.
func prompted(screen string) bool {
	rows := strings.Split(strings.TrimRight(screen, "\n "), "\n")
	return rows[len(rows)-1] == "$"
}

// showing tells that a text is on the screen.
func showing(text string) func(string) bool {
	return func(screen string) bool { return strings.Contains(screen, text) }
}
