package tmux

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// start starts a session, which must work.
func (m *machine) start(session string, l Launch) string {
	m.t.Helper()
	pane, err := Start(m.t.Context(), m, session, l)
	if err != nil {
		m.t.Fatal(err)
	}
	return pane
}

func TestStart(t *testing.T) {
	m := newMachine(t, "", "CLAUDECODE=1", "KEPT=yes")
	m.pane("before", "sleep", "1000") // the server has CLAUDECODE from here on
	begun := time.Now().Truncate(time.Second)
	pane := m.start("work", Launch{Dir: "~", Unset: []string{"CLAUDECODE", "OTHER"},
		Command: `{ pwd; echo "${CLAUDECODE-unset} ${KEPT-unset} ${FLEET_RUN-unset} ${FLEET_PATH-unset} ${FLEET_DIR-unset}"; } ` + m.into("out") + "; exec sleep 1000"})
	if got, want := m.wrote("out"), m.home+"\nunset yes unset unset unset"; got != want {
		t.Errorf("it saw %q, want %q", got, want)
	}
	p := m.only("work")
	if p.ID != pane || p.Launched.Before(begun) || p.Launched.After(time.Now()) || p.Ended || p.Width != Cols {
		t.Errorf("%+v", p)
	}
	// Without Unset it is inherited.
	m.start("other", Launch{Dir: "~", Command: `echo "${CLAUDECODE-unset}" ` + m.into("out2")})
	if got := m.wrote("out2"); got != "1" {
		t.Errorf("CLAUDECODE is %q", got)
	}
}

func TestStartDirectories(t *testing.T) {
	m := newMachine(t, "", "CDPATH=/")
	for i, name := range []string{
		"with space", `q'uo"te`, "$(touch pwned)", "#(touch pwned)#{pane_id}", "a##[b %H", "-dash", "new\nline\n", "fünf", "~", "semicolon;", `back\\;`,
	} {
		m.mkdir("in/" + name)
		m.start("s"+strconv.Itoa(i), Launch{Dir: "~/in/" + name, Command: "pwd -P " + m.into("out"+strconv.Itoa(i))})
		if got, want := m.wrote("out"+strconv.Itoa(i)), m.home+"/in/"+name; got != want {
			t.Errorf("started in %q, want %q", got, want)
		}
	}
	m.missing("pwned")
	m.missing("in/pwned")
	for _, dir := range []string{"~/none", "/none", "", "in", "~/.tmux.conf", "none/$(touch pwned)"} {
		// "in" is relative to the home, where the script runs.
		_, err := Start(t.Context(), m, "nowhere", Launch{Dir: dir, Command: "true"})
		if exists := dir == "in"; errors.Is(err, ErrNoDirectory) == exists {
			t.Errorf("%q: %v", dir, err)
		}
	}
	if panes, err := m.look("nowhere"); err != nil || len(panes.Panes) != 1 {
		t.Errorf("%+v, %v", panes, err)
	}
}

// TestStartTwice has several callers start one session at once, with no server
// yet.
func TestStartTwice(t *testing.T) {
	m := newMachine(t, "")
	var all sync.WaitGroup
	panes := make([]string, 4)
	for i := range panes {
		all.Go(func() {
			var err error
			if panes[i], err = Start(t.Context(), m, "work", Launch{Dir: "~", Command: "echo run >> " + m.home + "/runs; exec sleep 1000"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, p := range panes {
		if p != panes[0] || p == "" {
			t.Errorf("panes %q", panes)
		}
	}
	if got := m.wrote("runs"); got != "run" {
		t.Errorf("it ran: %q", got)
	}
	if got := m.tmux("list-panes", "-a", "-F", "#{session_name} #{pane_id}"); got != "work "+panes[0] {
		t.Errorf("there is %q", got)
	}
	// A sibling's name is no duplicate.
	if other := m.start("wor", Launch{Dir: "~", Command: "true"}); other == panes[0] {
		t.Error("another session's pane was given")
	}
}

func TestStartFails(t *testing.T) {
	var said *ServerError
	for name, tt := range map[string]struct {
		conf    string
		prepare func(m *machine)
		ok      func(err error) bool
	}{
		"nothing amiss":                  {"", func(*machine) {}, func(err error) bool { return err == nil }},
		"error in tmux.conf":             {"nonsense\n", func(*machine) {}, func(err error) bool { return err == nil }},
		"destroy-unattached":             {"set -g destroy-unattached on\n", func(*machine) {}, func(err error) bool { return errors.Is(err, ErrUnattached) }},
		"a command that ends the server": {"set -g default-shell /bin/sh\nset-hook -g session-created kill-server\n", func(*machine) {}, func(err error) bool { return errors.Is(err, ErrVanished) || errors.As(err, &said) }},
		"not installed":                  {"", func(m *machine) { m.onlyProgram("head") }, func(err error) bool { return errors.Is(err, ErrNotInstalled) }},
		"other version": {"", func(m *machine) {
			m.front("#!/bin/sh\necho 'protocol version mismatch (client 8, server 7)' >&2; exit 1\n")
		},
			func(err error) bool {
				return errors.As(err, &said) && strings.Contains(said.Text, "protocol version mismatch")
			}},
		"noise of a loader": {"", func(m *machine) { m.front("#!/bin/sh\necho 'ld.so: warning' >&2; exec " + m.real() + " \"$@\"\n") }, func(err error) bool { return err == nil }},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, tt.conf)
			tt.prepare(m)
			pane, err := Start(t.Context(), m, "work", Launch{Dir: "~", Command: "exec sleep 1000"})
			if !tt.ok(err) || (err == nil) != validPane(pane) {
				t.Errorf("%q, %v", pane, err)
			}
		})
	}
}

// real is the tmux that is on the PATH now.
func (m *machine) real() string {
	for _, dir := range strings.Split(os.Getenv("PATH"), ":") {
		if st, err := os.Stat(dir + "/tmux"); err == nil && st.Mode()&0o111 != 0 {
			return dir + "/tmux"
		}
	}
	m.t.Fatal("there is no tmux")
	return ""
}

// TestStartEnds holds that the session stands when the command has ended,
// however it ended, and tells its exit code.
func TestStartEnds(t *testing.T) {
	m := newMachine(t, "")
	for i, tt := range []struct {
		command string
		code    int
	}{
		{"true", 0}, {"false", 1}, {"exit 7", 7}, {"exec /bin/sh -c 'exit 9'", 9}, {"no-such-program", 127}, {"true; ( exit 5 ) # remark", 5},
		{"echo 'not closed", 2}, {"kill -9 $$", 137}, {"set -e; false; true", 1}, {"cd /; PATH=; false", 1},
	} {
		session := "s" + strconv.Itoa(i)
		command := tt.command
		if strings.HasPrefix(command, "kill") {
			command = "exec /bin/sh -c 'kill -9 $$'"
		}
		m.start(session, Launch{Dir: "~", Command: command})
		m.eventually(tt.command+" has ended", func() (bool, string) {
			p := m.only(session)
			return p.Ended && !p.Dead, string(p.Screen)
		})
		if p := m.only(session); p.ExitCode != tt.code {
			t.Errorf("%q ended with %d, want %d", tt.command, p.ExitCode, tt.code)
		}
		// A shell reads what is typed now.
		m.tmux("send-keys", "-t", "="+session+":", "echo alive "+m.into("alive"+strconv.Itoa(i)), "Enter")
		if got := m.wrote("alive" + strconv.Itoa(i)); got != "alive" {
			t.Errorf("%q", got)
		}
	}
}

// TestStartReset kills a full-screen program, which can undo nothing of what it
// did to the terminal.
func TestStartReset(t *testing.T) {
	m := newMachine(t, "")
	m.start("work", Launch{Dir: "~", Command: `printf '\033[?1049h\033[?25l\033[?1003h\033[?1006h\033[?2004h\033[?1h\033='; stty raw -echo; exec /bin/sh -c 'echo $$ ` + m.into("pid") + `; exec sleep 1000'`})
	pid, err := strconv.Atoi(m.wrote("pid"))
	if err != nil {
		t.Fatal(err)
	}
	state := func() string {
		return m.tmux("display-message", "-p", "-t", "=work:", "#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{keypad_cursor_flag} #{keypad_flag}")
	}
	m.eventually("the screen is spoilt", func() (bool, string) { s := state(); return s == "1 0 1 1 1", s })
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	m.eventually("the terminal is as it was", func() (bool, string) { s := state(); return s == "0 1 0 0 0", s })
	m.tmux("send-keys", "-t", "=work:", "stty -a "+m.into("stty"), "Enter")
	if got := m.wrote("stty"); !strings.Contains(got, " icanon") || !strings.Contains(got, " echo ") {
		t.Errorf("the terminal is %s", got)
	}
	if p := m.only("work"); !p.Ended || p.ExitCode != 137 {
		t.Errorf("%+v", p)
	}
}

func TestStartPath(t *testing.T) {
	m := newMachine(t, "")
	m.pane("before", "sleep", "1000") // the server's PATH lacks what the script's has
	m.write(".profile", "PATH=/usr/bin:/bin\ncd /\n")
	m.write("extra/mine", "#!/bin/sh\necho mine\n")
	t.Setenv("PATH", os.Getenv("PATH")+":"+m.home+"/extra")
	m.start("work", Launch{Dir: "~", Command: `{ echo "$PATH"; mine; pwd; } ` + m.into("out")})
	path, rest, _ := strings.Cut(m.wrote("out"), "\n")
	if !strings.HasPrefix(path, "/usr/bin:/bin:") || rest != "mine\n"+m.home {
		t.Errorf("PATH is %s, then %q", path, rest)
	}
}

func TestRelaunch(t *testing.T) {
	m := newMachine(t, "")
	m.write(".profile", "PS1='prompt> '\n")
	pane := m.start("work", Launch{Dir: "~", Command: "echo one; exit 3"})
	m.eventually("it has ended, and the shell prompts", func() (bool, string) {
		p := m.only("work")
		return p.Ended && strings.HasSuffix(strings.TrimSpace(string(p.Screen)), "prompt>"), string(p.Screen)
	})
	m.mkdir("else where")
	next := Launch{Dir: "~/else where", Command: "pwd >> " + m.home + "/out; exec sleep 1000"}
	m.tmux("send-keys", "-t", pane, "x")
	m.eventually("the shell shows the key", func() (bool, string) {
		s := string(m.only("work").Screen)
		return strings.HasSuffix(strings.TrimSpace(s), "x"), s
	})
	was := m.only("work")
	good, changed := GuardOf(was), GuardOf(was)
	changed.Screen = append([]byte("x"), was.Screen...)
	for name, tt := range map[string]struct {
		pane  string
		guard *Guard
		dir   string
		want  error
	}{
		"changed": {pane, &changed, next.Dir, ErrChanged}, "no pane": {"%99", nil, next.Dir, ErrNoSession}, "no id": {"work", nil, next.Dir, ErrNoSession},
		"no directory": {pane, &good, "~/none", ErrNoDirectory},
	} {
		if err := Relaunch(t.Context(), m, tt.pane, tt.guard, Launch{Dir: tt.dir, Command: "echo bad >> " + m.home + "/out"}); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
		if p := m.only("work"); p.PID != was.PID || !p.Ended {
			t.Errorf("%s: the pane was touched: %+v", name, p)
		}
	}
	if err := Relaunch(t.Context(), m, pane, &good, next); err != nil {
		t.Fatal(err)
	}
	if got := m.wrote("out"); got != m.home+"/else where" {
		t.Errorf("ran in %q", got)
	}
	if p := m.only("work"); p.ID != pane || p.PID == was.PID || p.Ended || p.Launched.IsZero() {
		t.Errorf("%+v", p)
	}
	if err := Relaunch(t.Context(), m, pane, nil, next); err != nil { // whatever it shows
		t.Fatal(err)
	}
	m.eventually("it ran again", func() (bool, string) { s := m.wrote("out"); return strings.Count(s, "\n") == 1, s })
}

func TestPressKey(t *testing.T) {
	m := newMachine(t, "")
	b := m.box("work", box{})
	good := GuardOf(b.only("work"))
	changed, other, hostile := good, good, good
	changed.Screen = []byte("something else")
	other.PID++
	hostile.Pane = "%0'; touch pwned; '"
	for name, g := range map[string]Guard{"changed": changed, "other process": other, "hostile": hostile, "gone": {Pane: "%99", PID: 1}} {
		if err := PressKey(t.Context(), m, g, "Down"); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m.tmux("copy-mode", "-t", good.Pane)
	if err := PressKey(t.Context(), m, good, "Down"); !errors.Is(err, ErrChanged) {
		t.Errorf("copy mode: %v", err)
	}
	m.tmux("send-keys", "-t", good.Pane, "-X", "cancel")
	if got := b.bytes(); got != "" {
		t.Errorf("%q arrived", got)
	}
	if err := PressKey(t.Context(), m, good, "Down"); err != nil {
		t.Fatal(err)
	}
	b.settled()
	if got := b.bytes(); got != "\x1b[B~" {
		t.Errorf("%q arrived", got)
	}
	if err := PressKey(t.Context(), m, good, "Down"); !errors.Is(err, ErrChanged) {
		t.Errorf("a second time on the first screen: %v", err)
	}
}
