package main

import (
	"embed"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// completionScripts are ours and not cobra's, since those evaluate what stands on
// the command line at TAB, a $(…) in a prompt too, and bash's wants a package that
// not every machine has.
//
//go:embed completion/bash completion/zsh completion/fish
var completionScripts embed.FS

const completionUse = "completion <bash|zsh|fish>"

func newCompletion(a *app) *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	return &cobra.Command{
		Use:   completionUse,
		Short: "Print a completion script for a shell",
		Long: `Completion prints a script that has a shell complete commands, flags, the hosts and
tags of the fleet table, and the values of flags. Completing reads the table and
contacts no host.

  bash  (4 or newer) in ~/.bashrc:    source <(claude-fleet completion bash)
  zsh   in ~/.zshrc, behind compinit:  source <(claude-fleet completion zsh)
  fish  once:  claude-fleet completion fish > ~/.config/fish/completions/claude-fleet.fish` + exitStatus(0, 2),
		Args:      args(cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs), completionUse),
		ValidArgs: shells,
		RunE: func(_ *cobra.Command, given []string) error {
			script, err := completionScripts.ReadFile("completion/" + given[0])
			if err == nil {
				_, err = fmt.Fprintf(a.out, "%s", script)
			}
			return err
		},
	}
}

// completeFlags has flags whose value is called FILE complete to names of files.
func completeFlags(root *cobra.Command) {
	file := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveDefault
	}
	for _, cmd := range append(root.Commands(), root) {
		complete := func(f *pflag.Flag) {
			if name, _ := pflag.UnquoteUsage(f); name == "FILE" {
				_ = cmd.RegisterFlagCompletionFunc(f.Name, file) // fails where the command has a function of its own
			}
		}
		cmd.Flags().VisitAll(complete)
		cmd.PersistentFlags().VisitAll(complete)
	}
}

// hostNames completes host labels and tags, each once. It reads the table and
// contacts no host. A table that can't be read completes to nothing: a message
// would fall into the line that is being typed.
func (a *app) hostNames(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
	table, err := fleet.LoadTable(a.config)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	seen := map[string]bool{}
	for _, g := range given {
		seen[g] = true
	}
	names := tableLabels(table, seen)
	for _, h := range table.Hosts {
		for _, t := range h.Tags {
			if !seen["@"+t] {
				seen["@"+t] = true
				names = append(names, "@"+t)
			}
		}
	}
	if !seen["@all"] {
		names = append(names, "@all\tevery host")
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// oneHost completes a label where only one is taken.
func (a *app) oneHost(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(given) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	table, err := fleet.LoadTable(a.config)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return tableLabels(table, nil), cobra.ShellCompDirectiveNoFileComp
}

// tableLabels are the hosts that were not seen, with their projects as descriptions.
func tableLabels(table *fleet.Table, seen map[string]bool) []string {
	var names []string
	for _, h := range table.Hosts {
		if !seen[h.Name] {
			// A project is anybody's text, and a shell prints it.
			names = append(names, cobra.CompletionWithDesc(h.Name, transport.Neutralise(h.Project)))
		}
	}
	return names
}
