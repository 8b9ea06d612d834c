package fleet_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
)

// prepare runs Init on alpha.
func prepare(t *testing.T, f *fleet.Fleet, opt fleet.InitOptions) fleet.InitResult {
	t.Helper()
	hosts, err := f.Select("alpha")
	if err != nil {
		t.Fatal(err)
	}
	for r := range f.Init(t.Context(), opt, hosts...) {
		return r
	}
	t.Fatal("no result")
	return fleet.InitResult{}
}

// upOne takes one host up, which must work.
func upOne(t *testing.T, f *fleet.Fleet, name string) fleet.UpResult {
	t.Helper()
	hosts, err := f.Select(name)
	if err != nil {
		t.Fatal(err)
	}
	for r := range f.Up(t.Context(), hosts...) {
		if r.Err != nil || r.Status.State != detect.Ready {
			t.Fatalf("up %s: %s, %v (%v)", name, r.Status.State, r.Err, r.Did)
		}
		return r
	}
	t.Fatal("no result")
	return fleet.UpResult{}
}

// TestInitUnit installs the unit on a host with a systemd, real where one can run
// and once more with stand-ins that note their calls, starts the session through
// it, stops it, and starts sessions that are not the unit's beside it.
func TestInitUnit(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(t *testing.T, h *rig.Host, runtime string) manager{
		"stand-in": func(t *testing.T, h *rig.Host, _ string) manager { return standIn(t, h, "no") },
		"real": func(t *testing.T, h *rig.Host, runtime string) manager {
			m, err := beginManager(t, h, runtime)
			if err != nil {
				t.Logf("no user manager can run here, so that one stands in: %v", err)
				m = standIn(t, h, "yes")
			}
			return m
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runtime, err := os.MkdirTemp("/tmp", "run-") // for sockets, whose paths are short
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(runtime) })
			r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true, Env: []string{"XDG_RUNTIME_DIR=" + runtime, "CLAUDECODE=1"}})
			f := over(t, r, fleet.WithTimeout(30*time.Second))
			h := r.Host("alpha")
			p := person{t, r, h}
			m := begin(t, h, runtime)
			testUnit(t, f, p, m)
		})
	}
}

func testUnit(t *testing.T, f *fleet.Fleet, p person, m manager) {
	unit := fleet.UnitFile
	path := filepath.Join(p.h.Home, unit)
	host, err := f.Select("alpha")
	if err != nil {
		t.Fatal(err)
	}
	// A dry run tells all and does nothing.
	dry := prepare(t, f, fleet.InitOptions{Unit: true, DryRun: true})
	if dry.Err != nil || len(dry.Changes) != 3 || !strings.Contains(dry.Changes[1].Diff, "+Type=forking\n") {
		t.Errorf("%+v", dry)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the dry run left %s (%v)", unit, err)
	}
	// A unit that somebody wrote is replaced, and kept.
	must(p, os.MkdirAll(filepath.Dir(path), 0o700))
	must(p, os.WriteFile(path, []byte("[Service]\nExecStart=/bin/true\n"), 0o600))
	first := prepare(t, f, fleet.InitOptions{Unit: true})
	if first.Err != nil || len(first.Changes) != 3 {
		t.Fatalf("%+v", first)
	}
	if !m.real && !strings.Contains(strings.Join(first.Notes, "\n"), "loginctl enable-linger") {
		if text, _ := os.ReadFile(filepath.Join(filepath.Dir(p.h.Home), "bin", "loginctl")); strings.Contains(string(text), "=no") {
			t.Errorf("lingering is off, and the notes are %q", first.Notes)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != fleet.Unit(host[0]) {
		t.Errorf("installed was %s (%v)", got, err)
	}
	if old, err := os.ReadFile(path + ".before-claude-fleet"); err != nil || !strings.Contains(string(old), "/bin/true") {
		t.Errorf("kept was %q (%v)", old, err)
	}
	if _, err := os.Stat(filepath.Join(p.h.Home, ".config/systemd/user/default.target.wants/claude-tmux.service")); err != nil {
		t.Error(err)
	}
	second := prepare(t, f, fleet.InitOptions{Unit: true})
	if second.Err != nil || len(second.Changes) != 0 {
		t.Errorf("a second run: %+v", second)
	}
	if !m.real {
		if n := strings.Count(m.calls(), "systemctl --user enable "); n != 1 {
			t.Errorf("enabled %d times:\n%s", n, m.calls())
		}
	}

	// up goes through it, and the client has what it needs.
	res := upOne(t, f, "alpha")
	if res.Kept != tmux.KeptByUnit || strings.Join(res.Did, ",") != "started through its systemd unit" {
		t.Errorf("kept by %q, did %q, notes %q", res.Kept, res.Did, res.Notes)
	}
	if res.Status.Flags != nil && strings.Contains(strings.Join(res.Status.Flags, " "), "wrongdir") {
		t.Errorf("flags %q", res.Status.Flags)
	}
	p.shows("bypass permissions on")
	if m.real {
		if g := m.group(p, "claude"); !strings.Contains(g, "/claude-tmux.service") {
			t.Errorf("it runs in %s", g)
		}
		if s, err := m.systemctl("show", "-p", "ActiveState", "claude-tmux"); err != nil || s != "ActiveState=active\n" {
			t.Errorf("%s, %v", s, err)
		}
	}
	// What goes by the same client in the same pane still goes.
	sends(t, f, "SAY through the unit", fleet.SendOptions{}, fleet.Accepted)
	if again := upOne(t, f, "alpha"); len(again.Did) != 0 {
		t.Errorf("did %q", again.Did)
	}
	// A client that ends leaves a shell, and its exit code.
	must(p, p.h.KillClient(t.Context()))
	rigtest.Eventually(t, drawn, "the client to be gone", func() (bool, string) {
		s := state(t, f, "alpha")
		return s.State == detect.Crashed, describe(s)
	})
	if out, err := m.systemctl("stop", "claude-tmux"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	rigtest.Eventually(t, drawn, "the session to be down", func() (bool, string) {
		s := state(t, f, "alpha")
		return s.State == detect.Down, describe(s)
	})

	// Where ~/.fleet-workdir is not the host's, the unit would start elsewhere.
	must(p, os.WriteFile(filepath.Join(p.h.Home, fleet.WorkdirFile), []byte(p.h.Home+"\n"), 0o600))
	res = upOne(t, f, "alpha")
	if res.Kept != tmux.KeptByScope || !strings.Contains(strings.Join(res.Notes, "\n"), "claude-fleet init alpha") {
		t.Errorf("kept by %q, notes %q", res.Kept, res.Notes)
	}
	if m.real {
		if g := m.group(p, "claude"); !strings.Contains(g, ".scope") {
			t.Errorf("it runs in %s", g)
		}
	} else if !strings.Contains(m.calls(), "systemd-run --user --scope --quiet tmux -u new-session") {
		t.Error(m.calls())
	}
	if env := p.tmux("show-environment", "-g"); strings.Contains(env, "CLAUDECODE") {
		t.Errorf("the server has %s", env)
	}
	p.tmux("kill-server")

	// The unit of another session is not started for this one.
	other := host[0]
	other.Name, other.Session = "other", "other"
	both := fleet.New(&fleet.Table{Hosts: []fleet.Host{host[0], other}})
	defer func() { _ = both.Close() }()
	res = upOne(t, both, "other")
	if res.Kept != tmux.KeptByScope || !strings.Contains(strings.Join(res.Notes, "\n"), "another session") {
		t.Errorf("kept by %q, notes %q", res.Kept, res.Notes)
	}
	if list := p.tmux("list-sessions", "-F", "#{session_name}"); list != "other\n" {
		t.Errorf("sessions %q", list)
	}
	if s := fmt.Sprint(m.calls()); !m.real && strings.Count(s, "systemctl --user start") != 1 {
		t.Errorf("the unit was started by others too:\n%s", s)
	}
}
