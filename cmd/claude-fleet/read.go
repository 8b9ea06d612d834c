package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

func newRead(a *app) *cobra.Command {
	var o fleet.ReadOptions
	cmd := &cobra.Command{
		Use:   "read <host> [lines]",
		Short: "Show what was said last in a session",
		Long: fmt.Sprintf(`Read prints the last lines (%d unless told) of a session's conversation, newest
last: who said what, and each tool in one line. With --turns N it prints the last
N turns, each from a person's prompt on. It reads the client's own record, since
most of it is on no screen; a session that has none yet shows its screen. Of a
session that is crashed or down it shows the last conversation.

  user:        a prompt, or a command of the client (/model) or the shell (!ls)
  assistant:   what the model said
  tool:        a tool that it called; tool error: one that failed or was not allowed
  shell:       what a ! command printed
  client:      what the client said itself: interrupted, compacted, taken back
  error:       a refusal of the service

Further lines of a text are indented. With --screen it prints the rows of the
session's pane as they are now, without colours; a number of lines then takes the
last ones.

A program that reads --json gets in turns: who, text, tool, at, id (of the record)
and turn, which is 1 for the newest; and in lines what is printed otherwise.`, fleet.DefaultReadLines) + exitStatus(0, 1, 2, 3, 6),
		Args:              args(cobra.RangeArgs(1, 2), "read <host> [lines]"),
		ValidArgsFunction: a.oneHost,
		RunE: func(cmd *cobra.Command, given []string) error {
			if len(given) == 2 {
				n, err := strconv.Atoi(given[1])
				if err != nil || n <= 0 {
					return usagef("read: %q is no number of lines (read takes one host)", given[1])
				}
				o.Lines = n
			}
			switch turns := cmd.Flags().Changed("turns"); {
			case turns && o.Turns <= 0:
				return usagef("read: --turns takes a number above zero")
			case turns && o.Lines > 0:
				return usagef("read: give either a number of lines or --turns")
			case turns && o.Screen:
				return usagef("read: --screen has no turns; give a number of lines with it")
			}
			return a.with(func(f *fleet.Fleet) error {
				r, err := f.Read(cmd.Context(), given[0], o)
				if err != nil {
					return err
				}
				if a.json {
					a.printJSON(r)
					return nil
				}
				if r.Source == "screen" && !o.Screen {
					fmt.Fprintf(a.err, "claude-fleet: %s: there is no conversation yet; this is its screen\n", r.Host)
				}
				for _, line := range r.Lines {
					if r.Source == "screen" { // rows of a pane that may be wider
						line = a.clip(line)
					}
					fmt.Fprintln(a.out, line)
				}
				return nil
			})
		},
	}
	cmd.Flags().IntVar(&o.Turns, "turns", 0, "show the last `N` turns")
	cmd.Flags().BoolVar(&o.Screen, "screen", false, "show the pane's rows in place of the conversation")
	return cmd
}
