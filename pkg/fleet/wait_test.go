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
		want  Class
		text  string
	}{
		{detect.Busy, t.Context(), ClassFailed, "not ready or gate within 2s: it is busy"},
		{detect.Limited, t.Context(), ClassFailed, "it is limited"},
		{detect.Ready, t.Context(), ClassFailed, "it is ready"},
		{detect.Unknown, t.Context(), ClassNeedsPerson, "it is unknown (why)"},
		{detect.Gate, t.Context(), ClassNeedsPerson, "it is gate (why)"},
		{detect.Down, t.Context(), ClassNeedsPerson, "it is down (why)"},
		{detect.Unreachable, t.Context(), ClassUnreachable, "it is unreachable: refused"},
		{detect.Busy, broken, ClassFailed, "broken off; it was busy"},
		{detect.Unreachable, broken, ClassFailed, "broken off; it was unreachable"},
	} {
		s := Status{Host: Host{Name: "web"}, Verdict: detect.Verdict{State: tt.state, Why: "why"}}
		if tt.state == detect.Unreachable {
			s.Err = errors.New("refused")
		}
		w := wait{WaitOptions: WaitOptions{For: []detect.State{detect.Ready, detect.Gate}, Timeout: 2 * time.Second}, outer: tt.outer}
		if err := w.ended(s); ClassOf(err) != tt.want || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v: %v", tt.state, ClassOf(err), err)
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
