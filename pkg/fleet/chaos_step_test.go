package fleet_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
)

// byItself is the step of a run whose script is killed by what killAt has put in
// its way.
const byItself = "tmux"

// killAt has the script that holds the pane die of kill -9 at the nth tmux command
// with that word among its arguments: right before the command, which then is not
// run, or right behind it. It happens once.
func (c *chaosHost) killAt(t *testing.T, word string, nth int, behind bool) {
	t.Helper()
	real, err := exec.LookPath("tmux")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(filepath.Dir(c.Home), "bin", "tmux")
	script := fmt.Sprintf(`#!/bin/sh
real='%[1]s' hit=
for a; do [ "$a" != '%[2]s' ] || hit=1; done
[ -n "$hit" ] || exec "$real" "$@"
echo >> "$0.count"
[ "$(wc -l < "$0.count")" -eq %[3]d ] && [ -e "$0.armed" ] || exec "$real" "$@"
holder=$("$real" show-options -p -v -q -t =claude: %[4]s)
rm -f "$0.armed"
`, real, word, nth, tmux.LockOption)
	if behind {
		script += "\"$real\" \"$@\"\n"
	}
	script += "kill -9 \"${holder%%-*}\"\nexit 1\n"
	for name, text := range map[string]string{path + ".armed": "", path + ".count": "", path + ".new": script} {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// TestKillAtEachStep kills the script on the host right before and right behind
// each thing that it does to the pane, where chance seldom hits.
func TestKillAtEachStep(t *testing.T) {
	t.Parallel()
	bin := buildBinary(t)
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true, Proxy: true})
	m := newMachine(t, r, bin, "sender")
	m.up(t)
	c := newChaosHost(t, r, r.Host("alpha"), m)
	three := chaosTexts[1] // two pieces
	for i, step := range []struct {
		word   string
		nth    int
		behind bool
		want   ending
	}{
		{"load-buffer", 1, false, accepted}, // nothing is written down yet: it is typed anew
		{"load-buffer", 1, true, accepted},
		{"paste-buffer", 1, false, absent},
		{"paste-buffer", 1, true, left},
		{"load-buffer", 2, true, left},
		{"paste-buffer", 2, false, left},
		{"paste-buffer", 2, true, left},
		{"Enter", 1, false, doubt}, // nobody knows whether it was pressed
		{"Enter", 1, true, accepted},
	} {
		c.killAt(t, step.word, step.nth, step.behind)
		p := chaosPlan{n: i, tag: fmt.Sprintf("step%dq", i), text: three, fault: killScript, step: byItself}
		run := c.chaos(t, p, 0)
		if run.ending != step.want || run.ending.bad() {
			t.Errorf("%s %d, behind it %v: %s, want %s; %s", step.word, step.nth, step.behind, run.ending, step.want, run.last)
		}
		if run.ending == doubt && !strings.Contains(run.last.Detail, "text stands in the input box") {
			t.Errorf("%s %d, behind it %v: %s", step.word, step.nth, step.behind, run.last)
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(c.Home), "bin", "tmux.armed")); err == nil {
			t.Errorf("%s %d was not met", step.word, step.nth)
		}
	}
}
