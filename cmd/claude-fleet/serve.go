package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/relay"
)

// stopLimit is how long serve --stop waits for the calls that run, unless --timeout
// says otherwise.
const stopLimit = time.Minute

type serveFlags struct {
	idle         time.Duration
	status, stop bool
}

func newServe(a *app) *cobra.Command {
	var o serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Hold the SSH connections for other runs",
		Long: `Serve holds SSH connections, so that repeated short runs of claude-fleet (cron, a
statusline, a skill) don't log in each time. It runs until it is ended, or until
nobody has called for --idle. Nothing starts it by itself. Other commands use it
where it runs and is of the same version, and go direct where not, with the same
outcome; attach and doctor always go direct. With CLAUDE_FLEET_SERVE=off in the
environment a command does not use it.

It listens at claude-fleet/serve.sock in $XDG_RUNTIME_DIR, else in $XDG_STATE_HOME or
~/.local/state, for processes of the same account alone. Each command has hosts reached
by its own SSH agent and environment, and questions are put on its own terminal. A
connection is made anew when ssh_config or known_hosts has changed so that it would be
another one, and is asked whether it lives when this machine has slept.

With --status it tells of the one that runs, and gives 1 where none does. With --stop
that takes no more calls and ends when those that run are over.` + exitStatus(0, 1, 2, 3),
		Args: args(cobra.NoArgs, "serve [--idle D | --status | --stop]"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.status && o.stop:
				return usagef("serve: --status and --stop are two calls")
			case (o.status || o.stop) && cmd.Flags().Changed("idle"):
				return usagef("serve: --idle is for the call that starts it")
			case o.idle < 0:
				return usagef("serve: --idle must not be below zero")
			case a.timeoutSet() && a.timeout <= 0:
				return usagef("--timeout must be above zero")
			case o.status:
				return a.serveStatus(cmd.Context())
			case o.stop:
				return a.serveStop(cmd.Context())
			}
			return a.serve(cmd.Context(), o.idle)
		},
	}
	cmd.Flags().DurationVar(&o.idle, "idle", relay.DefaultIdle, "end after so long without a call; 0 is never")
	cmd.Flags().BoolVar(&o.status, "status", false, "tell of the one that runs")
	cmd.Flags().BoolVar(&o.stop, "stop", false, "end the one that runs")
	return cmd
}

// serve is the server, in the foreground.
func (a *app) serve(ctx context.Context, idle time.Duration) error {
	o := relay.Options{Version: buildVersion(), Idle: idle}
	if a.verbose {
		o.Say = func(text string) { fmt.Fprintln(a.err, "claude-fleet: "+text) }
	}
	s, err := relay.Listen(o, relay.Sockets()...)
	switch {
	case errors.Is(err, relay.ErrRunning):
		return &fleet.Error{Class: fleet.ClassRefused, Msg: err.Error(), Hint: "claude-fleet serve --status tells of it, and --stop ends it; one that answers neither has to be killed", Err: err}
	case errors.Is(err, relay.ErrNoRuntime):
		return &fleet.Error{Class: fleet.ClassFailed, Msg: "can't listen: " + err.Error(), Hint: "the system makes that folder when you log in: log in, or (for an account without logins) have it made by loginctl enable-linger; or unset XDG_RUNTIME_DIR, and the socket is in $XDG_STATE_HOME or ~/.local/state", Err: err}
	case err != nil:
		return &fleet.Error{Class: fleet.ClassFailed, Msg: "can't listen: " + err.Error(), Hint: "the socket's folder has to be yours alone (chmod 700), its path free and short; or set XDG_RUNTIME_DIR to another folder of your own", Err: err}
	}
	fmt.Fprintf(a.err, "claude-fleet: serving at %s\n", s.Socket())
	fmt.Fprintf(a.err, "claude-fleet: ended: %s\n", s.Serve(ctx))
	return nil
}

func (a *app) serveStatus(ctx context.Context) error {
	i, err := relay.Inquire(ctx, relay.Sockets()...)
	if err != nil {
		return serveError(err)
	}
	if a.json {
		a.printJSON(i)
		return nil
	}
	ending := ""
	if i.Ending {
		ending = ", and takes no more calls"
	}
	fmt.Fprintf(a.out, "running for %s%s\n", time.Since(i.Since).Round(time.Second), ending)
	fmt.Fprintf(a.out, "version      %s\nprocess      %d\nsocket       %s\n", i.Version, i.PID, i.Socket)
	fmt.Fprintf(a.out, "calls        %d so far, %d under way\n", i.Calls, i.Callers)
	if i.Idle != nil {
		fmt.Fprintf(a.out, "ends         %s\n", afterIdle(*i.Idle))
	}
	fmt.Fprintf(a.out, "looks kept   %d\n", i.Kept)
	fmt.Fprintf(a.out, "connections  %d\n", len(i.Connections))
	for _, c := range i.Connections {
		fmt.Fprintln(a.out, a.clip(fmt.Sprintf("  %s, for %s", c.Destination, time.Since(c.Since).Round(time.Second))))
	}
	return nil
}

// afterIdle says after how long without a call a server ends.
func afterIdle(seconds float64) string {
	if seconds <= 0 {
		return "not by itself when nobody calls"
	}
	return "when nobody has called for " + (time.Duration(seconds * float64(time.Second))).Round(time.Millisecond).String()
}

func (a *app) serveStop(ctx context.Context) error {
	limit := stopLimit
	if a.timeoutSet() {
		limit = a.timeout
	}
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	i, err := relay.Stop(within, relay.Sockets()...)
	switch {
	case errors.Is(err, relay.ErrNoServer):
		fmt.Fprintln(a.err, "claude-fleet: no server runs")
		return nil
	case ctx.Err() != nil:
		return errInterrupted
	case errors.Is(err, context.DeadlineExceeded):
		return &fleet.Error{
			Class: fleet.ClassFailed, Msg: "it takes no more calls, and has not ended yet",
			Hint: fmt.Sprintf("it ends when its calls are over; kill %d breaks them off", i.PID), Err: err,
		}
	case err != nil:
		return serveError(err)
	}
	if a.json {
		a.printJSON(i)
	}
	return nil
}

func serveError(err error) error {
	msg, hint := strings.TrimSuffix(err.Error(), "\n"), ""
	switch {
	case errors.Is(err, relay.ErrNoServer):
		msg += " at " + strings.Join(relay.Sockets(), " or ")
		hint = "claude-fleet serve starts one"
	case errors.Is(err, os.ErrDeadlineExceeded):
		msg, hint = "the server does not answer: "+msg, "end its process, which holds that socket open; it has to be started anew"
	}
	return &fleet.Error{Class: fleet.ClassFailed, Msg: msg, Hint: hint, Err: err}
}
