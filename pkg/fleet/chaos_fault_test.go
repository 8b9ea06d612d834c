package fleet_test

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/claude-fleet/claude-fleet/pkg/tmux"
)

// fault is one thing that is done to a sending.
type fault string

const (
	none       fault = "none"
	killSender fault = "kill -9 sender"
	cut        fault = "cut"
	stall      fault = "stall"
	stallCut   fault = "stall, cut"
	stallKill  fault = "stall, kill -9"
	killSSHD   fault = "kill -9 sshd"
	killScript fault = "kill -9 script"
	twin       fault = "sent again" // while the first goes on
)

var faults = []fault{killSender, cut, stall, stallCut, stallKill, killSSHD, killScript, twin}

// point is where a sending was when it was hit, by what its host shows.
type point string

const (
	atStart   point = "on the way" // nothing of it on the host yet
	atLock    point = "locked"     // the pane is held, nothing is typed
	atTyping  point = "typing"
	atTyped   point = "typed whole" // and Enter is not pressed
	atEnter   point = "Enter"
	atProving point = "proving"
	atEnd     point = "over"        // its script has come to another end
	atStep    point = "at its step" // of TestKillAtEachStep
	notHit    point = "not hit"
)

var points = []point{atStart, atLock, atTyping, atTyped, atEnter, atProving, atEnd, notHit}

// pointOf is where a sending is now.
func (c *chaosHost) pointOf(t *testing.T, id, prompt string) point {
	t.Helper()
	switch c.stage(id) {
	case "":
		if c.holder(t) != 0 {
			return atLock
		}
		return atStart
	case tmux.StageTyping:
		solid := func(s string) string {
			return strings.Map(func(r rune) rune {
				if unicode.IsSpace(r) {
					return -1
				}
				return r
			}, s)
		}
		screen, end := solid(c.tmux(t, "capture-pane", "-p", "-t", "=claude:")), solid(prompt)
		if strings.Contains(screen, end[max(0, len(end)-30):]) || strings.Contains(screen, "❯[Pastedtext#") {
			return atTyped
		}
		return atTyping
	case tmux.StageEnter:
		return atEnter
	case tmux.StageSubmitted:
		return atProving
	}
	return atEnd
}

// trigger says when a sending is hit: so long after it has begun, or after the
// host shows that it has reached a step.
type trigger struct {
	step  string // "" for the beginning, "lock", or a tmux.Stage
	after time.Duration
}

// reached waits for the trigger; false when the sending ended before.
func (c *chaosHost) reached(t *testing.T, id string, tr trigger, done <-chan struct{}) bool {
	t.Helper()
	every := 10 * time.Millisecond
	if tr.step == "lock" {
		every = 50 * time.Millisecond // each look is a process
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for tr.step != "" {
		stage := c.stage(id)
		if tr.step == "lock" && (stage != "" || c.holder(t) != 0) || string(stage) == tr.step || stage == tmux.StageSubmitted {
			break
		}
		select {
		case <-tick.C:
		case <-done:
			return false
		}
	}
	return pause(tr.after, done)
}

// pause lets time pass; false when done was closed before.
func pause(d time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-done:
		return false
	}
}

// hit does a fault to a sending that runs, and mends what has to be mended for
// the next one. hold is for how long a link is silent. It is false when there was
// nothing to be hit any more.
func (c *chaosHost) hit(t *testing.T, f fault, hold time.Duration, sending *command) bool {
	t.Helper()
	kill := func() {
		if err := sending.cmd.Process.Kill(); err != nil {
			t.Logf("%s: kill the sender: %v", c.Name, err)
		}
	}
	never := make(chan struct{})
	switch f {
	case killSender:
		kill()
	case cut:
		c.Proxy.Cut()
	case stall:
		c.Proxy.Stall()
		pause(hold, sending.done)
		c.Proxy.Resume()
	case stallCut:
		c.Proxy.Stall()
		pause(hold, sending.done)
		c.Proxy.Cut()
		c.Proxy.Resume()
	case stallKill: // what is on its way comes when nobody is there any more
		c.Proxy.Stall()
		pause(hold/2, never)
		kill()
		pause(hold/2, never)
		c.Proxy.Resume()
	case killSSHD:
		if err := c.KillSessions(); err != nil {
			t.Error(err)
		}
	case killScript:
		there, err := c.KillProcess(c.holder(t))
		if err != nil {
			t.Error(err)
		}
		return there
	}
	return true
}
