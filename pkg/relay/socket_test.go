package relay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// TestListenPlace makes a socket for nobody else, and takes none away that is not its own.
func TestListenPlace(t *testing.T) {
	path := socket(t)
	l, err := listen(path)
	if err != nil {
		t.Fatal(err)
	}
	for file, mode := range map[string]os.FileMode{filepath.Dir(path): 0o700, path: 0o600, path + ".lock": 0o600} {
		if st, err := os.Stat(file); err != nil || st.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", file, st.Mode(), err)
		}
	}
	if !l.standing() || !l.locked() {
		t.Error("it does not stand")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("made up"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l.standing() {
		t.Error("another file is taken for it")
	}
	l.remove()
	_ = l.lock.Close()
	if _, err := listen(path); err == nil || !strings.Contains(err.Error(), "is no socket") {
		t.Errorf("on a file: %v", err)
	}
	if text, err := os.ReadFile(path); string(text) != "made up" {
		t.Errorf("the other file is %q, %v", text, err)
	}
	// What has failed holds no lock.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if l, err = listen(path); err != nil {
		t.Fatal(err)
	}
	l.remove()
	_ = l.lock.Close()
	if _, err := os.Lstat(path); err == nil {
		t.Error("its own is still there")
	}
}

// TestOwnFolder takes a folder of this account for one, and nothing else.
func TestOwnFolder(t *testing.T) {
	folder := t.TempDir()
	file, link := filepath.Join(folder, "file"), filepath.Join(folder, "link")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	for _, o := range []struct {
		path  string
		mode  os.FileMode
		owner int
		says  string
	}{
		{folder, 0o700, os.Getuid(), ""},
		{folder, 0o770, os.Getuid(), "may be entered by others"},
		{folder, 0o701, os.Getuid(), "may be entered by others"},
		{file, 0o600, os.Getuid(), "is no folder"},
		{link, 0, os.Getuid(), "is no folder"},
		{filepath.Join(folder, "gone"), 0, os.Getuid(), "no such file"},
		{folder, 0o700, 65534, "belongs to another account"},
	} {
		if o.mode != 0 {
			if err := os.Chmod(o.path, o.mode); err != nil {
				t.Fatal(err)
			}
		}
		if o.owner != os.Getuid() {
			if os.Getuid() != 0 {
				return // only root can give a folder away
			}
			if err := os.Chown(o.path, o.owner, -1); err != nil {
				t.Fatal(err)
			}
		}
		if err := ownFolder(o.path); (err == nil) != (o.says == "") || err != nil && !strings.Contains(err.Error(), o.says) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	// Nor is anything made in there.
	if _, err := Listen(Options{}, filepath.Join(folder, "s", "serve.sock")); err == nil || !strings.Contains(err.Error(), "belongs to another account") {
		t.Errorf("listens: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(folder, "s")); err == nil {
		t.Error("a folder was made")
	}
}

// TestPlaces looks in the usual folder where that is the account's own, says why where
// it is not, and nothing where there is none or the environment names one.
func TestPlaces(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "/state")
	const state = "/state/claude-fleet/serve.sock"
	runtime := t.TempDir()
	usual := filepath.Join(runtime, strconv.Itoa(os.Getuid()))
	for _, c := range []struct {
		name, named string
		make        func() error
		want        []string
		says        string
	}{
		{"none", "", func() error { return nil }, []string{state}, ""},
		{"own", "", func() error { return os.Mkdir(usual, 0o700) }, []string{usual + "/claude-fleet/serve.sock", state}, ""},
		{"open", "", func() error { return os.Chmod(usual, 0o755) }, []string{state}, usual + " may be entered by others (mode 0755)"},
		{"named", "/run/mine", func() error { return nil }, []string{"/run/mine/claude-fleet/serve.sock", state}, ""},
	} {
		t.Setenv("XDG_RUNTIME_DIR", c.named)
		if err := c.make(); err != nil {
			t.Fatal(err)
		}
		got, passed := places(runtime)
		if says := fmt.Sprint(passed); !slices.Equal(got, c.want) || (passed != nil || c.says != "") && says != c.says {
			t.Errorf("%s: %q, %v", c.name, got, passed)
		}
		var told said
		client := NewClient("", told.say)
		client.Pass(passed)
		for range 2 {
			_ = carryBy(t.Context(), client, transport.Script{})
		}
		if c.says != "" {
			c.says = "claude-fleet serve is not looked for in a folder: " + c.says + "; its other places are tried"
		}
		if told.all() != c.says {
			t.Errorf("%s: said %q, want %q", c.name, told.all(), c.says)
		}
	}
}

// TestNoRuntime makes no folder that is the system's to make, and any other.
func TestNoRuntime(t *testing.T) {
	path := socket(t)
	there := filepath.Dir(filepath.Dir(path))
	missing := filepath.Join(there, "run")
	t.Setenv("XDG_RUNTIME_DIR", missing)
	if _, err := listen(filepath.Join(missing, socketName)); !errors.Is(err, ErrNoRuntime) || !strings.Contains(err.Error(), missing) {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(missing); err == nil {
		t.Error("it was made")
	}
	t.Setenv("XDG_RUNTIME_DIR", there)
	for _, folder := range []string{there, filepath.Join(there, "state")} {
		l, err := listen(filepath.Join(folder, socketName))
		if err != nil {
			t.Fatal(err)
		}
		l.remove()
		_ = l.lock.Close()
	}
}
