package fleet_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// examineAll gives the reports in the order in which they came.
func examineAll(t *testing.T, f *fleet.Fleet) (names []string, reports map[string]fleet.Report) {
	t.Helper()
	reports = map[string]fleet.Report{}
	for r := range f.Doctor(t.Context()) {
		names = append(names, r.Host.Name)
		reports[r.Host.Name] = r
	}
	return names, reports
}

// TestDoctorReach has hosts that are not reached, each for a reason of its own:
// the others do not wait for them.
func TestDoctorReach(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", NoClient: true}, rig.HostSpec{Name: "stopped", NoClient: true}, rig.HostSpec{Name: "frozen", NoClient: true}, rig.HostSpec{Name: "strange", NoClient: true},
		rig.HostSpec{Name: "changed", NoClient: true}, rig.HostSpec{Name: "slow", NoClient: true}, rig.HostSpec{Name: "stuck", NoClient: true})
	for path, text := range map[string]string{"slow/bin/claude": "sleep 300", "stuck/bin/df": "sleep 300"} {
		if err := os.WriteFile(filepath.Join(r.Dir(), path), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Host("stopped").StopSSHD(); err != nil {
		t.Fatal(err)
	}
	if err := r.Host("frozen").FreezeSSHD(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Host("frozen").ThawSSHD() }()
	known, err := os.ReadFile(r.KnownHosts())
	if err != nil {
		t.Fatal(err)
	}
	// Nobody vouches for strange, and changed has another's key.
	port := func(host string) string { _, p, _ := strings.Cut(r.Host(host).Addr, ":"); return p }
	var kept []string
	for line := range strings.Lines(string(known)) {
		switch name, _, _ := strings.Cut(line, " "); {
		case strings.HasSuffix(name, ":"+port("strange")), strings.HasSuffix(name, ":"+port("changed")):
		case strings.HasSuffix(name, ":"+port("alpha")):
			kept = append(kept, line, strings.Replace(line, ":"+port("alpha"), ":"+port("changed"), 1))
		default:
			kept = append(kept, line)
		}
	}
	if err := os.WriteFile(r.KnownHosts(), []byte(strings.Join(kept, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	f := over(t, r, fleet.WithTimeout(25*time.Second))
	names, reports := examineAll(t, f)
	if len(names) != 7 || slices.Index(names, "alpha") > slices.Index(names, "frozen") {
		t.Errorf("they came as %q", names)
	}
	for name, want := range map[string]string{"stopped": "(connect)", "frozen": "(timeout)", "strange": "(host key unknown)", "changed": "(host key changed)"} {
		got := reports[name].Findings
		if len(got) != 1 || got[0].ID != "reach" || got[0].Severity != fleet.SeverityFault || !strings.Contains(got[0].What, want) || got[0].Hint == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := reports["alpha"]; got.Findings[0].ID != "reach" || got.Findings[0].Severity != fleet.SeverityOK || len(got.Findings) < 15 {
		t.Errorf("alpha: %+v", got)
	}

	// These answer: what they do not tell is a finding of its own.
	if got := reports["slow"].Findings; got[0].Severity != fleet.SeverityOK || !slices.ContainsFunc(got, func(f fleet.Finding) bool {
		return f.ID == "client-version" && f.Severity == fleet.SeverityWarning && strings.Contains(f.What, "does not tell its version")
	}) {
		t.Errorf("slow: %+v", got)
	}
	if got := reports["stuck"].Findings; len(got) != 2 || got[0].Severity != fleet.SeverityOK || got[1].ID != "script" || got[1].Severity != fleet.SeverityFault {
		t.Errorf("stuck: %+v", got)
	}

	// The remedy has ssh ask a person, who says yes.
	ask := filepath.Join(t.TempDir(), "ask")
	if err := os.WriteFile(ask, []byte("#!/bin/sh\necho yes\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	remedy := reports["strange"].Findings[0].Remedy
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", remedy)
	cmd.Env = append(os.Environ(), "SSH_ASKPASS="+ask, "SSH_ASKPASS_REQUIRE=force")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", remedy, err, out)
	}
	// A key that changed is for a person to judge: the way is in the hint.
	changed := reports["changed"].Findings[0]
	if changed.Remedy != "" || !strings.Contains(changed.Hint, "ssh-keygen ") {
		t.Errorf("changed: %+v", changed)
	}
	strange, err := f.Select("strange")
	if err != nil {
		t.Fatal(err)
	}
	for r := range f.Doctor(t.Context(), strange...) {
		if r.Findings[0].Severity != fleet.SeverityOK {
			t.Errorf("after %s: %+v", remedy, r.Findings[0])
		}
	}
}

// TestDoctorShells has a login shell of each kind: all checks run behind each.
func TestDoctorShells(t *testing.T) {
	t.Parallel()
	var specs []rig.HostSpec
	want := map[string]fleet.Severity{}
	for name, severity := range map[string]fleet.Severity{"bash": fleet.SeverityOK, "dash": fleet.SeverityOK, "zsh": fleet.SeverityOK, "fish": fleet.SeverityNote, "csh": fleet.SeverityNote, "rbash": fleet.SeverityNote} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatalf("%s is missing: install it", name)
		}
		specs = append(specs, rig.HostSpec{Name: name, NoClient: true, LoginShell: path})
		want[name] = severity
	}
	r := rigtest.Start(t, specs...)
	f := over(t, r, fleet.WithTimeout(40*time.Second))
	before := map[string]string{}
	for _, name := range []string{"bash", "dash", "rbash"} { // the others write files of their own when they start
		before[name] = everything(t, filepath.Join(r.Dir(), name))
	}
	_, reports := examineAll(t, f)
	for name, was := range before {
		if now := everything(t, filepath.Join(r.Dir(), name)); now != was {
			t.Errorf("%s: the doctor changed something:\n%s\nwas\n%s", name, now, was)
		}
	}
	var ids [][]string
	for name, severity := range want {
		var these []string
		for _, found := range reports[name].Findings {
			these = append(these, found.ID)
			switch found.ID {
			case "shell":
				if found.Severity != severity {
					t.Errorf("%s: %+v", name, found)
				}
			case "client":
				if found.Severity != fleet.SeverityFault { // there is none
					t.Errorf("%s: %+v", name, found)
				}
			case "sessions", "unit", "path":
			default:
				if found.Severity != fleet.SeverityOK {
					t.Errorf("%s: %+v", name, found)
				}
			}
		}
		ids = append(ids, these)
	}
	for _, these := range ids {
		if !slices.Equal(these, ids[0]) {
			t.Errorf("checks differ: %q and %q", these, ids[0])
		}
	}
	// The form of the JSON is the library's.
	raw, err := json.Marshal(reports["dash"])
	if err != nil {
		t.Fatal(err)
	}
	var back struct {
		Host     string
		Severity string
		Findings []map[string]string
	}
	if err := json.Unmarshal(raw, &back); err != nil || back.Host != "dash" || back.Severity != "fault" || len(back.Findings) == 0 || back.Findings[0]["id"] != "reach" {
		t.Errorf("%v: %s", err, raw)
	}
}

// everything lists what is on a host, with when it was changed, but for its sshd's
// log and the folder of tmux's socket, which any tmux command makes.
func everything(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && filepath.Dir(path) == dir && (d.Name() == "sshd" || d.Name() == "t") {
			return fs.SkipDir
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && path != dir {
			fmt.Fprintf(&b, "%s %s %d %s\n", path, info.Mode(), info.Size(), info.ModTime())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
