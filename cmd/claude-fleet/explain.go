package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

func newExplain(a *app) *cobra.Command {
	var saved savedScreen
	cmd := &cobra.Command{
		Use:   "explain <host>",
		Short: "Tell how a session's state was come to",
		Long: `Explain looks at one host and tells its state, the rule that gave it, the rules
that were tried before it, and the rows of the screen with the part that each
belongs to. It types nothing.

With --screen it looks at a saved screen instead, and at no host:

  tmux capture-pane -p -e -t =claude: > screen.ansi
  tmux display-message -p -t =claude: '#{alternate_on} #{pane_title}'
  claude-fleet explain --screen screen.ansi --title '✳ Claude Code'

The screen is one witness of several, so what it reads as on a host can be
lower: there the cursor, the client's process, its session file and the
conversation are heard too. A reset time without a date needs --now, one without a zone --zone.` + exitStatus(0, 2, 6),
		Args: func(_ *cobra.Command, given []string) error {
			if (len(given) == 1) == saved.given() || len(given) > 1 {
				return usagef("explain: usage: claude-fleet explain <host>, or claude-fleet explain --screen FILE")
			}
			return saved.check()
		},
		ValidArgsFunction: a.oneHost,
		RunE: func(cmd *cobra.Command, names []string) error {
			if saved.given() {
				return a.explainSaved(cmd.Context(), saved)
			}
			return a.with(func(f *fleet.Fleet) error {
				x, err := f.Explain(cmd.Context(), names[0])
				if err != nil {
					return err
				}
				a.explain(x, x.String())
				return nil
			})
		},
	}
	saved.flags(cmd)
	return cmd
}

func (a *app) explainSaved(ctx context.Context, saved savedScreen) error {
	e, err := saved.evidence(ctx, a.in)
	if err != nil {
		return err
	}
	if !saved.escapes(e) {
		fmt.Fprintln(a.err, "claude-fleet: the file has no escapes, so that hints can't be told from drafts; capture with `tmux capture-pane -p -e`")
	}
	x := detect.Explain(e)
	a.explain(x, x.Words(saved.name()))
	return nil
}

func (a *app) explain(x any, words string) {
	if a.json {
		a.printJSON(x)
		return
	}
	// Indented are the rows of the screen and of the rules: a row that is wrapped
	// would be taken for two. Sentences are the terminal's to wrap.
	for line := range strings.Lines(words) {
		line = transport.Neutralise(strings.TrimSuffix(line, "\n"))
		if strings.HasPrefix(line, " ") {
			line = a.clip(line)
		}
		fmt.Fprintln(a.out, line)
	}
}
