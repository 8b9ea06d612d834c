package main

import (
	"strings"
	"testing"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

func TestDisagreements(t *testing.T) {
	running := witnesses{process: "running", status: "idle"}
	for _, c := range []struct {
		name         string
		state, draft string
		w            witnesses
		v            detect.Verdict
		want         string // empty for none
	}{
		{"all agree", ready, empty, running, detect.Verdict{State: detect.Ready}, ""},
		{"one of two", "busy|ready", empty, running, detect.Verdict{State: detect.Ready}, ""},
		{"another state", busy, empty, running, detect.Verdict{State: detect.Ready}, "meant busy"},
		{"draft meant", ready, draft, running, detect.Verdict{State: detect.Ready}, "a draft is meant"},
		{"draft seen", ready, draft, running, detect.Verdict{State: detect.Ready, Draft: "x"}, ""},
		{"draft not meant", ready, empty, running, detect.Verdict{State: detect.Ready, Draft: "x"}, "a draft is meant"},
		{"draft without a box", gate, noBox, running, detect.Verdict{State: detect.Gate, Draft: "x"}, "a draft is meant"},
		{"no draft without a box", gate, noBox, running, detect.Verdict{State: detect.Gate}, ""},
		{"either", ready, "no|yes", running, detect.Verdict{State: detect.Ready, Draft: "x"}, ""},
		{"file busy", ready, empty, witnesses{process: "running", status: "busy"}, detect.Verdict{State: detect.Ready}, "says busy"},
		{"file waiting", ready, empty, witnesses{process: "running", status: "waiting"}, detect.Verdict{State: detect.Ready}, "says waiting"},
		{"file idle", busy, empty, running, detect.Verdict{State: detect.Busy}, "says idle"},
		{"no file", busy, empty, witnesses{process: "running"}, detect.Verdict{State: detect.Busy}, ""},
		{"API open", ready, empty, witnesses{process: "running", turns: 1}, detect.Verdict{State: detect.Ready}, "answers 1 turns"},
		{"API open and busy", busy, empty, witnesses{process: "running", turns: 1}, detect.Verdict{State: detect.Busy}, ""},
		{"gone", crashed, noBox, witnesses{process: "gone"}, detect.Verdict{State: detect.Crashed}, ""},
		{"gone unseen", "ready", noBox, witnesses{process: "gone"}, detect.Verdict{State: detect.Ready}, "the client is gone"},
		{"not gone", crashed, noBox, running, detect.Verdict{State: detect.Crashed}, "is running"},
	} {
		got := strings.Join(disagreements(scene{state: c.state, draft: c.draft}, c.w, c.v), "; ")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestDialogWords(t *testing.T) {
	for want, d := range map[string]*detect.Dialog{
		"-":         nil,
		"*Yes | No": {Options: []string{"Yes", "No"}},
		"Yes | No":  {Options: []string{"Yes", "No"}, Selected: -1},
	} {
		if got := dialogWords(d); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := dialogWords(&detect.Dialog{Title: "help"}); got != "-" {
		t.Errorf("no options: %q", got)
	}
}
