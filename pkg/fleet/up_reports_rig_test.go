package fleet_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/fakeclient"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// tmuxConf writes the host's ~/.tmux.conf.
func (p person) tmuxConf(text string) {
	p.t.Helper()
	must(p, os.WriteFile(filepath.Join(p.h.Home, ".tmux.conf"), []byte(text), 0o600))
}

// tryUp takes alpha up and tells how it went.
func (r report) tryUp() fleet.UpResult {
	r.Helper()
	for res := range r.f.Up(r.Context(), r.f.Table().Hosts...) {
		return res
	}
	r.Fatal("no result")
	return fleet.UpResult{}
}

// TestUpReports goes through the faults that users reported of starting sessions
// and of their tmux, each with its smallest input.
func TestUpReports(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		env  []string
		do   func(r report)
	}{
		{name: "CLAUDECODE is in the server's environment", do: func(r report) {
			r.p.tmux("start-server", ";", "set-option", "-g", "exit-empty", "off", ";", "set-environment", "-g", "CLAUDECODE", "1", ";", "new-session", "-d", "-s", "mine", "exec sh")
			upOne(r.T, r.f, "alpha")
			if env := r.clientEnv(); strings.Contains(env, "CLAUDECODE=") || !strings.Contains(env, "HOME=") {
				r.Errorf("the client has %s", env)
			}
		}},
		{name: "a sibling's name begins alike", do: func(r report) {
			r.p.opens("claude-two", 80, 24, "exec sleep 1000")
			r.is(detect.Down, "")
			pid := r.p.tmux("list-panes", "-t", "=claude-two:", "-F", "#{pane_pid}")
			upOne(r.T, r.f, "alpha")
			r.sent("for one of them", fleet.SendOptions{}, fleet.Accepted)
			if now := r.p.tmux("list-panes", "-t", "=claude-two:", "-F", "#{pane_pid}"); now != pid {
				r.Errorf("the sibling's process was %s and is %s", pid, now)
			}
			r.p.tmux("kill-session", "-t", "=claude")
			r.is(detect.Down, "")
		}},
		{name: "windows and panes count from 1", do: func(r report) {
			r.p.tmuxConf("set -g base-index 1\nset -g pane-base-index 1\n")
			upOne(r.T, r.f, "alpha")
			pane := strings.TrimSpace(r.p.tmux("display-message", "-p", "-t", "=claude:", "#{pane_id} #{window_index}.#{pane_index}"))
			if !strings.HasSuffix(pane, " 1.1") {
				r.Fatalf("pane %s", pane)
			}
			r.p.tmux("split-window", "-t", "=claude:", "exec sleep 1000")
			r.p.tmux("new-window", "-t", "=claude:", "exec sleep 1000") // another window and pane are the active ones
			r.is(detect.Ready, "")
			r.sent("into the first pane", fleet.SendOptions{}, fleet.Accepted)
			must(r.p, r.p.h.KillClient(r.Context()))
			r.is(detect.Crashed, "")
			upOne(r.T, r.f, "alpha")
			r.sent("into it again", fleet.SendOptions{}, fleet.Accepted)
			if n := strings.Count(r.p.tmux("list-panes", "-s", "-t", "=claude", "-F", "x"), "x"); n != 3 {
				r.Errorf("%d panes", n)
			}
		}},
		{name: "no locale", env: []string{"LANG", "LC_ALL", "LC_CTYPE"}, do: func(r report) {
			upOne(r.T, r.f, "alpha")
			if env := r.clientEnv(); !strings.Contains(strings.ToLower(env), "lc_ctype=c.utf") {
				r.Errorf("the client has %s", env)
			}
			r.sent("日本語のテキスト ⠋", fleet.SendOptions{}, fleet.Accepted)
		}},
		{name: "a locale without UTF-8", env: []string{"LC_ALL=C"}, do: func(r report) {
			upOne(r.T, r.f, "alpha")
			r.sent("fünf", fleet.SendOptions{}, fleet.Accepted)
		}},
		{name: "a tmux server of another version", do: func(r report) {
			r.fakeTmux("case $* in -V) echo tmux 3.5a ;; *) echo 'protocol version mismatch (client 8, server 7)' >&2; exit 1 ;; esac")
			res := r.tryUp()
			if res.Status.State != detect.Unknown || fleet.ClassOf(res.Err) != fleet.ClassRefused || !strings.Contains(res.Err.Error(), "protocol version mismatch") {
				r.Errorf("%s, %v", res.Status.State, res.Err)
			}
			if calls := r.tmuxCalls(); strings.Contains(calls, "new-session") || strings.Contains(calls, "kill") {
				r.Errorf("called:\n%s", calls)
			}
		}},
		{name: "destroy-unattached is on", do: func(r report) {
			r.p.tmuxConf("set -g destroy-unattached on\n")
			res := r.tryUp()
			if res.Status.State != detect.Down || fleet.ClassOf(res.Err) != fleet.ClassFailed || !strings.Contains(res.Err.Error(), "destroy-unattached is on") {
				r.Errorf("%s, %v", res.Status.State, res.Err)
			}
			r.p.tmuxConf("")
			upOne(r.T, r.f, "alpha")
		}},
		{name: "the workdir was deleted", do: func(r report) {
			must(r.p, os.Rename(r.p.h.Workdir, r.p.h.Workdir+".away"))
			res := r.tryUp()
			if res.Status.State != detect.Down || fleet.ClassOf(res.Err) != fleet.ClassFailed || !strings.Contains(res.Err.Error(), "does not exist there") {
				r.Errorf("%s, %v", res.Status.State, res.Err)
			}
			must(r.p, os.Rename(r.p.h.Workdir+".away", r.p.h.Workdir))
			upOne(r.T, r.f, "alpha")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true, Fake: &fakeclient.Script{}, Env: c.env})
			c.do(report{t, over(t, r), person{t: t, r: r, h: r.Host("alpha")}})
		})
	}
}

// clientEnv is what the client has in its environment, a line a variable.
func (r report) clientEnv() string {
	r.Helper()
	pids, err := r.p.h.ClientPIDs()
	if err != nil || len(pids) != 1 {
		r.Fatalf("clients %v, %v", pids, err)
	}
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pids[0]))
	must(r.p, err)
	return strings.ReplaceAll(string(env), "\x00", "\n")
}

// fakeTmux puts a tmux first on the host's PATH that notes its calls.
func (r report) fakeTmux(text string) {
	r.Helper()
	script := "#!/bin/sh\nprintf '%s\\n' \"$*\" >> \"$HOME/tmux-calls\"\n" + text + "\n"
	must(r.p, os.WriteFile(filepath.Join(filepath.Dir(r.p.h.Home), "bin", "tmux"), []byte(script), 0o700))
}

func (r report) tmuxCalls() string {
	r.Helper()
	text, err := os.ReadFile(filepath.Join(r.p.h.Home, "tmux-calls"))
	must(r.p, err)
	return string(text)
}

// TestUpSmallPane has the real client behind its start-up dialogs in panes that a
// person made, too small to show them whole. Where they can't be seen whole, up
// answers nothing, and the client is still there.
func TestUpSmallPane(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha"})
	f := over(t, r)
	h := r.Host("alpha")
	p := person{t, r, h}
	p.opens("another", 80, 24, "exec sh") // keeps the server
	for _, rows := range []int{6, 11, 14} {
		p.opens("claude", 80, rows, bypassing)
		rigtest.Eventually(t, drawn, "the client to draw", func() (bool, string) {
			s := state(t, f, "alpha")
			return s.State != detect.Crashed && s.Rule != "starting" && strings.Contains(p.screen(), "No, exit") || s.State == detect.Gate, describe(s) + p.screen()
		})
		var res fleet.UpResult
		for res = range f.Up(t.Context(), f.Table().Hosts...) {
		}
		pids, err := h.ClientPIDs()
		if err != nil || len(pids) != 1 {
			t.Fatalf("%d rows: %s, %v: clients %v (%v)\n%s", rows, res.Status.State, res.Err, pids, err, p.screen())
		}
		t.Logf("%d rows: %s, %q, %v", rows, res.Status.State, res.Did, res.Err)
		if class := fleet.ClassOf(res.Err); class != 0 && class != fleet.ClassRefused {
			t.Errorf("%d rows: %v", rows, res.Err)
		}
		// In a pane that is large enough it goes on from where it stands.
		if res.Err != nil {
			p.tmux("resize-window", "-t", "=claude:", "-x", "120", "-y", "40")
			upOne(t, f, "alpha")
		}
		p.tmux("kill-session", "-t", "=claude")
		ctx, cancel := context.WithTimeout(t.Context(), drawn)
		must(p, forget(ctx, h))
		cancel()
	}
}

// forget takes back that the start-up dialogs of a host were accepted.
func forget(ctx context.Context, h *rig.Host) error {
	return h.Command(ctx, "sh", "-c", `cd && rm -f .claude.json.backup* && printf '{"hasCompletedOnboarding":true,"theme":"dark"}' > .claude.json && echo '{}' > .claude/settings.json`).Run()
}
