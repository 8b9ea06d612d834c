package plugin

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/api"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
)

// clientWithin bounds one run of the client on a loaded machine.
const clientWithin = 3 * time.Minute

// desk is where a person sits: a home, a client, claude-fleet on PATH, and a
// fleet to look at.
type desk struct {
	root  string // of the repository
	mine  string // the marketplace that the plugin is installed from, which reads it there
	r     *rig.Rig
	here  *rig.Host
	table string // the fleet's
	bin   string // the folder of claude-fleet
	calls string // what claude-fleet was called with, a line a call
	// prey is a folder that stays empty unless something ran that must not.
	prey string
	// sly is a branch of a host, named to be run by whoever reads it carelessly.
	sly string
}

// newDesk starts a fleet of a local host and one that is down, both without a
// session, and one that can't be reached.
func newDesk(t *testing.T) *desk {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	// Not t.TempDir: $TMPDIR may have what no branch's name takes.
	prey, err := os.MkdirTemp("/tmp", "fleet-prey-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(prey) })
	d := &desk{root: root, bin: t.TempDir(), prey: prey}
	d.mine = d.market(t, nil)
	d.calls = filepath.Join(t.TempDir(), "calls")
	real := filepath.Join(t.TempDir(), "real")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", real, root+"/cmd/claude-fleet").CombinedOutput(); err != nil {
		t.Fatalf("build claude-fleet: %v\n%s", err, out)
	}
	script := fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$*\" >>'%s'\nexec '%s' \"$@\"\n", d.calls, real)
	if err := os.WriteFile(filepath.Join(d.bin, "claude-fleet"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	d.r = rigtest.Start(t, rig.HostSpec{Name: "here", Local: true, Trusted: true}, rig.HostSpec{Name: "alpha", NoClient: true}, rig.HostSpec{Name: "beta", NoClient: true})
	d.here = d.r.Host("here")
	if d.table, err = d.r.PatientFleet(); err != nil {
		t.Fatal(err)
	}
	if err := d.r.Host("beta").StopSSHD(); err != nil {
		t.Fatal(err)
	}
	d.sly = "a!`touch${IFS}" + filepath.Join(d.prey, "branch") + "`"
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	alpha := d.r.Host("alpha")
	if out, err := alpha.Command(ctx, "git", "-C", alpha.Workdir, "checkout", "-q", "-b", d.sly).CombinedOutput(); err != nil {
		t.Fatalf("make a branch: %v\n%s", err, out)
	}
	return d
}

// run runs the client at the desk, in the local host's workdir.
func (d *desk) run(t *testing.T, env []string, args ...string) (out string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), clientWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(filepath.Dir(d.here.Home), "bin", "claude"), args...)
	cmd.Dir, cmd.WaitDelay = d.here.Workdir, 10*time.Second
	cmd.Env = append(append(d.r.LocalEnv(), d.path(d.bin), "CLAUDE_FLEET_CONFIG="+d.table), env...)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	raw, err := cmd.Output()
	return string(raw) + errOut.String(), err
}

// path is the desk's PATH with a folder before it, and without those in which the
// machine has a claude-fleet of its own.
func (d *desk) path(dir string) string {
	dirs := []string{dir}
	for _, v := range d.r.LocalEnv() {
		if rest, ok := strings.CutPrefix(v, "PATH="); ok {
			dirs = append(dirs, filepath.SplitList(rest)...)
		}
	}
	return "PATH=" + strings.Join(slices.DeleteFunc(dirs, func(other string) bool {
		_, err := os.Stat(filepath.Join(other, "claude-fleet"))
		return err == nil && other != dir
	}), ":")
}

// must is run for what has to succeed.
func (d *desk) must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := d.run(t, nil, args...)
	if err != nil {
		t.Fatalf("claude %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// heard is what reached the model in one turn.
type heard struct {
	prompt  string   // the newest text of the user, by the end
	results []string // of the tools, in order
	calls   []string // of claude-fleet in that time
}

// turn has the client take one prompt to its end.
func (d *desk) turn(t *testing.T, env []string, prompt string, args ...string) heard {
	t.Helper()
	before := len(d.r.API().Requests())
	if err := os.WriteFile(d.calls, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := d.run(t, env, append(args, "-p", prompt)...)
	if err != nil {
		t.Fatalf("claude -p %q: %v\n%s", prompt, err, out)
	}
	var h heard
	for _, q := range d.r.API().Requests()[before:] {
		switch q.Kind {
		case api.Prompt:
			h.prompt = q.Prompt
		case api.Continuation:
			h.prompt, h.results = q.Prompt, append(h.results, q.Result)
		}
	}
	if h.prompt == "" {
		t.Fatalf("claude -p %q: nothing reached the model; it printed:\n%s", prompt, out)
	}
	raw, err := os.ReadFile(d.calls)
	if err != nil {
		t.Fatal(err)
	}
	h.calls = strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	return h
}

// wants reports what of a text is missing, and only counts claude-fleet's calls.
func (h heard) wants(t *testing.T, calls []string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(h.prompt, p) {
			t.Errorf("the model was not told %q; it was told:\n%s", p, h.prompt)
		}
	}
	if !slices.Equal(h.calls, calls) {
		t.Errorf("claude-fleet was called with %q, not %q", h.calls, calls)
	}
}

// untouched fails where something ran that must not.
func (d *desk) untouched(t *testing.T) {
	t.Helper()
	caught, err := os.ReadDir(d.prey)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range caught {
		t.Errorf("%s ran", f.Name())
	}
}

// market copies the marketplace and the plugin into a folder whose name has a
// blank, each file as edit gives it back; edit may be nil.
func (d *desk) market(t *testing.T, edit func(name, text string) string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a fleet")
	for _, part := range []string{".claude-plugin", "plugin"} {
		if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join(d.root, part))); err != nil {
			t.Fatal(err)
		}
	}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || edit == nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, []byte(edit(name, string(text))), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
