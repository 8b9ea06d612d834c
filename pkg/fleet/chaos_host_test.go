package fleet_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
)

// lookWithin bounds one look at a host from behind the product's back.
const lookWithin = time.Minute

// graceMinute is how long after the end of its sender a script may go on there.
const graceMinute = 75 * time.Second

// chaosHost is a host that things are done to.
type chaosHost struct {
	*rig.Host
	r     *rig.Rig
	m     machine // of whoever sends
	table string  // a fleet table for somebody who is on the host itself
}

// newChaosHost writes what a run needs on the host.
func newChaosHost(t *testing.T, r *rig.Rig, h *rig.Host, m machine) *chaosHost {
	t.Helper()
	c := &chaosHost{Host: h, r: r, m: m, table: filepath.Join(h.Home, "here.conf")}
	table := fmt.Sprintf("[defaults]\ntimeout = %q\n\n[hosts.here]\nworkdir = %q\nproject = %q\ntransport = \"local\"\nsession = \"claude\"\n", patience, h.Workdir, h.Project)
	command := filepath.Join(h.Home, ".claude", "commands", relayCommand+".md")
	if err := os.MkdirAll(filepath.Dir(command), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{c.table: table, command: relayText + "\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// look is status as somebody on the host itself sees it: no link is in between.
func (c *chaosHost) look(t *testing.T) (state detect.State, draft, why string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), lookWithin)
	defer cancel()
	out, err := c.Command(ctx, c.m.bin, "--config", c.table, "status", "--json").Output()
	if err != nil {
		return "", "", fmt.Sprintf("%v: %s", err, out)
	}
	var all []struct {
		State detect.State
		Draft string
		Why   string
	}
	if err := json.Unmarshal(out, &all); err != nil || len(all) != 1 {
		return "", "", fmt.Sprintf("%v: %s", err, out)
	}
	return all[0].State, all[0].Draft, all[0].Why
}

func (c *chaosHost) tmux(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), lookWithin)
	defer cancel()
	out, err := c.Tmux(ctx, args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimRight(out, "\n")
}

// settled waits until the client is at rest, and gives what stands in its box. A
// draft that is taller than the box is judged unknown; it counts as one here.
func (c *chaosHost) settled(t *testing.T) (draft string) {
	t.Helper()
	rigtest.Eventually(t, drawn, c.Name+" to be ready", func() (bool, string) {
		state, d, why := c.look(t)
		draft = d
		if state == detect.Unknown && strings.Contains(c.tmux(t, "capture-pane", "-p", "-t", "=claude:"), "\n─── ↑ ") {
			draft = "(taller than the box)"
			return true, ""
		}
		return state == detect.Ready, fmt.Sprintf("%s: %s", state, why)
	})
	return draft
}

// inputRow is the row of the input box, whatever mode it is in; empty where
// there is none.
func (c *chaosHost) inputRow(t *testing.T) string {
	t.Helper()
	row := ""
	for line := range strings.Lines(c.tmux(t, "capture-pane", "-p", "-t", "=claude:")) {
		if strings.HasPrefix(line, "❯\u00a0") || strings.HasPrefix(line, "!\u00a0") {
			row = strings.TrimRight(line, " \n")
		}
	}
	return row
}

// inBox is what stands of a text in the input box, by the screen alone: between
// its last two rules. It is empty where neither the text's tag nor a placeholder
// is there; a hint of the client's has neither.
func (c *chaosHost) inBox(t *testing.T, tag string) string {
	t.Helper()
	var below []string // each rule
	for line := range strings.Lines(c.tmux(t, "capture-pane", "-p", "-t", "=claude:")) {
		if strings.HasPrefix(line, "───") {
			below = append(below, "")
		} else if len(below) > 0 {
			below[len(below)-1] += line
		}
	}
	if len(below) < 2 {
		t.Fatalf("no input box on %s: %q", c.Name, c.tmux(t, "capture-pane", "-p", "-t", "=claude:"))
	}
	text := below[len(below)-2]
	if strings.Contains(text, tag) || strings.Contains(text, "[Pasted text #") {
		return text
	}
	return ""
}

// emptied takes what was left in the box out, as a person would.
func (c *chaosHost) emptied(t *testing.T) {
	t.Helper()
	rigtest.Eventually(t, drawn, "an empty box on "+c.Name, func() (bool, string) {
		draft, row := c.settled(t), c.inputRow(t)
		switch {
		case row == "!\u00a0":
			c.tmux(t, "send-keys", "-t", "=claude:", "BSpace")
		case draft != "":
			c.tmux(t, "send-keys", "-t", "=claude:", "C-u", "C-u", "C-u", "C-u")
		default:
			return row == "❯\u00a0" || row == "❯" || !strings.HasPrefix(row, "!"), row
		}
		return false, fmt.Sprintf("%q, %q", row, draft)
	})
}

// holder is the process that holds the pane's lock; 0 for none.
func (c *chaosHost) holder(t *testing.T) int {
	t.Helper()
	held := c.tmux(t, "show-options", "-p", "-v", "-q", "-t", "=claude:", tmux.LockOption)
	pid, _, _ := strings.Cut(held, "-")
	n, _ := strconv.Atoi(pid) // 0 when it is nobody's
	return n
}

// journals are the files that remember a sending.
func (c *chaosHost) journals(id string) []string {
	files, _ := filepath.Glob(filepath.Join(c.Home, ".local", "state", "claude-fleet", "*", "*", "send-"+id+"*"))
	return files
}

// stage is how far the host says that a sending came; empty for not at all.
func (c *chaosHost) stage(id string) (last tmux.Stage) {
	for _, file := range c.journals(id) {
		raw, _ := os.ReadFile(file)
		for line := range strings.Lines(string(raw)) {
			word, _, _ := strings.Cut(line, " ")
			switch s := tmux.Stage(word); s {
			case tmux.StageTyping, tmux.StageEnter, tmux.StageSubmitted, tmux.StageStuck, tmux.StageTyped, tmux.StageErased:
				last = s
			}
		}
	}
	return last
}

// leftovers are what a sending has left on the host that must not be there. It
// waits for what may go on a little.
func (c *chaosHost) leftovers(t *testing.T, id string, scriptKilled bool) []string {
	t.Helper()
	var left []string
	rigtest.Eventually(t, graceMinute+drawn, "our processes on "+c.Name+" to end", func() (bool, string) {
		ctx, cancel := context.WithTimeout(t.Context(), lookWithin)
		defer cancel()
		strays, err := c.Strays(ctx)
		return err == nil && len(strays) == 0, fmt.Sprintf("%v %q", err, strays)
	})
	// The lock of a holder that was killed is nobody's, and falls to the next.
	if pid := c.holder(t); pid != 0 && !scriptKilled {
		left = append(left, fmt.Sprintf("the lock of %d", pid))
	}
	if buffers := c.tmux(t, "list-buffers", "-F", "#{buffer_name}"); buffers != "" {
		left = append(left, "buffers: "+buffers)
		for name := range strings.FieldsSeq(buffers) {
			c.tmux(t, "delete-buffer", "-b", name)
		}
	}
	files := c.journals(id)
	if len(files) > 1 {
		left = append(left, fmt.Sprintf("%d journals", len(files)))
	}
	for _, file := range files {
		if raw, err := os.ReadFile(file); err != nil || len(raw) >= 1<<10 {
			left = append(left, fmt.Sprintf("a journal of %d bytes, %v", len(raw), err))
		}
	}
	return left
}
