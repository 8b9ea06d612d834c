package tmux

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

func TestMain(m *testing.M) {
	if conf := os.Getenv(boxEnv); conf != "" {
		os.Exit(runBox(conf))
	}
	goleak.VerifyTestMain(m)
}

// patience bounds what a loaded machine may take for one step.
const patience = 20 * time.Second

// machine is an account with a home and a tmux server of its own, reached by
// the local transport, so that the very scripts run.
type machine struct {
	t    *testing.T
	home string
	transport.Conn
}

// newMachine makes one. conf is its ~/.tmux.conf; env are "NAME=value".
func newMachine(t *testing.T, conf string, env ...string) *machine {
	t.Helper()
	// Not t.TempDir: the path of a socket may have 107 bytes at most.
	dir, err := os.MkdirTemp("", "fleet")
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, home: filepath.Join(dir, "home")}
	t.Cleanup(func() { // programs that are being hung up may write for a moment yet
		m.eventually("the home can be removed", func() (bool, string) {
			err := os.RemoveAll(dir)
			return err == nil, "it cannot"
		})
	})
	for _, name := range []string{"TMUX", "TMUX_PANE", "ENV", "ZDOTDIR", "XDG_CONFIG_HOME", "CDPATH"} {
		unsetenv(t, name)
	}
	for _, kv := range append([]string{"HOME=" + m.home, "TMUX_TMPDIR=" + dir, "TERM=tmux-256color", "LANG=C.UTF-8", "SHELL=/bin/sh"}, env...) {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
	m.mkdir("")
	m.write(".tmux.conf", conf)
	pool := transport.NewPool(transport.Options{})
	m.Conn = pool.Conn(transport.Endpoint{Local: true})
	t.Cleanup(func() {
		_ = exec.Command("tmux", "kill-server").Run() // there may be none
		_ = pool.Close()
	})
	return m
}

// in is the machine for a subtest.
func (m *machine) in(t *testing.T) *machine { return &machine{t, m.home, m.Conn} }

func unsetenv(t *testing.T, name string) {
	t.Helper()
	t.Setenv(name, "") // puts the old value back at the end
	if err := os.Unsetenv(name); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) mkdir(name string) string {
	m.t.Helper()
	path := filepath.Join(m.home, name)
	if err := os.MkdirAll(path, 0o700); err != nil {
		m.t.Fatal(err)
	}
	return path
}

func (m *machine) write(name, text string) string {
	m.t.Helper()
	path := filepath.Join(m.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		m.t.Fatal(err)
	}
	return path
}

// wrote waits until a program has written a file, a line feed at its end, and
// gives its text without that.
func (m *machine) wrote(name string) string {
	m.t.Helper()
	var text string
	m.eventually(name+" is written", func() (bool, string) {
		b, err := os.ReadFile(filepath.Join(m.home, name))
		text = string(b)
		return err == nil && strings.HasSuffix(text, "\n"), text
	})
	return strings.TrimSuffix(text, "\n")
}

// into is the redirection with which a command writes such a file, all at once.
// Its path is absolute: where a command runs is what some tests are about, and
// it must not write there when they fail.
func (m *machine) into(name string) string {
	path := filepath.Join(m.home, name)
	return "> " + path + ".part && mv " + path + ".part " + path
}

func (m *machine) missing(name string) {
	m.t.Helper()
	if _, err := os.Lstat(filepath.Join(m.home, name)); !errors.Is(err, fs.ErrNotExist) {
		m.t.Errorf("%s exists (%v)", name, err)
	}
}

// tmux runs one command beside the code that is tested.
func (m *machine) tmux(args ...string) string {
	m.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-u"}, args...)...).CombinedOutput()
	if err != nil {
		m.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// pane starts a session with a program in it and gives the pane's id.
func (m *machine) pane(session string, command ...string) string {
	m.t.Helper()
	args := []string{"new-session", "-d", "-P", "-F", "#{pane_id}", "-s", session, "-x", "100", "-y", "30", "-c", m.home, "--"}
	return m.tmux(append(args, command...)...)
}

// display is a pane whose program printed text, and nothing after it.
func (m *machine) display(session, text string) string {
	m.t.Helper()
	path := m.write(session+".txt", text+"\x1b[999;1Hend of text")
	id := m.pane(session, "/bin/sh", "-c", "cat "+transport.Quote(path)+"; exec sleep 1000")
	m.eventually("the text is shown", func() (bool, string) {
		s := m.tmux("capture-pane", "-p", "-t", id)
		return strings.Contains(s, "end of text"), s
	})
	return id
}

func (m *machine) run(ctx context.Context, text string) []byte {
	m.t.Helper()
	res, err := m.Run(ctx, transport.Script{Text: text})
	if err != nil {
		m.t.Fatal(err)
	}
	return res.Stdout
}

// look runs a query to its end.
func (m *machine) look(sessions ...string) (Snapshot, error) {
	m.t.Helper()
	q := NewQuery(sessions...)
	return q.Parse(m.run(m.t.Context(), q.Fragment()))
}

// only is the single pane of a session.
func (m *machine) only(session string) Pane {
	m.t.Helper()
	snap, err := m.look(session)
	if err != nil {
		m.t.Fatal(err)
	}
	panes := snap.Session(session)
	if len(panes) != 1 {
		m.t.Fatalf("session %s has %d panes: %+v", session, len(panes), snap)
	}
	return panes[0]
}

// eventually waits for a condition; got says what there is instead.
func (m *machine) eventually(what string, ok func() (bool, string)) {
	m.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		done, got := ok()
		if done {
			return
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			m.t.Fatalf("not within %s: %s; there is %q", patience, what, got)
		}
	}
}

// deadPID is the id of a process that has ended.
func deadPID(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(cmd.Process.Pid, 0); err == nil {
		t.Fatal("the process id is in use again")
	}
	return cmd.Process.Pid
}
