package transport

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFrameInShells runs framed scripts under every sh that a host may have as
// /bin/sh, as the transports do: the script, and then a stream that stays open.
func TestFrameInShells(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"dash", "bash", "bash --posix", "zsh --emulate sh"} {
		for _, tc := range []struct {
			name, text, out, err string
			code                 int
			env                  string
			gone                 bool // the caller leaves under way
			finish               bool
		}{
			{name: "quiet", text: "echo out; echo err >&2; exit 3", out: "out\n", err: "err\n", code: 3},
			{name: "input is empty", text: "cat; read x; echo $?", out: "1\n"},
			{name: "waiting for all children", text: "sleep 0.1 & wait; echo done", out: "done\n"},
			// In bash, read gives up after TMOUT seconds, which a watchdog must not.
			{name: "a time limit for interactive shells", text: "sleep 2; echo done", out: "done\n", env: "TMOUT=1"},
			{name: "options in the environment", text: "false; : $nothing_of_that_name; (exit 3)", code: 3, env: "SHELLOPTS=braceexpand:errexit:nounset"},
			{name: "a caller who leaves a script that never finishes", text: "trap '' TERM; sleep 600; sleep 600", gone: true, finish: true},
			{name: "a caller who leaves", text: "trap '' TERM; sleep 600; sleep 600", gone: true},
		} {
			t.Run(shell+", "+tc.name, func(t *testing.T) {
				t.Parallel()
				words := strings.Fields(shell)
				fr := newFrames()
				script := frameScript(fr.nonce, Script{Text: tc.text, Finish: tc.finish})
				// Time runs faster here.
				script = strings.Replace(script, fmt.Sprintf("fleet_grace=%d\n", finishGrace), "fleet_grace=1\n", 1)
				cmd := exec.Command(words[0], append(words[1:], "-c", readScript)...)
				cmd.Env = append(os.Environ(), tc.env)
				cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
				cmd.Stdout, cmd.Stderr = fr.stdout, fr.stderr
				in, err := cmd.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				if _, err := io.WriteString(in, sized(script)); err != nil {
					t.Error(err)
				}
				if tc.gone {
					eventually(t, "it has begun", fr.begun)
					_ = in.Close()
					wantGroupGone(t, cmd.Process.Pid)
					_ = cmd.Wait()
					return
				}
				select {
				case <-fr.settled:
				case <-time.After(30 * time.Second):
					t.Error("no answer")
					_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
				}
				_ = in.Close()
				_ = cmd.Wait()
				res, aerr := fr.answer(Endpoint{Local: true}, nil)
				if aerr != nil || string(res.Stdout) != tc.out || string(res.Stderr) != tc.err || res.ExitCode != tc.code {
					t.Errorf("got %q, %q, %d, %v", res.Stdout, res.Stderr, res.ExitCode, aerr)
				}
			})
		}
	}
}

// TestCutScript is a script of which only a part arrives: it does nothing. (The
// line feed at its end is all that it can do without.)
func TestCutScript(t *testing.T) {
	t.Parallel()
	script := sized(frameScript("NONCE", Script{Text: "echo ran"}))
	for _, missing := range []int{2, 3, 20, len(script) / 2, len(script) - 4, len(script)} {
		cmd := exec.Command("sh", "-c", readScript)
		cmd.Stdin = strings.NewReader(script[:len(script)-missing])
		if out, _ := cmd.Output(); strings.Contains(string(out), "ran") || strings.Contains(string(out), "NONCE") {
			t.Errorf("with %d bytes missing it prints %q", missing, out)
		}
	}
	// With all of it, but no caller behind it, it may run; it must not hang.
	cmd := exec.Command("sh", "-c", readScript)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stdin = strings.NewReader(script)
	_ = cmd.Run()
}
