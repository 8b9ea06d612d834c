package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// app is what the commands share: the global flags and the streams.
type app struct {
	config  string
	json    bool
	timeout time.Duration
	colour  colourMode
	verbose bool
	batch   bool

	timeoutSet func() bool // --timeout was given

	in       io.Reader
	out, err io.Writer
	turn     sync.Mutex // held by whoever writes, or waits for an answer
	line     liveLine   // of the progress; turn guards it

	// Set by the live table, whose verbs run over the fleet that it looks at. aside
	// has what is for the terminal while the table is on it; turn guards it.
	fleet    *fleet.Fleet
	watching atomic.Pointer[watching]
	aside    func(text string)
}

// putAside has take called with what is written to the terminal from now on; nil
// ends that.
func (a *app) putAside(take func(text string)) {
	a.turn.Lock()
	defer a.turn.Unlock()
	a.aside = take
}

// turnWriter writes when it is its turn: nothing is printed over an open
// question or the live table, nor behind the line that tells of progress.
type turnWriter struct {
	io.Writer
	a *app
}

func (w turnWriter) Write(p []byte) (int, error) {
	w.a.turn.Lock()
	defer w.a.turn.Unlock()
	if w.a.aside != nil && terminalOf(w.Writer) != nil {
		w.a.aside(string(p))
		return len(p), nil
	}
	w.a.line.wipe()
	n, err := w.Writer.Write(p)
	w.a.line.wrote(w.Writer, p[:n])
	return n, err
}

// terminalOf is the terminal that a stream of the app is, or nil.
func terminalOf(stream any) *os.File {
	if w, ok := stream.(turnWriter); ok {
		stream = w.Writer
	}
	if f, ok := stream.(*os.File); ok && isTerminal(f) {
		return f
	}
	return nil
}

// execute runs the command line and returns the exit code.
func execute(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	a := &app{in: in, colour: colourAuto}
	a.out, a.err = turnWriter{out, a}, turnWriter{errOut, a}
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	if err != nil && !errors.Is(err, errShown) {
		a.showError(err)
	}
	return codeOf(err)
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "claude-fleet",
		Short: "Drive the claude session on every host of a fleet",
		Long: `claude-fleet drives one claude session on each host of a fleet: [ssh ->] tmux -> claude.

A person and a program use it alike, and a person can attach to any session at
any moment. It types into a session only when that is proven ready.

Hosts come from a fleet.conf: --config, else $CLAUDE_FLEET_CONFIG, else
claude-fleet/fleet.conf in $XDG_CONFIG_HOME or ~/.config, else one local host for
the current directory. Where a command takes several hosts, @tag names all hosts
with that tag, and @all all of them.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return unknownCommand(cmd, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SuggestionsMinimumDistance = 2
	root.Version = buildVersion()
	root.SetVersionTemplate(versionLine() + "\n")
	a.timeoutSet = func() bool { return root.PersistentFlags().Changed("timeout") }
	p := root.PersistentFlags()
	p.StringVar(&a.config, "config", "", "read the fleet table from `FILE`")
	p.BoolVar(&a.json, "json", false, "print JSON")
	p.DurationVar(&a.timeout, "timeout", 0, "a host's deadline, such as 5s, in place of the table's")
	p.Var(&a.colour, "color", "colour the output: auto (on a terminal, unless NO_COLOR is set or TERM is dumb), always or never")
	_ = root.RegisterFlagCompletionFunc("color", completeColour)
	p.BoolVar(&a.batch, "batch", false, "ask nothing, not even on a terminal")
	p.BoolVarP(&a.verbose, "verbose", "v", false, "say more: the rule behind each state, and the whole chain of an error")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newMap(a), newStatus(a), newExplain(a), newRead(a), newWait(a), newSend(a), newOutcome(a), newAnswer(a), newInterrupt(a), newUp(a), newRestart(a), newReauth(a), newInit(a), newAttach(a), newDoctor(a), newDiscover(a), newServe(a), newCompletion(a), newVersion(a))
	root.SetHelpCommand(newHelp())
	completeFlags(root)
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	return root
}

// args turns cobra's complaint about a number of arguments into a usage error.
func args(check cobra.PositionalArgs, usage string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usagef("%s: usage: claude-fleet %s", cmd.Name(), usage)
		}
		return nil
	}
}

// load reads the fleet table under the global flags.
func (a *app) load() (*fleet.Fleet, error) {
	if a.timeoutSet() && a.timeout <= 0 {
		return nil, usagef("--timeout must be above zero")
	}
	options := a.options()
	switch v := os.Getenv("CLAUDE_FLEET_SERVE"); v {
	case "":
		options = append(options, fleet.WithServer(buildVersion()))
	case "off":
	default:
		return nil, usagef("CLAUDE_FLEET_SERVE is %q, and may be off or not set", v)
	}
	f, err := fleet.Load(a.config, options...)
	if err == nil && f.Table().Path == "" {
		// Said by every command: it acts on the directory that it is called in.
		fmt.Fprintln(a.err, "claude-fleet: there is no fleet.conf; the fleet is one local host for the current directory")
	}
	return f, err
}

// options are those of every fleet, by the global flags.
func (a *app) options() []fleet.Option {
	return []fleet.Option{fleet.WithTimeout(a.timeout), fleet.WithAsk(a.asker()), fleet.WithTerminalFree(a.terminalFree), fleet.WithNotices(func(n fleet.Notice) {
		if !n.Minor || a.verbose {
			fmt.Fprintf(a.err, "claude-fleet: %s: %s\n", n.Machine, n.Text)
		}
	})}
}

// with loads the fleet, runs a command over it and closes the connections.
func (a *app) with(run func(*fleet.Fleet) error) error {
	if a.fleet != nil {
		return run(a.fleet)
	}
	f, err := a.load()
	if err != nil {
		return err
	}
	// What the command came to is known by now: a connection that does not
	// close well takes nothing from it.
	defer func() { _ = f.Close() }()
	return run(f)
}

// errShown marks an error that the command has already told of in its output.
var errShown = errors.New("shown")

// shown wraps an error that needs no second telling but decides the exit code.
func shown(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", errShown, err)
}

// showError tells of an error on standard error: what is true, then what to do.
// Text from hosts is neutralised by the library and once more here, which does
// it no harm.
func (a *app) showError(err error) {
	hint := fleet.HintOf(err)
	if a.json {
		a.printJSONTo(a.err, map[string]any{"error": err.Error(), "hint": hint, "code": codeOf(err)})
		return
	}
	fmt.Fprintln(a.err, "claude-fleet: "+transport.NeutraliseLines(err.Error()))
	if hint != "" {
		fmt.Fprintln(a.err, "  "+strings.ReplaceAll(transport.NeutraliseLines(hint), "\n", "\n  "))
	}
	if a.verbose {
		said := err.Error()
		for cause := errors.Unwrap(err); cause != nil; cause = errors.Unwrap(cause) {
			if text := cause.Error(); !strings.Contains(said, text) {
				fmt.Fprintf(a.err, "  because: %s\n", transport.Neutralise(text))
				said = text
			}
		}
	}
}

func (a *app) printJSON(v any) { a.printJSONTo(a.out, v) }

func (a *app) printJSONTo(w io.Writer, v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		fmt.Fprintln(a.err, "claude-fleet: can't print:", err)
		return
	}
	fmt.Fprint(w, transport.EscapeJSON(b.String()))
}
