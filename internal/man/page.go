package man

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Edition is what the foot of each page says.
type Edition struct {
	Version string
	Date    string // of the commit, as 2006-01-02: the same commit gives the same pages
}

// Write writes a page for root and for each command that its help lists into
// dir, as claude-fleet.1 and claude-fleet-send.1. It makes dir.
func Write(dir string, root *cobra.Command, e Edition) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("can't make the folder of the manual: %w", err)
	}
	var errs []error
	for name, page := range Pages(root, e) {
		errs = append(errs, os.WriteFile(filepath.Join(dir, name), []byte(page), 0o644))
	}
	return errors.Join(errs...)
}

// Pages are the pages that Write writes, by the names of their files.
func Pages(root *cobra.Command, e Edition) map[string]string {
	pages := map[string]string{root.Name() + ".1": page(root, e)}
	for _, cmd := range commands(root) {
		pages[pageName(cmd)+".1"] = page(cmd, e)
	}
	return pages
}

func commands(root *cobra.Command) []*cobra.Command {
	var list []*cobra.Command
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() {
			list = append(list, cmd)
		}
	}
	return list
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func page(cmd *cobra.Command, e Edition) string {
	root, name := cmd.Root(), pageName(cmd)
	help, status, _ := strings.Cut(cmd.Long, "\n\nExit status:\n")
	var b strings.Builder
	head := func(section string) { b.WriteString(".SH " + section + "\n") }

	fmt.Fprintf(&b, ".TH %s 1 %s %q %q\n", strings.ToUpper(escape(name)), escape(e.Date), root.Name()+" "+e.Version, root.Name())
	// Help is set for a terminal: neither hyphens nor stretched lines.
	b.WriteString(".nh\n.ad l\n")
	head("NAME")
	b.WriteString(escape(name) + " \\- " + escape(strings.ToLower(cmd.Short[:1])+cmd.Short[1:]) + "\n")
	head("SYNOPSIS")
	if cmd == root {
		synopsis(&b, root.Name()+" [flags] <command> [arguments]")
	} else {
		synopsis(&b, root.Name()+" "+cmd.Use+" [flags]")
	}
	head("DESCRIPTION")
	paragraphs(&b, help)
	if cmd == root {
		head("COMMANDS")
		for _, c := range commands(root) {
			item(&b, pageName(c)+"(1)", c.Short)
		}
	}
	head("OPTIONS")
	options(&b, cmd.NonInheritedFlags())
	if cmd != root {
		b.WriteString(".PP\nThe options of every command are in\n.BR " + escape(root.Name()) + " (1).\n")
	}
	head("EXIT STATUS")
	if cmd == root {
		status = wholeStatus(root)
	}
	for line := range strings.Lines(status) {
		if code, meaning, ok := strings.Cut(strings.TrimSpace(line), "  "); ok {
			item(&b, code, meaning)
		}
	}
	if cmd == root {
		head("ENVIRONMENT")
		for _, v := range environment {
			item(&b, v.name, v.text)
		}
		head("FILES")
		for _, f := range files {
			item(&b, f.name, f.text)
		}
	}
	head("EXAMPLES")
	for _, x := range examples[cmd.Name()] {
		b.WriteString(".PP\n" + escape(x.text) + ":\n")
		verbatim(&b, []string{x.line})
	}
	head("SEE ALSO")
	if cmd == root {
		b.WriteString(".BR tmux (1),\n.BR ssh (1),\n.BR ssh_config (5)\n")
	} else {
		b.WriteString(".BR " + escape(root.Name()) + " (1)\n")
	}
	return b.String()
}

// wholeStatus is every line of the tables of exit codes that the commands have.
func wholeStatus(root *cobra.Command) string {
	lines := map[string]string{}
	for _, cmd := range commands(root) {
		_, status, _ := strings.Cut(cmd.Long, "\n\nExit status:\n")
		for line := range strings.Lines(status) {
			if line = strings.TrimSpace(line); line != "" {
				lines[line[:1]] = line
			}
		}
	}
	var b strings.Builder
	for code := range 10 {
		if line, ok := lines[fmt.Sprint(code)]; ok {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func synopsis(b *strings.Builder, text string) {
	name, rest := text, ""
	if i := strings.IndexAny(text, "<["); i > 0 {
		name, rest = text[:i], text[i:]
	}
	b.WriteString("\\fB" + escape(strings.TrimSpace(name)) + "\\fR " + escape(rest) + "\n")
}

func item(b *strings.Builder, term, text string) {
	b.WriteString(".TP\n\\fB" + escape(term) + "\\fR\n" + escape(text) + "\n")
}

func options(b *strings.Builder, flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		term := "--" + f.Name
		if f.Shorthand != "" {
			term = "-" + f.Shorthand + ", " + term
		}
		if value != "" {
			term += " " + value
		}
		if d := f.DefValue; d != "" && d != "false" && d != "0" && d != "0s" && d != "[]" {
			usage += " (default " + strings.Trim(d, "[]") + ")"
		}
		item(b, term, usage)
	})
}
