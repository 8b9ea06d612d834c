package main

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// grants are what each text of the plugin lets the model do unasked, word for word:
// whoever widens one has to say so here, too. Whoever adds a file adds it to files.
var grants = map[string]string{
	"skills/claude-fleet/SKILL.md": "Bash(claude-fleet map), Bash(claude-fleet map --json), Bash(claude-fleet status), Bash(claude-fleet status --json), Bash(claude-fleet version), Read(/${CLAUDE_PLUGIN_ROOT}/skills/claude-fleet/references/**)",
	"commands/map.md":              `Bash("${CLAUDE_PLUGIN_ROOT}/scripts/look" map)`,
	"commands/status.md":           `Bash("${CLAUDE_PLUGIN_ROOT}/scripts/look" status)`,
}

// pluginFiles are all files of the plugin: the client finds hooks, agents, servers
// and output styles by their places.
var pluginFiles = []string{
	".claude-plugin/plugin.json",
	"commands/map.md",
	"commands/status.md",
	"scripts/look",
	"skills/claude-fleet/SKILL.md",
	"skills/claude-fleet/references/commands.md",
	"skills/claude-fleet/references/recovery.md",
	"skills/claude-fleet/references/sending.md",
}

// frontKeys are what a frontmatter may have. A hook is a program that runs.
var frontKeys = []string{"name", "description", "argument-hint", "allowed-tools", "disallowed-tools", "disable-model-invocation"}

// grantFault says what is wrong with the frontmatter of a text that may let through
// these tools: of YAML it takes lines of a key and a value, and nothing else.
func grantFault(text, want string) string {
	rest, ok := strings.CutPrefix(text, "---\n")
	front, _, closed := strings.Cut(rest, "\n---\n")
	if !ok || !closed {
		return "it has no frontmatter"
	}
	seen := map[string]string{}
	for line := range strings.SplitSeq(front, "\n") {
		key, value, _ := strings.Cut(line, ": ")
		_, twice := seen[key]
		if !slices.Contains(frontKeys, key) || value == "" || twice {
			return "this does not belong into the frontmatter: " + line
		}
		seen[key] = value
	}
	if got := seen["allowed-tools"]; got != want {
		return "allowed-tools is " + got
	}
	return ""
}

// keysFault says which keys an object has that are not wanted, or lacks.
func keysFault(raw []byte, want ...string) string {
	object := map[string]any{}
	if err := json.Unmarshal(raw, &object); err != nil {
		return err.Error()
	}
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(object)); !slices.Equal(got, want) {
		return "it has the keys " + strings.Join(got, " ")
	}
	return ""
}

var manifestKeys = []string{"name", "version", "description", "author", "homepage", "repository", "license", "keywords"}

func TestPluginGrants(t *testing.T) {
	var files []string
	err := filepath.WalkDir(pluginDir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, strings.TrimPrefix(filepath.ToSlash(path), pluginDir+"/"))
		}
		return err
	})
	if slices.Sort(files); err != nil || !slices.Equal(files, pluginFiles) {
		t.Errorf("the plugin has the files %q, %v", files, err)
	}
	read := func(name string) []byte {
		raw, err := os.ReadFile(filepath.Join(pluginDir, name))
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	for name, want := range grants {
		if fault := grantFault(string(read(name)), want); fault != "" {
			t.Errorf("%s: %s", name, fault)
		}
	}
	if fault := keysFault(read(".claude-plugin/plugin.json"), manifestKeys...); fault != "" {
		t.Errorf("plugin.json: %s", fault)
	}
	// The marketplace could add parts to the plugin that it offers.
	var market struct{ Plugins []json.RawMessage }
	if err := json.Unmarshal(read("../.claude-plugin/marketplace.json"), &market); err != nil || len(market.Plugins) != 1 {
		t.Fatalf("marketplace.json: %d plugins, %v", len(market.Plugins), err)
	}
	if fault := keysFault(market.Plugins[0], "name", "source", "description"); fault != "" {
		t.Errorf("marketplace.json: %s", fault)
	}
}

func TestPluginGrantsTwin(t *testing.T) {
	const want = "Bash(claude-fleet map), Bash(claude-fleet status)"
	for _, c := range []struct{ text, fault string }{
		{"---\nname: x\nallowed-tools: " + want + "\n---\nbody\n", ""},
		{"---\nname: x\nallowed-tools: " + want + ", Bash\n---\n", "allowed-tools is"},
		{"---\nname: x\nallowed-tools: Bash\n---\n", "allowed-tools is Bash"},
		{"---\nname: x\nallowed-tools: Bash(claude-fleet map)\n---\n", "allowed-tools is"},
		{"---\nname: x\n---\n", "allowed-tools is"},
		{"---\nallowed-tools:\n  - Bash\n---\n", "does not belong"},
		{"---\nallowed-tools: " + want + "\n  , Bash\n---\n", "does not belong"},
		{"---\nallowed-tools: Bash\nallowed-tools: " + want + "\n---\n", "does not belong"},
		{"---\nallowed-tools: " + want + "\nhooks:\n  Stop: x\n---\n", "does not belong"},
		{"---\nallowed-tools: " + want + "\nhooks: {Stop: x}\n---\n", "does not belong"},
		{"allowed-tools: " + want + "\n", "no frontmatter"},
	} {
		if got := grantFault(c.text, want); (c.fault == "") != (got == "") || !strings.Contains(got, c.fault) {
			t.Errorf("%q: %q, want %q", c.text, got, c.fault)
		}
	}
	for raw, ok := range map[string]bool{`{"name":"x"}`: true, `{"name":"x","hooks":{}}`: false, `{}`: false, `[]`: false} {
		if fault := keysFault([]byte(raw), "name"); (fault == "") != ok {
			t.Errorf("%s: %q", raw, fault)
		}
	}
}
