package tmux

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestQuery(t *testing.T) {
	m := newMachine(t, "set -g base-index 1\nset -g pane-base-index 1\n")
	first := m.display("quest-two", "the sibling")
	wanted := m.display("wanted", "\x1b[1mbold\x1b[0m \x1b[38;5;211mpink\x1b[0m ❯\u00a0日本 ü 😀\r\n"+
		"fleet0123 end 0\r\nfleet0123456789abcdef\tpane\twanted\t%0\r\nfleet0123456789abcdef screen 0\r\n\r\n  trailing   ")
	// A person's own window and pane beside it are in front.
	m.tmux("new-window", "-t", "=wanted:", "-n", "mine", "exec sleep 1000")
	m.tmux("split-window", "-t", "=wanted:", "exec sleep 1000")
	m.pane("odd", "/bin/sh", "-c", `mkdir -p 'd	#{x}$(x)
"é'\'; cd d*; printf '\033]2;⠋ t%sb #{x} $(x) "é'\''\007' '	'; exec sleep 1000`)
	m.tmux("set-option", "-p", "-t", wanted, LaunchedOption, "1700000000")
	m.tmux("set-option", "-p", "-t", first, endedOption, "0")

	snap, err := m.look("quest", "wanted", "odd", "none")
	if err != nil {
		t.Fatal(err)
	}
	if version := m.tmux("-V"); !snap.Running || "tmux "+snap.Version != version {
		t.Errorf("running %v, version %q, want %q", snap.Running, snap.Version, version)
	}
	for _, absent := range []string{"quest", "quest-two", "none", "want", ""} {
		if p := snap.Session(absent); len(p) > 0 {
			t.Errorf("session %q is %+v", absent, p)
		}
	}
	panes := snap.Session("wanted")
	if len(panes) != 3 {
		t.Fatalf("%d panes", len(panes))
	}
	p := panes[0]
	if p.ID != wanted || p.Width != 100 || p.Height != 30 || p.Dead || p.InMode || p.Alternate || p.Attached != 0 ||
		p.Command != "sleep" || p.Path != m.home || strconv.Itoa(p.PID) != m.tmux("display-message", "-p", "-t", wanted, "#{pane_pid}") ||
		p.TTY != m.tmux("display-message", "-p", "-t", wanted, "#{pane_tty}") || time.Since(p.Activity) > time.Hour {
		t.Errorf("%+v", p)
	}
	if !p.Launched.Equal(time.Unix(1700000000, 0)) || !panes[1].Launched.IsZero() || p.Ended {
		t.Errorf("launched %v and %v, ended %v", p.Launched, panes[1].Launched, p.Ended)
	}
	for _, p := range snap.Panes {
		want := m.tmux("capture-pane", "-p", "-e", "-t", p.ID)
		if got := strings.TrimRight(string(p.Screen), "\n"); got != strings.TrimRight(want, "\n") {
			t.Errorf("%s: the screen is\n%q\nwant\n%q", p.ID, got, want)
		}
	}
	m.eventually("the odd title is set", func() (bool, string) {
		p := m.only("odd")
		// A terminal drops the TAB of a title itself.
		return p.Path == m.home+"/d\t#{x}$(x)\n\"é'" && strings.HasPrefix(p.Title, "⠋ t") && strings.HasSuffix(p.Title, `b #{x} $(x) "é'`), p.Title + " in " + p.Path
	})
	if two := m.only("quest-two"); two.ID != first || !two.Ended || two.ExitCode != 0 {
		t.Errorf("%+v", two)
	}
	if got, err := m.look(); err != nil || len(got.Panes) != 0 || !got.Running {
		t.Errorf("asked for nothing: %+v, %v", got, err)
	}
}

// TestQueryLinked has one pane in two sessions, as a group of sessions has it:
// each is found by its own name.
func TestQueryLinked(t *testing.T) {
	m := newMachine(t, "")
	id := m.display("one", "shared")
	m.tmux("new-session", "-d", "-t", "=one", "-s", "two")
	m.tmux("link-window", "-s", "=one:", "-t", "one:7")
	snap, err := m.look("one", "two")
	if err != nil {
		t.Fatal(err)
	}
	for _, session := range []string{"one", "two"} {
		panes := snap.Session(session)
		if len(panes) != 1 || panes[0].ID != id || !bytes.Contains(panes[0].Screen, []byte("shared")) {
			t.Errorf("%s: %+v", session, panes)
		}
	}
}

// TestQueryLocale looks from accounts whose locale knows no unicode.
func TestQueryLocale(t *testing.T) {
	for _, lang := range []string{"LANG=", "LANG=C", "LC_ALL=POSIX", "LANG=xx_YY.UTF-8"} {
		t.Run(lang, func(t *testing.T) {
			m := newMachine(t, "", lang)
			id := m.pane("work", "/bin/sh", "-c", `mkdir ünï; cd ünï; printf '\033]2;⠋ tâche 日本\007❯\302\240ü'; exec sleep 1000`)
			m.eventually("it is shown as it is", func() (bool, string) {
				p := m.only("work")
				return p.ID == id && p.Title == "⠋ tâche 日本" && p.Path == m.home+"/ünï" && strings.HasPrefix(string(p.Screen), "❯\u00a0ü"), p.Title + p.Path + string(p.Screen)
			})
		})
	}
}

func TestQueryServers(t *testing.T) {
	stranger := "#!/bin/sh\ncase $* in -V) echo tmux 3.5a ;; *) echo 'protocol version mismatch (client 8, server 7)' >&2; exit 1 ;; esac\n"
	for name, tt := range map[string]struct {
		prepare func(m *machine)
		running bool
		want    string // part of a ServerError; "none" is ErrNotInstalled
	}{
		"runs":          {func(m *machine) { m.pane("work", "sleep", "1000") }, true, ""},
		"never started": {func(*machine) {}, false, ""},
		"has ended": {func(m *machine) {
			m.pane("work", "sleep", "1000")
			m.tmux("kill-server")
			m.eventually("the server is gone", func() (bool, string) {
				out, _ := exec.Command("tmux", "list-sessions").CombinedOutput()
				return strings.HasPrefix(string(out), "no server running"), string(out)
			})
		}, false, ""},
		"left a socket": {func(m *machine) { m.killedServer() }, false, ""},
		"not installed": {func(m *machine) { m.onlyProgram("head") }, false, "none"},
		"other version": {func(m *machine) { m.front(stranger) }, false, "protocol version mismatch"},
		"other's socket": {func(m *machine) {
			m.front(strings.Replace(stranger, "protocol version mismatch (client 8, server 7)", "error connecting to /tmp/tmux-0/default (Permission denied)", 1))
		}, false, "Permission denied"},
		"lost server": {func(m *machine) {
			m.front(strings.Replace(stranger, "protocol version mismatch (client 8, server 7)", "server exited unexpectedly", 1))
		}, false, "server exited unexpectedly"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, "")
			tt.prepare(m)
			snap, err := m.look("work")
			var said *ServerError
			switch {
			case tt.want == "none":
				if !errors.Is(err, ErrNotInstalled) {
					t.Errorf("%+v, %v", snap, err)
				}
			case tt.want != "":
				if !errors.As(err, &said) || !strings.Contains(said.Text, tt.want) || snap.Version != "3.5a" {
					t.Errorf("%+v, %v", snap, err)
				}
			case err != nil || snap.Running != tt.running || len(snap.Panes) > 0 != tt.running:
				t.Errorf("%+v, %v", snap, err)
			}
		})
	}
}

// killedServer leaves the socket of a server that was killed.
func (m *machine) killedServer() {
	m.pane("work", "sleep", "1000")
	pid := m.tmux("display-message", "-p", "#{pid}")
	if out, err := exec.Command("kill", "-9", pid).CombinedOutput(); err != nil {
		m.t.Fatalf("%v: %s", err, out)
	}
	m.eventually("the server is gone", func() (bool, string) {
		out, err := exec.Command("tmux", "list-sessions").CombinedOutput()
		return err != nil, string(out)
	})
}

// front puts a stand-in for tmux in front of the PATH.
func (m *machine) front(script string) {
	m.write("front/tmux", script)
	m.t.Setenv("PATH", filepath.Join(m.home, "front")+":"+os.Getenv("PATH"))
}

// onlyProgram leaves one program on the PATH.
func (m *machine) onlyProgram(name string) {
	path, err := exec.LookPath(name)
	if err != nil {
		m.t.Fatal(err)
	}
	dir := m.mkdir("only")
	if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
		m.t.Fatal(err)
	}
	m.t.Setenv("PATH", dir)
}

// TestQueryShells reads the same under each program that serves as sh.
func TestQueryShells(t *testing.T) {
	m := newMachine(t, "")
	id := m.display("work", "flüssig 日本 \\ `x`")
	second := m.tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "=work:", "exec sleep 1000")
	m.pane("s p;a*c'e", "sleep", "1000")
	dead := m.pane("dead", "sleep", "1000")
	m.tmux("set-option", "-p", "-t", dead, "remain-on-exit", "on", ";", "respawn-pane", "-k", "-t", dead, "exit 7")
	m.eventually("it is dead", func() (bool, string) { p := m.only("dead"); return p.Dead, string(p.Screen) })
	both := m.pane("both", "sleep", "1000")
	m.tmux("new-window", "-d", "-t", "=both:", "exec sleep 1000")
	m.tmux("set-option", "-p", "-t", both, LaunchedOption, "1700000000")
	launched := m.tmux("display-message", "-p", "-t", both, "#{pane_pid}")
	beside := m.tmux("display-message", "-p", "-t", "=both:1", "#{pane_pid}")
	pids := strings.Fields(m.tmux("list-panes", "-s", "-t", "=work:", "-F", "#{pane_pid}"))
	for sh, words := range envShells(t) {
		var last Snapshot
		for _, again := range []bool{false, true} {
			q := NewQuery("work", "dead", "none", "both")
			if again {
				q = q.After(last)
			}
			cmd := exec.Command(words[0], append(words[1:], "-c", q.Fragment()+"\nprintf 'PIDS%s,%s ' \"$"+PanePIDs+"\" \"$"+DuePIDs+"\"; set -- a' 'b; IFS=; printf '%s' \"$#\" *.txt")...)
			cmd.Dir = m.home
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%s: %v", sh, err)
			}
			out, rest, _ := bytes.Cut(out, []byte("PIDS"))
			if want := fmt.Sprintf(" %s %s %s,", launched, beside, strings.Join(pids, " ")) + fmt.Sprintf(" %s %s 1work.txt", launched, strings.Join(pids, " ")); string(rest) != want {
				t.Errorf("%s: it leaves %q, want %q", sh, rest, want)
			}
			snap, err := q.Parse(out)
			if err != nil || len(snap.Panes) != 5 || snap.Panes[2].ID != dead || snap.Panes[3].ID != id || !bytes.HasPrefix(snap.Panes[3].Screen, []byte("flüssig 日本 \\ `x`")) ||
				snap.Panes[4].ID != second || snap.Panes[4].Screen == nil {
				t.Errorf("%s: %+v, %v", sh, snap, err)
			}
			last = snap
		}
	}
}
