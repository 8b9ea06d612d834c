package fleet

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

func openMarks(t *testing.T, path string) *StateFile {
	t.Helper()
	m, err := OpenStateFile(t.Context(), path, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestStateFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b", "state.json")
	m := openMarks(t, path)
	down, gone := statusOf(detect.Down, "", "disk"), statusOf(detect.Busy, "")
	gone.Host.Name = "gone"
	m.Seen.Note(down, date(10))
	m.Seen.Note(gone, date(10))
	m.Notified.Note(gone, date(11))
	if err := m.Save([]Host{down.Host}); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStateFile(t.Context(), path, time.Millisecond); ClassOf(err) != ClassRefused || !strings.Contains(err.Error(), "another run") {
		t.Errorf("two runs have it: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = openMarks(t, path)
	defer func() { _ = m.Close() }()
	if len(m.Seen) != 1 || len(m.Notified) != 0 || !m.Seen["web"].Same(down.Mark(date(12))) || !m.Seen["web"].At.Equal(date(10)) {
		t.Errorf("%+v", m)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	names, _ := os.ReadDir(filepath.Dir(path))
	if len(names) != 2 {
		t.Errorf("litter: %v", names)
	}
}

// TestStateFileWaits opens the file while another run has it, which ends.
func TestStateFileWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	first := openMarks(t, path)
	opened := make(chan error, 1)
	go func() {
		second, err := OpenStateFile(context.WithoutCancel(t.Context()), path, time.Minute)
		if err == nil {
			if _, ok := second.Seen["web"]; !ok {
				err = errors.New("it does not have what the first one wrote")
			}
			_ = second.Close()
		}
		opened <- err
	}()
	first.Seen.Note(statusOf(detect.Down, ""), date(10))
	if err := first.Save(nil); err != nil {
		t.Error(err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if err := <-opened; err != nil {
		t.Error(err)
	}
	held := openMarks(t, path)
	defer func() { _ = held.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := OpenStateFile(ctx, path, time.Minute); !errors.Is(err, context.Canceled) || HintOf(err) != "" {
		t.Errorf("cancelled: %v, %q", err, HintOf(err))
	}
}

func TestStateFileRefuses(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"torn": `{"version":1,"seen":{"web":`, "another": `{"hosts":[]}`, "newer": `{"version":2}`, "table": "[hosts.web]\n", "empty": "",
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenStateFile(t.Context(), path, time.Second); ClassOf(err) != ClassFailed || HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
		if kept, _ := os.ReadFile(path); string(kept) != text {
			t.Errorf("%s: it was changed", name)
		}
	}
	device := filepath.Join(dir, "device")
	if err := os.Symlink("/dev/null", device); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{device, dir, filepath.Join(dir, "torn", "below")} {
		if _, err := OpenStateFile(t.Context(), path, time.Second); ClassOf(err) != ClassFailed {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := os.Stat(path + ".lock"); err == nil {
			t.Errorf("%s: something was made beside it", path)
		}
	}
	// Good again behind all of that.
	m := openMarks(t, filepath.Join(dir, "good"))
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

func TestStateFilePath(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_STATE_HOME", "relative")
	path := func(table string) string {
		t.Helper()
		p, err := (&Table{Path: table}).StateFilePath()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	under := filepath.Join(home, ".local/state/claude-fleet/status")
	if a, b := path("/etc/a.conf"), path("/etc/b.conf"); a == b || filepath.Dir(a) != under || path("/etc/../etc/a.conf") != a {
		t.Errorf("%s %s", a, b)
	}
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	here := path("")
	t.Chdir(t.TempDir()) // without a table the fleet is another one in each folder
	if there := path(""); here == there || filepath.Dir(there) != filepath.Join(state, "claude-fleet/status") {
		t.Errorf("%s %s", here, there)
	}
	// Without a HOME the account's own is taken.
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	if p := path(""); !filepath.IsAbs(p) || strings.HasPrefix(p, home) {
		t.Error(p)
	}
}

func FuzzStateFile(f *testing.F) {
	f.Add([]byte(`{"version":1,"seen":{"web":{"state":"down","reason":"","flags":["disk"],"dialog":"","at":"2026-11-30T10:00:00Z"}},"notified":null}`))
	f.Add([]byte(`{"version":1}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		m := StateFile{path: filepath.Join(dir, "state.json")}
		if err := os.WriteFile(m.path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if m.read() != nil {
			return
		}
		if m.Seen == nil || m.Notified == nil {
			t.Fatal("a nil map")
		}
		m.Seen.Note(statusOf(detect.Down, ""), date(10))
		if err := m.Save(nil); err != nil {
			t.Fatal(err)
		}
		if err := m.read(); err != nil {
			t.Fatal("what was written can't be read: ", err)
		}
	})
}
