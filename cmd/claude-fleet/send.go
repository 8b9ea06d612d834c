package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

func newSend(a *app) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "send <host> <prompt>",
		Short: "Send a prompt to a session that is ready",
		Long: `Send types a prompt into a host's session and submits it, if and only if the
session is proven ready and nobody's draft is in its input box. It returns when
the session's conversation shows the prompt, not when the work is done: look with
status, then read.

The prompt is the second argument, a file (--file F), or standard input (- in
place of either). A prompt has the whole power of the account that the session
runs as, and stays in its transcript: put no secret in it. One that begins with /
or ! is a command of the client, and refused.` + exitStatus(0, 1, 2, 3, 4, 5, 6),
		Args:              args(cobra.RangeArgs(1, 2), "send <host> <prompt> (quote a prompt of several words)"),
		ValidArgsFunction: a.oneHost,
		RunE: func(cmd *cobra.Command, given []string) error {
			prompt, err := a.prompt(cmd.Context(), given[1:], file)
			if err != nil {
				return err
			}
			return a.with(func(f *fleet.Fleet) error {
				out, err := f.Send(cmd.Context(), given[0], prompt)
				if a.json {
					a.printJSON(out)
					return shown(err)
				}
				if err != nil {
					return err
				}
				if out.DroppedControls > 0 {
					fmt.Fprintf(a.err, "claude-fleet: %s: control characters taken out of the prompt: %d\n", out.Host, out.DroppedControls)
				}
				fmt.Fprintf(a.out, "%s: accepted; see its work with: claude-fleet read %s\n", out.Host, out.Host)
				return nil
			})
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return usagef("send: %w (a prompt that begins with - goes behind --: claude-fleet send <host> -- <prompt>)", err)
	})
	cmd.Flags().StringVarP(&file, "file", "f", "", "read the prompt from `FILE`; - is standard input")
	return cmd
}

// prompt reads the prompt from the one place that names it.
func (a *app) prompt(ctx context.Context, given []string, file string) (string, error) {
	switch {
	case len(given) > 0 && file != "":
		return "", usagef("send: give the prompt either as an argument or with --file")
	case len(given) == 0 && file == "":
		return "", usagef("send: there is no prompt: usage: claude-fleet send <host> <prompt>")
	case len(given) > 0 && given[0] != "-":
		return given[0], nil
	}
	if file == "" {
		file = "-"
	}
	// One byte more than is allowed, so that a longer one is known as such.
	text, err := readInput(ctx, file, a.in, fleet.MaxPrompt+1)
	if ctx.Err() != nil {
		return "", errors.New("send: interrupted while the prompt was read; nothing was sent")
	}
	if err != nil {
		return "", usagef("send: reading the prompt: %w; nothing was sent", err)
	}
	return string(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))), nil
}
