// Command demo shows claude-fleet at work on a fleet that it makes on this
// machine: one local host and two that are reached over SSH, each with the real
// client, and a scripted service in place of the vendor's. It needs no account
// and no internet service.
//
// What may live here: the story that `make demo` tells. What may not: the
// making of hosts, which is internal/rig's.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
)

func main() {
	var binary string
	var keep bool
	flag.StringVar(&binary, "bin", "bin/claude-fleet", "the claude-fleet `BINARY` to show")
	flag.BoolVar(&keep, "keep", false, "when the story is told, leave the fleet up and open a shell that sees it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := tell(ctx, binary, keep); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// demo is the story and where it is told.
type demo struct {
	ctx    context.Context
	binary string
	env    []string
}

func tell(ctx context.Context, binary string, keep bool) (err error) {
	say("A fleet of three hosts on this machine: here (local), alpha and beta (real sshd, over SSH).")
	say("Each has a home, a tmux server, a git repository and the real client of its own. The first")
	say("time, the client is downloaded, which takes a while (about 400 MB unpacked).")
	start := time.Now()
	r, err := rig.Start(ctx, rig.Options{
		Log: func(format string, args ...any) { say(format, args...) },
		Hosts: []rig.HostSpec{
			{Name: "here", Local: true, Trusted: true, BypassAccepted: true},
			{Name: "alpha"}, // both start-up dialogs stand before its first session
			{Name: "beta", Trusted: true, BypassAccepted: true},
		},
	})
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, r.Close())
		if err == nil {
			say("\nAll of it is gone again: sshds, tmux servers, clients and files. It took %s.", time.Since(start).Round(time.Second))
		}
	}()
	d := demo{ctx: ctx, binary: binary, env: r.LocalEnv()}

	steps := []struct {
		words string
		exit  int
		args  []string
	}{
		{"What the fleet is. This asks no host.", 0, []string{"map"}},
		{"The true state of every session, all hosts at once: nothing runs yet.", 0, []string{"status"}},
		{"Bring them up. On alpha the client first asks two questions; up accepts those two and no other.", 0, []string{"up", "@all"}},
		{"Now they are ready: that is proven, not guessed.", 0, []string{"status"}},
		{"Send a prompt. It has arrived when the session's own record of the conversation shows it.\n# (The scripted service takes the word HOLD to mean: begin the answer, and go on when told.)", 0, []string{"send", "alpha", "HOLD the-build"}},
		{"While alpha works, its state is busy …", 0, []string{"status"}},
		{"… and a second prompt is refused: nothing is typed into a session that is not ready (exit code 3).", 3, []string{"send", "alpha", "and the tests?"}},
	}
	for _, s := range steps {
		if err := d.show(s.words, s.exit, s.args...); err != nil {
			return err
		}
	}
	r.API().Release("the-build")
	if err := d.until(30*time.Second, `"ready"`, "status", "--json", "alpha"); err != nil {
		return err
	}
	if err := d.show("The answer may go on. Once alpha is ready again, read what was said.", 0, "read", "alpha"); err != nil {
		return err
	}
	if err := d.show("And the fleet is ready again. A person could take any session over with: claude-fleet attach alpha", 0, "status"); err != nil {
		return err
	}
	if keep {
		return d.shell()
	}
	return nil
}

func say(format string, args ...any) { fmt.Printf(strings.TrimSuffix(format, "\n")+"\n", args...) }

func (d demo) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(d.ctx, d.binary, args...)
	cmd.Env = d.env
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// show runs claude-fleet as a person would see it.
func (d demo) show(words string, exit int, args ...string) error {
	shown := []string{}
	for _, a := range args {
		if strings.ContainsAny(a, " \n?") {
			a = "'" + strings.ReplaceAll(a, "\n", "\\n") + "'"
		}
		shown = append(shown, a)
	}
	say("\n# %s\n$ claude-fleet %s", words, strings.Join(shown, " "))
	cmd := d.command(args...)
	// A stream that is no file would be copied by a goroutine that waits for
	// whatever inherited it.
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stdout
	err := cmd.Run()
	if got := cmd.ProcessState; got == nil || got.ExitCode() != exit {
		if d.ctx.Err() != nil {
			return errors.New("interrupted")
		}
		if got != nil {
			return fmt.Errorf("claude-fleet %s gave exit code %d, not %d", args[0], got.ExitCode(), exit)
		}
		return fmt.Errorf("claude-fleet %s: %w", args[0], err)
	}
	return nil
}

// until runs claude-fleet quietly until its output has a word in it.
func (d demo) until(limit time.Duration, word string, args ...string) error {
	ctx, cancel := context.WithTimeout(d.ctx, limit)
	defer cancel()
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	for {
		var out bytes.Buffer
		cmd := d.command(args...)
		cmd.Stdout, cmd.Stderr = &out, io.Discard
		if err := cmd.Run(); err == nil && strings.Contains(out.String(), word) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("claude-fleet %s did not say %s within %s: %w", strings.Join(args, " "), word, limit, ctx.Err())
		}
	}
}

// shell leaves the fleet up for as long as the person wants to play with it.
func (d demo) shell() error {
	say("\nA shell in which claude-fleet sees this fleet, with the home of its local host. exit ends the\nshell, and the fleet with it. The model is a script: ASK asks a question, HOLD NAME makes a\nturn that goes on until it is interrupted, anything else is answered at once.")
	bin, err := filepath.Abs(filepath.Dir(d.binary))
	if err != nil {
		return err
	}
	shell := "/bin/sh"
	if path, err := exec.LookPath("bash"); err == nil {
		shell = path // for its line editing
	}
	sh := exec.CommandContext(d.ctx, shell)
	sh.Env = append(slices.Clone(d.env), "PS1=fleet$ ")
	for i, v := range sh.Env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			sh.Env[i] = "PATH=" + bin + ":" + path + ":" + os.Getenv("PATH")
		}
	}
	sh.Stdin, sh.Stdout, sh.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := sh.Run(); err != nil && d.ctx.Err() == nil {
		// The exit code of an interactive shell is that of its last command.
		say("(the shell ended: %v)", err)
	}
	return d.ctx.Err()
}
