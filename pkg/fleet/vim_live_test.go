package fleet_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// TestInterruptVim interrupts turns of the real client in vim's modes, with the mode
// set in either of its files: in INSERT the first Escape only leaves that, and in
// NORMAL the key that erases leaves the last letter of a prompt that was put back.
func TestInterruptVim(t *testing.T) {
	t.Parallel()
	vim := map[string]any{"editorMode": "vim"}
	r := rigtest.Start(t,
		rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true, Settings: vim},
		rig.HostSpec{Name: "beta", Trusted: true, BypassAccepted: true, State: vim})
	f := over(t, r, fleet.WithTimeout(time.Minute))
	for host, size := range map[string][2]int{"alpha": {80, 24}, "beta": {60, 20}} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			p := person{t, r, r.Host(host)}
			p.opens("claude", size[0], size[1], bypassing)
			p.shows("-- INSERT")
			for _, c := range []struct {
				name, prompt, draft string
				normal              bool // Escape was pressed already
				pressed             int
				withdrawn           bool
			}{
				{"in INSERT", "HOLD ", "", false, 2, false},
				{"in NORMAL", "HOLD ", "", true, 1, false},
				{"in INSERT, with a draft", "HOLD ", "half a thought", false, 2, false},
				{"in INSERT, before the first word", "WAIT ", "", false, 2, true},
				{"in NORMAL, before the first word", "WAIT ", "", true, 1, true},
			} {
				prompt := c.prompt + strings.ReplaceAll(host+" "+c.name, " ", "-")
				p.submitsInVim(prompt)
				p.holding(strings.Fields(prompt)[1])
				if c.draft != "" {
					p.types("❯\u00a0", c.draft)
				}
				if c.normal {
					p.keys("Escape")
					p.mode(false)
				}
				rigtest.Eventually(t, drawn, c.name+" to be busy", func() (bool, string) {
					s := state(t, f, host)
					return s.State == detect.Busy, describe(s)
				})
				out, err := f.Interrupt(t.Context(), host)
				if err != nil || out.Result != fleet.Interrupted || out.Pressed != c.pressed || (out.Withdrawn == prompt) != c.withdrawn {
					t.Fatalf("%s: %+v, %v\n%s", c.name, out, err, p.screen())
				}
				if s := state(t, f, host); s.State != detect.Ready || s.Draft != c.draft {
					t.Errorf("%s: behind it %s, draft %q\n%s", c.name, s.State, s.Draft, p.screen())
				}
				p.r.API().Release(strings.Fields(prompt)[1])
			}
			// What forces its way does the same: neither prompt has a letter of the other.
			p.submitsInVim("WAIT " + host + "-forced")
			p.holding(host + "-forced")
			p.keys("Escape")
			p.mode(false)
			out, err := f.Send(t.Context(), host, "SAY instead", fleet.SendOptions{Force: true})
			if err != nil || out.Result != fleet.Accepted {
				t.Fatalf("%s, %v\n%s", out.Result, err, p.screen())
			}
			p.shows("● instead")
		})
	}
}

// mode waits until vim's INSERT mode shows, or does not.
func (p person) mode(insert bool) {
	p.t.Helper()
	rigtest.Eventually(p.t, drawn, fmt.Sprintf("INSERT to show: %t", insert), func() (bool, string) {
		s := p.screen()
		return strings.Contains(s, "-- INSERT") == insert && strings.Contains(s, "❯\u00a0"), s
	})
}

// submitsInVim submits a prompt, whatever was left in the box before.
func (p person) submitsInVim(prompt string) {
	p.t.Helper()
	if strings.Contains(p.screen(), "-- INSERT") {
		p.keys("Escape")
	}
	p.mode(false)
	p.keys("d", "d", "i")
	p.mode(true)
	p.submits(prompt)
}
