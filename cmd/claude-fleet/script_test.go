package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/fakeclient"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"claude-fleet": func() { os.Exit(run()) }})
}

// TestScripts runs the specification of the CLI: one script a verb, each over
// a rig of its own. The commands that the scripts have beside testscript's own
// are in the table below.
func TestScripts(t *testing.T) {
	// The client is fetched once, before scripts with deadlines of their own.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	client, err := rig.FindClient(ctx, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	screens, err := filepath.Abs("../../pkg/detect/testdata/screens")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			// Until a script starts a rig it has no fleet and nobody's home.
			env.Vars = slices.DeleteFunc(env.Vars, func(v string) bool { return strings.HasPrefix(v, "TMUX") })
			env.Vars = append(env.Vars, "XDG_CONFIG_HOME="+filepath.Join(env.WorkDir, "config"), "TERM=dumb", "SCREENS="+screens, "EXAMPLES="+filepath.Join(screens, "../../../../examples"))
			env.Values[stateKey{}] = &state{client: client.Path, after: env.Defer}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"rig":        cmdRig,        // rig NAME[:local,trusted,bypass,proxy,noclient,fake]…: start hosts
			"until":      cmdUntil,      // until SECONDS REGEXP ARGS…: run claude-fleet until its output matches
			"code":       cmdCode,       // code N ARGS…: run claude-fleet, which exits with N
			"prompts":    cmdPrompts,    // prompts COUNT TEXT: the API was given that prompt so often
			"holding":    cmdHolding,    // holding NAME: wait until the API holds an answer back
			"release":    cmdRelease,    // release NAME: let it answer
			"killclient": cmdKill,       // killclient HOST: kill -9 its client
			"leave":      cmdLeave,      // leave SESSION: end the client of a local session as a person would
			"killserver": cmdKillServer, // killserver HOST: end its tmux server and wait until it has
			"sshd":       cmdSSHD,       // sshd HOST stop|start|freeze|thaw
			"on":         cmdOn,         // on HOST PROGRAM ARGS…: run a program as if on the host
			"waitsize":   cmdWaitSize,   // waitsize HOST SESSION 80x24: wait until its client has that size
			"accept":     cmdAccept,     // accept [TOKEN…]: the API takes these tokens alone; "code:CODE" is that of a code
			"terminal":   cmdTerminal,   // terminal run|expect|send|resize|wait …: a real pty
			"view":       cmdView,       // view run|expect|send|paste|resize|end …: a terminal whose screen is drawn
		},
	})
}

// state is what a script's commands share.
type state struct {
	client string
	after  func(func())
	rig    *rig.Rig
	term   *terminal
	views  int // how many screens were drawn
}

type stateKey struct{}

func stateOf(ts *testscript.TestScript) *state { return ts.Value(stateKey{}).(*state) }

// only refuses a negated or misspelt command.
func only(ts *testscript.TestScript, neg, ok bool, usage string) {
	if neg || !ok {
		ts.Fatalf("usage: %s", usage)
	}
}

func host(ts *testscript.TestScript, name string) *rig.Host {
	st := stateOf(ts)
	if st.rig == nil {
		ts.Fatalf("there is no rig")
	}
	return st.rig.Host(name)
}

func cmdRig(ts *testscript.TestScript, neg bool, args []string) {
	only(ts, neg, len(args) > 0, "rig NAME[:option,…]…")
	st := stateOf(ts)
	var specs []rig.HostSpec
	for _, arg := range args {
		name, options, _ := strings.Cut(arg, ":")
		spec := rig.HostSpec{Name: name}
		for _, o := range strings.FieldsFunc(options, func(r rune) bool { return r == ',' }) {
			switch o {
			case "local":
				spec.Local = true
			case "trusted":
				spec.Trusted = true
			case "bypass":
				spec.BypassAccepted = true
			case "proxy":
				spec.Proxy = true
			case "noclient":
				spec.NoClient = true
			case "fake":
				spec.Fake = &fakeclient.Script{}
			default:
				ts.Fatalf("rig: unknown option %q", o)
			}
		}
		specs = append(specs, spec)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r, err := rig.Start(ctx, rig.Options{Hosts: specs, Log: ts.Logf, Client: st.client})
	ts.Check(err)
	st.rig = r
	st.after(func() {
		if err := r.Close(); err != nil {
			ts.Logf("closing the rig: %v", err)
		}
	})
	table, err := r.PatientFleet()
	ts.Check(err)
	own := ts.Getenv("PATH")
	for _, v := range r.LocalEnv() {
		name, value, _ := strings.Cut(v, "=")
		ts.Setenv(name, value)
	}
	ts.Setenv("PATH", own+":"+ts.Getenv("PATH"))
	ts.Setenv("CLAUDE_FLEET_CONFIG", table)
	ts.Setenv("RIG", r.Dir())
}

func cmdUntil(ts *testscript.TestScript, neg bool, args []string) {
	only(ts, neg, len(args) > 2, "until SECONDS REGEXP ARGS…")
	seconds, err := strconv.Atoi(args[0])
	ts.Check(err)
	want := regexp.MustCompile(args[1])
	deadline := time.Now().Add(time.Duration(seconds) * time.Second)
	for {
		// An exit code is part of what a command says; only its output counts here.
		_ = ts.Exec("claude-fleet", args[2:]...)
		out := ts.ReadFile("stdout")
		if want.MatchString(out) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("claude-fleet %s did not match %q within %d s:\n%s%s", strings.Join(args[2:], " "), args[1], seconds, out, ts.ReadFile("stderr"))
		}
	}
}

func cmdPrompts(ts *testscript.TestScript, neg bool, args []string) {
	only(ts, neg, len(args) == 2, "prompts COUNT TEXT")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	all := stateOf(ts).rig.API().Prompts()
	for _, p := range all {
		if p == args[1] {
			got++
		}
	}
	if got != want {
		ts.Fatalf("the API was given %q %d times, not %d; all prompts: %q", args[1], got, want, all)
	}
}

func cmdHolding(ts *testscript.TestScript, neg bool, args []string) {
	only(ts, neg, len(args) == 1, "holding NAME")
	poll(ts, 30*time.Second, "the API holds "+args[0], func() bool { return stateOf(ts).rig.API().Holding(args[0]) > 0 })
}

func cmdRelease(ts *testscript.TestScript, neg bool, args []string) {
	only(ts, neg, len(args) == 1, "release NAME")
	stateOf(ts).rig.API().Release(args[0])
}

func cmdAccept(ts *testscript.TestScript, neg bool, args []string) {
	only(ts, neg, true, "accept [TOKEN…]")
	tokens := slices.Clone(args)
	for i, a := range tokens {
		if code, ok := strings.CutPrefix(a, "code:"); ok {
			tokens[i] = fakeclient.SetupToken(code)
		}
	}
	stateOf(ts).rig.API().Accept(tokens...)
}

func cmdKill(ts *testscript.TestScript, neg bool, args []string) {
	only(ts, neg, len(args) == 1, "killclient HOST")
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	ts.Check(host(ts, args[0]).KillClient(ctx))
}

func cmdLeave(ts *testscript.TestScript, neg bool, args []string) {
	only(ts, neg, len(args) == 1, "leave SESSION")
	h := host(ts, "here")
	asked := time.Time{}
	poll(ts, 60*time.Second, "the client of "+args[0]+" has ended", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		out, err := h.Tmux(ctx, "display-message", "-p", "-t", "="+args[0]+":", "#{@fleet_ended}")
		if err == nil && strings.TrimSpace(out) != "" {
			return true
		}
		if time.Since(asked) > 3*time.Second { // again if it was not ready for it
			asked = time.Now()
			_, err = h.Tmux(ctx, "send-keys", "-t", "="+args[0]+":", "C-c", "C-c")
			ts.Check(err)
		}
		return false
	})
}

func cmdKillServer(ts *testscript.TestScript, neg bool, args []string) {
	only(ts, neg, len(args) == 1, "killserver HOST")
	h := host(ts, args[0])
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	_, err := h.Tmux(ctx, "kill-server")
	ts.Check(err)
	poll(ts, 20*time.Second, "the tmux server is gone", func() bool {
		out, err := h.Command(ctx, "tmux", "list-sessions").CombinedOutput()
		return err != nil && strings.HasPrefix(string(out), "no server running")
	})
}

func cmdSSHD(ts *testscript.TestScript, neg bool, args []string) {
	only(ts, neg, len(args) == 2, "sshd HOST stop|start|freeze|thaw")
	h := host(ts, args[0])
	do, ok := map[string]func() error{"stop": h.StopSSHD, "start": h.StartSSHD, "freeze": h.FreezeSSHD, "thaw": h.ThawSSHD}[args[1]]
	only(ts, neg, ok, "sshd HOST stop|start|freeze|thaw")
	ts.Check(do())
}

func cmdOn(ts *testscript.TestScript, neg bool, args []string) {
	only(ts, false, len(args) > 1, "on HOST PROGRAM ARGS…")
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := host(ts, args[0]).Command(ctx, args[1], args[2:]...)
	cmd.Stdout, cmd.Stderr = ts.Stdout(), ts.Stderr()
	err := cmd.Run()
	if (err != nil) != neg {
		ts.Fatalf("on %s: %v", strings.Join(args, " "), err)
	}
}

func cmdWaitSize(ts *testscript.TestScript, neg bool, args []string) {
	only(ts, neg, len(args) == 3, "waitsize HOST SESSION SIZE")
	h := host(ts, args[0])
	poll(ts, 15*time.Second, "a client of "+args[2], func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		out, err := h.Tmux(ctx, "list-clients", "-t", "="+args[1], "-F", "#{client_width}x#{client_height}")
		return err == nil && strings.TrimSpace(out) == args[2]
	})
}

// poll waits for a condition. It asks again without a pause only where asking
// itself takes time; here a tenth of a second is let pass.
func poll(ts *testscript.TestScript, limit time.Duration, what string, ok func() bool) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	timeout := time.After(limit)
	for !ok() {
		select {
		case <-tick.C:
		case <-timeout:
			ts.Fatalf("not within %s: %s", limit, what)
		}
	}
}

func parseSize(ts *testscript.TestScript, s string) (cols, rows uint16) {
	if _, err := fmt.Sscanf(s, "%dx%d", &cols, &rows); err != nil {
		ts.Fatalf("%q is no size such as 100x30", s)
	}
	return cols, rows
}
