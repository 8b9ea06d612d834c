package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/setuptoken"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// reauthFlags are those of reauth.
type reauthFlags struct {
	stdin bool
	yes   bool
	fleet.ReauthOptions
}

func newReauth(a *app) *cobra.Command {
	var f reauthFlags
	cmd := &cobra.Command{
		Use:   "reauth <host…|@tag…>",
		Short: "Give hosts a token to log in with, or take it away",
		Long: `Reauth has claude setup-token make a token on this machine, once for all hosts that
are named: it shows the address to sign in at, and asks for the code that is given
there. With --token-stdin the token is read from standard input instead. It is good
for a year, and for inference only.

On each host the token is tried by one short prompt past the session, then written to
~/.config/claude-fleet/env (mode 0600), which the client is given when it is
launched, and neither tmux nor any other shell. A session that reads unauth is restarted with its conversation; one that
runs, that somebody is attached to or that has a draft in its box goes on with the
login that it has until you restart it, or give --restart. At the end the client
there has to name the token as its login, and the session must not read unauth.

A host with a full login is refused, since features that need one reject the token,
and so is one with an API key. --force gives the token all the same; the other login
stays as it is, and comes back with --remove. A token that is removed stays
valid until it is revoked in the settings of the account.

Several hosts are asked about first; where there is no terminal to ask on, --yes is
needed.` + exitStatus(0, 1, 2, 3, 6, 7),
		Args:              args(cobra.MinimumNArgs(1), "reauth <host…|@tag…>"),
		ValidArgsFunction: a.hostNames,
		RunE: func(cmd *cobra.Command, names []string) error {
			switch {
			case f.Remove && f.stdin:
				return usagef("reauth: --remove takes no token")
			case f.Remove && f.Force:
				return usagef("reauth: --force is for giving a token, and --remove takes it away")
			}
			return a.with(func(fl *fleet.Fleet) error { return a.runReauth(cmd.Context(), fl, names, f) })
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.stdin, "token-stdin", false, "read the token from standard input")
	fl.BoolVar(&f.Remove, "remove", false, "take the token away again")
	fl.BoolVar(&f.Force, "force", false, "give it to a host too that has a login of its own")
	fl.BoolVar(&f.Restart, "restart", false, "restart the session whatever it does, and whoever is attached to it")
	fl.BoolVarP(&f.yes, "yes", "y", false, "do it on several hosts without asking")
	return cmd
}

func (a *app) runReauth(ctx context.Context, fl *fleet.Fleet, names []string, f reauthFlags) error {
	hosts, err := fl.Select(names...)
	if err != nil {
		return err
	}
	if len(hosts) > 1 && !f.yes {
		if err := a.confirmReauth(ctx, hosts, f.Remove); err != nil {
			return err
		}
	}
	if !f.Remove {
		if f.Token, err = a.token(ctx, f.stdin); err != nil {
			return err
		}
	}
	name := func(r fleet.ReauthResult) string { return r.Status.Host.Name }
	list := collect(ctx, a, fl, hosts, fl.Reauth(ctx, f.ReauthOptions, hosts...), name, a.printReauth)
	return conclude(a, list, func(r fleet.ReauthResult) error { return r.Err })
}

// confirmReauth asks whether several hosts are meant.
func (a *app) confirmReauth(ctx context.Context, hosts []fleet.Host, remove bool) error {
	what := "Give a token to"
	if remove {
		what = "Take the token from"
	}
	list := strings.Join(labels(hosts), ", ")
	if a.asker() == nil {
		return usagef("reauth: that is %d hosts (%s): give --yes for all of them; nothing was done", len(hosts), list)
	}
	return a.agree(ctx, fmt.Sprintf("%s %d hosts (%s)?", what, len(hosts), list), "reauth", "nothing was done")
}

// maxTokenInput is more than any token has, so that a longer text is known as such.
const maxTokenInput = 64 << 10

// token is the one that is read, or made.
func (a *app) token(ctx context.Context, stdin bool) (fleet.Token, error) {
	if stdin {
		text, err := a.readToken(ctx)
		if err != nil {
			return fleet.Token{}, fmt.Errorf("reauth: reading the token: %w; nothing was done", err)
		}
		return fleet.ParseToken(text)
	}
	ask := a.asker()
	if ask == nil {
		return fleet.Token{}, &fleet.Error{Class: fleet.ClassUsage, Msg: "reauth: there is no terminal to sign in on; nothing was done",
			Hint: "make a token where there is one, by claude setup-token, and give it on standard input with --token-stdin"}
	}
	fmt.Fprintln(a.err, "claude-fleet: claude setup-token is started on this machine")
	t, err := setuptoken.Run(ctx, setuptoken.Options{Ask: func(ctx context.Context, address, trouble string) (string, error) {
		detail := "sign in at this address, which may be open in a browser by now:\n" + address
		if trouble != "" {
			detail = trouble + "\n" + detail
		}
		return ask(ctx, transport.Question{Detail: detail, Text: "Paste the code that you are given:"})
	}})
	if err != nil {
		return fleet.Token{}, fmt.Errorf("reauth: %w; nothing was done on any host", err)
	}
	fmt.Fprintln(a.err, "claude-fleet: the token is made")
	return t, nil
}

// readToken reads standard input, without showing what is typed where that is a
// terminal.
func (a *app) readToken(ctx context.Context) (string, error) {
	if terminalOf(a.in) == nil {
		text, err := readInput(ctx, "-", a.in, maxTokenInput)
		return string(text), err
	}
	ask := a.asker()
	if ask == nil {
		return "", usageError{errors.New("it is not read from a terminal, which would show it: pipe it in")}
	}
	return ask(ctx, transport.Question{Text: "The token:"})
}

func (a *app) printReauth(r fleet.ReauthResult) {
	var all []string
	all = append(all, r.Did...)
	if r.Auth != "" {
		all = append(all, "its login: "+r.Auth)
	}
	if len(r.Did) == 0 && r.Err == nil {
		all = append([]string{"nothing to change"}, all...)
	}
	line := r.Status.Host.Name + ": " + string(r.Status.State)
	if len(all) > 0 {
		line += " (" + strings.Join(all, ", ") + ")"
	}
	fmt.Fprintln(a.out, transport.Neutralise(line))
	for _, n := range r.Notes {
		fmt.Fprintln(a.err, "claude-fleet: "+r.Status.Host.Name+": "+transport.Neutralise(n))
	}
	if r.Err != nil {
		a.showError(r.Err)
	}
}
