package relay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	if !l.standing() {
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
