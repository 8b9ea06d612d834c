package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// sendFlags are those of send.
type sendFlags struct {
	file    string
	yes     bool
	wait    bool
	timeout time.Duration
	limited bool // --timeout was given
	bare    bool // no -- was given
	fleet.SendOptions
}

func newSend(a *app) *cobra.Command {
	var f sendFlags
	cmd := &cobra.Command{
		Use:   "send <host…|@tag…> <prompt>",
		Short: "Send a prompt to a session that is ready",
		Long: fmt.Sprintf(`Send types a prompt into a host's session and submits it, if and only if the
session is proven ready, nobody's draft is in its input box and nobody is at its
keyboard. It returns when the session's conversation shows the prompt, not when the
work is done: look with status, then read; or have --wait wait for the turn's end
and print its last words.

The prompt is the last argument, a file (--file F), or standard input (- in place
of either). A prompt has the whole power of the account that the session runs as,
and stays in its transcript: put no secret in it. One that begins with / or ! is a
command of the client, with all that it does there; those that would end the client
are refused.

Every sending has an id. Where it is not known what became of a prompt, as when the
machine stopped answering, ask with outcome, or send it again with the same --id: for %d
days, which is as long as a host remembers, that never types it a second time. Of
an older one, read the conversation first.

Sent to several hosts, it asks first; where there is no terminal to ask on, --yes is
needed.`, fleet.JournalDays) + exitStatus(0, 1, 2, 3, 4, 5, 6, 7),
		Args:              args(cobra.MinimumNArgs(1), "send <host…|@tag…> <prompt> (quote a prompt of several words)"),
		ValidArgsFunction: a.hostNames,
		RunE: func(cmd *cobra.Command, given []string) error {
			if err := f.check(cmd.Flags()); err != nil {
				return err
			}
			f.bare = cmd.ArgsLenAtDash() < 0
			return a.runSend(cmd.Context(), given, f)
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		if strings.HasPrefix(err.Error(), "unknown") {
			return usagef("send: %w (a prompt that begins with - goes behind --: claude-fleet send <host> -- <prompt>)", err)
		}
		return usagef("send: %w", err)
	})
	fl := cmd.Flags()
	fl.StringVarP(&f.file, "file", "f", "", "read the prompt from `FILE`; - is standard input")
	fl.StringVar(&f.ID, "id", "", "name this sending; one of that `ID` that may have typed is reported, not repeated")
	fl.BoolVar(&f.Force, "force", false, "interrupt a turn that runs (and nothing else)")
	fl.BoolVar(&f.Queue, "queue", false, "let the client queue it behind a turn that runs")
	fl.BoolVar(&f.ReplaceDraft, "replace-draft", false, "have the client put a draft aside for the prompt, and back")
	fl.BoolVar(&f.wait, "wait", false, "wait until the turn has ended, and print its final text")
	fl.DurationVar(&f.timeout, "timeout", time.Hour, "with --wait: how long to wait for the turn's end, once the prompt was accepted; without it, a host's deadline for a look, by default the table's")
	fl.BoolVarP(&f.yes, "yes", "y", false, "send to several hosts without asking")
	return cmd
}

// check refuses what the flags can't mean together or alone.
func (f *sendFlags) check(set *pflag.FlagSet) error {
	f.limited = set.Changed("timeout")
	switch {
	case f.Force && f.Queue:
		return usagef("send: --force would interrupt the turn that --queue would wait for; give one of them")
	case set.Changed("id") && f.ID == "":
		return usagef("send: --id is empty (is the variable that it comes from set?); nothing was sent")
	case f.limited && f.timeout <= 0:
		return usagef("send: --timeout must be above zero")
	}
	return nil
}

func (a *app) runSend(ctx context.Context, given []string, f sendFlags) error {
	names, prompt, err := a.prompt(ctx, given, f.file)
	if err != nil {
		return err
	}
	if f.limited && !f.wait {
		a.timeout = f.timeout
	}
	return a.with(func(fl *fleet.Fleet) error {
		hosts, err := fl.Select(names...)
		switch {
		case err != nil && f.file != "":
			return usagef("send: %w (with --file every argument is a host); nothing was sent", err)
		case err != nil && len(names) > 1:
			return usagef("send: %w (all but the last argument are hosts: quote a prompt of several words); nothing was sent", err)
		case err != nil:
			return err
		}
		if _, err := fl.Select(prompt); err == nil && f.bare && f.file == "" && given[len(given)-1] == prompt {
			return usagef("send: the last argument is the prompt, and %q names a host: is the prompt missing? (to send it all the same, put -- before it)", prompt)
		}
		if len(hosts) > 1 && !f.yes {
			if err := a.confirm(ctx, hosts); err != nil {
				return err
			}
		}
		return a.sendTo(ctx, fl, hosts, prompt, f)
	})
}

// confirm asks whether a prompt is to go to several hosts.
func (a *app) confirm(ctx context.Context, hosts []fleet.Host) error {
	list := strings.Join(labels(hosts), ", ")
	if a.asker() == nil {
		return usagef("send: that is %d hosts (%s): give --yes to send to all of them; nothing was sent", len(hosts), list)
	}
	return a.agree(ctx, fmt.Sprintf("Send the prompt to %d hosts (%s)?", len(hosts), list), "send", "nothing was sent")
}

// agree asks a person on the terminal, and is nil for yes. undone says what was not
// done without it.
func (a *app) agree(ctx context.Context, question, verb, undone string) error {
	answer, err := a.asker()(ctx, transport.Question{Text: question + " [y/N] ", Echo: true})
	if err != nil {
		return fmt.Errorf("%s: %w; %s", verb, err, undone)
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return &fleet.Error{Class: fleet.ClassRefused, Msg: verb + ": not confirmed; " + undone}
	}
	return nil
}

// sent is what is printed of one host.
type sent struct {
	fleet.Outcome
	// Turn is how the turn ended, where that was waited for.
	Turn *fleet.Turned `json:"turn,omitempty"`
	// Failure is why the wait for the turn's end failed.
	Failure string `json:"failure,omitempty"`
	err     error
}

func (a *app) sendTo(ctx context.Context, fl *fleet.Fleet, hosts []fleet.Host, prompt string, f sendFlags) error {
	results := func(yield func(sent) bool) {
		if f.wait {
			for t := range fl.SendAndWait(ctx, prompt, f.SendOptions, f.timeout, hosts...) {
				r := sent{Outcome: t.Outcome, Turn: t.Turn, err: t.Err}
				if t.Err != nil && t.Outcome.Err == nil {
					r.Failure = t.Err.Error()
				}
				if !yield(r) {
					return
				}
			}
			return
		}
		for out := range fl.SendAll(ctx, prompt, f.SendOptions, hosts...) {
			if !yield(sent{Outcome: out, err: out.Err}) {
				return
			}
		}
	}
	list := collect(ctx, a, fl, hosts, results, func(r sent) string { return r.Host }, func(r sent) { a.printSent(r, len(hosts) > 1) })
	if a.json && len(hosts) == 1 && len(list) == 1 {
		a.printJSON(list[0])
		return shown(list[0].err)
	}
	return conclude(a, list, func(r sent) error { return r.err })
}

// printSent tells of one host: on standard output what went well, on standard
// error what did not. The final text of a turn is printed alone when one host
// was asked.
func (a *app) printSent(r sent, many bool) {
	for _, w := range r.Warnings {
		fmt.Fprintf(a.err, "claude-fleet: %s: %s\n", r.Host, transport.Neutralise(w))
	}
	if r.DroppedControls > 0 {
		fmt.Fprintf(a.err, "claude-fleet: %s: control or invisible characters taken out of the prompt: %d\n", r.Host, r.DroppedControls)
	}
	if r.Turn != nil && r.Turn.Text != "" {
		text := transport.NeutraliseLines(r.Turn.Text)
		if many {
			text = r.Host + ": " + strings.ReplaceAll(text, "\n", "\n  ")
		}
		fmt.Fprintln(a.out, text)
	}
	switch {
	case r.err != nil:
		a.showError(r.err)
	case r.Turn != nil:
	case r.Repeated:
		fmt.Fprintf(a.out, "%s: %s (sent before under this id; nothing was typed now)\n", r.Host, r.Detail)
	case r.Result == fleet.Queued:
		fmt.Fprintf(a.out, "%s: queued; ask what became of it with: claude-fleet outcome %s %s\n", r.Host, r.Host, r.ID)
	default:
		fmt.Fprintf(a.out, "%s: accepted; see its work with: claude-fleet read %s\n", r.Host, r.Host)
	}
}

// prompt reads the prompt from the one place that names it, and gives the hosts.
func (a *app) prompt(ctx context.Context, given []string, file string) (names []string, prompt string, err error) {
	last := len(given) - 1
	switch {
	case file != "":
		names = given
	case last == 0:
		return nil, "", usagef("send: there is no prompt: usage: claude-fleet send <host…|@tag…> <prompt>")
	case given[last] != "-":
		return given[:last], given[last], nil
	default:
		names, file = given[:last], "-"
	}
	if file == "-" && terminalOf(a.in) != nil {
		fmt.Fprintln(a.err, "claude-fleet: type the prompt; Ctrl+D on a line of its own ends it")
	}
	// One byte more than is allowed, so that a longer one is known as such.
	text, err := readInput(ctx, file, a.in, fleet.MaxPrompt+1)
	if ctx.Err() != nil {
		return nil, "", errors.New("send: interrupted while the prompt was read; nothing was sent")
	}
	if err != nil {
		return nil, "", usagef("send: reading the prompt: %w; nothing was sent", err)
	}
	return names, string(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))), nil
}
