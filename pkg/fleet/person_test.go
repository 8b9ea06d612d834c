package fleet_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
)

// drawn bounds what a loaded machine may take to draw a screen.
const drawn = 2 * time.Minute

// person is somebody at the keyboard of a host's session: what it does goes
// through the host's tmux, past the product.
type person struct {
	t *testing.T
	r *rig.Rig
	h *rig.Host
}

func (p person) tmux(args ...string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), drawn)
	defer cancel()
	out, err := p.h.Tmux(ctx, args...)
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

// opens starts a session of that size with a command.
func (p person) opens(session string, width, height int, command string) {
	p.t.Helper()
	// A server whose last session has just been killed may be on its way out.
	rigtest.Eventually(p.t, drawn, "a session "+session, func() (bool, string) {
		ctx, cancel := context.WithTimeout(p.t.Context(), drawn)
		defer cancel()
		out, err := p.h.Tmux(ctx, "new-session", "-d", "-s", session, "-x", strconv.Itoa(width), "-y", strconv.Itoa(height), command)
		return err == nil, fmt.Sprintf("%s, %v", out, err)
	})
}

// keys presses keys, by tmux's names for them.
func (p person) keys(names ...string) {
	p.t.Helper()
	p.tmux(append([]string{"send-keys", "-t", "=claude:"}, names...)...)
}

func (p person) screen() string {
	ctx, cancel := context.WithTimeout(p.t.Context(), drawn)
	defer cancel()
	s, err := p.h.Screen(ctx, "claude")
	if err != nil {
		return err.Error()
	}
	return s
}

// shows waits until the screen has a text.
func (p person) shows(text string) {
	p.t.Helper()
	rigtest.Eventually(p.t, drawn, fmt.Sprintf("%s shows %q", p.h.Name, text), func() (bool, string) {
		s := p.screen()
		return strings.Contains(s, text), s
	})
}

// types types a text and waits until it shows behind a mark.
func (p person) types(mark, text string) {
	p.t.Helper()
	p.keys("-l", "--", text)
	p.shows(mark + text)
}

// drops empties the client's box by Ctrl+C, and waits until the client has forgotten
// that: another one soon after would end it.
func (p person) drops() {
	p.t.Helper()
	const armed = "again to exit"
	p.keys("C-c")
	p.shows(armed)
	rigtest.Eventually(p.t, drawn, "the client forgets a Ctrl+C", func() (bool, string) {
		s := p.screen()
		return !strings.Contains(s, armed), s
	})
}

// submits types a prompt into the client's box, then presses Enter.
func (p person) submits(prompt string) {
	p.t.Helper()
	p.types("❯\u00a0", prompt)
	p.keys("Enter")
}

// runs gives a command to a shell, whose prompt shows already.
func (p person) runs(command string) {
	p.t.Helper()
	p.types(" ", command)
	p.keys("Enter")
}

// picks chooses the row of a dialog with that label, wherever it stands. A key
// too many would choose the row that ends the client, so it waits for each to show.
func (p person) picks(label string) {
	p.t.Helper()
	before, pressed := "", time.Time{}
	rigtest.Eventually(p.t, drawn, "the row "+label+" is chosen", func() (bool, string) {
		s := p.screen()
		for line := range strings.Lines(s) {
			if row, ok := strings.CutPrefix(strings.TrimSpace(line), "❯"); ok && strings.Contains(row, label) {
				return true, ""
			}
		}
		// The client may miss a key right behind the drawing of a dialog.
		if (s != before || time.Since(pressed) > 5*time.Second) && strings.Contains(s, label) {
			before, pressed = s, time.Now()
			p.keys("Down")
		}
		return false, s
	})
	p.keys("Enter")
}
