package plugin

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLook holds that the script of the slash commands takes two words and
// nothing else, and never fails: the client would then tell the model nothing.
func TestLook(t *testing.T) {
	bin, prey := t.TempDir(), t.TempDir()
	fake := "#!/bin/sh\necho \"called: $*, colour off: $NO_COLOR\"\necho trouble >&2\n[ \"$2\" != map ] || exit 2\n"
	if err := os.WriteFile(filepath.Join(bin, "claude-fleet"), []byte(fake), 0o700); err != nil {
		t.Fatal(err)
	}
	touch := "touch " + filepath.Join(prey, "ran")
	for _, c := range []struct {
		args []string
		path string
		want string
	}{
		{[]string{"status"}, bin, "called: --batch status, colour off: 1\ntrouble\n"},
		{[]string{"map"}, bin, "called: --batch map, colour off: 1\ntrouble\nclaude-fleet map ended with exit code 2.\n"},
		{[]string{"status"}, prey, "claude-fleet is not installed"},
		{nil, bin, "usage: "},
		{[]string{"up"}, bin, "usage: "},
		{[]string{"status", "web"}, bin, "usage: "},
		{[]string{"status", "--notify", touch}, bin, "usage: "},
		{[]string{"status --config x"}, bin, "usage: "},
		{[]string{"--config=x"}, bin, "usage: "},
		{[]string{"status; " + touch}, bin, "usage: "},
		{[]string{"$(" + touch + ")"}, bin, "usage: "},
		{[]string{"status\nmap"}, bin, "usage: "},
		{[]string{"", "status"}, bin, "usage: "},
	} {
		cmd := exec.Command("../../plugin/scripts/look", c.args...)
		cmd.Env = []string{"PATH=" + c.path}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), c.want) || (c.want == "usage: " && strings.Contains(string(out), "called")) {
			t.Errorf("look %q: %v, %q, want %q", c.args, err, out, c.want)
		}
	}
	if caught, err := os.ReadDir(prey); err != nil || len(caught) != 0 {
		t.Errorf("something ran: %v, %v", caught, err)
	}
}
