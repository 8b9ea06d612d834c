package rig_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
)

// appears bounds what a loaded machine may take to draw a screen.
const appears = 40 * time.Second

// boxMark is the glyph of the live input box with its no-break space.
const boxMark = "❯\u00a0"

// driver drives the client on one host as a person would.
type driver struct {
	t *testing.T
	r *rig.Rig
	h *rig.Host
}

const session = "claude"

func newDriver(t *testing.T, r *rig.Rig, host string) *driver {
	return &driver{t, r, r.Host(host)}
}

// sh runs a script on the host: over SSH, or here for a local host.
func (d *driver) sh(input, script string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	name, args := "ssh", []string{"-F", d.r.SSHConfig(), d.h.Name, script}
	if d.h.Local {
		name, args = "sh", []string{"-c", script}
	}
	cmd := d.h.Command(ctx, name, args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (d *driver) mustSh(input, script string) string {
	d.t.Helper()
	out, err := d.sh(input, script)
	if err != nil {
		d.t.Fatalf("%s: %v: %s", script, err, out)
	}
	return out
}

func (d *driver) startClient() {
	d.t.Helper()
	d.mustSh("", fmt.Sprintf("tmux -u new-session -d -s %s -x 120 -y 40 -c ~/%s-app 'claude --dangerously-skip-permissions; exec sh'", session, d.h.Name))
}

func (d *driver) screen() string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s, err := d.h.Screen(ctx, session)
	if err != nil {
		return err.Error()
	}
	return s
}

// shows waits until the screen has every one of the texts.
func (d *driver) shows(texts ...string) {
	d.t.Helper()
	rigtest.Eventually(d.t, appears, fmt.Sprintf("the screen shows %q", texts), func() (bool, string) {
		s := d.screen()
		for _, text := range texts {
			if !strings.Contains(s, text) {
				return false, s
			}
		}
		return true, ""
	})
}

func (d *driver) keys(keys string) {
	d.t.Helper()
	d.mustSh("", "tmux -u send-keys -t ="+session+": "+keys)
}

// accept picks the row of a dialog with that label, wherever it stands. It
// presses Down again only when the screen shows what the last one did: a press
// too many would pick the row that ends the client.
func (d *driver) accept(label string) {
	d.t.Helper()
	before := ""
	rigtest.Eventually(d.t, appears, "the row "+label+" is picked", func() (bool, string) {
		s := d.screen()
		for line := range strings.Lines(s) {
			if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "❯"); ok && strings.Contains(rest, label) {
				return true, ""
			}
		}
		if s != before && strings.Contains(s, label) {
			before = s
			d.keys("Down")
		}
		return false, s
	})
	d.keys("Enter")
}

// prompt pastes a text into the box and submits it once it shows there.
func (d *driver) prompt(text string) {
	d.t.Helper()
	first, _, _ := strings.Cut(text, "\n")
	d.mustSh(text, fmt.Sprintf("tmux -u load-buffer -b rig - && tmux -u paste-buffer -p -r -d -b rig -t =%s:", session))
	d.shows(boxMark + first)
	d.keys("Enter")
}

// prompted waits until the API has had that prompt n times as new turns.
func (d *driver) prompted(text string, n int) {
	d.t.Helper()
	rigtest.Eventually(d.t, appears, fmt.Sprintf("the API has had %q %d times", text, n), func() (bool, string) {
		got, all := 0, d.r.API().Prompts()
		for _, p := range all {
			if p == text {
				got++
			}
		}
		return got == n, fmt.Sprintf("%d times among %q", got, all)
	})
}
