package fleet_test

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// Frames that a client may show: whole, and what was read of it too early.
const (
	frameRule  = "────────────────────────────────────────"
	frameWhole = "● Done.\n\n" + frameRule + "\n❯\u00a0\n" + frameRule + "\n  ⏵⏵ bypass permissions on (shift+tab to cycle)\x1b[4;3H"
	frameTorn  = "● Done.\n\n" + frameRule + "\n❯\u00a0"
	frameTorn2 = "● Done.\n\n" + frameRule
	frameEmpty = ""
)

// frames is a program that shows one frame after another: the next one at each
// look of the product. A stand-in for tmux, first in the host's PATH, counts the
// looks and holds each back until tmux has the frame that is meant for it.
type frames struct{ dir string }

// The program sets the title when a frame is drawn, so that tmux shows the title
// only when it has drawn the frame. The last frame stays.
const (
	framesProgram = `cd %[1]s
shown=0
while :; do
  n=$(cat looks)
  if [ "$n" != "$shown" ]; then
    shown=$n; f=frame$n; [ -f "$f" ] || f=last
    printf '\033[2J\033[H'; cat "$f"; printf '\033]2;%%s\033\\' "$n"
  fi
  sleep 0.05
done
`
	framesTmux = `#!/bin/sh
case "$*" in *source-file*) ;; *) exec %[2]s "$@" ;; esac
n=$(($(cat %[1]s/looks) + 1)); echo "$n" >%[1]s/next; mv %[1]s/next %[1]s/looks
until [ "$(%[2]s -u display-message -p -t '=claude:' '#{pane_title}')" = "$n" ]; do sleep 0.05; done
%[3]s
exec %[2]s "$@"
`
)

// showFrames starts the program in the session. then is sh that the stand-in
// runs before a look, with $n its number.
func showFrames(t *testing.T, h *rig.Host, program, then string, shown ...string) frames {
	t.Helper()
	f := frames{filepath.Join(h.Home, "frames")}
	tmux, err := exec.LookPath("tmux")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	// What ran before goes; the server stays, by a session of its own.
	_, _ = h.Tmux(t.Context(), "new-session", "-d", "-s", "keeper", "exec sh")
	_, _ = h.Tmux(t.Context(), "kill-session", "-t", "=claude")
	must(os.RemoveAll(f.dir))
	must(os.MkdirAll(f.dir, 0o700))
	write := func(path, text string, mode os.FileMode) {
		t.Helper()
		must(os.WriteFile(path, []byte(text), mode))
	}
	for i, text := range shown {
		text = strings.ReplaceAll(text, "\n", "\r\n")
		write(filepath.Join(f.dir, fmt.Sprintf("frame%d", i+1)), text, 0o600)
		write(filepath.Join(f.dir, "last"), text, 0o600)
	}
	write(filepath.Join(f.dir, "looks"), "0\n", 0o600)
	write(filepath.Join(f.dir, "program"), fmt.Sprintf(framesProgram, f.dir), 0o600)
	write(filepath.Join(filepath.Dir(h.Home), "bin", "tmux"), fmt.Sprintf(framesTmux, f.dir, tmux, then), 0o700)
	// The process table tells a client by its name.
	must(os.Symlink("/bin/sh", filepath.Join(f.dir, program)))
	_, err = h.Tmux(t.Context(), "new-session", "-d", "-s", "claude", "-x", "80", "-y", "24", filepath.Join(f.dir, program)+" "+filepath.Join(f.dir, "program"))
	must(err)
	return f
}

func (f frames) looks(t *testing.T) string {
	t.Helper()
	out, err := os.ReadFile(filepath.Join(f.dir, "looks"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestTornFrame has the product look at a client that is in the middle of drawing.
func TestTornFrame(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", NoClient: true})
	f := over(t, r, fleet.WithTimeout(time.Minute))
	for _, c := range []struct {
		name    string
		program string // "" for the client's name
		frames  []string
		then    string
		state   detect.State
		looks   string
	}{
		{name: "whole at once", frames: []string{frameWhole}, state: detect.Ready, looks: "1"},
		{name: "torn, then whole", frames: []string{frameTorn, frameWhole}, state: detect.Ready, looks: "2"},
		{name: "empty, then torn, then whole", frames: []string{frameEmpty, frameTorn, frameWhole}, state: detect.Ready, looks: "3"},
		{name: "whole too late", frames: []string{frameTorn, frameTorn2, frameEmpty, frameWhole}, state: detect.Unknown, looks: "3"},
		{name: "a screen that stays", frames: []string{frameTorn, frameTorn, frameWhole}, state: detect.Unknown, looks: "2"},
		{name: "no client that would draw", program: "pager", frames: []string{frameTorn, frameWhole}, state: detect.Unknown, looks: "1"},
		// What was seen is more than that nothing was seen later. A look that ends the
		// shell it runs in is made once more, in another.
		{name: "the second look fails", frames: []string{frameTorn, frameWhole}, then: `[ "$n" = 1 ] || kill -9 0`, state: detect.Unknown, looks: "3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			shown := showFrames(t, r.Host("alpha"), cmp.Or(c.program, "claude"), c.then, c.frames...)
			s := state(t, f, "alpha")
			if s.State != c.state || s.Err != nil || shown.looks(t) != c.looks || s.State == detect.Unknown && s.Why == "" {
				t.Errorf("%s by %s after %s looks: %s, %v; want %s after %s", s.State, s.Rule, shown.looks(t), s.Why, s.Err, c.state, c.looks)
			}
		})
	}
}

// TestTornFrameHoldsUpNobody has a torn and a whole screen on one machine: the
// whole one is told before the other is looked at again.
func TestTornFrameHoldsUpNobody(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", NoClient: true})
	h := r.Host("alpha")
	shown := showFrames(t, h, "claude", "", frameTorn, frameWhole)
	if _, err := h.Tmux(t.Context(), "new-session", "-d", "-s", "sure", "exec sh"); err != nil {
		t.Fatal(err)
	}
	table := &fleet.Table{}
	for _, session := range []string{"claude", "sure"} {
		table.Hosts = append(table.Hosts, fleet.Host{Name: session, Session: session, Workdir: "~", Transport: fleet.TransportSSH,
			SSH: "alpha", SSHConfig: r.SSHConfig(), Timeout: time.Minute})
	}
	f := fleet.New(table)
	t.Cleanup(func() { _ = f.Close() })
	var got []string
	for s := range f.Status(t.Context()) {
		got = append(got, fmt.Sprintf("%s %s %s", s.Host.Name, s.State, shown.looks(t)))
	}
	if want := "sure crashed 1, claude ready 2"; strings.Join(got, ", ") != want {
		t.Errorf("in this order: %q, want %q", got, want)
	}
}
