package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"

	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
)

// completionTable has hosts whose names begin alike, names of every odd kind that
// a table allows, and a description that a shell might obey (what a terminal might
// obey no table may hold).
const completionTable = `
[hosts.web-1]
tags = ["gpu", "eu.west-2"]
[hosts.web-2]
project = "a: $(touch PWNED) %F{red} ` + "`touch PWNED`" + ` 'x \\"
[hosts."9db.EU_x"]
tags = ["gpu"]
[hosts."odd_-.name"]
transport = "local"
`

// offers are words that are being typed, and what is offered that begins with the
// last of them. No shell has a part in that.
var offers = []struct{ typed, want string }{
	{"dis", "discover"},
	{"status --chec", "--check"},
	{"status w", "web-1 web-2"},
	{"status web-1 w", "web-2"}, // none twice
	{"status @", "@gpu @eu.west-2 @all"},
	{"status @gpu @", "@eu.west-2 @all"},
	{"attach 9", "9db.EU_x"},
	{"attach @", ""}, // takes one host, so no tag
	{"attach web-1 w", ""},
	{"wait web-1 --for lim", "limited"},
	{"completion f", "fish"},
	{"--config BROKEN status w", ""},
	{"--config /nowhere/fleet.conf status w", ""},
}

func TestOffers(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"fleet.conf": completionTable, "broken.conf": "[hosts.web-1\nweb = {{"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("CLAUDE_FLEET_CONFIG", filepath.Join(dir, "fleet.conf"))
	for _, o := range offers {
		words := strings.Fields(strings.Replace(o.typed, "BROKEN", filepath.Join(dir, "broken.conf"), 1))
		var out, errs bytes.Buffer
		if code := execute(t.Context(), append([]string{"__complete"}, words...), strings.NewReader(""), &out, &errs); code != 0 {
			t.Errorf("%s: %d, %s", o.typed, code, errs.String())
		}
		var got []string
		for line := range strings.Lines(out.String()) {
			name, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			if strings.HasPrefix(name, words[len(words)-1]) {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != o.want {
			t.Errorf("%s: offers %q, not %q", o.typed, got, o.want)
		}
	}
}

// completions are lines as they are typed, and the arguments that the command is
// called with once Enter is pressed.
var completions = []struct {
	typed string
	want  []string // apart from a trailing space
}{
	{`send w\t1 hi`, []string{"send", "web-1", "hi"}}, // as far as the names are alike
	{`send 9\thi`, []string{"send", "9db.EU_x", "hi"}},
	{`status @eu.\t`, []string{"status", "@eu.west-2"}},
	{`wait web-1 --for=lim\t`, []string{"wait", "web-1", "--for=limited"}},
	{`explain --screen CONT\t`, []string{"explain", "--screen", "CONTENT.ansi"}},
	{`status CONT\t`, []string{"status", "CONT"}}, // a file's name only where one belongs
	{`--config other.conf status el\t`, []string{"--config", "other.conf", "status", "elsewhere"}},
	{`--config broken.conf status w\t`, []string{"--config", "broken.conf", "status", "w"}},
}

// TestCompletion types into real shells and presses TAB.
func TestCompletion(t *testing.T) {
	real, err := exec.LookPath("claude-fleet") // the test binary, by testscript.Main
	if err != nil {
		t.Fatal(err)
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			dir := t.TempDir()
			files := map[string]string{
				"home/claude-fleet/fleet.conf": completionTable,
				"other.conf":                   "[hosts.elsewhere]\n",
				"broken.conf":                  "[hosts.web-1\nweb = {{",
				"CONTENT.ansi":                 "",
				// What the shell finds under the name: completion goes to the real
				// one, anything else is shown as it came.
				"bin/claude-fleet": fmt.Sprintf("#!/bin/sh\ncase $1 in __complete*) exec '%s' \"$@\" ;; esac\nprintf 'got:'; printf '<%%s>' \"$@\"; echo :end\n", real),
				"bin/ssh":          "#!/bin/sh\ntouch '" + dir + "/CONTACTED'\n",
			}
			for name, text := range files {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			script, err := completionScripts.ReadFile("completion/" + shell)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "script"), script, 0o644); err != nil {
				t.Fatal(err)
			}
			s := startShell(t, shell, dir)
			for _, c := range completions {
				line := strings.Split(c.typed, `\t`)
				got, shown := s.complete(line[0], line[1])
				if !slices.Equal(got, c.want) {
					t.Errorf("%s: %q became %q, not %q\n%s", shell, c.typed, got, c.want, shown)
				}
				// Whatever a table has, no word of ours or of the shell's falls into
				// the line that is being typed.
				if strings.Contains(shown, "claude-fleet:") || strings.Contains(shown, "not found") || strings.Contains(behindLine(shown), "rror:") {
					t.Errorf("%s: %q is noisy:\n%s", shell, c.typed, shown)
				}
			}
			// What could be meant is listed at a second TAB; what the line would run
			// has not run by then.
			if shown := s.list(`send "$(touch PWNED)" `); !strings.Contains(shown, "web-2") || !strings.Contains(shown, "@eu.west-2") {
				t.Errorf("%s lists no hosts and tags:\n%s", shell, shown)
			}
			for _, trace := range []string{"PWNED", "CONTACTED"} {
				if _, err := os.Stat(filepath.Join(dir, trace)); err == nil {
					t.Errorf("%s: completing left %s behind", shell, trace)
				}
			}
		})
	}
}

// behindLine is what was shown behind the line that was typed: a prompt before it may
// have any word, as that of a machine's or a folder's name.
func behindLine(shown string) string {
	_, behind, _ := strings.Cut(shown, "claude-fleet ")
	return behind
}

// shellOnPTY is an interactive shell on a terminal of its own.
type shellOnPTY struct {
	t    *testing.T
	tty  *os.File
	mu   sync.Mutex
	seen bytes.Buffer
}

func startShell(t *testing.T, shell, dir string) *shellOnPTY {
	t.Helper()
	source := map[string][]string{
		"bash": {"bash", "--norc", "--noprofile", "-i"},
		"zsh":  {"zsh", "-f", "-i"},
		"fish": {"fish", "--no-config", "-i"},
	}[shell]
	cmd := exec.Command(source[0], source[1:]...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir + "/home", "XDG_CONFIG_HOME=" + dir + "/home", "PATH=" + dir + "/bin:/usr/bin:/bin", "TERM=xterm", "LANG=C.UTF-8"}
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 200})
	if err != nil {
		t.Fatal(err)
	}
	s := &shellOnPTY{t: t, tty: tty}
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 4096)
		for {
			n, err := tty.Read(buf)
			s.mu.Lock()
			s.seen.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = tty.Close()
		<-read
	})
	s.send(map[string]string{
		"bash": "bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; bind 'set completion-query-items 0'; bind 'set page-completions off'; . ./script\r",
		"zsh":  "unset zle_bracketed_paste; autoload -Uz compinit && compinit -D -u; unsetopt beep; . ./script\r",
		"fish": "source ./script\r",
	}[shell])
	s.send("echo rea''dy:\r")
	s.until("ready:")
	return s
}

func (s *shellOnPTY) send(text string) {
	if _, err := s.tty.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shellOnPTY) raw() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen.String()
}

// until waits for text and returns what was shown up to its end.
func (s *shellOnPTY) until(text string) string {
	s.t.Helper()
	rigtest.Eventually(s.t, 2*time.Minute, "the shell shows "+text, func() (bool, string) {
		shown := ansi.Strip(s.raw())
		return strings.Contains(shown, text), shown
	})
	return ansi.Strip(s.raw())
}

func (s *shellOnPTY) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen.Reset()
}

// complete types a line with one TAB in it, presses Enter, and returns what the
// command was called with, and all that was shown.
func (s *shellOnPTY) complete(before, after string) ([]string, string) {
	s.t.Helper()
	s.forget()
	s.send("claude-fleet " + before + "\t" + after + "\r")
	shown := s.until(":end")
	_, args, _ := strings.Cut(shown, "got:<")
	args, _, _ = strings.Cut(args, ">:end")
	return strings.Split(args, "><"), shown
}

// list types a line with two TABs and returns what is shown.
func (s *shellOnPTY) list(line string) string {
	s.t.Helper()
	s.forget()
	s.send("claude-fleet " + line + "\t\t")
	return s.until("@eu.west-2")
}
