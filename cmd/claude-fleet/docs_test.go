package main

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/claude-fleet/claude-fleet/internal/docs"
)

// TestDocs holds what the documents say of commands, flags and exit codes to the
// code. `make docs` writes it.
func TestDocs(t *testing.T) {
	root := newRoot(&app{in: strings.NewReader(""), out: io.Discard, err: io.Discard})
	docs.Hold(t, "docs/commands.md", "commands", commandPages(root))
	docs.Hold(t, "docs/commands.md", "global flags", flagTable(root.PersistentFlags()))
	docs.Hold(t, "docs/commands.md", "exit codes", exitTable())
	docs.Hold(t, "README.md", "exit codes", exitTable())
}

// commandPages is a section a command: its call, its help and its flags. Help is
// set in columns for a terminal, and stays so.
func commandPages(root *cobra.Command) string {
	var b strings.Builder
	for _, cmd := range documented(root) {
		name := strings.TrimPrefix(cmd.CommandPath(), root.Name()+" ")
		long, status, _ := strings.Cut(cmd.Long, "\n\nExit status:\n")
		if cmd.Example != "" {
			long = strings.TrimSpace(long) + "\n\nExamples:\n" + cmd.Example
		}
		fmt.Fprintf(&b, "## %s\n\n%s.\n\n```text\nclaude-fleet %s%s\n\n%s\n```\n\n", name, cmd.Short,
			strings.TrimSuffix(name, cmd.Name()), cmd.Use, strings.TrimSpace(long))
		if flags := flagTable(cmd.NonInheritedFlags()); flags != "" {
			b.WriteString(flags + "\n")
		}
		if codes := codesOf(status); codes != "" {
			fmt.Fprintf(&b, "Exit codes: %s.\n\n", codes)
		}
	}
	return b.String()
}

// documented are the commands that a user may call, each before those below it.
func documented(cmd *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			all = append(append(all, c), documented(c)...)
		}
	}
	return all
}

// flagTable is empty for a command without flags of its own.
func flagTable(flags *pflag.FlagSet) string {
	var b strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name, usage := pflag.UnquoteUsage(f)
		call := "--" + f.Name
		if name != "" {
			call += " " + name
		}
		if f.Shorthand != "" {
			call = "-" + f.Shorthand + ", " + call
		}
		if d := f.DefValue; d != "" && d != "false" && d != "0s" && d != "[]" && d != "0" && d != "-1" {
			usage += " (default " + d + ")"
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", call, strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(usage))
	})
	if b.Len() == 0 {
		return ""
	}
	return "| flag | does |\n|---|---|\n" + b.String()
}

func codesOf(status string) string {
	var codes []string
	for line := range strings.Lines(status) {
		if words := strings.Fields(line); len(words) > 1 && len(words[0]) == 1 {
			codes = append(codes, words[0])
		}
	}
	return strings.Join(codes, ", ")
}

func exitTable() string {
	var b strings.Builder
	b.WriteString("| code | means |\n|---|---|\n")
	for _, c := range exitCodes {
		fmt.Fprintf(&b, "| %d | %s |\n", c.code, c.meaning)
	}
	return b.String()
}
