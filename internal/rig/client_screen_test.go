package rig_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
)

// The texts of the two start-up dialogs of the pinned client.
const (
	trustYes  = "Yes, I trust this folder"
	bypassYes = "Yes, I accept"
)

// TestClientBehindBothDialogs goes the whole way once: the real client in the
// real tmux over the real sshd, past both dialogs, to an answered prompt.
func TestClientBehindBothDialogs(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha"}, rig.HostSpec{Name: "beta", Trusted: true, BypassAccepted: true})
	d := newDriver(t, r, "alpha")
	begin := time.Now()
	d.startClient()
	d.shows(trustYes)
	t.Logf("first screen after %v", time.Since(begin).Round(10*time.Millisecond))
	d.accept(trustYes)
	d.shows(bypassYes)
	d.accept(bypassYes)
	d.shows(boxMark, "bypass permissions on")

	// The client itself drops blanks at the end of a prompt.
	const prompt = "Tell me\nabout the  second line;"
	d.prompt(prompt)
	d.shows("Done: Tell me")
	d.prompted(prompt, 1)
	if got := r.API().Prompts(); !slices.Equal(got, []string{prompt}) {
		t.Errorf("prompts %q", got)
	}

	// The twin: a host that accepted both shows neither.
	d = newDriver(t, r, "beta")
	d.startClient()
	rigtest.Eventually(t, appears, "the box comes up", func() (bool, string) {
		s := d.screen()
		for _, dialog := range []string{trustYes, bypassYes} {
			if strings.Contains(s, dialog) {
				t.Fatalf("a dialog on a host that had accepted it:\n%s", s)
			}
		}
		return strings.Contains(s, boxMark), s
	})
}

// TestScriptedScreens shows each scripted behaviour on one client's screen.
func TestScriptedScreens(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t, rig.HostSpec{Name: "home", Local: true, Trusted: true, BypassAccepted: true})
	d := newDriver(t, r, "home")
	d.startClient()
	d.shows(boxMark, "bypass permissions on")

	d.prompt("HOLD a")
	d.shows("● Holding a.", "esc to interrupt")
	if strings.Contains(d.screen(), "Done: HOLD a") {
		t.Error("a held turn is done before its release")
	}
	r.API().Release("a")
	d.shows("Done: HOLD a")

	d.prompt("TOOL echo made > by-tool.txt")
	d.shows("Done: tool finished")
	d.mustSh("", "test -s by-tool.txt")

	// What is queued while a tool runs comes beside its result.
	d.prompt("TOOL sleep 4")
	d.shows("Running the command")
	d.prompt("queued beside a tool")
	d.shows("Done: queued beside a tool")
	d.prompted("queued beside a tool", 1)

	d.prompt("WRITE by-write.txt")
	d.shows("Wrote 1 line to by-write.txt")
	d.mustSh("", "test -s by-write.txt")

	d.prompt("ASK")
	d.shows("Which database should it use?", "Enter to select")
	d.keys("Escape")
	d.shows("Declined to answer", boxMark)

	d.prompt("ERR 401")
	d.shows("Please run /login · API Error: 401", "Once fixed, resend your message")
	d.prompt("ERR 400")
	d.shows("API Error: 400 invalid_request_error")

	d.prompt("ERR 529")
	d.shows("529 overloaded_error · retrying in")
	if r.API().Retries("ERR 529") == 0 {
		t.Error("no retry of the 529 was counted")
	}
	d.prompted("ERR 529", 1)
	// Esc takes the prompt back into the box: it is a draft, to be cleared.
	d.keys("Escape")
	d.shows(boxMark + "ERR 529")
	d.keys("C-u")
	d.prompt("after the errors")
	d.shows("Done: after the errors")

	d.prompt("LIMIT 3600")
	d.shows("You've hit your 5-hour limit · resets", "Usage limit reached")
}

// TestPlan needs plan mode, which bypassing permissions is not.
func TestPlan(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t, rig.HostSpec{Name: "home", Local: true, Trusted: true})
	d := newDriver(t, r, "home")
	d.mustSh("", "tmux -u new-session -d -s "+session+" -x 120 -y 40 'claude --permission-mode plan'")
	d.shows(boxMark, "plan mode on")
	d.prompt("PLAN")
	d.shows("Exit plan mode?", "❯ 1. Yes")
}

func TestKillClient(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t, rig.HostSpec{Name: "home", Local: true, Trusted: true, BypassAccepted: true})
	d := newDriver(t, r, "home")
	ctx, cancel := context.WithTimeout(context.Background(), appears)
	defer cancel()
	if err := d.h.KillClient(ctx); err == nil {
		t.Error("killed a client where none runs")
	}
	d.startClient()
	d.shows(boxMark, "bypass permissions on")
	pids, err := d.h.ClientPIDs()
	if err != nil || len(pids) != 1 {
		t.Fatalf("client pids %v, %v", pids, err)
	}
	t.Logf("one client: %s", memory(pids[0]))
	if err := d.h.KillClient(ctx); err != nil {
		t.Fatal(err)
	}
	if alive(pids[0]) {
		t.Error("the client lives after KillClient")
	}
	if pids, err := d.h.ClientPIDs(); err != nil || len(pids) != 0 {
		t.Errorf("client pids %v, %v", pids, err)
	}
	// tmux and the shell around the client stay.
	d.shows("Killed")
}
