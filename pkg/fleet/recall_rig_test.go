package fleet_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/fakeclient"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/relay"
)

// serveFor starts a server in this process for the length of a test.
func serveFor(t *testing.T) (socket string) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "recall-") // a socket's path has to be short
	if err != nil {
		t.Fatal(err)
	}
	socket = filepath.Join(dir, "s", "serve.sock")
	s, err := relay.Listen(relay.Options{}, socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Serve(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		_ = os.RemoveAll(dir)
	})
	return socket
}

// recalling is a host that is looked at by one program after the other, through a
// server and without.
type recalling struct {
	*testing.T
	r      *rig.Rig
	h      *rig.Host
	socket string
	git    string
	log    string
}

func startRecalling(t *testing.T) *recalling {
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true, Fake: &fakeclient.Script{}})
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	c := &recalling{T: t, r: r, h: r.Host("alpha"), socket: serveFor(t), git: git, log: filepath.Join(t.TempDir(), "log")}
	text := fmt.Appendf(nil, "#!/bin/sh\necho >>%s\nexec %s \"$@\"\n", c.log, git)
	if err := os.WriteFile(filepath.Join(filepath.Dir(c.h.Home), "bin", "git"), text, 0o700); err != nil {
		t.Fatal(err)
	}
	return c
}

// calls is how often git was run.
func (c *recalling) calls() int {
	c.Helper()
	out, err := os.ReadFile(c.log)
	if err != nil && !os.IsNotExist(err) {
		c.Fatal(err)
	}
	return len(out)
}

// program is a fleet of its own, as each run of the command has one.
func (c *recalling) program() *fleet.Fleet {
	c.Helper()
	return over(c.T, c.r, fleet.WithTimeout(time.Minute), fleet.WithServer("", c.socket))
}

// look is what one program's look tells; direct is without a server.
func (c *recalling) look(direct bool) fleet.Status {
	c.Helper()
	if direct {
		return state(c.T, over(c.T, c.r, fleet.WithTimeout(time.Minute)), "alpha")
	}
	return state(c.T, c.program(), "alpha")
}

// told is all that a status tells but the room on the disk, which others use too.
func told(s fleet.Status) string {
	if s.Disk != nil {
		s.Disk = &fleet.Disk{}
	}
	b, err := json.Marshal(s)
	return fmt.Sprintf("%s %v", b, err)
}

// same waits until looks with and without a memory tell the same, of that state.
func (c *recalling) same(want detect.State) {
	c.Helper()
	rigtest.Eventually(c.T, time.Minute, "both to tell "+string(want), func() (bool, string) {
		with, without := c.look(false), c.look(true)
		return with.State == want && told(with) == told(without), told(with) + "\nwithout\n" + told(without)
	})
}

// kept waits until a look asks git nothing: the one before it is remembered.
func (c *recalling) kept() {
	c.Helper()
	rigtest.Eventually(c.T, time.Minute, "git not to be asked", func() (bool, string) {
		before := c.calls()
		c.look(false)
		return c.calls() == before, fmt.Sprintf("%d calls", c.calls())
	})
}

// TestStatusRecalls has one program after the other look at a host while everything
// changes that the one before may have left in the server: each tells what a look
// without a memory does.
func TestStatusRecalls(t *testing.T) {
	t.Parallel()
	c := startRecalling(t)
	pane := func() string {
		id, err := c.h.Tmux(t.Context(), "list-panes", "-t", "=claude:", "-F", "#{pane_id}")
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(id)
	}
	c.same(detect.Down)
	up(t, c.program())
	c.same(detect.Ready)
	first := pane()
	c.kept()

	// A turn, and its end.
	if _, err := c.program().Send(t.Context(), "alpha", "hello there", fleet.SendOptions{}); err != nil {
		t.Fatal(err)
	}
	c.same(detect.Ready)
	r, err := c.program().Read(t.Context(), "alpha", fleet.ReadOptions{Turns: 1})
	if err != nil || len(r.Turns) == 0 || !strings.Contains(fmt.Sprint(r.Turns), "Done: hello there") {
		t.Errorf("%+v, %v", r, err)
	}

	// The session goes, and another of its name comes.
	if _, err := c.h.Tmux(t.Context(), "new-session", "-d", "-s", "keeper", "exec sh"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.h.Tmux(t.Context(), "kill-session", "-t", "=claude"); err != nil {
		t.Fatal(err)
	}
	c.same(detect.Down)
	up(t, c.program())
	c.same(detect.Ready)
	if pane() == first {
		t.Errorf("the session is in pane %s again: this proves nothing", first)
	}

	// The client ends.
	if err := c.h.KillClient(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.same(detect.Crashed)
	up(t, c.program())
	c.same(detect.Ready)

	// The workdir goes and comes again.
	if err := os.Rename(c.h.Workdir, c.h.Workdir+".away"); err != nil {
		t.Fatal(err)
	}
	// What is told of a folder may be 5 s old.
	soon := func(what string, ok func(fleet.Status) bool) {
		t.Helper()
		began := time.Now()
		rigtest.Eventually(t, time.Minute, what, func() (bool, string) {
			from := time.Now()
			s := c.look(false)
			if !ok(s) && from.Sub(began) >= 5*time.Second {
				t.Fatalf("%s is not told after %v: %s", what, from.Sub(began), told(s))
			}
			return ok(s), told(s)
		})
	}
	soon("the missing folder", func(s fleet.Status) bool {
		return s.Git == nil && s.Disk == nil && strings.Contains(strings.Join(s.Flags, " "), "nodir")
	})
	if err := os.Rename(c.h.Workdir+".away", c.h.Workdir); err != nil {
		t.Fatal(err)
	}
	soon("the folder that is there again", func(s fleet.Status) bool { return s.Git != nil && s.Disk != nil && len(s.Flags) == 0 })

	// A commit.
	c.kept()
	cmd := exec.Command(c.git, "-C", c.h.Workdir, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "another")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	soon("the commit", func(s fleet.Status) bool {
		return s.Git != nil && s.Git.LastCommit != nil && s.Git.LastCommit.Subject == "another"
	})
}

// TestStatusRecallsForSeconds has a count told again for five seconds, and no longer.
func TestStatusRecallsForSeconds(t *testing.T) {
	t.Parallel()
	c := startRecalling(t)
	up(t, c.program())
	c.kept()
	s := c.look(false)
	if s.Git == nil || s.Git.Dirty < 0 {
		t.Fatal(told(s))
	}
	was, edited := s.Git.Dirty, time.Now()
	if err := os.WriteFile(filepath.Join(c.h.Workdir, "new file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	rigtest.Eventually(t, time.Minute, "the new file to be counted", func() (bool, string) {
		began := time.Now()
		s = c.look(false)
		if s.Git == nil || s.Git.Dirty != was && s.Git.Dirty != was+1 {
			t.Fatal(told(s))
		}
		if s.Git.Dirty == was && began.Sub(edited) >= 5*time.Second {
			t.Fatalf("%v after the edit it is not told", began.Sub(edited))
		}
		return s.Git.Dirty == was+1, told(s)
	})
	c.kept() // the twin: it is told again
}

// TestRecallIsForTelling has a look remembered, and the verbs that type, start or end
// something look with their own eyes all the same. So do those whose connection is
// another: what stands behind a name may be another machine.
func TestRecallIsForTelling(t *testing.T) {
	t.Parallel()
	c := startRecalling(t)
	up(t, c.program())
	if i, err := relay.Inquire(t.Context(), c.socket); err != nil || i.Calls == 0 || i.Kept != 0 {
		t.Errorf("up has left something: %+v, %v", i, err)
	}
	for name, do := range map[string]func() error{
		"send": func() error {
			_, err := c.program().Send(t.Context(), "alpha", "hello", fleet.SendOptions{})
			return err
		},
		"up": func() error { up(t, c.program()); return nil },
		"answer": func() error {
			_, err := c.program().Answer(t.Context(), "alpha", fleet.AnswerOptions{Label: "yes"})
			if fleet.ClassOf(err) != fleet.ClassRefused {
				return err
			}
			return nil
		},
		"restart": func() (err error) {
			f := c.program()
			hosts, _ := f.Select("alpha")
			for r := range f.Restart(t.Context(), fleet.RestartOptions{}, hosts...) {
				err = r.Err
			}
			return err
		},
		"explain": func() error { _, err := c.program().Explain(t.Context(), "alpha"); return err },
		"a changed ssh_config": func() error {
			text, err := os.ReadFile(c.r.SSHConfig())
			if err != nil {
				return err
			}
			text = []byte(strings.Replace(string(text), "Host alpha", "Host alpha\n\tServerAliveInterval 77", 1))
			if err := os.WriteFile(c.r.SSHConfig(), text, 0o600); err != nil {
				return err
			}
			if s := c.look(false); s.State != detect.Ready && s.State != detect.Busy {
				return fmt.Errorf("%s", told(s))
			}
			return nil
		},
		"no server": func() error { c.look(true); return nil },
	} {
		c.same(detect.Ready)
		c.kept()
		before := c.calls()
		if err := do(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.calls() == before {
			t.Errorf("%s went by what another program has seen", name)
		}
	}
}
