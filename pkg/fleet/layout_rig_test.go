package fleet_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// TestSendLayouts sends into panes of several sizes and ways to draw them: short
// prompts, several lines, long ones. What a pane is too small for is refused.
func TestSendLayouts(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true})
	f := over(t, r)
	p := person{t: t, r: r, h: r.Host("alpha")}
	p.opens("another", 80, 24, "exec sh") // keeps the server
	long := strings.TrimSpace(strings.Repeat("a long line goes on and on; ", 50))
	lines := "three\nlines; of\ntext"
	for _, c := range []struct {
		name, command string
		width, height int
		resize        string // to this size while it is up
		prompts       []string
		refused       []string
	}{
		{"narrow", bypassing, 60, 20, "", []string{"short", lines, long, "日本語のテキスト"}, nil},
		{"low", bypassing, 80, 10, "", []string{"short"}, []string{lines}},
		{"resized", bypassing, 120, 40, "70x24", []string{"short", lines}, nil},
		{"for a screen reader", "claude --dangerously-skip-permissions --ax-screen-reader; exec sh", 100, 30, "", []string{"short", lines, long, "a\n$ b", "$ at first"}, []string{"!echo x"}},
		{"without colours", "NO_COLOR=1 " + bypassing, 100, 30, "", []string{"short", lines}, nil},
	} {
		p.opens("claude", c.width, c.height, c.command)
		is(t, f, detect.Ready, "")
		for i, prompt := range c.prompts {
			prompt = strings.Replace(prompt, "short", "short in "+c.name, 1)
			if i == 0 && c.resize != "" {
				w, h, _ := strings.Cut(c.resize, "x")
				p.tmux("resize-window", "-t", "=claude:", "-x", w, "-y", h)
			}
			before := userRecords(t, p.h)
			// Right behind a resize a busy machine may need longer to draw than the looks
			// of one send allow for. Then it is refused, and nothing is typed.
			rigtest.Eventually(t, drawn, c.name+" to be drawn", func() (bool, string) {
				out, err := f.Send(t.Context(), "alpha", prompt, fleet.SendOptions{})
				if out.Result == fleet.Accepted && err == nil {
					return true, ""
				}
				if i > 0 || c.resize == "" || out.Result != fleet.Refused || out.State != detect.Unknown {
					t.Fatalf("%s: send %.60q: %s, %s: %v\n%s", c.name, prompt, out.Result, out.State, err, screenOf(t, f))
				}
				return false, fmt.Sprint(err)
			})
			got := userRecords(t, p.h)
			for _, r := range before { // of several conversations, in no order
				i := slices.Index(got, r)
				got = slices.Delete(got, i, i+1)
			}
			if len(got) != 1 || got[0] != prompt {
				t.Errorf("%s: %.60q: %.200q", c.name, prompt, got)
			}
			is(t, f, detect.Ready, "")
		}
		for _, prompt := range c.refused {
			sends(t, f, prompt, fleet.SendOptions{}, fleet.Refused)
			is(t, f, detect.Ready, "")
		}
		p.tmux("kill-session", "-t", "=claude")
	}
}

// TestSendBesidePerson holds that nothing is typed while a person presses keys at
// a terminal that shows the session, and that one who only watches is no hindrance
// but a warning.
func TestSendBesidePerson(t *testing.T) {
	t.Parallel()
	f, p := alpha(t, rig.HostSpec{})
	cmd := p.h.Command(t.Context(), "tmux", "-u", "attach", "-t", "=claude")
	cmd.Env = append(cmd.Env, "TERM=xterm-256color")
	master := attachPTY(t, cmd)
	rigtest.Eventually(t, 30*time.Second, "the terminal to be attached", func() (bool, string) {
		s := state(t, f, "alpha")
		return s.Attached == 1 && s.State == detect.Ready, fmt.Sprintf("%d, %s", s.Attached, s.State)
	})
	if out := sends(t, f, "beside a watcher", fleet.SendOptions{}, fleet.Accepted); len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], "attached terminals: 1") {
		t.Errorf("%+v", out)
	}
	is(t, f, detect.Ready, "")
	// A key that leaves no trace in the box.
	stop := make(chan struct{})
	defer close(stop)
	pressed := make(chan struct{})
	go func() {
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for first := true; ; first = false {
			_, _ = master.Write([]byte("\x15"))
			if first {
				close(pressed)
			}
			select {
			case <-tick.C:
			case <-stop:
				return
			}
		}
	}()
	<-pressed
	// tmux counts whole seconds from the attaching on, which is one of them.
	rigtest.Eventually(t, 30*time.Second, "a send to be refused", func() (bool, string) {
		out, err := f.Send(t.Context(), "alpha", "between two words", fleet.SendOptions{Queue: true})
		return out.Result == fleet.Refused && strings.Contains(out.Detail, "at the keyboard"), fmt.Sprint(out.Result, err)
	})
}

// attachPTY runs a command on a terminal of its own until the test ends, reads
// away what it prints, and gives its keyboard.
func attachPTY(t *testing.T, cmd *exec.Cmd) *os.File {
	t.Helper()
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 120, Rows: 40})
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 4096)
		for {
			if _, err := master.Read(buf); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = master.Close()
		<-read
	})
	return master
}
