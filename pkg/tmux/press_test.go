package tmux

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestAlone holds the two ways to press and type under the lock to the guard and
// to the lock: what changed, or is another's, gets nothing.
func TestAlone(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(m *machine, g Guard) error
		want string // what the program read
	}{
		{"press", func(m *machine, g Guard) error { return PressAlone(m.t.Context(), m, g, "Down") }, "\x1b[B~"},
		{"type", func(m *machine, g Guard) error { return TypeAlone(m.t.Context(), m, g, "it's; $HOME -t;") }, "it's; $HOME -t;~"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, "")
			b := m.box("work", box{})
			good := GuardOf(b.only("work"))
			changed, other, hostile := good, good, good
			changed.Screen = []byte("something else")
			other.PID++
			hostile.Pane = "%0'; touch pwned; '"
			for name, g := range map[string]Guard{"changed": changed, "other process": other, "hostile": hostile, "gone": {Pane: "%99", PID: 1}} {
				if err := c.do(m, g); !errors.Is(err, ErrChanged) {
					t.Errorf("%s: %v", name, err)
				}
			}
			// Held by a process that lives, this one.
			b.lock(good.Pane, holder(t, os.Getpid()))
			if err := c.do(m, good); !errors.Is(err, ErrLocked) {
				t.Errorf("locked: %v", err)
			}
			if got := b.bytes(); got != "" {
				t.Errorf("%q arrived", got)
			}
			// The dead hold nothing, and nothing is held behind the call.
			b.lock(good.Pane, fmt.Sprintf("%d-123", deadPID(t)))
			if err := c.do(m, good); err != nil {
				t.Fatal(err)
			}
			if holder := b.holder(good.Pane); holder != "" {
				t.Errorf("held by %q behind it", holder)
			}
			b.settled()
			if got := b.bytes(); strings.NewReplacer("\x1b[200~", "", "\x1b[201~", "").Replace(got) != c.want {
				t.Errorf("%q arrived", got)
			}
			if err := c.do(m, good); !errors.Is(err, ErrChanged) {
				t.Errorf("a second time on the first screen: %v", err)
			}
			if buffers := b.tmux("list-buffers"); buffers != "" {
				t.Errorf("left behind: %q", buffers)
			}
		})
	}
	for _, text := range []string{"", "two\nlines", "a\ttab", "an \x1b[201~ end"} {
		if err := TypeAlone(t.Context(), nil, Guard{Pane: "%1"}, text); !errors.Is(err, errSeveral) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
