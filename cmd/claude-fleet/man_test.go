package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/claude-fleet/claude-fleet/internal/man"
)

var edition = man.Edition{Version: "v1.2.3", Date: "2026-11-30"}

// TestMan renders every page with the real groff, all its warnings on, and looks
// for what a reader wants to find.
func TestMan(t *testing.T) {
	root := newRoot(&app{})
	pages := man.Pages(root, edition)
	for _, cmd := range append(root.Commands(), root) {
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		page, ok := pages[name]
		if !ok {
			t.Errorf("there is no page %s", name)
			continue
		}
		text := render(t, name, page)
		for _, section := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "EXAMPLES", "SEE ALSO"} {
			if !regexp.MustCompile(`(?m)^` + section + `\n +\S`).MatchString(text) {
				t.Errorf("%s has no section %s, or nothing in it (examples are in internal/man/text.go)", name, section)
			}
		}
		// Each word of the help comes through, so nothing was taken for markup.
		help, _, _ := strings.Cut(cmd.Long, "\n\nExit status:")
		page = squeeze(text)
		for _, word := range strings.Fields(help + " " + cmd.Use) {
			if !strings.Contains(page, word) {
				t.Errorf("%s lost %q of its help", name, word)
			}
		}
		for _, line := range man.Examples(cmd.Name()) {
			if !strings.Contains(text, line) {
				t.Errorf("%s does not show the example %s as it is", name, line)
			}
			if err := takes(root, line); err != nil {
				t.Errorf("%s: the example %s: %v", name, line, err)
			}
		}
	}
	if len(pages) != len(root.Commands())+1 {
		t.Errorf("%d pages for %d commands", len(pages), len(root.Commands()))
	}
	main := render(t, "main", pages["claude-fleet.1"])
	for _, want := range []string{"ENVIRONMENT", "CLAUDE_FLEET_CONFIG", "FILES", "~/.config/claude-fleet/fleet.conf", "--config FILE", "claude-fleet-send(1)", "7 +a session needs a person"} {
		if !regexp.MustCompile(`(?s)` + strings.NewReplacer("(", `\(`, ")", `\)`).Replace(want)).MatchString(main) {
			t.Errorf("claude-fleet.1 does not have %s:\n%s", want, main)
		}
	}
}

// TestManTwin has groff complain about a page that is wrong, so that its silence
// about the others means something.
func TestManTwin(t *testing.T) {
	if _, complaints := groff(t, "wrong", man.Pages(newRoot(&app{}), edition)["claude-fleet.1"]+".nosuchrequest\n\\[nosuchglyph]\n"); complaints == "" {
		t.Error("groff says nothing of a request and a glyph that do not exist")
	}
	for _, line := range []string{"claude-fleet frobnicate", "claude-fleet status --no-such-flag", "claude-fleet attach web db"} {
		if takes(newRoot(&app{}), line) == nil {
			t.Errorf("%s passes for a call", line)
		}
	}
}

func render(t *testing.T, name, page string) string {
	t.Helper()
	text, complaints := groff(t, name, page)
	if complaints != "" {
		t.Errorf("%s: groff says:\n%s", name, complaints)
	}
	return text
}

func groff(t *testing.T, name, page string) (text, complaints string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	// -P-cbou: plain text, no bold by overstriking.
	cmd := exec.Command("groff", "-man", "-Tutf8", "-ww", "-rLL=100n", "-P-cbou", file)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("groff: %v\n%s", err, errs.String())
	}
	return out.String(), errs.String()
}

func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }

// takes tells whether the last claude-fleet of a shell's line is a call that the
// tree of commands allows. It runs nothing.
func takes(root *cobra.Command, line string) error {
	_, call, _ := strings.Cut(line, "claude-fleet ")
	call, _, _ = strings.Cut(call, " >> ")
	var words []string
	for _, m := range regexp.MustCompile(`'([^']*)'|(\S+)`).FindAllStringSubmatch(strings.TrimSuffix(call, ")"), -1) {
		words = append(words, m[1]+m[2])
	}
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	if cmd == root {
		return usagef("no command")
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}
