package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const pluginDir = "../../plugin"

// TestPluginNames holds all that the plugin's texts name to the command line:
// commands, their flags and arguments, exit codes, states, results and fields.
func TestPluginNames(t *testing.T) {
	files := map[string]string{}
	for _, pattern := range []string{"skills/*/SKILL.md", "skills/*/references/*.md", "commands/*.md"} {
		found, err := filepath.Glob(filepath.Join(pluginDir, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", pattern, found, err)
		}
		for _, path := range found {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files[strings.TrimPrefix(path, pluginDir+"/")] = string(text)
		}
	}
	named := map[string]bool{}
	for file, text := range files {
		for _, complaint := range faults(file, text, named) {
			t.Error(complaint)
		}
	}
	for _, c := range newRoot(&app{}).Commands() {
		if !c.Hidden && !named[c.Name()] {
			t.Errorf("the plugin names no %s: say in references/commands.md what it does", c.Name())
		}
	}
}

// TestPluginNamesTwin shows what is found: one wrong word each.
func TestPluginNamesTwin(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"`claude-fleet status --check`, `send --id`, `up HOST`", ""},
		{"`claude-fleet statsu`", "no command"},
		{"`claude-fleet status --chekc`", "unknown flag"},
		{"`claude-fleet status --queue`", "unknown flag"},
		{"```\nclaude-fleet send web --flie x\n```", "unknown flag"},
		{"`claude-fleet outcome web`", "usage"},
		{"`snd --id`", "no command"},
		{"`wiat HOST`", "no command"},
		{"`send HOST` and `--replace-drafts`", "no flag"},
		{"`up HOST` and `--replace-draft`", "no flag"},
		{"| `claude-fleet send web --file F` | `--quue` |", "no flag"},
		{"ends with exit code 8", "exit code 8"},
		{"| code | means |\n|---|---|\n| 5 | typed |", "exit code"},
		{"| state | means |\n|---|---|\n| raedy | x |", "states"},
		{"`claude-fleet wait web --for raedy`", "no state"},
		{"| result in `--json` | of `send` |\n|---|---|\n| `acepted` | x |", "results"},
		{"`status` has `reset_att`", "no field"},
		{"---\nallowed-tools: Bash(git status), Read(/etc/**)\n---\n", "more than look"},
		{"---\nallowed-tools: Bash(claude-fleet status)\n---\n", ""},
		{"---\nallowed-tools: Bash(claude-fleet status:*)\n---\n", "star"},
		{"---\nallowed-tools: Bash(claude-fleet up)\n---\n", "does more than look"},
		{"---\nallowed-tools: Bash(claude-fleet status --notify x)\n---\n", "does more than look"},
	} {
		got := strings.Join(faults("x.md", c.text, map[string]bool{}), "\n")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// TestPluginCommands holds that a slash command runs the one look of its name, that
// its rule allows this alone, and that the model has no tool behind it.
func TestPluginCommands(t *testing.T) {
	block := regexp.MustCompile("!`[^`]*`|```!")
	for _, name := range []string{"map", "status"} {
		raw, err := os.ReadFile(filepath.Join(pluginDir, "commands", name+".md"))
		if err != nil {
			t.Fatal(err)
		}
		text, look := string(raw), `"${CLAUDE_PLUGIN_ROOT}/scripts/look" `+name
		if got := block.FindAllString(text, -1); len(got) != 1 || got[0] != "!`"+look+"`" {
			t.Errorf("%s runs %q", name, got)
		}
		for _, line := range []string{"allowed-tools: Bash(" + look + ")", `disallowed-tools: "*"`, "disable-model-invocation: true"} {
			if !strings.Contains(text, "\n"+line+"\n") {
				t.Errorf("%s lacks the line %s", name, line)
			}
		}
	}
	files, err := os.ReadDir(filepath.Join(pluginDir, "commands"))
	if err != nil || len(files) != 2 {
		t.Errorf("commands: %v, %v", files, err)
	}
	info, err := os.Stat(filepath.Join(pluginDir, "scripts", "look"))
	if err != nil || info.Mode()&0o111 == 0 {
		t.Errorf("scripts/look can't be run: %v", err)
	}
}

// TestPluginManifest holds the two files that the client installs by to each other.
func TestPluginManifest(t *testing.T) {
	var plugin, market struct {
		Name, Description string
		Plugins           []struct{ Name, Source, Description string }
	}
	for path, v := range map[string]any{pluginDir + "/.claude-plugin/plugin.json": &plugin, "../../.claude-plugin/marketplace.json": &market} {
		raw, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(raw, v)
		}
		if err != nil {
			t.Fatal(path, err)
		}
	}
	if len(market.Plugins) != 1 || market.Plugins[0].Name != plugin.Name || market.Plugins[0].Source != "./plugin" || market.Plugins[0].Description != plugin.Description {
		t.Errorf("the marketplace offers %+v, the plugin is %+v", market.Plugins, plugin)
	}
}
