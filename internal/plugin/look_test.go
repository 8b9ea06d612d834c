package plugin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// lookCalls is what claude-fleet is called with by a command of the plugin.
var lookCalls = map[string][]string{"status": {"--batch status"}, "map": {"--batch map"}}

func (d *desk) testStatus(t *testing.T) {
	h := d.turn(t, nil, "/fleet:status and quickly")
	h.wants(t, lookCalls["status"], "HOST ", "here-app ", "alpha-app ", " down ", "beta-app ", " unreachable ", "(connect)", d.sly, "The person added: and quickly")
}

// testMap also sees that what the plugin has is loaded: the client tells so at the
// beginning of a turn.
func (d *desk) testMap(t *testing.T) {
	out, err := d.run(t, nil, "-p", "/fleet:map", "--output-format", "stream-json", "--verbose")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var init struct {
		Commands []string `json:"slash_commands"`
		Skills   []string `json:"skills"`
	}
	for line := range strings.Lines(out) {
		if strings.Contains(line, `"subtype":"init"`) {
			if err := json.Unmarshal([]byte(line), &init); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{"fleet:map", "fleet:status", "fleet:claude-fleet"} {
		if !slices.Contains(init.Commands, name) {
			t.Errorf("%s is not among what was loaded: %q", name, init.Commands)
		}
	}
	if !slices.Contains(init.Skills, "fleet:claude-fleet") {
		t.Errorf("the skill is not among the skills: %q", init.Skills)
	}
	prompts := d.r.API().Prompts()
	if newest := prompts[len(prompts)-1]; !strings.Contains(newest, "TRANSPORT") || !strings.Contains(newest, "beta-app") {
		t.Errorf("the map did not reach the model:\n%s", newest)
	}
}

// testSkill has the model call the skill, read on in it, and then run what the
// skill allows, and what it does not. Whether the skill may be used at all the
// client asks a person, since it brings rules; here the answer is given beforehand.
func (d *desk) testSkill(t *testing.T) {
	base := filepath.Join(d.mine, "plugin/skills/claude-fleet")
	args, err := json.Marshal(map[string]string{"skill": "fleet:claude-fleet", "args": strings.Join([]string{
		"",
		"TOOL claude-fleet status",
		"THEN TOOL claude-fleet status --config " + d.evil(t, filepath.Join(d.prey, "config")),
		"THEN TOOL claude-fleet send alpha hello",
		"THEN TOOL claude-fleet status; touch " + filepath.Join(d.prey, "skill"),
		"THEN TOOL claude-fleet map",
		`THEN CALL Read {"file_path":"` + base + `/references/sending.md"}`,
		`THEN CALL Read {"file_path":"/etc/passwd"}`,
	}, "\n")})
	if err != nil {
		t.Fatal(err)
	}
	h := d.turn(t, nil, "CALL Skill "+string(args), "--allowedTools", "Skill(fleet:claude-fleet)")
	h.wants(t, []string{"status", "map"}, "Default-deny", "Base directory for this skill: "+base)
	wants := []string{" unreachable ", "approval", "approval", "approval", "TRANSPORT", "the conversation holds the prompt, once", "requested permissions"}
	if len(h.results) < len(wants) {
		t.Fatalf("results of tools: %q", h.results)
	}
	for i, got := range h.results[len(h.results)-len(wants):] {
		if !strings.Contains(got, wants[i]) {
			t.Errorf("result %d is %q, not one with %q", i+1, got, wants[i])
		}
	}
	d.untouched(t)
}

// evil writes a table that makes a file when its host is looked at.
func (d *desk) evil(t *testing.T, file string) string {
	t.Helper()
	dir := t.TempDir()
	ssh := filepath.Join(dir, "ssh_config")
	table := filepath.Join(dir, "fleet.conf")
	for path, text := range map[string]string{
		ssh:   "Host trap\n\tProxyCommand touch " + file + "\n",
		table: "[defaults]\nssh_config = \"" + ssh + "\"\n[hosts.trap]\nworkdir = \"~/x\"\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return table
}

func (d *desk) testNoBinary(t *testing.T) {
	h := d.turn(t, []string{d.path(t.TempDir())}, "/fleet:status")
	h.wants(t, []string{""}, "is not installed, or not on the PATH", "go install github.com/claude-fleet/claude-fleet/cmd/claude-fleet@latest")
}
