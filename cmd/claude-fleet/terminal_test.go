package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/term"
)

// terminal is a pty with a command on it, as a person's terminal would be.
type terminal struct {
	master, slave *os.File
	before        *term.State
	cmd           *exec.Cmd
	copied        chan struct{}
	cols          int // at the start

	mu  sync.Mutex
	out bytes.Buffer // since the last expectation
	all bytes.Buffer
}

func (t *terminal) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return ansi.Strip(t.out.String())
}

// forget drops what was seen, so that the next expectation is of what follows.
func (t *terminal) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.out.Reset()
}

// cmdTerminal drives a command on a pty:
//
//	terminal run 100x30 claude-fleet attach alpha
//	terminal expect REGEXP      wait until its output has it
//	terminal send TEXT          type text; \n, \x02 and the like as in Go
//	terminal hidden TEXT        nothing that it was sent so far has it, escapes as in Go
//	terminal sent TEXT          something has
//	terminal holds REGEXP       it shows that, once all that it was sent is drawn
//	terminal lacks REGEXP       it does not
//	terminal narrow             no line is wider than the terminal
//	terminal resize 80x24
//	terminal signal HUP         send it a signal
//	terminal wait CODE          wait for its exit; the terminal must be as before
func cmdTerminal(ts *testscript.TestScript, neg bool, args []string) {
	const usage = "terminal run SIZE COMMAND… | expect REGEXP | hidden TEXT | sent TEXT | holds REGEXP | lacks REGEXP | narrow | send TEXT | resize SIZE | signal NAME | wait CODE"
	only(ts, neg, len(args) >= 1, usage)
	st := stateOf(ts)
	if args[0] == "run" {
		only(ts, neg, len(args) > 2, usage)
		st.term = startTerminal(ts, args[1], args[2:])
		st.after(func() { _ = st.term.cmd.Process.Kill() })
		return
	}
	t := st.term
	only(ts, neg, t != nil && (len(args) == 2 || len(args) == 1 && args[0] == "narrow"), usage)
	switch args[0] {
	case "expect":
		want := regexp.MustCompile(args[1])
		defer func() {
			if !want.MatchString(t.text()) {
				ts.Logf("the terminal shows:\n%s", t.text())
			}
		}()
		poll(ts, 3*time.Minute, "the terminal shows "+args[1], func() bool { return want.MatchString(t.text()) })
		t.forget()
	case "hidden", "sent":
		text, err := strconv.Unquote(`"` + args[1] + `"`)
		ts.Check(err)
		t.mu.Lock()
		defer t.mu.Unlock()
		if bytes.Contains(t.all.Bytes(), []byte(text)) != (args[0] == "sent") {
			ts.Fatalf("not %s: %q:\n%q", args[0], text, t.all.String())
		}
	case "holds", "lacks":
		all := strings.Join(t.drawn(), "\n")
		if regexp.MustCompile("(?m)"+args[1]).MatchString(all) != (args[0] == "holds") {
			ts.Fatalf("the terminal %s %q not; it shows:\n%s", args[0], args[1], all)
		}
	case "narrow":
		for _, line := range t.drawn() {
			if n := ansi.StringWidth(line); n > t.cols {
				ts.Fatalf("%d cells in a terminal of %d: %q", n, t.cols, line)
			}
		}
	case "send":
		text, err := strconv.Unquote(`"` + args[1] + `"`)
		ts.Check(err)
		_, err = t.master.WriteString(text)
		ts.Check(err)
	case "resize":
		cols, rows := parseSize(ts, args[1])
		ts.Check(pty.Setsize(t.master, &pty.Winsize{Cols: cols, Rows: rows}))
	case "signal":
		sig := map[string]syscall.Signal{"HUP": syscall.SIGHUP, "QUIT": syscall.SIGQUIT, "TERM": syscall.SIGTERM}[args[1]]
		only(ts, neg, sig != 0, usage)
		ts.Check(t.cmd.Process.Signal(sig))
	case "wait":
		code, err := strconv.Atoi(args[1])
		ts.Check(err)
		t.wait(ts, code)
	default:
		only(ts, neg, false, usage)
	}
}

// terminalEnv is what of the script's environment the command on a terminal has.
var terminalEnv = []string{"PATH", "HOME", "TERM", "LANG", "TMPDIR", "TMUX_TMPDIR", "SSH_AUTH_SOCK", "NO_COLOR", "COLUMNS", "CLAUDE_FLEET_CONFIG", "XDG_CONFIG_HOME", "SHELL"}

// inPath finds a program in the script's own PATH.
func inPath(ts *testscript.TestScript, name string) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	ts.Fatalf("%s is not in the PATH of the script", name)
	return ""
}

func startTerminal(ts *testscript.TestScript, size string, command []string) *terminal {
	master, slave, err := pty.Open()
	ts.Check(err)
	cols, rows := parseSize(ts, size)
	ts.Check(pty.Setsize(master, &pty.Winsize{Cols: cols, Rows: rows}))
	before, err := term.GetState(int(slave.Fd()))
	ts.Check(err)
	t := &terminal{master: master, slave: slave, before: before, copied: make(chan struct{}), cols: int(cols)}
	t.cmd = exec.Command(inPath(ts, command[0]), command[1:]...)
	for _, name := range terminalEnv {
		t.cmd.Env = append(t.cmd.Env, name+"="+ts.Getenv(name))
	}
	if dir := ts.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		t.cmd.Env = append(t.cmd.Env, "XDG_RUNTIME_DIR="+dir)
	}
	t.cmd.Dir = ts.MkAbs(".")
	t.cmd.Stdin, t.cmd.Stdout, t.cmd.Stderr = slave, slave, slave
	// A session of its own, with the pty as the controlling terminal.
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	ts.Check(t.cmd.Start())
	go func() {
		defer close(t.copied)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			t.mu.Lock()
			t.out.Write(buf[:n])
			t.all.Write(buf[:n])
			t.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return t
}

// wait waits for the command's end and holds the terminal against what it was.
func (t *terminal) wait(ts *testscript.TestScript, code int) {
	done := make(chan error, 1)
	go func() { done <- t.cmd.Wait() }()
	select {
	case err := <-done:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			ts.Fatalf("the command on the terminal: %v", err)
		}
	case <-time.After(30 * time.Second):
		ts.Fatalf("the command on the terminal did not end; it shows:\n%s", t.text())
	}
	after, err := term.GetState(int(t.slave.Fd()))
	ts.Check(err)
	if !reflect.DeepEqual(after, t.before) {
		ts.Fatalf("the terminal was left in another mode:\nbefore %+v\nafter  %+v", t.before, after)
	}
	if got := t.cmd.ProcessState.ExitCode(); got != code {
		ts.Fatalf("the command on the terminal ended with %d, not %d; it shows:\n%s", got, code, t.text())
	}
	_ = t.slave.Close()
	_ = t.master.Close()
	<-t.copied
}
