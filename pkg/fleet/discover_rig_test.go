package fleet_test

import (
	"encoding/json"
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
)

// hostileName is what somebody may call a session, and hostileDir a folder.
const (
	hostileName = "a\x1b[31m\"q'b\nc\t;$(touch x) *?[z] | \u202eü"
	hostileDir  = "d\x1b]0;x\x07\"'\n[hosts.evil]\nworkdir = \"/\"\n#"
)

// discoverAll is Discover without errors.
func discoverAll(t *testing.T, f *fleet.Fleet) []fleet.Discovered {
	t.Helper()
	found, errs := f.Discover(t.Context())
	for _, err := range errs {
		t.Fatal(err)
	}
	return found
}

// TestDiscover starts clients past the product, in sessions and folders of all
// sorts, and pastes what is discovered into the table.
func TestDiscover(t *testing.T) {
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true}, rig.HostSpec{Name: "here", Local: true, NoClient: true})
	f := open(t, r, fleet.WithTimeout(40*time.Second))
	if found := discoverAll(t, f); len(found) != 0 {
		t.Fatalf("there is nothing yet: %+v", found)
	}
	alpha, here := r.Host("alpha"), r.Host("here")
	odd, hostile := filepath.Join(alpha.Home, "alpha-app 2"), filepath.Join(here.Home, hostileDir)
	for _, dir := range []string{odd, hostile} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	start := func(h *rig.Host, session, dir, command string) {
		t.Helper()
		if _, err := h.Tmux(t.Context(), "new-session", "-d", "-x", "120", "-y", "40", "-s", session, "-c", dir, command); err != nil {
			t.Fatal(err)
		}
	}
	// A client that does nothing will do where the state is of no matter.
	idle := filepath.Join(here.Home, "claude")
	if err := os.WriteFile(idle, []byte("#!/bin/sh\nsleep 300\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	const client = "claude --dangerously-skip-permissions"
	start(alpha, "claude", alpha.Workdir, client) // in the table
	start(alpha, "second", alpha.Workdir, client) // trusted, so it gets ready
	start(alpha, "third", odd, client)            // not trusted: a dialog
	start(alpha, hostileName, alpha.Workdir, client)
	start(alpha, "shell", alpha.Workdir, "sleep 300") // no client
	start(here, "inside", hostile, idle)
	start(here, "plain", here.Workdir, idle)

	state := func(d fleet.Discovered) string { return fmt.Sprintf("%s/%s", d.Machine, d.State) }
	var found []fleet.Discovered
	rigtest.Eventually(t, 90*time.Second, "the clients to be there", func() (bool, string) {
		found = discoverAll(t, f)
		var all []string
		for _, d := range found {
			all = append(all, state(d)+" "+d.Host.Name+" "+d.Host.Session)
		}
		text := strings.Join(all, "\n")
		return len(found) == 5 && strings.Count(text, "alpha/ready") == 2 && strings.Count(text, "alpha/gate") == 1, text
	})
	rows := 0
	for _, d := range found {
		want := map[string]string{"second": "alpha-alpha-app", "third": "alpha-app-2", "plain": "here-app"}[d.Host.Session]
		switch {
		case want != "":
			if d.Skip != "" || d.Host.Name != want {
				t.Errorf("%q: name %q, skip %q", d.Host.Session, d.Host.Name, d.Skip)
			}
			rows++
		case d.Skip == "" || strings.ContainsAny(d.Skip, "\x1b\n\x07\u202e"):
			t.Errorf("%q: %q", d.Host.Session, d.Skip)
		}
	}
	if rows != 3 {
		t.Errorf("%d rows: %+v", rows, found)
	}

	text := fleet.DiscoveredTOML(found)
	if strings.ContainsAny(text, "\x1b\x07\u202e\t") {
		t.Errorf("it can steer a terminal: %q", text)
	}
	alone, err := fleet.ParseTable("alone", []byte(text))
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	if len(alone.Hosts) != 3 {
		t.Errorf("%d hosts alone:\n%s", len(alone.Hosts), text)
	}
	old, err := os.ReadFile(f.Table().Path)
	if err != nil {
		t.Fatal(err)
	}
	table, err := fleet.ParseTable(f.Table().Path, []byte(string(old)+"\n"+text))
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	pasted := fleet.New(table, fleet.WithTimeout(40*time.Second))
	defer func() { _ = pasted.Close() }()
	// They are rows now, and status says of them what discover did.
	verdicts := map[string]detect.Verdict{}
	for s := range pasted.Status(t.Context()) {
		verdicts[s.Host.Name] = s.Verdict
	}
	for _, d := range found {
		if got := verdicts[d.Host.Name]; d.Skip == "" && (got.State != d.State || got.Rule != d.Rule) {
			t.Errorf("%s: discover says %s (%s), status %s (%s)", d.Host.Name, d.State, d.Rule, got.State, got.Rule)
		}
	}
	if left := discoverAll(t, pasted); len(left) != 2 {
		t.Errorf("left: %+v", left)
	}

	raw, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	var back []map[string]any
	if err := json.Unmarshal(raw, &back); err != nil || len(back) != 5 {
		t.Fatalf("%v: %s", err, raw)
	}
	for _, o := range back {
		for _, key := range []string{"host", "machine", "workdir", "session", "state", "skip", "ssh"} {
			if _, ok := o[key]; !ok {
				t.Errorf("no %s in %v", key, o)
			}
		}
	}

	// Another name of a machine makes no second machine of it.
	twice := *table
	twice.Hosts = append([]fleet.Host{}, f.Table().Hosts...)
	for _, h := range f.Table().Hosts {
		if h.Name == "alpha" {
			h.Name, h.SSH, h.Session = "again", os.Getenv("USER")+"@"+h.SSH, "second"
			twice.Hosts = append(twice.Hosts, h)
		}
	}
	other := fleet.New(&twice, fleet.WithTimeout(40*time.Second))
	defer func() { _ = other.Close() }()
	if again := discoverAll(t, other); len(again) != 4 {
		t.Errorf("under two names: %d: %+v", len(again), again)
	}
}
