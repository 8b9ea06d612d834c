package fleet_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/fakeclient"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// TestRestartLive restarts the real client while words stream, amid a tool, at a
// dialog, with a shell in the background, and from a person's shell: each time it
// has the conversation that it had, and nothing of it runs on.
func TestRestartLive(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true})
	f := over(t, r, fleet.WithTimeout(time.Minute))
	up(t, f)
	p := person{t: t, r: r, h: r.Host("alpha")}
	q := report{t, f, p}
	sends(t, f, "SAY the first words", fleet.SendOptions{}, fleet.Accepted)
	is(t, f, detect.Ready, "")
	id := ""
	for _, c := range []struct {
		prompt, shows string
		was           detect.State
		text          string
		tool          bool
	}{
		{"HOLD words", "Holding words", detect.Busy, `busy with "HOLD words"`, false},
		{"TOOL tail -f /dev/null", "Running", detect.Busy, `busy with "TOOL tail -f /dev/null"`, true},
		{"BACKGROUND tail -f /dev/null", "1 shell", detect.Ready, "ready, in the background 1 shell", true},
		{"ASK", "Postgres", detect.Gate, "gate at ", false},
	} {
		waitReady(t, f) // a conversation whose tool was ended may read busy for a moment once it is resumed
		sends(t, f, c.prompt, fleet.SendOptions{}, fleet.Accepted)
		p.shows(c.shows)
		is(t, f, c.was, "")
		if tails := q.running("tail"); c.tool != (tails == 1) {
			t.Errorf("%s: %d tools run", c.prompt, tails)
		}
		res := q.restart(fleet.RestartOptions{})
		if res.Err != nil || len(res.Did) != 2 || res.Did[0] != ended || !strings.HasPrefix(res.Was.Text, c.text) || res.Was.State != c.was {
			t.Fatalf("%s: %q, %v, was %+v\n%s", c.prompt, res.Did, res.Err, res.Was, p.screen())
		}
		if id == "" {
			id = res.Was.Conversation
		}
		if res.Did[1] != kept+id || res.Was.Conversation != id || len(res.Notes) > 0 {
			t.Errorf("%s: did %q, notes %q, was %q, want %q", c.prompt, res.Did, res.Notes, res.Was.Conversation, id)
		}
		if tails := q.running("tail"); tails != 0 {
			t.Errorf("%s: %d tools run on", c.prompt, tails)
		}
		is(t, f, detect.Ready, "")
	}
	// Its own end takes its file away; the pane has a note of the conversation.
	p.tmux("send-keys", "-t", "=claude:", "-l", "/exit")
	p.keys("Enter")
	is(t, f, detect.Crashed, "")
	res := q.restart(fleet.RestartOptions{})
	if res.Err != nil || len(res.Did) != 1 || res.Did[0] != kept+id {
		t.Fatalf("behind its end: %q, %v", res.Did, res.Err)
	}
	reading, err := f.Read(t.Context(), "alpha", fleet.ReadOptions{})
	if err != nil || !strings.Contains(fmt.Sprint(reading), "the first words") {
		t.Errorf("read: %+v, %v", reading, err)
	}
	sends(t, f, "SAY the last words", fleet.SendOptions{}, fleet.Accepted)
	is(t, f, detect.Ready, "")
}

// running counts the host's processes of a name.
func (r report) running(name string) int {
	r.Helper()
	n := 0
	dirs, err := os.ReadDir("/proc")
	must(r.p, err)
	for _, d := range dirs {
		comm, err := os.ReadFile("/proc/" + d.Name() + "/comm")
		if err != nil || strings.TrimSpace(string(comm)) != name {
			continue
		}
		env, err := os.ReadFile("/proc/" + d.Name() + "/environ")
		if err == nil && slices.Contains(strings.Split(string(env), "\x00"), "HOME="+r.p.h.Home) {
			n++
		}
	}
	return n
}

// TestRestartReports goes through the faults that users reported of restarts and of
// their tmux, each with its smallest input.
func TestRestartReports(t *testing.T) {
	t.Parallel()
	plain := fleet.RestartOptions{}
	for _, c := range []struct {
		name   string
		script fakeclient.Script
		do     func(r report)
	}{
		{name: "all tell the same of a busy pane", script: fakeclient.Script{Turn: 40 * time.Second}, do: func(r report) {
			r.sent("a long turn", fleet.SendOptions{}, fleet.Accepted)
			r.is(detect.Busy, "")
			ex, err := r.f.Explain(r.Context(), "alpha")
			if res := r.restarts(plain, ended, kept); err != nil || ex.State != res.Was.State || res.Was.State != detect.Busy {
				r.Errorf("explain %s, restart %s, %v", ex.State, res.Was.State, err)
			}
		}},
		{name: "CLAUDECODE, a sibling that begins alike, and numbers from 1", do: func(r report) {
			r.p.tmux("set-option", "-g", "base-index", "1", ";", "set-option", "-g", "pane-base-index", "1", ";", "set-environment", "-g", "CLAUDECODE", "1")
			r.p.opens("claude-two", 80, 24, "exec sleep 1000")
			r.p.tmux("split-window", "-t", "=claude:", "exec sleep 1000")
			r.p.tmux("new-window", "-t", "=claude:", "exec sleep 1000") // another window and pane are the active ones
			sibling := r.p.tmux("list-panes", "-a", "-F", "#{pane_pid} #{pane_current_command}")
			r.restarts(plain, ended, "relaunched")
			if env := r.clientEnv(); strings.Contains(env, "CLAUDECODE=") || !strings.Contains(env, "HOME=") {
				r.Errorf("the client has %s", env)
			}
			now := r.p.tmux("list-panes", "-a", "-F", "#{pane_pid} #{pane_current_command}")
			for line := range strings.Lines(sibling) {
				if strings.HasSuffix(strings.TrimSpace(line), " sleep") && !strings.Contains(now, line) {
					r.Errorf("%q is gone:\n%s", line, now)
				}
			}
			r.sent("into it again", fleet.SendOptions{}, fleet.Accepted)
			r.is(detect.Ready, "")
			r.p.tmux("kill-session", "-t", "=claude")
			r.is(detect.Down, "")
			r.restarts(plain, "started")
		}},
		{name: "the workdir was deleted", do: func(r report) {
			must(r.p, os.Rename(r.p.h.Workdir, r.p.h.Workdir+".away"))
			before := r.clients()
			res := r.restart(plain)
			if fleet.ClassOf(res.Err) != fleet.ClassFailed || !strings.Contains(res.Err.Error(), "does not exist there; nothing was ended") || len(res.Did) > 0 || !slices.Equal(r.clients(), before) {
				r.Errorf("did %q, %v, clients %v, before %v", res.Did, res.Err, r.clients(), before)
			}
			must(r.p, os.Rename(r.p.h.Workdir+".away", r.p.h.Workdir))
			r.restarts(plain, ended, "relaunched")
		}},
		{name: "a tmux server of another version", do: func(r report) {
			r.fakeTmux("case $* in -V) echo tmux 3.5a ;; *) echo 'protocol version mismatch (client 8, server 7)' >&2; exit 1 ;; esac")
			if res := r.spares(fleet.RestartOptions{Force: true}, "protocol version mismatch"); res.Status.State != detect.Unknown {
				r.Errorf("%s", res.Status.State)
			}
			if calls := r.tmuxCalls(); strings.Contains(calls, "respawn") || strings.Contains(calls, "new-session") || strings.Contains(calls, "kill") {
				r.Errorf("called:\n%s", calls)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true, Fake: &c.script})
			f := over(t, r, fleet.WithTimeout(time.Minute))
			up(t, f)
			c.do(report{t, f, person{t: t, r: r, h: r.Host("alpha")}})
		})
	}
}

// TestRestartStream has a dead host among three: it holds up nobody. Then the caller
// goes while a client takes its time to end: what was begun is finished, and told.
func TestRestartStream(t *testing.T) {
	t.Parallel()
	slow := &fakeclient.Script{TermLate: 3 * time.Second}
	spec := func(name string, s *fakeclient.Script) rig.HostSpec {
		return rig.HostSpec{Name: name, Trusted: true, BypassAccepted: true, Fake: s}
	}
	r := rigtest.Start(t, spec("alpha", slow), spec("beta", &fakeclient.Script{}), spec("gamma", &fakeclient.Script{}))
	f := over(t, r, fleet.WithTimeout(time.Minute))
	up(t, f)
	must(person{t: t}, r.Host("gamma").FreezeSSHD())
	var got []string
	for res := range f.Restart(t.Context(), fleet.RestartOptions{}, f.Table().Hosts...) {
		name := res.Status.Host.Name
		got = append(got, name)
		want := fleet.Class(0)
		if name == "gamma" {
			want = fleet.ClassUnreachable
		}
		if fleet.ClassOf(res.Err) != want || (len(res.Did) == 0) != (name == "gamma") {
			t.Errorf("%s: %q, %v", name, res.Did, res.Err)
		}
	}
	if len(got) != 3 || got[2] != "gamma" {
		t.Errorf("they came as %v", got)
	}
	must(person{t: t}, r.Host("gamma").ThawSSHD())

	hosts, err := f.Select("alpha")
	must(person{t: t}, err)
	q := report{t, f, person{t: t, r: r, h: r.Host("alpha")}}
	before, gone := q.terminated(), q.clients()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan fleet.RestartResult)
	go func() {
		for res := range f.Restart(ctx, fleet.RestartOptions{}, hosts...) {
			done <- res
		}
	}()
	rigtest.Eventually(t, drawn, "SIGTERM to come", func() (bool, string) { return q.terminated() > before, "" })
	cancel()
	res := <-done
	if fleet.ClassOf(res.Err) != fleet.ClassFailed || !strings.Contains(res.Err.Error(), "its client was ended and started again; interrupted") || len(res.Did) != 2 {
		t.Errorf("did %q, %v", res.Did, res.Err)
	}
	is(t, f, detect.Ready, "")
	if now := q.clients(); len(now) != 1 || slices.Equal(now, gone) {
		t.Errorf("clients %v, before %v", now, gone)
	}
}
