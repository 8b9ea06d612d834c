package transport

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestMatchExecEnds has a command of Match exec that hangs end with its caller,
// and with it what it has started.
func TestMatchExecEnds(t *testing.T) {
	for _, bin := range []string{"", NoSSHBinary} {
		dir := t.TempDir()
		pids := filepath.Join(dir, "pids")
		config := filepath.Join(dir, "config")
		write(t, config, `Match exec "sleep 600 & echo $! >>`+pids+`; echo $$ >>`+pids+`; wait"`+"\n User u\n")
		ctx, cancel := context.WithCancel(within(t, 30*time.Second))
		done := make(chan error, 1)
		p := newPool(t, Options{SSHBinary: bin})
		go func() {
			_, err := p.Resolve(ctx, Endpoint{Destination: "box", ConfigFile: config})
			done <- err
		}()
		running := func() []string {
			text, _ := os.ReadFile(pids)
			return strings.Fields(string(text))
		}
		eventually(t, "the command runs", func() bool { return len(running()) == 2 })
		cancel()
		if kind, _ := KindOf(<-done); kind != KindCanceled {
			t.Errorf("with %q: got %v", bin, kind)
		}
		eventually(t, "nothing is left of it", func() bool {
			for _, s := range running() {
				if pid, err := strconv.Atoi(s); err != nil || alive(pid) {
					return false
				}
			}
			return true
		})
	}
}

// TestMatchExecRunsWhereItCounts has a command run only when all before it in
// its line holds, and its file can apply.
func TestMatchExecRunsWhereItCounts(t *testing.T) {
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	inc := filepath.Join(dir, "inc")
	run := `exec "touch ` + ran + `"` + "\n"
	write(t, inc, "Match "+run)
	for _, tc := range []struct {
		text string
		want bool
	}{
		{"Match " + run, true}, {"Match host box " + run, true}, {"Match host web " + run, false}, {"Match user x " + run, false},
		{"Match version x " + run, false}, {"Match !host web " + run, true}, {"Include " + inc + "\n", true},
		{"Host web\nInclude " + inc + "\n", false}, {"Host box\nInclude " + inc + "\n", true},
	} {
		_ = os.Remove(ran)
		if _, err := resolved(t, newPool(t, Options{SSHBinary: NoSSHBinary}), tc.text, "box"); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(ran); (err == nil) != tc.want {
			t.Errorf("%q: ran %t", tc.text, err == nil)
		}
	}
}

// TestMatchExecShell has SHELL run the command, as ssh does.
func TestMatchExecShell(t *testing.T) {
	shell := filepath.Join(t.TempDir(), "shell")
	write(t, shell, "#!/bin/sh\n[ \"$1 $2\" = '-c magic words' ]\n")
	if err := os.Chmod(shell, 0o700); err != nil {
		t.Fatal(err)
	}
	for sh, want := range map[string]int{shell: 7, "/bin/sh": 22} {
		t.Setenv("SHELL", sh)
		for _, bin := range []string{"", NoSSHBinary} {
			s, err := resolved(t, newPool(t, Options{SSHBinary: bin}), "Match exec \"magic words\"\n Port 7\n", "box")
			if err != nil || s.port != want {
				t.Errorf("%s, with %q: got %+v, %v", sh, bin, s, err)
			}
		}
	}
}

// TestIncludedFileOfOthers has both resolvers refuse an included file that
// others may write, and take it when they may not.
func TestIncludedFileOfOthers(t *testing.T) {
	dir := t.TempDir()
	inc := filepath.Join(dir, "inc")
	write(t, inc, "User u\n")
	for mode, refused := range map[os.FileMode]bool{0o600: false, 0o644: false, 0o664: true, 0o606: true} {
		if err := os.Chmod(inc, mode); err != nil {
			t.Fatal(err)
		}
		for _, bin := range []string{"", NoSSHBinary} {
			_, err := resolved(t, newPool(t, Options{SSHBinary: bin}), "Include "+inc+"\n", "box")
			if mode&0o020 != 0 && bin == "" {
				continue // Debian's ssh allows it to a group of one
			}
			if (err != nil) != refused || err != nil && !strings.Contains(strings.ToLower(err.Error()), "bad owner or permissions") {
				t.Errorf("%o, with %q: %v", mode, bin, err)
			}
		}
	}
}

// TestMatchExecFails has both resolvers take an exit for an answer, and refuse what
// gives none: a command that was killed, and one that can't be run.
func TestMatchExecFails(t *testing.T) {
	notAShell := filepath.Join(t.TempDir(), "shell")
	write(t, notAShell, "")
	for _, tc := range []struct {
		command, shell string
		port           int // 0 is a refusal
	}{
		{"true", "/bin/sh", 7}, {"exit 255", "/bin/sh", 22}, {"/nonexistent", "/bin/sh", 22},
		{"kill -9 $$", "/bin/sh", 0}, {"kill -TERM $$", "/bin/sh", 0}, {"true", notAShell, 0}, {"true", "/nonexistent/shell", 0},
	} {
		t.Setenv("SHELL", tc.shell)
		for _, bin := range []string{"", NoSSHBinary} {
			s, err := resolved(t, newPool(t, Options{SSHBinary: bin}), "Match exec \""+tc.command+"\"\n Port 7\n", "box")
			if tc.port == 0 {
				if err == nil || err.Kind != KindConfig {
					t.Errorf("%q by %s, with %q: got %+v, %v", tc.command, tc.shell, bin, s, err)
				}
				continue
			}
			if err != nil || s.port != tc.port {
				t.Errorf("%q by %s, with %q: got %+v, %v", tc.command, tc.shell, bin, s, err)
			}
		}
	}
}
