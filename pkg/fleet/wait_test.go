package fleet

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

func TestParseStates(t *testing.T) {
	for _, s := range states {
		got, err := ParseStates(string(s), strings.ToUpper(string(s)))
		if err != nil || len(got) != 2 || got[0] != s || got[1] != s {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
	for name, want := range map[string]string{"raedy": "did you mean ready", "bussy": "did you mean busy", "xyzzy": "there are ready, busy", "": "there are ready", "re\x1bady": "did you mean ready"} {
		_, err := ParseStates("ready", name)
		if ClassOf(err) != ClassUsage || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := ParseStates(); ClassOf(err) != ClassUsage {
		t.Errorf("none: %v", err)
	}
}

// TestWaitEnded holds each way for a wait to end without the state to its class.
func TestWaitEnded(t *testing.T) {
	broken, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		state detect.State
		outer context.Context
		cut   bool
		want  Class
		text  string
	}{
		{detect.Busy, t.Context(), false, ClassFailed, "not ready or gate within 2s: it is busy"},
		{detect.Limited, t.Context(), false, ClassFailed, "it is limited"},
		{detect.Ready, t.Context(), false, ClassFailed, "it is ready"},
		{detect.Unknown, t.Context(), false, ClassNeedsPerson, "it is unknown (why)"},
		{detect.Gate, t.Context(), false, ClassNeedsPerson, "it is gate (why)"},
		{detect.Down, t.Context(), false, ClassNeedsPerson, "it is down (why)"},
		{detect.Unreachable, t.Context(), false, ClassUnreachable, "it is unreachable: refused"},
		{detect.Unreachable, t.Context(), true, ClassFailed, "not ready or gate within 2s, as far as is known"},
		{detect.Unreachable, broken, true, ClassFailed, "broken off; it was unreachable"},
		{detect.Busy, broken, false, ClassFailed, "broken off; it was busy"},
		{detect.Unreachable, broken, false, ClassFailed, "broken off; it was unreachable"},
	} {
		s := Status{Host: Host{Name: "web"}, Verdict: detect.Verdict{State: tt.state, Why: "why"}}
		if tt.state == detect.Unreachable {
			s.Err = errors.New("refused")
		}
		w := waiting{WaitOptions: WaitOptions{For: []detect.State{detect.Ready, detect.Gate}, Timeout: 2 * time.Second}, outer: tt.outer}
		if err := w.ended(s, tt.cut); ClassOf(err) != tt.want || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v: %v", tt.state, ClassOf(err), err)
		}
	}
}

// TestWaitDone holds when the wait for a host is over, by two looks.
func TestWaitDone(t *testing.T) {
	for _, tt := range []struct {
		before, now detect.State
		want        string // the class of what is told; "" for nothing yet
	}{
		{"", detect.Ready, "failed"}, {detect.Busy, detect.Ready, "failed"}, {detect.Busy, detect.Limited, "failed"}, // of no error
		{"", detect.Busy, ""}, {detect.Busy, detect.Busy, ""},
		{"", detect.Gate, ""}, {detect.Gate, detect.Gate, "needs a person"}, {detect.Busy, detect.Gate, ""}, {detect.Down, detect.Gate, ""},
		{detect.Down, detect.Down, "needs a person"}, {detect.Crashed, detect.Crashed, "needs a person"}, {detect.Unauth, detect.Unauth, "needs a person"},
		{detect.Unknown, detect.Unknown, ""}, {detect.Unreachable, detect.Unreachable, ""},
	} {
		w := waiting{WaitOptions: WaitOptions{For: []detect.State{detect.Ready, detect.Limited}}}
		status := func(s detect.State) Status { return Status{Verdict: detect.Verdict{State: s}} }
		got, done := w.done(status(tt.before), status(tt.now))
		if done != (tt.want != "") || done && ClassOf(got.Err).String() != tt.want || (got.Err != nil) != (tt.want == "needs a person") {
			t.Errorf("%s, %s: %v, %v", tt.before, tt.now, done, got.Err)
		}
	}
	w := waiting{WaitOptions: WaitOptions{For: []detect.State{detect.Unreachable, detect.Gate}}}
	for _, s := range w.For {
		if got, done := w.done(Status{}, Status{Verdict: detect.Verdict{State: s}, Err: errors.New("x")}); !done || got.Err != nil {
			t.Errorf("%s was asked for: %v, %v", s, done, got.Err)
		}
	}
}

// TestStuck holds which states no waiting ends; twins are those that may pass.
func TestStuck(t *testing.T) {
	for s, want := range map[detect.State]bool{
		detect.Gate: true, detect.Unauth: true, detect.Crashed: true, detect.Down: true,
		detect.Ready: false, detect.Busy: false, detect.Limited: false, detect.Unknown: false, detect.Unreachable: false,
	} {
		if got := stuck(s); got != want {
			t.Errorf("%s: %v", s, got)
		}
	}
	for reason, want := range map[string]bool{"connect": true, "timeout": true, "resolve": true, "protocol": true, "": true, "auth": false, "config": false, "host key unknown": false, "host key changed": false} {
		if got := mendsItself(reason); got != want {
			t.Errorf("%s: %v", reason, got)
		}
	}
}
