package fleet_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/fakeclient"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// restart restarts alpha and tells how it went.
func (r report) restart(o fleet.RestartOptions) fleet.RestartResult {
	r.Helper()
	for res := range r.f.Restart(r.Context(), o, r.f.Table().Hosts...) {
		r.Logf("restart %+v: %s, did %q, notes %q, was %s, %v", o, res.Status.State, res.Did, res.Notes, res.Was.Text, res.Err)
		return res
	}
	r.Fatal("no result")
	return fleet.RestartResult{}
}

// restarts restarts alpha, which must end ready with this done.
func (r report) restarts(o fleet.RestartOptions, did ...string) fleet.RestartResult {
	r.Helper()
	res := r.restart(o)
	same := len(did) == len(res.Did)
	for i := range did {
		same = same && strings.HasPrefix(res.Did[i], did[i])
	}
	if res.Err != nil || res.Status.State != detect.Ready || !same {
		r.Fatalf("%s, did %q, want %q: %v\n%s", res.Status.State, res.Did, did, res.Err, r.p.screen())
	}
	return res
}

// spares has a restart refused for a reason, with the client that runs left alone.
func (r report) spares(o fleet.RestartOptions, why string) fleet.RestartResult {
	r.Helper()
	before := r.clients()
	res := r.restart(o)
	if fleet.ClassOf(res.Err) != fleet.ClassRefused || !strings.Contains(res.Err.Error(), why) || !strings.Contains(res.Err.Error(), "nothing was ended") || len(res.Did) > 0 {
		r.Fatalf("%s, did %q, %v, want %q", res.Status.State, res.Did, res.Err, why)
	}
	if now := r.clients(); !slices.Equal(now, before) {
		r.Errorf("clients %v, before %v", now, before)
	}
	return res
}

func (r report) clients() []int {
	r.Helper()
	pids, err := r.p.h.ClientPIDs()
	must(r.p, err)
	slices.Sort(pids)
	return pids
}

func (r report) terminated() int {
	r.Helper()
	return len(fakeclient.Texts(events(r.T, r.p.h), fakeclient.Terminated))
}

func (r report) bring(name string) {
	r.Helper()
	must(r.p, r.p.h.BringFault(r.Context(), name))
}

// ended and kept begin what a restart did that kept the conversation.
const (
	ended = "ended the client"
	kept  = "relaunched with conversation "
)

// TestRestartTimed restarts a client whose faults come at one moment, or that is in
// a state that has to be respected.
func TestRestartTimed(t *testing.T) {
	t.Parallel()
	plain, force := fleet.RestartOptions{}, fleet.RestartOptions{Force: true}
	dialog := []fakeclient.Fault{{On: fakeclient.OnFile, File: "dialog", Dialog: fakeclient.DialogPermission}}
	for _, c := range []struct {
		name   string
		script fakeclient.Script
		do     func(r report)
	}{
		{name: "one that takes its time", script: fakeclient.Script{TermLate: 3 * time.Second}, do: func(r report) {
			r.sent("hello", fleet.SendOptions{}, fleet.Accepted)
			r.is(detect.Ready, "")
			first := r.restarts(plain, ended, kept)
			if again := r.restarts(plain, ended, kept); again.Was.Conversation != first.Was.Conversation || first.Was.Conversation == "" || !strings.HasSuffix(again.Did[1], first.Was.Conversation) {
				r.Errorf("%q, then %q", first.Was.Conversation, again.Did)
			}
		}},
		{name: "one that ignores SIGTERM", script: fakeclient.Script{DeafTerm: true}, do: func(r report) {
			r.sent("hello", fleet.SendOptions{}, fleet.Accepted)
			r.is(detect.Ready, "")
			r.restarts(plain, "killed the client", kept)
			if n := r.terminated(); n != 1 {
				r.Errorf("%d SIGTERM", n)
			}
		}},
		{name: "at a dialog, in a turn, with a draft, fresh", script: fakeclient.Script{Turn: 40 * time.Second, Faults: dialog}, do: func(r report) {
			r.restarts(plain, ended, "relaunched") // nothing was said
			r.bring("dialog")
			r.is(detect.Gate, "")
			if res := r.restarts(plain, ended, "relaunched"); res.Was.Dialog == nil || !strings.HasPrefix(res.Was.Text, "gate at ") {
				r.Errorf("it was %+v", res.Was)
			}
			r.sent("a long turn", fleet.SendOptions{}, fleet.Accepted)
			r.is(detect.Busy, "")
			r.sent("another", fleet.SendOptions{Queue: true}, fleet.Queued)
			res := r.restarts(plain, ended, kept)
			if res.Was.State != detect.Busy || res.Was.Prompt != "a long turn" || !res.Was.Queued || res.Was.Turn == "" {
				r.Errorf("it was %+v", res.Was)
			}
			r.p.types("❯\u00a0", "half typed")
			if res := r.spares(plain, "somebody's draft"); res.Was.Draft != "half typed" {
				r.Errorf("it was %+v", res.Was)
			}
			r.is(detect.Ready, "half typed")
			if again := r.restarts(fleet.RestartOptions{Force: true, Fresh: true}, ended, "relaunched"); again.Was.Draft != "half typed" || strings.Contains(again.Did[1], kept) {
				r.Errorf("did %q, it was %+v", again.Did, again.Was)
			}
			r.is(detect.Ready, "")
		}},
		{name: "attached", do: func(r report) {
			cmd := r.p.h.Command(r.Context(), "tmux", "-u", "attach", "-t", "=claude")
			cmd.Env = append(cmd.Env, "TERM=xterm-256color")
			attachPTY(r.T, cmd)
			rigtest.Eventually(r.T, drawn, "the terminal to be attached", func() (bool, string) {
				s := state(r.T, r.f, "alpha")
				return s.Attached == 1 && s.State == detect.Ready, fmt.Sprint(s.Attached, s.State)
			})
			r.spares(plain, "somebody is attached to it (terminals: 1)")
			if res := r.restarts(force, ended, "relaunched"); res.Was.Attached != 1 {
				r.Errorf("it was %+v", res.Was)
			}
			if s := state(r.T, r.f, "alpha"); s.Attached != 1 {
				r.Error("the terminal was detached")
			}
		}},
		{name: "crashed, down, and a sender at work", do: func(r report) {
			r.sent("hello", fleet.SendOptions{}, fleet.Accepted)
			r.is(detect.Ready, "")
			r.p.kill()
			r.is(detect.Crashed, "")
			r.restarts(plain, kept)
			r.p.kill()
			r.is(detect.Crashed, "")
			if res := r.restarts(fleet.RestartOptions{Fresh: true}, "relaunched"); strings.Contains(res.Did[0], kept) {
				r.Errorf("fresh: %q", res.Did)
			}
			pane := strings.TrimSpace(r.p.tmux("display-message", "-p", "-t", "=claude:", "#{pane_id}"))
			r.p.tmux("set-option", "-p", "-t", pane, "@fleet_sender", stamp(r.T, os.Getpid()))
			r.spares(plain, "somebody else is sending to it or restarting it right now")
			r.p.tmux("set-option", "-p", "-u", "-t", pane, "@fleet_sender")
			r.p.tmux("kill-server")
			rigtest.Eventually(r.T, drawn, "the session to be down", func() (bool, string) {
				s := state(r.T, r.f, "alpha")
				return s.State == detect.Down && len(r.clients()) == 0, string(s.State)
			})
			r.restarts(plain, "started")
		}},
		{name: "another program, and wrappers", do: func(r report) {
			r.p.opens("keep", 80, 24, "exec sh") // a server that ends takes no session
			r.p.tmux("kill-session", "-t", "=claude")
			r.p.opens("claude", 120, 40, "exec cat")
			r.spares(plain, "no client is known to run in its pane")
			r.restarts(force, "ended what ran in the pane", "relaunched")
			wrap := func(name, text string) {
				must(r.p, os.WriteFile(filepath.Join(r.p.h.Home, name), []byte("#!/bin/sh\n"+text), 0o700))
			}
			for _, w := range []struct{ name, text, opens string }{
				{"npx", "claude \"$@\"\n:\n", "cd alpha-app; exec ~/npx"},
				{"claude", "PATH=${PATH#*:}:${PATH%%:*}; command claude \"$@\"\n:\n", "cd alpha-app; exec ~/claude"},
			} {
				wrap(w.name, w.text)
				r.p.tmux("kill-session", "-t", "=claude")
				r.p.opens("claude", 120, 40, w.opens)
				r.is(detect.Ready, "")
				before := r.p.tmux("display-message", "-p", "-t", "=claude:", "#{pane_id}")
				r.restarts(plain, ended, "relaunched")
				if now := r.p.tmux("display-message", "-p", "-t", "=claude:", "#{pane_id}"); now != before || len(r.clients()) != 1 {
					r.Errorf("%s: the pane was %s and is %s, clients %v", w.name, before, now, r.clients())
				}
			}
			// One that starts the client again by itself is left to it.
			wrap("watcher", "while :; do claude \"$@\"; sleep 1; done\n")
			r.p.tmux("kill-session", "-t", "=claude")
			r.p.opens("claude", 120, 40, "cd alpha-app; exec ~/watcher")
			r.is(detect.Ready, "")
			watcher := r.p.tmux("display-message", "-p", "-t", "=claude:", "#{pane_pid}")
			was := r.clients()
			r.restarts(plain, ended)
			if now := r.p.tmux("display-message", "-p", "-t", "=claude:", "#{pane_pid}"); now != watcher || len(r.clients()) != 1 || slices.Equal(r.clients(), was) {
				r.Errorf("the watcher was %s and is %s, clients %v, before %v", watcher, now, r.clients(), was)
			}
			// What a person's shell runs beside the client is not ended.
			r.p.tmux("kill-session", "-t", "=claude")
			r.p.opens("claude", 120, 40, "cd alpha-app; tail -f /dev/null & claude; exec sh")
			r.is(detect.Ready, "")
			r.spares(plain, "beside its client something else runs in the pane and would be ended: tail")
			r.restarts(force, ended, "relaunched")
		}},
		{name: "a terminal within the pane", do: func(r report) {
			r.p.opens("keep", 80, 24, "exec sh")
			r.p.tmux("kill-session", "-t", "=claude")
			r.p.opens("claude", 120, 40, "cd alpha-app; exec script -qc claude /dev/null")
			r.is(detect.Ready, "")
			r.spares(plain, "its client has another terminal than the pane")
			was := r.clients()
			r.restarts(force, ended, "relaunched")
			if now := r.clients(); len(now) != 1 || slices.Equal(now, was) {
				r.Errorf("clients %v, before %v", now, was)
			}
		}},
		{name: "other clients of the account", do: func(r report) {
			r.p.opens("other", 120, 40, "cd alpha-app; exec claude")
			cmd := r.p.h.Command(r.Context(), "claude")
			cmd.Dir = r.p.h.Workdir
			attachPTY(r.T, cmd)
			rigtest.Eventually(r.T, drawn, "three clients to run", func() (bool, string) { n := r.clients(); return len(n) == 3, fmt.Sprint(n) })
			r.is(detect.Ready, "")
			before := r.clients()
			r.restarts(plain, ended, "relaunched")
			left := 0
			for _, pid := range r.clients() {
				if slices.Contains(before, pid) {
					left++
				}
			}
			if n := r.terminated(); left != 2 || len(r.clients()) != 3 || n != 1 {
				r.Errorf("clients %v, before %v; %d SIGTERM", r.clients(), before, n)
			}
		}},
		{name: "two at once", do: func(r report) {
			r.sent("hello", fleet.SendOptions{}, fleet.Accepted)
			r.is(detect.Ready, "")
			var both sync.WaitGroup
			var mu sync.Mutex
			said := 0
			for range 2 {
				both.Go(func() {
					res := r.restart(plain)
					mu.Lock()
					defer mu.Unlock()
					if slices.Contains(res.Did, ended) {
						said++
					}
					if class := fleet.ClassOf(res.Err); class != 0 && class != fleet.ClassRefused {
						r.Errorf("%v", res.Err)
					}
					if slices.ContainsFunc(res.Did, func(d string) bool { return d == "relaunched" }) {
						r.Errorf("without the conversation: %q", res.Did)
					}
				})
			}
			both.Wait()
			r.is(detect.Ready, "")
			if n := r.terminated(); n != said || n == 0 || len(r.clients()) != 1 {
				r.Errorf("%d said to have ended it, %d SIGTERM, clients %v", said, n, r.clients())
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

// stamp is a process as the lock of a pane has it.
func stamp(t *testing.T, pid int) string {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d-%s", pid, strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))[19])
}
