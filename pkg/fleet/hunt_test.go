package fleet_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
)

// watch samples the arguments of all processes of this machine, which is both the
// operator's and the hosts', for a secret, until the function that it returns is
// called, which gives what was seen and how often was looked.
func watch(t *testing.T, secret string) (stop func() (seen []string, looks int)) {
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	var found []string
	n := 0
	done.Go(func() {
		tick := time.NewTicker(25 * time.Millisecond)
		defer tick.Stop()
		for {
			found = append(found, inArguments(secret)...)
			n++
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	})
	end := func() ([]string, int) { cancel(); done.Wait(); return found, n }
	t.Cleanup(func() { end() })
	return end
}

func inArguments(secret string) []string {
	var found []string
	all, _ := os.ReadDir("/proc") // not by Glob, which asks twice about each
	for _, d := range all {
		path := "/proc/" + d.Name() + "/cmdline"
		// What is no process has none, nor has one that has ended meanwhile.
		if raw, err := os.ReadFile(path); err == nil && bytes.Contains(raw, []byte(secret)) {
			found = append(found, path+": "+strings.ReplaceAll(string(raw), "\x00", " "))
		}
	}
	return found
}

// hunt looks for a secret in all that a host keeps: files, the tmux server's
// buffers, environments, options and screens with their history. It leaves out the
// files that are named.
func hunt(t *testing.T, h *rig.Host, secret string, but ...string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(filepath.Dir(h.Home), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // a socket, or one that went meanwhile
		}
		for _, b := range but {
			if path == b {
				return nil
			}
		}
		if raw, err := os.ReadFile(path); err == nil && bytes.Contains(raw, []byte(secret)) {
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	look := func(what string, args ...string) string {
		out, err := h.Tmux(t.Context(), args...)
		if err != nil {
			return ""
		}
		if strings.Contains(out, secret) {
			found = append(found, what)
		}
		return out
	}
	look("global environment", "show-environment", "-g")
	look("hidden environment", "show-environment", "-g", "-h")
	look("options", "show-options", "-g")
	for session := range strings.FieldsSeq(look("sessions", "list-sessions", "-F", "#{session_name}")) {
		look("environment of "+session, "show-environment", "-t", "="+session)
	}
	for pane := range strings.FieldsSeq(look("panes", "list-panes", "-a", "-F", "#{pane_id}")) {
		look("screen of "+pane, "capture-pane", "-p", "-S", "-", "-t", pane)
		look("other screen of "+pane, "capture-pane", "-p", "-a", "-q", "-S", "-", "-t", pane)
		look("options of "+pane, "show-options", "-p", "-t", pane)
		look("commands of "+pane, "display-message", "-p", "-t", pane, "#{pane_start_command} #{pane_title}")
	}
	for buffer := range strings.FieldsSeq(look("buffers", "list-buffers", "-F", "#{buffer_name}")) {
		look("buffer "+buffer, "show-buffer", "-b", buffer)
	}
	return found
}

// TestHunt plants a secret in each of the places that the searches look at.
func TestHunt(t *testing.T) {
	const secret = "sk-ant-oat01-planted-here"
	r := rigtest.Start(t, rig.HostSpec{Name: "here", Local: true, NoClient: true})
	h := r.Host("here")
	tmux := func(args ...string) {
		t.Helper()
		if _, err := h.Tmux(t.Context(), args...); err != nil {
			t.Fatal(err)
		}
	}
	tmux("new-session", "-d", "-s", "s", "-x", "80", "-y", "5", "sh", "-c", "read -r x; echo $x; seq 50; exec sleep 1000")
	if found := hunt(t, h, secret); len(found) > 0 {
		t.Fatalf("before: %q", found)
	}
	stop := watch(t, secret)
	tmux("set-buffer", "-b", "b", secret)
	tmux("set-environment", "-g", "G", secret)
	tmux("set-environment", "-t", "=s", "S", secret)
	tmux("send-keys", "-t", "=s:", "-l", secret)
	tmux("send-keys", "-t", "=s:", "Enter")
	history := filepath.Join(h.Home, ".bash_history")
	if err := os.WriteFile(history, []byte("export X="+secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	planted := exec.CommandContext(t.Context(), "sh", "-c", "read -r x", secret)
	in, err := planted.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := planted.Start(); err != nil {
		t.Fatal(err)
	}
	rigtest.Eventually(t, drawn, "all is found", func() (bool, string) {
		got := strings.Join(hunt(t, h, secret), "\n")
		for _, want := range []string{".bash_history", "global environment", "environment of s", "screen of %0", "buffer b"} {
			if !strings.Contains(got, want) {
				return false, "no " + want + " in:\n" + got
			}
		}
		return len(inArguments(secret)) > 0, got
	})
	if seen, looks := stop(); len(seen) == 0 || looks == 0 {
		t.Errorf("the arguments were not seen in %d looks", looks)
	}
	_ = in.Close()
	_ = planted.Wait()
	if found := hunt(t, h, secret, history); strings.Contains(strings.Join(found, "\n"), "history") {
		t.Errorf("what is left out is found: %q", found)
	}
}
