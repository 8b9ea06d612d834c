package fleet_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// ward is a rig whose hosts are examined, and cured from the operator's shell.
type ward struct {
	rig *rig.Rig
	env []string // of that shell
	bin string   // claude-fleet, where a remedy calls it
}

// finding examines one host and gives what a check came to.
func (w ward) finding(t *testing.T, host, id string) fleet.Finding {
	t.Helper()
	f, err := fleet.Load("", fleet.WithTimeout(40*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	hosts, err := f.Select(host)
	if err != nil {
		t.Fatal(err)
	}
	for r := range f.Doctor(t.Context(), hosts...) {
		for _, found := range r.Findings {
			if found.ID == id {
				return found
			}
		}
		t.Fatalf("%s: there is no finding %q in %+v", host, id, r.Findings)
	}
	t.Fatal("no report")
	return fleet.Finding{}
}

// run runs a remedy as it was printed, as if it had been pasted, or a part of a
// test's own in the same place.
func (w ward) run(t *testing.T, command string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	cmd.Env, cmd.Dir, cmd.WaitDelay = w.env, t.TempDir(), 5*time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
	return string(out)
}

// write puts a file of a host, relative to its folder in the rig.
func (w ward) write(t *testing.T, host, name, text string, mode os.FileMode) {
	t.Helper()
	path := w.path(host, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask says
		t.Fatal(err)
	}
}

func (w ward) path(host, name string) string { return filepath.Join(w.rig.Dir(), host, name) }

// script puts a program first on a host's PATH.
func (w ward) script(t *testing.T, host, name, text string) {
	t.Helper()
	w.write(t, host, "bin/"+name, "#!/bin/sh\n"+text, 0o755)
}

func (w ward) remove(t *testing.T, host, name string) {
	t.Helper()
	if err := os.RemoveAll(w.path(host, name)); err != nil {
		t.Fatal(err)
	}
}

// clientSaying is a client that tells a version and can be set to another.
func clientSaying(version string) string {
	return `case $1 in
--version) echo '` + version + ` (Claude Code)' ;;
install) sed "s/echo '.* (C/echo '$2 (C/" "$0" >"$0.new" && chmod 755 "$0.new" && mv "$0.new" "$0" ;;
*) sleep 300 ;;
esac
`
}

// openWard starts a rig of hosts with a scripted client each.
func openWard(t *testing.T, specs ...rig.HostSpec) ward {
	t.Helper()
	for i := range specs {
		specs[i].NoClient = true
	}
	w := ward{}
	w.bin = buildBinary(t)
	w.rig = rigtest.Start(t, specs...)
	for _, v := range w.rig.LocalEnv() {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	w.env = append(os.Environ(), "PATH="+filepath.Dir(w.bin)+":"+os.Getenv("PATH"))
	for _, h := range w.rig.Hosts() {
		w.script(t, h.Name, "claude", clientSaying("2.1.332"))
		w.script(t, h.Name, "sudo", `exec "$@"`+"\n") // where the tests are not run by root
	}
	return w
}

// tools makes a folder of links to what a host needs, without some of it.
func tools(t *testing.T, without ...string) string {
	t.Helper()
	dir := t.TempDir()
	link := func(path string) {
		if err := os.Symlink(path, filepath.Join(dir, filepath.Base(path))); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
	}
	for _, from := range []string{"/bin", "/usr/bin", "/usr/local/bin"} {
		entries, err := os.ReadDir(from)
		if err != nil {
			continue
		}
		for _, e := range entries {
			link(filepath.Join(from, e.Name()))
		}
	}
	for _, name := range without {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	return dir
}
