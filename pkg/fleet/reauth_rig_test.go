package fleet_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

const goodToken = "sk-ant-oat01-made-up-and-good-0123456789"

func token(t *testing.T, text string) fleet.Token {
	t.Helper()
	tok, err := fleet.ParseToken(text)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// reauth runs Reauth on hosts and gives the results by host.
func reauth(t *testing.T, f *fleet.Fleet, o fleet.ReauthOptions, names ...string) map[string]fleet.ReauthResult {
	t.Helper()
	hosts, err := f.Select(names...)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]fleet.ReauthResult{}
	for r := range f.Reauth(t.Context(), o, hosts...) {
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
		all[r.Status.Host.Name] = r
	}
	if len(all) != len(hosts) {
		t.Fatalf("%d results", len(all))
	}
	return all
}

// TestReauth heals two hosts whose login has run out, which share nothing but the
// token, while a third that is dead holds up nobody, and looks for the token
// everywhere meanwhile and behind.
func TestReauth(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true}, rig.HostSpec{Name: "beta", Trusted: true, BypassAccepted: true, LoginShell: "/bin/bash"}, rig.HostSpec{Name: "dead"})
	f := over(t, r, fleet.WithTimeout(40*time.Second))
	r.API().Accept(goodToken)
	if err := r.Host("dead").StopSSHD(); err != nil {
		t.Fatal(err)
	}
	live := []string{"alpha", "beta"}
	for _, name := range live {
		upOne(t, f, name)
		says(t, f, name, "SAY hello")
		eventually(t, f, name, detect.Unauth)
	}
	// What else is in the file stays; beta has none.
	env := func(name string) string { return filepath.Join(r.Host(name).Home, fleet.EnvFile) }
	p := person{t, r, r.Host("alpha")}
	must(p, os.MkdirAll(filepath.Dir(env("alpha")), 0o755))
	must(p, os.WriteFile(env("alpha"), []byte("OTHER=a \\n b\nCLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-old-old-old\n# remark"), 0o644))

	stop := watch(t, goodToken)
	for name, res := range reauth(t, f, fleet.ReauthOptions{Token: token(t, goodToken)}, "alpha", "beta", "dead") {
		if name == "dead" {
			if fleet.ClassOf(res.Err) != fleet.ClassUnreachable || len(res.Did) > 0 {
				t.Errorf("dead: %v, did %q", res.Err, res.Did)
			}
			continue
		}
		if res.Err != nil || res.Status.State != detect.Ready || res.Auth != "oauth_token" || len(res.Did) != 3 || len(res.Notes) > 0 || !strings.HasPrefix(res.Did[2], "relaunched with conversation ") {
			t.Fatalf("%s: did %q, auth %q, notes %q, %v\n%s", name, res.Did, res.Auth, res.Notes, res.Err, describe(res.Status))
		}
	}
	for name, want := range map[string]string{"alpha": "CLAUDE_CODE_OAUTH_TOKEN=" + goodToken + "\nOTHER=a \\n b\n# remark", "beta": "CLAUDE_CODE_OAUTH_TOKEN=" + goodToken + "\n"} {
		got, err := os.ReadFile(env(name))
		must(p, err)
		info, err := os.Stat(env(name))
		must(p, err)
		folder, err := os.Stat(filepath.Dir(env(name)))
		must(p, err)
		if string(got) != want || info.Mode() != 0o600 || folder.Mode().Perm() != 0o700 {
			t.Errorf("%s: %s in %s: %q", name, info.Mode(), folder.Mode(), got)
		}
	}
	for _, name := range live {
		says(t, f, name, "SAY with the token")
	}
	rigtest.Eventually(t, drawn, "both prompts to be answered with it", func() (bool, string) {
		n := count(r, "SAY with the token")
		return n == 2, fmt.Sprint(n)
	})
	for _, name := range live {
		eventually(t, f, name, detect.Ready)
	}
	// A second time there is nothing to do.
	for name, res := range reauth(t, f, fleet.ReauthOptions{Token: token(t, goodToken)}, live...) {
		if res.Err != nil || len(res.Did) > 0 || len(res.Notes) > 0 || res.Status.State != detect.Ready {
			t.Errorf("%s: did %q, notes %q, %v", name, res.Did, res.Notes, res.Err)
		}
	}
	// The client alone has it, and all that it starts.
	pids, err := r.Host("alpha").ClientPIDs()
	must(p, err)
	if raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pids[0])); err != nil || !strings.Contains(string(raw), "CLAUDE_CODE_OAUTH_TOKEN="+goodToken+"\x00") || !strings.Contains(string(raw), "OTHER=a \\n b\x00") {
		t.Errorf("the client's environment: %v, %q", err, raw)
	}
	seen, looks := stop()
	if len(seen) > 0 || looks < 100 {
		t.Errorf("%d looks at all arguments found %q", looks, seen)
	}
	for _, h := range r.Hosts() {
		if found := hunt(t, h, goodToken, env(h.Name)); len(found) > 0 {
			t.Errorf("%s: found in %q", h.Name, found)
		}
		if log := h.SSHDLog(); strings.Contains(log, goodToken) {
			t.Errorf("%s: sshd logged it", h.Name)
		}
	}
	if found := inFiles(t, r.Dir(), goodToken); len(found) != 2 || !slices.Contains(found, env("alpha")) {
		t.Errorf("files with it: %q", found)
	}

	// Taken away again: from the file, and its other lines stay; a session that goes
	// on with it is told of.
	for name, res := range reauth(t, f, fleet.ReauthOptions{Remove: true}, live...) {
		if res.Err != nil || len(res.Did) != 1 || len(res.Notes) != 1 || !strings.Contains(res.Notes[0], "claude-fleet restart "+name) {
			t.Errorf("%s: did %q, notes %q, %v", name, res.Did, res.Notes, res.Err)
		}
	}
	if got, err := os.ReadFile(env("alpha")); err != nil || string(got) != "OTHER=a \\n b\n# remark" {
		t.Errorf("left is %q, %v", got, err)
	}
	if _, err := os.Stat(filepath.Dir(env("beta"))); !os.IsNotExist(err) {
		t.Errorf("its folder is there: %v", err)
	}
	again := reauth(t, f, fleet.ReauthOptions{Remove: true, Restart: true}, "beta")["beta"]
	if again.Err != nil || len(again.Did) != 2 || !strings.HasPrefix(again.Did[1], "relaunched") {
		t.Errorf("did %q, %v", again.Did, again.Err)
	}
	says(t, f, "beta", "SAY without it")
	eventually(t, f, "beta", detect.Unauth)
}

func inFiles(t *testing.T, dir, secret string) []string {
	t.Helper()
	var found []string
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if raw, err := os.ReadFile(path); err == nil && strings.Contains(string(raw), secret) {
				found = append(found, path)
			}
		}
		return nil
	})
	return found
}

// says sends a prompt to a host, which takes it.
func says(t *testing.T, f *fleet.Fleet, name, prompt string) {
	t.Helper()
	if out, err := f.Send(t.Context(), name, prompt, fleet.SendOptions{}); err != nil || out.Result != fleet.Accepted {
		t.Fatalf("%s: %s, %v", name, out.Result, err)
	}
}

func eventually(t *testing.T, f *fleet.Fleet, name string, want detect.State) {
	t.Helper()
	rigtest.Eventually(t, drawn, name+" to be "+string(want), func() (bool, string) {
		s := state(t, f, name)
		return s.State == want, describe(s)
	})
}
