package fleet_test

import (
	"context"
	"encoding/json"
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
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", NoClient: true}, rig.HostSpec{Name: "stopped", NoClient: true}, rig.HostSpec{Name: "frozen", NoClient: true}, rig.HostSpec{Name: "strange", NoClient: true},
		rig.HostSpec{Name: "slow", NoClient: true}, rig.HostSpec{Name: "stuck", NoClient: true})
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
	// Nobody vouches for strange.
	var kept []string
	for line := range strings.Lines(string(known)) {
		if _, port, _ := strings.Cut(r.Host("strange").Addr, ":"); !strings.Contains(line, port) {
			kept = append(kept, line)
		}
	}
	if err := os.WriteFile(r.KnownHosts(), []byte(strings.Join(kept, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	f := open(t, r, fleet.WithTimeout(12*time.Second))
	names, reports := examineAll(t, f)
	if len(names) != 6 || names[4] != "frozen" || names[5] != "stuck" {
		t.Errorf("they came as %q", names)
	}
	for name, want := range map[string]string{"stopped": "(connect)", "frozen": "(timeout)", "strange": "(host key unknown)"} {
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
	f := open(t, r, fleet.WithTimeout(40*time.Second))
	_, reports := examineAll(t, f)
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
