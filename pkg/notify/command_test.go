package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// asking is the change that a dialog comes up at the host web.
func asking(title string, options ...string) fleet.StatusChange {
	s := fleet.Status{Host: fleet.Host{Name: "web"}, Verdict: detect.Verdict{State: detect.Gate, Dialog: &detect.Dialog{Title: title, Options: options}}}
	c, _ := fleet.Marks{}.Change(s, time.Now())
	return c
}

func TestCommand(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	hostile := asking("$(touch "+dir+"/pwned)", "'; touch "+dir+"/pwned; '", "`touch "+dir+"/pwned`")
	c := Command{Line: `cat > ` + dir + `/got; echo said; echo no >&2`, Output: &out}
	if err := c.Notify(t.Context(), hostile); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "got"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Count(got, []byte("\n")) != 1 {
		t.Errorf("not one line: %q", got)
	}
	var change struct {
		ID     string
		Host   string
		Status struct{ Dialog detect.Dialog }
	}
	if err := json.Unmarshal(got, &change); err != nil || change.Host != "web" || change.ID == "" || change.Status.Dialog.Title != hostile.Status.Dialog.Title {
		t.Errorf("%v: %s", err, got)
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Error("what a host said was run")
	}
	if out.String() != "said\nno\n" {
		t.Errorf("output %q", out.String())
	}
}

func TestCommandFails(t *testing.T) {
	cases := []struct {
		name, line, want string
	}{
		{"a code", "exit 3", "exit status 3"},
		{"no such program", "no-such-program-of-ours", "exit status 127"},
		{"standard input is not read", "exec true", ""},
		{"something stays in the background", "cat >/dev/null; sleep 600 & echo $! > pid", ""},
		{"too slow", "trap '' TERM HUP; sleep 600 & echo $! > pid; wait", "did not end within 1s"},
	}
	for _, c := range cases {
		dir := t.TempDir()
		var out bytes.Buffer
		err := Command{Line: "cd " + dir + "; " + c.line, Timeout: time.Second, Output: &out}.Notify(t.Context(), asking("a", "b"))
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || fleet.ClassOf(err) != fleet.ClassFailed || !strings.HasPrefix(err.Error(), "web: ")) {
			t.Errorf("%s: %v", c.name, err)
		}
		if pid, err := os.ReadFile(filepath.Join(dir, "pid")); err == nil {
			alive := func() bool {
				stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat")
				return err == nil && !strings.Contains(string(stat), ") Z ")
			}
			if c.want == "" { // what its owner has put there stays
				if !alive() {
					t.Errorf("%s: it was ended", c.name)
				}
				kill(t, string(pid))
				continue
			}
			rigtest.Eventually(t, 10*time.Second, "its children are ended", func() (bool, string) { return !alive(), string(pid) })
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (Command{Line: "sleep 600"}).Notify(ctx, asking("a", "b")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func kill(t *testing.T, pid string) {
	t.Helper()
	if err := shell(t.Context(), "kill -9 "+pid).Run(); err != nil {
		t.Error(err)
	}
}
