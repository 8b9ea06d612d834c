package transport

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// loopIn is loopScript under a shell that a host may have as /bin/sh.
type loopIn struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out [2]stream

	looping bool
}

func startLoop(t *testing.T, shell string, env ...string) *loopIn {
	t.Helper()
	words := strings.Fields(shell)
	l := &loopIn{t: t, cmd: exec.Command(words[0], append(words[1:], "-c", readScript)...)}
	l.cmd.Env = append(os.Environ(), env...)
	l.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	l.cmd.Stdout, l.cmd.Stderr = &l.out[0], &l.out[1]
	var err error
	if l.in, err = l.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-l.cmd.Process.Pid, syscall.SIGKILL)
		_ = l.in.Close()
		_ = l.cmd.Wait()
	})
	return l
}

func (l *loopIn) send(text string) {
	if _, err := io.WriteString(l.in, text); err != nil {
		l.t.Error(err)
	}
}

func (l *loopIn) give(text string) *frames {
	fr := newFrames()
	l.out[0].pass(fr.stdout)
	l.out[1].pass(fr.stderr)
	if l.looping {
		l.send(request(fr.nonce, "", text))
	} else {
		l.looping = true
		l.send(sized(loopScript(fr.nonce, "", text)))
	}
	return fr
}

func (l *loopIn) run(text string) Result {
	l.t.Helper()
	fr := l.give(text)
	select {
	case <-fr.settled:
	case <-time.After(30 * time.Second):
		l.t.Fatalf("no answer to %q: %+v", text, fr.stderr.state())
	}
	res, err := fr.answer(Endpoint{Local: true}, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	if id := fr.run(); id.pid != l.cmd.Process.Pid || id.group != id.pid {
		l.t.Errorf("it runs as %+v, and not %d", id, l.cmd.Process.Pid)
	}
	return res
}

// wantEnd waits for the loop to end by itself, with all of its group.
func (l *loopIn) wantEnd(code int) {
	l.t.Helper()
	pid := l.cmd.Process.Pid
	eventually(l.t, "the loop is over", func() bool { return !alive(pid) })
	_ = l.cmd.Wait()
	if got := l.cmd.ProcessState.ExitCode(); got != code {
		l.t.Errorf("it ended with %d", got)
	}
	wantGroupGone(l.t, pid)
}

// TestLoopInShells runs the loop under every sh that a host may have.
func TestLoopInShells(t *testing.T) {
	t.Parallel()
	long := "#" + strings.Repeat(" long", 1000) + "\n"
	for _, shell := range []string{"dash", "bash", "bash --posix", "zsh --emulate sh"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			t.Run("one after another", func(t *testing.T) {
				// In bash, read gives up after TMOUT seconds, which the loop must not.
				l := startLoop(t, shell, "TMOUT=1", "SHELLOPTS=braceexpand:errexit:nounset", "fleet_text=carried", "fleet_nonce=carried")
				l.run(":")
				for range 2 {
					_ = exec.Command("sleep", "2").Run() // while the loop is idle
					for _, tc := range []struct {
						text, out, err string
						code           int
					}{
						{"echo out; echo err >&2; exit 3", "out\n", "err\n", 3},
						{"", "", "", 0},
						{"set -e; false; echo past it", "", "", 1},
						{"cat; read x; echo $?", "1\n", "", 0},
						{"env | grep -c fleet_; set | grep -c '^fleet_[nt]e'", "0\n0\n", "", 1},
						{everyPlain(), plain(), "", 0},
						{"printf %s " + Quote(everyByte()), everyByte(), "", 0},
						{"sleep 2; echo done", "done\n", "", 0},
						{"sleep 0.1 & wait; echo done", "done\n", "", 0},
						{"echo a \\", "a\n", "", 0},
						{"echo a # b", "a\n", "", 0},
						{"cat <<'E'\n$x `y` \\\nE", "$x `y` \\\n", "", 0},
					} {
						for _, before := range []string{"", long} {
							if res := l.run(before + tc.text); string(res.Stdout) != tc.out || string(res.Stderr) != tc.err || res.ExitCode != tc.code {
								t.Errorf("%.40q: got %q, %q, %d", tc.text, res.Stdout, res.Stderr, res.ExitCode)
							}
						}
					}
				}
				_ = l.in.Close()
				l.wantEnd(0)
			})
			t.Run("a prelude", func(t *testing.T) {
				for _, first := range []string{"", "f() { echo one; }"} {
					l := startLoop(t, shell)
					for _, tc := range []struct{ prelude, text, out string }{
						{first, ":", ""},
						{"f() { echo one; }", "f", "one\n"},
						{"", "f; f() { echo mine; }; f", "one\nmine\n"},
						{"f() { echo two; }\n" + long + "g() { f; }", "g", "two\n"},
						{"", "g", "two\n"},
					} {
						fr := newFrames()
						l.out[0].pass(fr.stdout)
						l.out[1].pass(fr.stderr)
						text := request(fr.nonce, tc.prelude, tc.text)
						if !l.looping {
							l.looping, text = true, sized(loopScript(fr.nonce, tc.prelude, tc.text))
						}
						l.send(text)
						<-fr.settled
						if res, err := fr.answer(Endpoint{Local: true}, nil); err != nil || string(res.Stdout) != tc.out || len(res.Stderr) != 0 {
							t.Errorf("%q with %.20q: %q, %q, %v", tc.text, tc.prelude, res.Stdout, res.Stderr, err)
						}
					}
				}
			})
			t.Run("a head that reads on", func(t *testing.T) {
				l := startLoop(t, shell, "PATH="+headThatReadsOn(t)+":"+os.Getenv("PATH"))
				for i, before := range []string{"", long, "", long + "# é\n", ""} {
					if res := l.run(before + fmt.Sprint("echo ", i)); string(res.Stdout) != fmt.Sprint(i, "\n") || len(res.Stderr) != 0 {
						t.Errorf("the script %d: got %q, %q", i, res.Stdout, res.Stderr)
					}
				}
			})
			t.Run("a caller who leaves", func(t *testing.T) {
				l := startLoop(t, shell)
				l.run(":")
				fr := l.give("trap '' TERM; sleep 600; sleep 600")
				eventually(t, "it has begun", fr.begun)
				_ = l.in.Close()
				eventually(t, "the loop is over", func() bool { return !alive(l.cmd.Process.Pid) })
				wantGroupGone(t, l.cmd.Process.Pid)
			})
			for name, text := range map[string]string{"short": "echo ran", "long": long + "echo ran"} {
				t.Run("a script that is cut, "+name, func(t *testing.T) {
					l := startLoop(t, shell)
					l.run(":")
					fr := newFrames()
					l.out[0].pass(fr.stdout)
					whole := request(fr.nonce, "", text)
					l.send(whole[:len(whole)-5])
					_ = l.in.Close()
					eventually(t, "the loop is over", func() bool { return !alive(l.cmd.Process.Pid) })
					if fr.begun() {
						t.Error("it has begun")
					}
				})
			}
			t.Run("a syntax error", func(t *testing.T) {
				l := startLoop(t, shell)
				l.run(":")
				fr := l.give("echo ran; if true; then")
				eventually(t, "the loop is over", func() bool { return !alive(l.cmd.Process.Pid) })
				_ = l.cmd.Wait()
				if fr.begun() || !strings.Contains(string(fr.stderr.state().seen), "rror") {
					t.Errorf("begun %t, standard error %q", fr.begun(), fr.stderr.state().seen)
				}
			})
		})
	}
}

// headThatReadsOn gives a folder with a head that takes all that is there, as one
// written over stdio does.
func headThatReadsOn(t *testing.T) string {
	dir := t.TempDir()
	text := "#!/bin/sh\n/usr/bin/head \"$@\" || exit\ntimeout 0.2 dd bs=4096 count=1 of=/dev/null 2>/dev/null\nexit 0\n"
	if err := os.WriteFile(filepath.Join(dir, "head"), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// plain is what is sent in lines.
func plain() string {
	var b strings.Builder
	for c := ' '; c <= '~'; c++ {
		b.WriteString("\n" + string(c) + "\t" + string(c) + " \n")
	}
	return b.String()
}

func everyPlain() string { return "printf %s " + Quote(plain()) }

// TestRequest holds which scripts are sent in lines.
func TestRequest(t *testing.T) {
	for _, tc := range []struct {
		text  string
		lines bool
	}{
		{":", true}, {plain(), true}, {strings.Repeat("x", inlineSize-100), true}, {strings.Repeat("x", inlineSize), false},
		{"é", false}, {"\x01", false}, {"\x7f", false}, {"\r", false}, {"\xff", false},
	} {
		got := request("NONCE", "", tc.text)
		if !strings.HasPrefix(got, "NONCE ") || strings.HasPrefix(got, "NONCE 0 ") == tc.lines || !strings.Contains(got, "\n"+tc.text+"\n") {
			t.Errorf("%.20q: %.40q", tc.text, got)
		}
	}
}
