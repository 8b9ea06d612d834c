package relay

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// TestCarry has programs one after the other run scripts over one login, with the
// very results, and log in each by itself where no server is.
func TestCarry(t *testing.T) {
	_, h, e := box(t, rig.HostSpec{})
	path := socket(t)
	for i := range 2 {
		p := program(t, transport.Options{}, NewClient("", nil, path))
		run(t, p, e, "true")
		wantLogins(t, h, i+1)
	}
	s := serving(t, Options{}, path)
	before := logins(h)
	var told said
	for range 3 {
		p := program(t, transport.Options{}, NewClient("", told.say, path))
		res, err := p.Conn(e).Run(within(t, time.Minute), transport.Script{Text: "printf 'a\\0b\\377'; echo no >&2; pwd >&2; exit 7"})
		if want := "no\n" + h.Home + "\n"; err != nil || string(res.Stdout) != "a\x00b\xff" || string(res.Stderr) != want || res.ExitCode != 7 {
			t.Fatalf("%q, %q, %d, %v", res.Stdout, res.Stderr, res.ExitCode, err)
		}
	}
	wantLogins(t, h, before+1)
	rigtest.Eventually(t, 20*time.Second, "no call is under way", func() (bool, string) { return s.info().Callers == 0, fmt.Sprintf("%+v", s.info()) })
	i, err := Inquire(within(t, time.Minute), path)
	if err != nil || i.Calls != 3 || i.Callers != 0 || i.PID != os.Getpid() || len(i.Connections) != 1 || i.Connections[0].Destination != "box" || i.Socket != s.Socket() {
		t.Errorf("%+v, %v", i, err)
	}
	used := "the connections of claude-fleet serve at " + path + " are used"
	if want := strings.Join([]string{used, used, used}, "\n"); told.all() != want { // each program's own
		t.Errorf("said %q, want %q", told.all(), want)
	}
}

// TestLarge carries as much as a script and its streams may have, and not more.
func TestLarge(t *testing.T) {
	_, h, e := box(t, rig.HostSpec{})
	path := socket(t)
	serving(t, Options{}, path)
	p := program(t, transport.Options{}, NewClient("", nil, path))
	text := "x=" + strings.Repeat("y", 4<<20) + "; printf %s ${#x}"
	if got := run(t, p, e, text); got != fmt.Sprint(4<<20) {
		t.Errorf("got %q", got)
	}
	const full = 32 << 20
	res, err := p.Conn(e).Run(within(t, 2*time.Minute), transport.Script{Text: fmt.Sprintf("head -c %d /dev/zero; head -c %d /dev/zero >&2", full, full)})
	if err != nil || len(res.Stdout) != full || len(res.Stderr) != full {
		t.Errorf("%d, %d, %v", len(res.Stdout), len(res.Stderr), err)
	}
	_, err = p.Conn(e).Run(within(t, 2*time.Minute), transport.Script{Text: fmt.Sprintf("head -c %d /dev/zero", full+1)})
	if k, _ := transport.KindOf(err); k != transport.KindProtocol {
		t.Errorf("too much: %v", err)
	}
	wantLogins(t, h, 1)
}

// TestUnfit has a server that is of no use left alone, with a word of why.
func TestUnfit(t *testing.T) {
	_, h, e := box(t, rig.HostSpec{})
	path := socket(t)
	s := serving(t, Options{Version: "v1.2.3"}, path)
	var told, used said
	for i, c := range []struct{ version, says string }{
		{"v1.2.2", "it is version v1.2.3, and this is v1.2.2"},
		{"", "it is version v1.2.3, and this is "},
	} {
		p := program(t, transport.Options{}, NewClient(c.version, told.say, path))
		run(t, p, e, "true")
		run(t, p, e, "true") // told once
		if !strings.Contains(told.all(), c.says) || len(told.lines) != i+1 {
			t.Errorf("said %q", told.all())
		}
		wantLogins(t, h, i+1)
	}
	if i := s.info(); i.Calls != 0 || i.Ending {
		t.Errorf("%+v", i)
	}
	if want := "the connections of claude-fleet serve at " + path + " are not used: "; strings.Count(told.all(), want) != 2 || strings.Count(told.all(), "; this run connects by itself") != 2 {
		t.Errorf("said %q", told.all())
	}
	p := program(t, transport.Options{}, NewClient("v1.2.3", used.say, path)) // the negative
	run(t, p, e, "true")
	run(t, p, transport.Endpoint{Destination: "box", ConfigFile: e.ConfigFile}, "true") // told once
	if got, want := used.all(), "the connections of claude-fleet serve at "+path+" are used"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	if i := s.info(); i.Calls != 2 {
		t.Errorf("%+v", i)
	}
	// A newer one ends it.
	run(t, program(t, transport.Options{}, NewClient("v1.10.0", told.say, path)), e, "true")
	rigtest.Eventually(t, 20*time.Second, "the socket is gone", func() (bool, string) {
		_, err := os.Lstat(path)
		return os.IsNotExist(err), ""
	})
	run(t, p, e, "true")
}

// TestSocket has one server at a time, whatever a killed one has left.
func TestSocket(t *testing.T) {
	path := socket(t)
	cmd := child(t, serveEnv+"="+path)
	there(t, path)
	if _, err := Listen(Options{}, path); err == nil || !strings.Contains(err.Error(), ErrRunning.Error()) {
		t.Errorf("a second server: %v", err)
	}
	if _, err := Listen(Options{}, socket(t), path); err == nil || !strings.Contains(err.Error(), ErrRunning.Error()) {
		t.Errorf("a second server elsewhere: %v", err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if _, err := os.Lstat(path); err != nil {
		t.Fatalf("the killed server left no socket: %v", err)
	}
	var told said
	if err := NewClient("", told.say, path).fits(hello{}); err == nil {
		t.Error("an empty greeting fits")
	}
	serving(t, Options{}, path)
	there(t, path)
	st, err := os.Lstat(path)
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st.Mode(), err)
	}

	open := filepath.Join(t.TempDir(), "s")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, says string }{
		{filepath.Join(open, "serve.sock"), "may be entered by others (mode 0755)"},
		{filepath.Join("/tmp", strings.Repeat("x", 100), "serve.sock"), "bytes, and this system lets one have"},
	} {
		if _, err := Listen(Options{}, c.path); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
}

// TestKilled kills the server amid a script: one that may be repeated is then run
// directly, and of another it is told that it may have begun. Nothing is left on
// the host of either.
func TestKilled(t *testing.T) {
	_, h, e := box(t, rig.HostSpec{})
	for _, repeatable := range []bool{true, false} {
		path := socket(t)
		cmd := child(t, serveEnv+"="+path)
		there(t, path)
		p := program(t, transport.Options{}, NewClient("", nil, path))
		began := filepath.Join(t.TempDir(), "began")
		text := fmt.Sprintf("if [ -e %[1]s ]; then echo again; else echo $$ >%[1]s; sleep 300; fi", began)
		done := make(chan error, 1)
		var out string
		go func() {
			res, err := p.Conn(e).Run(within(t, time.Minute), transport.Script{Text: text, Repeatable: repeatable})
			out = string(res.Stdout)
			done <- err
		}()
		pid := readPID(t, began)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		err := <-done
		k, _ := transport.KindOf(err)
		if repeatable && (err != nil || out != "again\n") {
			t.Errorf("repeatable: %q, %v", out, err)
		}
		if !repeatable && (k != transport.KindConnect || !transport.Started(err)) {
			t.Errorf("not repeatable: %v", err)
		}
		wantEnded(t, pid)
	}
	_ = h
}

func readPID(t *testing.T, file string) int {
	t.Helper()
	pid := 0
	rigtest.Eventually(t, 30*time.Second, "the script has begun", func() (bool, string) {
		b, err := os.ReadFile(file)
		if err != nil || !strings.HasSuffix(string(b), "\n") {
			return false, fmt.Sprint(err)
		}
		_, err = fmt.Sscan(string(b), &pid)
		return err == nil, string(b)
	})
	return pid
}

func wantEnded(t *testing.T, pid int) {
	t.Helper()
	rigtest.Eventually(t, 30*time.Second, "the script has ended", func() (bool, string) {
		return syscall.Kill(pid, 0) != nil, ""
	})
}
