package tmux

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// stand puts programs first on the PATH that note their calls in "calls", each as
// a line, and do what is given as sh.
func (m *machine) stand(programs map[string]string) {
	m.t.Helper()
	for name, text := range programs {
		m.write("front/"+name, "#!/bin/sh\nprintf '%s\\n' \""+name+" $*\" >> "+m.home+"/calls\n"+text+"\n")
	}
	m.t.Setenv("PATH", m.home+"/front:"+os.Getenv("PATH"))
}

func (m *machine) calls() string {
	b, err := os.ReadFile(m.home + "/calls")
	if err != nil {
		return ""
	}
	return string(b)
}

// The parts of a machine with systemd. The manager answers, and knows the unit or
// does not; the scope runs what it is given.
const (
	knowsUnit = `case $* in *" show "*) echo LoadState=loaded ;; *" start "*) tmux -u new-session -d -s work 'exec sleep 1000' ;; esac`
	noUnit    = `case $* in *" show "*) echo LoadState=not-found ;; *) exit 5 ;; esac`
	startless = `case $* in *" show "*) echo LoadState=loaded ;; *) exit 1 ;; esac`
	elsewhere = `case $* in *" show "*) echo LoadState=loaded ;; *" start "*) tmux -u new-session -d -s other 'exec sleep 1000' ;; esac`
	noManager = `echo 'Failed to connect to bus' >&2; exit 1`
	hangs     = `exec sleep 1000`
	scopeRuns = `shift 3; exec "$@"`
	lingers   = `case $* in show-user*) echo Linger=yes ;; esac`
	leaves    = `case $* in show-user*) echo Linger=no ;; *) echo KillUserProcesses=no ;; esac`
	kills     = `case $* in show-user*) echo Linger=no ;; *) echo KillUserProcesses=yes ;; esac`
	unknownTo = `echo 'not logged in' >&2; exit 1`
)

// TestStartKept starts sessions on machines with and without a systemd that would
// keep them: whatever it answers, the session is there, once, and it is told what
// keeps it.
func TestStartKept(t *testing.T) {
	both := Keeper{Scope: true, Unit: "claude-tmux.service", Ready: ":"}
	for name, tt := range map[string]struct {
		systemctl, run, loginctl string
		keeper                   Keeper
		before                   bool // a server runs already
		want                     Kept
		notes                    string
		calls, not               string // a call that was made, and one that was not
	}{
		"nothing asked for":     {knowsUnit, scopeRuns, lingers, Keeper{}, false, KeptByNothing, "", "", "systemctl"},
		"unit":                  {knowsUnit, scopeRuns, lingers, both, false, KeptByUnit, "", "systemctl --user start claude-tmux.service", "systemd-run"},
		"no unit":               {noUnit, scopeRuns, lingers, both, false, KeptByScope, "", "systemd-run --user --scope --quiet tmux", " start "},
		"unit of another":       {knowsUnit, scopeRuns, lingers, Keeper{Scope: true, Unit: "claude-tmux.service", Ready: "echo another"}, false, KeptByScope, "another", "systemd-run", " start "},
		"unit does not start":   {startless, scopeRuns, lingers, both, false, KeptByScope, NoteUnitFailed, " start ", ""},
		"unit starts another":   {elsewhere, scopeRuns, lingers, both, false, KeptByNothing, NoteUnitElsewhere, " start ", "systemd-run"},
		"only a scope":          {knowsUnit, scopeRuns, lingers, Keeper{Scope: true}, false, KeptByScope, "", "systemd-run", " start "},
		"no manager":            {noManager, scopeRuns, lingers, both, false, KeptByNothing, "", "systemctl", "systemd-run"},
		"manager hangs":         {hangs, scopeRuns, lingers, both, false, KeptByNothing, "", "systemctl", "systemd-run"},
		"scope fails":           {noUnit, "exit 1", lingers, both, false, KeptByNothing, NoteScopeFailed, "systemd-run", ""},
		"server runs":           {knowsUnit, scopeRuns, lingers, both, true, KeptByNothing, "", "", "systemctl"},
		"logins leave it":       {noUnit, scopeRuns, leaves, both, false, KeptByNothing, NoteLingerPlain, "loginctl", "systemd-run"},
		"logins end it":         {noUnit, scopeRuns, kills, both, false, KeptByScope, NoteLinger, "systemd-run", ""},
		"logind knows no login": {noUnit, scopeRuns, unknownTo, both, false, KeptByScope, "", "systemd-run", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, "")
			m.stand(map[string]string{"systemctl": tt.systemctl, "systemd-run": tt.run, "loginctl": tt.loginctl})
			if tt.before {
				m.pane("before", "sleep", "1000")
			}
			s, err := StartKept(t.Context(), m, "work", Launch{Dir: "~", Command: "exec sleep 1000"}, tt.keeper)
			if err != nil || s.Kept != tt.want || strings.Join(s.Notes, " ") != tt.notes || !validPane(s.Pane) {
				t.Errorf("%+v, %v", s, err)
			}
			if m.only("work").ID != s.Pane {
				t.Errorf("%s is not the pane", s.Pane)
			}
			calls := m.calls()
			if !strings.Contains(calls, tt.calls) || tt.not != "" && strings.Contains(calls, tt.not) {
				t.Errorf("called:\n%s", calls)
			}
		})
	}
}

// TestStartEnvironment holds that a server that Start starts keeps nothing of what
// a launch must not inherit, and that a program sees a UTF-8 locale.
func TestStartEnvironment(t *testing.T) {
	for name, tt := range map[string]struct {
		env  []string
		want string
	}{
		"none":             {[]string{"LANG=", "LC_ALL=", "LC_CTYPE="}, "/C.UTF-8/"},
		"C":                {[]string{"LANG=C.UTF-8", "LC_ALL=C", "LC_CTYPE="}, "/C.UTF-8/C.UTF-8"},
		"one of its own":   {[]string{"LANG=de_DE.utf8", "LC_ALL=", "LC_CTYPE="}, "//de_DE.utf8"},
		"for all of them":  {[]string{"LANG=C", "LC_ALL=xx_XX.UTF-8", "LC_CTYPE="}, "xx_XX.UTF-8//C"},
		"characters alone": {[]string{"LANG=C", "LC_ALL=", "LC_CTYPE=xx_XX.UTF-8"}, "/xx_XX.UTF-8/C"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, "", append(tt.env, "CLAUDECODE=1", "KEPT=yes")...)
			m.start("work", Launch{Dir: "~", Unset: []string{"CLAUDECODE", "OTHER"},
				Command: `echo "$LC_ALL/$LC_CTYPE/$LANG" ` + m.into("out") + "; exec sleep 1000"})
			if got := strings.ReplaceAll(m.wrote("out"), "utf8", "UTF-8"); got != strings.ReplaceAll(tt.want, "utf8", "UTF-8") {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if env := m.tmux("show-environment", "-g"); strings.Contains(env, "CLAUDECODE") || !strings.Contains(env, "KEPT=yes") {
				t.Errorf("the server has %s", env)
			}
		})
	}
}

// TestStartSize holds the size of a session against all that could make it small:
// the settings, and a tiny terminal that shows another session.
func TestStartSize(t *testing.T) {
	m := newMachine(t, "set -g default-size 80x24\nset -g window-size smallest\nset -g base-index 1\nset -g pane-base-index 1\n")
	m.pane("before", "sleep", "1000")
	cmd := exec.Command("tmux", "-u", "attach", "-t", "=before")
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 20, Rows: 5})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait(); _ = master.Close() })
	m.eventually("the terminal shows the other session", func() (bool, string) {
		s := m.tmux("list-clients", "-F", "#{client_width}")
		return s == "20", s
	})
	m.start("work", Launch{Dir: "~", Command: "exec sleep 1000"})
	if p := m.only("work"); p.Width != Cols || p.Height != Rows {
		t.Errorf("it is %dx%d", p.Width, p.Height)
	}
}

// TestStartKeptShells starts by each program that serves as sh, through all that
// the script has.
func TestStartKeptShells(t *testing.T) {
	for _, sh := range posixShells {
		for want, systemctl := range map[Kept]string{KeptByUnit: knowsUnit, KeptByScope: noUnit, KeptByNothing: noManager} {
			m := newMachine(t, "", "LANG=", "LC_ALL=", "LC_CTYPE=", "CLAUDECODE=1")
			m.stand(map[string]string{"systemctl": systemctl, "systemd-run": scopeRuns, "loginctl": kills})
			s, err := StartKept(t.Context(), shellRunner(sh), "work", Launch{Dir: "~", Command: "exec sleep 1000", Unset: []string{"CLAUDECODE"}},
				Keeper{Scope: true, Unit: "claude-tmux.service", Ready: "x=; [ -z \"$x\" ] || echo \"it's $x\""})
			notes := NoteLinger
			if want == KeptByNothing {
				notes = ""
			}
			if err != nil || s.Kept != want || strings.Join(s.Notes, " ") != notes || m.only("work").ID != s.Pane {
				t.Errorf("%s: %+v, %v, want %q", sh, s, err, want)
			}
			m.tmux("kill-server")
		}
	}
}
