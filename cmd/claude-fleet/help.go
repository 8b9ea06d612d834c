package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newHelp is cobra's help command but for a topic that there is none of, which is a
// usage error here and a success there.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Show the help of a command",
		Long:  "Help shows what a command does, and its flags. Without a command it shows all commands." + exitStatus(0, 2),
		ValidArgsFunction: func(cmd *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, c := range cmd.Root().Commands() {
				if len(given) == 0 && c.IsAvailableCommand() {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if len(args) > 0 && (len(rest) > 0 || about == cmd.Root()) {
				return unknownCommand(cmd.Root(), args[0])
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// unknownCommand says which commands may have been meant.
func unknownCommand(root *cobra.Command, name string) error {
	near := ""
	if names := root.SuggestionsFor(name); len(names) > 0 {
		near = "; did you mean " + strings.Join(names, " or ") + "?"
	}
	return usagef("unknown command %q%s", name, near)
}

// flagError says more than pflag does of a flag that can't be read.
func flagError(cmd *cobra.Command, err error) error {
	see := "see: claude-fleet help"
	if cmd.HasParent() {
		see += " " + cmd.Name()
	}
	var value *pflag.InvalidValueError
	if errors.As(err, &value) && value.GetFlag().Value.Type() == "duration" {
		return usagef("--%s %s: write a time with its unit, such as 5s, 10m or 1h", value.GetFlag().Name, value.GetValue())
	}
	return usageError{fmt.Errorf("%w; %s", err, see)}
}
