package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdView drives a command on a terminal whose screen is drawn, by a tmux server of
// its own: what a program that redraws has on the screen can't be read off what it
// writes.
//
//	view run 100x30 claude-fleet status --watch
//	view expect REGEXP      wait until the screen shows it
//	view send KEYS…         press keys, as tmux calls them
//	view paste TEXT         paste text, framed if the program asked for that; \n as in sh
//	view resize 40x8
//	view signal TERM        send the program a signal
//	view end CODE           wait for its exit; the terminal must be as before
func cmdView(ts *testscript.TestScript, neg bool, args []string) {
	const usage = "view run SIZE COMMAND… | expect REGEXP | send KEYS… | paste TEXT | resize SIZE | signal NAME | end CODE"
	only(ts, neg, len(args) >= 2, usage)
	switch rest := args[1:]; args[0] {
	case "run":
		only(ts, neg, len(rest) > 1, usage)
		startView(ts, rest[0], rest[1:])
	case "expect":
		viewShows(ts, rest[0])
	case "send":
		viewTmux(ts, append([]string{"send-keys", "-t", "=view:"}, rest...)...)
	case "paste":
		viewTmux(ts, "set-buffer", "-b", "pasted", strings.ReplaceAll(rest[0], `\n`, "\n"))
		viewTmux(ts, "paste-buffer", "-p", "-b", "pasted", "-t", "=view:")
	case "resize":
		cols, rows := parseSize(ts, rest[0])
		viewTmux(ts, "resize-window", "-t", "=view:", "-x", fmt.Sprint(cols), "-y", fmt.Sprint(rows))
	case "signal":
		ts.Check(exec.Command("kill", "-"+rest[0], strings.TrimSpace(ts.ReadFile(ts.MkAbs("view.pid")))).Run())
	case "end":
		viewShows(ts, "(?m)^ended with "+rest[0]+"$")
		if before, after := ts.ReadFile(ts.MkAbs("view.before")), ts.ReadFile(ts.MkAbs("view.after")); before != after {
			ts.Fatalf("the terminal was left in another mode:\nbefore %s\nafter  %s", before, after)
		}
		if got := viewTmux(ts, "display-message", "-p", "-t", "=view:", "#{alternate_on} #{cursor_flag} #{keypad_flag}"); got != "0 1 0\n" {
			ts.Fatalf("alternate screen, cursor and keypad were left as %s", got)
		}
		viewTmux(ts, "kill-server")
	default:
		only(ts, neg, false, usage)
	}
}

func startView(ts *testscript.TestScript, size string, command []string) {
	cols, rows := parseSize(ts, size)
	stateOf(ts).views++ // the server before may still be about to go
	// The shell stays, to tell of the end and of the terminal then; also behind Ctrl+C.
	script := `trap : INT; stty -g >view.before; sh -c 'echo $$ >view.pid; exec "$@"' view "$@"; code=$?; stty -g >view.after; echo "ended with $code"; read -r _`
	given := []string{"new-session", "-d", "-s", "view", "-x", fmt.Sprint(cols), "-y", fmt.Sprint(rows), "-c", ts.MkAbs("."),
		"env", "-u", "TMUX", "-u", "TMUX_PANE", "sh", "-c", script, "view"}
	viewTmux(ts, append(given, command...)...)
	stateOf(ts).after(func() { _ = viewCommand(ts, "kill-server").Run() })
}

func viewCommand(ts *testscript.TestScript, args ...string) *exec.Cmd {
	cmd := exec.Command(inPath(ts, "tmux"), append([]string{"-u", "-f", "/dev/null", "-S", filepath.Join(ts.MkAbs("."), fmt.Sprint("view", stateOf(ts).views))}, args...)...)
	for _, name := range terminalEnv {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	return cmd
}

func viewTmux(ts *testscript.TestScript, args ...string) string {
	cmd := viewCommand(ts, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		ts.Fatalf("tmux %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

func viewShows(ts *testscript.TestScript, pattern string) {
	want := regexp.MustCompile(pattern)
	screen := ""
	defer func() {
		if !want.MatchString(screen) {
			ts.Logf("the screen shows:\n%s", screen)
		}
	}()
	poll(ts, 90*time.Second, "the screen shows "+pattern, func() bool {
		screen = viewTmux(ts, "capture-pane", "-p", "-t", "=view:")
		return want.MatchString(screen)
	})
}
