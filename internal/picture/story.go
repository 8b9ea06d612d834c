package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/claude-fleet/claude-fleet/internal/rig"
)

// frame is a screen as tmux captured it, and how long it is shown.
type frame struct {
	screen string
	length time.Duration
}

// How long a screen stands: one to see a command typed, one to read what it said.
const (
	glance = 900 * time.Millisecond
	look   = 3000 * time.Millisecond
)

// still keeps the client's figure from moving its feet, which would be another
// screen each time.
var still = map[string]any{"prefersReducedMotion": true}

// task is the prompt that the story sends from a file. Its second line and the third
// are for the scripted service: ask a question, then say that.
const task = `Keep the sessions in a database.
ASK
THEN SAY Sessions are kept in Postgres now.
`

// teller records what happens on the stage.
type teller struct {
	ctx    context.Context
	stage  *stage
	binary string
	env    []string
	frames []frame
}

// record makes the fleet, tells the story and returns its screens.
//
// The story is the same whenever it is told: ages are shown once they have been
// waited for (see aged), and nothing on the screens has an id, a path or a time of
// day.
func record(ctx context.Context, binary string) (frames []frame, err error) {
	r, err := rig.Start(ctx, rig.Options{
		Log: func(format string, args ...any) { fmt.Fprintf(os.Stderr, "picture: "+format+"\n", args...) },
		Hosts: []rig.HostSpec{
			{Name: "web", Settings: still}, // both start-up dialogs stand before its first session
			{Name: "db", Trusted: true, BypassAccepted: true},
			{Name: "laptop", Local: true, Trusted: true, BypassAccepted: true},
		},
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()

	bin, err := filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	env := r.LocalEnv()
	for i, e := range env {
		if path, ok := strings.CutPrefix(e, "PATH="); ok {
			env[i] = "PATH=" + filepath.Dir(bin) + ":" + path
		}
	}
	// The row of tmux at the bottom shows the machine's name and the time.
	conf := filepath.Join(r.Host("web").Home, ".tmux.conf")
	if err := os.WriteFile(conf, []byte("set -g status off\n"), 0o600); err != nil {
		return nil, err
	}
	home := r.Host("laptop").Home
	if err := os.WriteFile(filepath.Join(home, "task.md"), []byte(task), 0o600); err != nil {
		return nil, err
	}
	s, err := openStage(ctx, r.Dir(), home, env)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	t := &teller{ctx: ctx, stage: s, binary: bin, env: env}
	if err := t.tell(); err != nil {
		return nil, err
	}
	r.API().ReleaseAll()
	return t.frames, nil
}

// tell is the story.
func (t *teller) tell() error {
	return inOrder(
		func() error { return t.quietly("up", "db", "laptop") },
		func() error { return t.aged("db", "laptop") },
		func() error { return t.run("claude-fleet status", "down", "ready") },
		func() error { return t.run("claude-fleet up web", "web: ready (started") },
		func() error { return t.run("claude-fleet send db 'HOLD the-migration'", "db: accepted") },
		func() error { return t.run("cat task.md", "ASK") },
		func() error { return t.run("claude-fleet send web --file task.md", "web: accepted") },
		func() error { return t.quietly("send", "laptop", "hello") }, // it gets ready as the others get busy
		func() error { return t.aged("web", "db", "laptop") },
		t.clear,
		func() error { return t.run("claude-fleet status", "gate", "busy", "ready") },
		func() error { return t.run("claude-fleet send web 'and the tests?'", "nothing was typed") },
		func() error {
			return t.attach("claude-fleet attach web", "Claude Code v", "Which database should it use?", "Esc to cancel")
		},
		t.clear,
		func() error { return t.run("claude-fleet answer web", "a dialog waits") },
		func() error { return t.run("claude-fleet answer web Postgres", "the session's state is ready") },
		func() error { return t.run("claude-fleet read web", "assistant: Sessions are kept") },
	)
}

func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// run types a command at the prompt, a screen, and runs it, another. What it says
// has to have these words: on a machine that is too busy for the story there is no
// picture.
func (t *teller) run(line string, words ...string) error {
	return inOrder(
		func() error { return t.stage.typed(t.ctx, line) },
		func() error { return t.take(glance, showing("$ "+line)) },
		func() error { return t.stage.key(t.ctx, "Enter") },
		func() error { return t.take(look, prompted) },
		func() error {
			_, said, _ := strings.Cut(ansi.Strip(t.frames[len(t.frames)-1].screen), "$ "+line)
			for _, w := range words {
				if !strings.Contains(said, w) {
					return fmt.Errorf("%s did not say %q:\n%s", line, w, said)
				}
			}
			return nil
		},
	)
}

// attach takes the session over, shows it once all of these words are there, since the
// client draws itself anew for the smaller terminal, and leaves it by tmux's own key.
func (t *teller) attach(line string, words ...string) error {
	return inOrder(
		func() error { return t.stage.typed(t.ctx, line) },
		func() error { return t.take(glance, showing("$ "+line)) },
		func() error { return t.stage.key(t.ctx, "Enter") },
		func() error {
			return t.take(look, func(screen string) bool {
				missing := func(w string) bool { return !strings.Contains(screen, w) }
				return !slices.ContainsFunc(words, missing) && missing(line)
			})
		},
		func() error { return t.stage.key(t.ctx, "C-b") },
		func() error { return t.stage.key(t.ctx, "d") },
		func() error { return t.stage.until(t.ctx, prompted) },
	)
}

// take waits for a screen and keeps it.
func (t *teller) take(length time.Duration, cond func(string) bool) error {
	if err := t.stage.until(t.ctx, cond); err != nil {
		return err
	}
	screen, err := t.stage.shot(t.ctx)
	if err == nil {
		t.frames = append(t.frames, frame{screen, length})
	}
	return err
}

// clear begins a new page, which no screen shows.
func (t *teller) clear() error {
	return inOrder(
		func() error { return t.stage.typed(t.ctx, "clear") },
		func() error { return t.stage.key(t.ctx, "Enter") },
		func() error { return t.stage.until(t.ctx, func(s string) bool { return strings.TrimSpace(s) == "$" }) },
	)
}

func (t *teller) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.ctx, t.binary, args...)
	cmd.Env = t.env
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// quietly runs claude-fleet off the stage.
func (t *teller) quietly(args ...string) error {
	if out, err := t.command(args...).CombinedOutput(); err != nil {
		return fmt.Errorf("claude-fleet %s: %w\n%s", args[0], err, out)
	}
	return nil
}

// aged waits until each host has been in its state for one minute and less than
// two, with some time left, so that the next table says 1m of each.
func (t *teller) aged(hosts ...string) error {
	ctx, cancel := context.WithTimeout(t.ctx, 3*time.Minute)
	defer cancel()
	tick := time.NewTicker(4 * time.Second)
	defer tick.Stop()
	for {
		out, err := t.command(append([]string{"status", "--json"}, hosts...)...).Output()
		if err == nil && allAged(out, time.Now(), len(hosts)) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the states of %v are not all one minute old: %w", hosts, ctx.Err())
		}
	}
}

func allAged(status []byte, now time.Time, hosts int) bool {
	var rows []struct{ Since *time.Time }
	if json.Unmarshal(status, &rows) != nil || len(rows) != hosts {
		return false
	}
	for _, row := range rows {
		if row.Since == nil {
			return false
		}
		if age := now.Sub(*row.Since); age < time.Minute || age > 112*time.Second {
			return false
		}
	}
	return true
}
