package fleet_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// shownClient is a client that notes that it was started and shows the screen in
// its directory, for good.
const shownClient = `#!/bin/sh
echo started >> "$HOME/boots"
stty -echo
printf '\033[?1049h\033[H'; cat screen
while :; do sleep 100; done
`

// TestUpUnauth takes up fleets of sessions of which some or all find no valid
// login. Those share one machine, and whatever they find, they find at once.
func TestUpUnauth(t *testing.T) {
	const screens = "../detect/testdata/screens/2.1.332-120x40/"
	for name, tt := range map[string]struct {
		hosts  string // a letter a host, in table order: u for no login, r for one
		before int    // so many were up before
		least  int    // clients that were started, at least and at most
		most   int
		left   bool // some were not begun
	}{
		"nobody logged in":        {"uuuuuuu", 0, 3, 3, true},
		"seen before":             {"uuuuuuuu", 3, 3, 6, true},
		"everybody":               {"rrrrrrr", 0, 7, 7, false},
		"no more than the limit":  {"ruur", 0, 4, 4, false},
		"a few that are all gone": {"uuu", 0, 3, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := rigtest.Start(t, rig.HostSpec{Name: "here", Local: true, NoClient: true})
			here := r.Host("here")
			p := person{t, r, here}
			bin := filepath.Join(filepath.Dir(here.Home), "bin", "claude")
			must(p, os.WriteFile(bin, []byte(shownClient), 0o700))
			loaded := open(t, r)
			table := fleet.Table{}
			for i, c := range tt.hosts {
				h := loaded.Table().Hosts[0]
				h.Name = fmt.Sprintf("h%d", i)
				h.Session, h.Workdir, h.Timeout = h.Name, filepath.Join(here.Home, h.Name), drawn
				must(p, os.MkdirAll(h.Workdir, 0o700))
				screen, err := os.ReadFile(screens + map[rune]string{'u': "unauth-401.ansi", 'r': "ready-accept-edits.ansi"}[c])
				must(p, err)
				screen = append(bytes.TrimRight(screen, "\n"), "\x1b[38;3H"...) // where both have the cursor
				must(p, os.WriteFile(filepath.Join(h.Workdir, "screen"), screen, 0o600))
				table.Hosts = append(table.Hosts, h)
			}
			f := fleet.New(&table)
			t.Cleanup(func() { _ = f.Close() })
			for range f.Up(t.Context(), table.Hosts[:tt.before]...) {
			}
			begun, left := 0, 0
			for res := range f.Up(t.Context(), table.Hosts...) {
				want := map[byte]detect.State{'u': detect.Unauth, 'r': detect.Ready}[tt.hosts[res.Status.Host.Name[1]-'0']]
				switch {
				case errors.Is(res.Err, fleet.ErrNotBegun):
					left++
					if fleet.ClassOf(res.Err) != fleet.ClassRefused || !res.NotBegun() || len(res.Did) > 0 || res.Status.State != detect.Down {
						t.Errorf("%s: %s, %q, %v", res.Status.Host.Name, res.Status.State, res.Did, res.Err)
					}
				default:
					begun++
					if res.Status.State != want || (res.Err == nil) != (want == detect.Ready) {
						t.Errorf("%s: %s, not %s: %v\n%s", res.Status.Host.Name, res.Status.State, want, res.Err, describe(res.Status))
					}
				}
			}
			if begun+left != len(tt.hosts) || left > 0 != tt.left {
				t.Errorf("%d begun, %d left", begun, left)
			}
			boots, err := os.ReadFile(filepath.Join(here.Home, "boots"))
			must(p, err)
			if n := strings.Count(string(boots), "started"); n < tt.least || n > tt.most {
				t.Errorf("%d clients were started", n)
			}
		})
	}
}
