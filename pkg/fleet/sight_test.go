package fleet

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// sightMachine is an account with a tmux server, whose clients are processes of a
// client's name that sleep, with the files of a client.
type sightMachine struct {
	t   *testing.T
	dir string
	env []string
}

func newSightMachine(t *testing.T) *sightMachine {
	t.Helper()
	dir, err := os.MkdirTemp("", "sight") // not t.TempDir: a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	m := &sightMachine{t: t, dir: dir, env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMUX_TMPDIR=" + dir, "TERM=dumb", "LANG=C.UTF-8", "SHELL=/bin/sh"}}
	t.Cleanup(func() {
		_, _ = m.sh("tmux kill-server") // it may have ended
		m.until("the folder can be removed", func() bool { return os.RemoveAll(dir) == nil })
	})
	for _, d := range []string{".claude/sessions", ".claude/projects/-a"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	m.must("cp \"$(command -v sleep)\" ~/claude; cp \"$(command -v sleep)\" ~/node")
	return m
}

func (m *sightMachine) sh(script string) ([]byte, error) {
	cmd := exec.CommandContext(m.t.Context(), "sh", "-c", script)
	if m.t.Context().Err() != nil { // in a cleanup
		cmd = exec.Command("sh", "-c", script)
	}
	cmd.Env, cmd.Dir = m.env, m.dir
	return cmd.Output()
}

func (m *sightMachine) must(script string) string {
	m.t.Helper()
	out, err := m.sh(script)
	if err != nil {
		m.t.Fatalf("%s: %v", script, err)
	}
	return strings.TrimSpace(string(out))
}

func (m *sightMachine) until(what string, ok func() bool) {
	m.t.Helper()
	deadline, tick := time.NewTimer(30*time.Second), time.NewTicker(20*time.Millisecond)
	defer deadline.Stop()
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			m.t.Fatalf("not in time: %s", what)
		}
	}
}

// start starts a session with a program in a shell, and gives its process.
func (m *sightMachine) start(session, program string) int {
	m.t.Helper()
	m.must(fmt.Sprintf("tmux -u new-session -d -s %s -x 80 -y 24 \"exec sh -c '$HOME/%s 1000; exec sh -i'\"", session, program))
	return m.below(session, program)
}

func (m *sightMachine) below(session, program string) (pid int) {
	m.t.Helper()
	pane := m.must("tmux display-message -p -t '=" + session + ":' '#{pane_pid}'")
	m.until(program+" runs", func() bool {
		out, err := m.sh("ps -A -o pid= -o ppid= -o comm=")
		for line := range strings.Lines(string(out)) {
			if f := strings.Fields(line); err == nil && len(f) == 3 && f[1] == pane && f[2] == program {
				pid, _ = strconv.Atoi(f[0])
			}
		}
		return pid != 0
	})
	return pid
}

// file writes what a client says of itself.
func (m *sightMachine) file(pid int, id, start string) {
	m.t.Helper()
	if start == "" {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			m.t.Fatal(err)
		}
		start = strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[19]
	}
	text := fmt.Sprintf(`{"pid":%d,"sessionId":"%s","cwd":"/a","procStart":"%s","kind":"interactive","status":"idle"}`, pid, id, start)
	if err := os.WriteFile(filepath.Join(m.dir, ".claude/sessions", strconv.Itoa(pid)+".json"), []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
	m.say(id, "hello of "+id)
}

func (m *sightMachine) say(id, text string) {
	m.t.Helper()
	f, err := os.OpenFile(filepath.Join(m.dir, ".claude/projects/-a", id+".jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(f, `{"type":"user","uuid":"u","message":{"role":"user","content":"%s"}}`+"\n", text)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		m.t.Fatal(err)
	}
}

func (m *sightMachine) look(last *sighted, whole bool, sessions ...string) sighted {
	m.t.Helper()
	s, sections := newSight(last, whole, sessions...), transport.NewSections()
	sections.Add("sight", sightPrelude+s.fragment())
	out, err := m.sh(sections.Script())
	if err != nil {
		m.t.Fatalf("%v: %s", err, out)
	}
	parts, err := sections.Parse(out)
	if err != nil {
		m.t.Fatal(err)
	}
	return s.parse(parts["sight"])
}

// judged is what a sight says of a session, as far as it has to be the same by
// whatever way it was come by.
func (f sighted) judged(session string) string {
	s := judge(Host{Session: session}, system{now: time.Unix(1, 0)}, f.snap, f.tmuxErr, f.table, f.sessions)
	pane, id, said := "", "", ""
	if s.pane != nil {
		pane = s.pane.ID
	}
	if s.session != nil {
		id = s.session.ID
		for _, r := range s.session.Tail {
			said += "," + r.Text()
		}
	}
	return fmt.Sprintf("%s %s pane %s process %q client %d conversation %s%s", s.State, s.Rule, pane, s.evidence.Process, s.client, id, said)
}

// TestSight brings sessions into many states: with and without what is known, and
// with every process or those in question, a look finds the same; and it has every
// process wherever a client is not proven to be there.
func TestSight(t *testing.T) {
	for name, tt := range map[string]struct {
		scene    func(m *sightMachine)
		sessions []string
		whole    bool           // it takes the whole table
		process  detect.Process // of the first session
	}{
		"a client":            {func(m *sightMachine) { m.file(m.start("a", "claude"), "0a-1", "") }, []string{"a"}, false, detect.ProcessRunning},
		"one by another name": {func(m *sightMachine) { m.file(m.start("a", "node"), "0a-1", "") }, []string{"a"}, false, detect.ProcessRunning},
		"two sessions": {func(m *sightMachine) {
			m.file(m.start("a", "claude"), "0a-1", "")
			m.file(m.start("b", "claude"), "0a-2", "")
		}, []string{"a", "b"}, false, detect.ProcessRunning},
		"one of two":         {func(m *sightMachine) { m.file(m.start("a", "claude"), "0a-1", ""); m.start("b", "claude") }, []string{"a"}, false, detect.ProcessRunning},
		"one of two is down": {func(m *sightMachine) { m.file(m.start("a", "claude"), "0a-1", "") }, []string{"a", "b"}, false, detect.ProcessRunning},
		"without a file":     {func(m *sightMachine) { m.start("a", "claude") }, []string{"a"}, true, detect.ProcessRunning},
		"beside one without": {func(m *sightMachine) { m.file(m.start("a", "claude"), "0a-1", ""); m.start("b", "claude") }, []string{"a", "b"}, true, detect.ProcessRunning},
		"a file of another":  {func(m *sightMachine) { m.file(m.start("a", "claude"), "0a-1", "1") }, []string{"a"}, true, detect.ProcessRunning},
		"another's file":     {func(m *sightMachine) { m.file(m.start("a", "node"), "0a-1", "1") }, []string{"a"}, true, detect.ProcessGone},
		"a file that reads differently": {func(m *sightMachine) {
			pid := m.start("a", "claude")
			m.file(pid, "0a-1", "")
			m.must(fmt.Sprintf(`sed -i 's/"procStart":"\([0-9]*\)"/"procStart":\1/' .claude/sessions/%d.json`, pid))
		}, []string{"a"}, false, detect.ProcessRunning},
		"a pane that is told in another form": {func(m *sightMachine) {
			pid := m.start("a", "claude")
			m.file(pid, "0a-1", "")
			m.must(fmt.Sprintf(`sed -i 's/"status"/"tmux":{"x":1},"status"/' .claude/sessions/%d.json`, pid))
		}, []string{"a"}, false, detect.ProcessRunning},
		"another client beside a suspended one": {func(m *sightMachine) {
			pid := m.start("a", "claude")
			m.kill(pid, syscall.SIGSTOP)
			m.must("tmux new-session -d -s b -x 80 -y 24 'exec sh -i'; tmux send-keys -t =b: \"$HOME/claude 1000\" Enter")
			first := m.below("b", "claude")
			m.kill(first, syscall.SIGTSTP)
			m.until("the first stands", func() bool { return strings.HasPrefix(m.must(fmt.Sprintf("ps -o stat= -p %d", first)), "T") })
			m.must("tmux send-keys -t =b: \"$HOME/claude 1001\" Enter")
			second := 0
			m.until("the second runs", func() bool {
				_, err := fmt.Sscan(m.must("pgrep -f '^[^ ]*/claude 1001$' || echo 0"), &second)
				return err == nil && second != 0
			})
			m.file(second, "0a-2", "")
		}, []string{"b"}, false, detect.ProcessRunning},
		"killed": {func(m *sightMachine) {
			pid := m.start("a", "claude")
			m.file(pid, "0a-1", "")
			m.kill(pid, syscall.SIGKILL)
			m.until("a shell runs", func() bool {
				out, _ := m.sh("tmux capture-pane -p -t =a:")
				return strings.HasPrefix(strings.TrimSpace(string(out)), "Killed")
			})
		}, []string{"a"}, true, detect.ProcessGone},
		"stopped": {func(m *sightMachine) {
			pid := m.start("a", "claude")
			m.file(pid, "0a-1", "")
			m.kill(pid, syscall.SIGSTOP)
			m.until("it stands", func() bool { return strings.HasPrefix(m.must(fmt.Sprintf("ps -o stat= -p %d", pid)), "T") })
		}, []string{"a"}, true, detect.ProcessStopped},
		"a person's window beside the launched one": {func(m *sightMachine) {
			m.file(m.start("a", "claude"), "0a-1", "")
			m.must("tmux set-option -p -t =a: " + tmux.LaunchedOption + " 1700000000; tmux new-window -t =a: 'exec sh -i'")
		}, []string{"a"}, false, detect.ProcessRunning},
		"a person's window beside a person's": {func(m *sightMachine) {
			m.file(m.start("a", "claude"), "0a-1", "")
			m.must("tmux new-window -t =a: 'exec sh -i'")
		}, []string{"a"}, true, detect.ProcessRunning},
		"in the window beside the launched one": {func(m *sightMachine) {
			m.file(m.start("a", "claude"), "0a-1", "")
			m.must("tmux new-window -t =a: 'exec sleep 1000'; tmux set-option -p -t =a: " + tmux.LaunchedOption + " 1700000000")
		}, []string{"a"}, true, detect.ProcessRunning},
		"no server": {func(*sightMachine) {}, []string{"a"}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := newSightMachine(t)
			tt.scene(m)
			all := m.look(nil, true, tt.sessions...)
			if all.tmuxErr != nil || all.whole != all.snap.Running {
				t.Fatalf("%v, whole: %v", all.tmuxErr, all.whole)
			}
			first := m.look(nil, false, tt.sessions...)
			again := m.look(&first, false, tt.sessions...)
			later := m.look(&all, false, tt.sessions...)
			strange := m.look(&sighted{snap: tmux.Snapshot{Panes: []tmux.Pane{{Session: "a", ID: "%77"}}}, sessions: slices.Clone(first.sessions)}, false, tt.sessions...)
			for i, session := range tt.sessions {
				want := all.judged(session)
				for how, now := range map[string]sighted{"at first": first, "again": again, "after a whole look": later, "with a wrong hint": strange} {
					if got := now.judged(session); got != want || now.whole != tt.whole {
						t.Errorf("%s, %s: %s (whole: %v), want %s (whole: %v)", session, how, got, now.whole, want, tt.whole)
					}
				}
				if i == 0 && !strings.Contains(want, fmt.Sprintf("process %q", tt.process)) {
					t.Errorf("%s, want process %q", want, tt.process)
				}
			}
			// What is said meanwhile is found, and a client that ends.
			if tt.whole || !first.snap.Running || len(first.sessions) == 0 || tt.sessions[0] != "a" {
				return
			}
			m.say("0a-1", "news")
			now := m.look(&again, false, tt.sessions...)
			if got := now.judged("a"); !strings.HasSuffix(got, "0a-1,hello of 0a-1,news") {
				t.Errorf("after news: %s", got)
			}
			for _, s := range now.sessions {
				m.kill(s.PID, syscall.SIGKILL)
				m.until("it has ended", func() bool { return syscall.Kill(s.PID, 0) != nil })
			}
			if got := m.look(&now, false, tt.sessions...); !got.whole || !strings.Contains(got.judged("a"), fmt.Sprintf("process %q client 0 conversation", detect.ProcessGone)) {
				t.Errorf("after its end: %s", got.judged("a"))
			}
		})
	}
}

func (m *sightMachine) kill(pid int, sig syscall.Signal) {
	m.t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		m.t.Fatal(err)
	}
}

// FuzzSight holds that nothing makes the reader panic, and that what it gives is no
// whole table unless ps ended well. NONCE stands for the sight's nonce.
func FuzzSight(f *testing.F) {
	for _, seed := range []string{
		"", "NONCE clients\n", "NONCE clients\nNONCE processes\n1 0 -1 S init\nNONCE 0\n", "NONCE clients\nNONCE processes\n1 0 -1 S init\nNONCE 1\n", "NONCE clients\nNONCE processes\n1 0 -1 S init\n",
		"NONCE processes\nNONCE clients\nNONCE 0\n", "NONCE processes\nNONCE 0", "x\nNONCE clients\ny",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, out string) {
		s := newSight(nil, false, "a")
		found := s.parse(transport.Section{Out: []byte(strings.ReplaceAll(out, "NONCE", s.nonce)), Ran: true})
		if found.whole && !strings.Contains(out, "NONCE 0\n") {
			t.Errorf("%q is whole", out)
		}
		_ = found.judged("a")
	})
}
