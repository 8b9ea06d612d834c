package fakeclient_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/fakeclient"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// verdict is a state of the fake client and what the product has to say of it.
type verdict struct {
	name   string
	script fakeclient.Script
	do     func(*bench)
	state  detect.State
	rule   string // "" for any
	draft  string
	// typable is whether a prompt may be typed.
	typable bool
}

func (v verdict) met(s fleet.Status) bool {
	return s.State == v.state && (v.rule == "" || s.Rule == v.rule) && s.Draft == v.draft && s.Typable() == v.typable
}

// TestVerdicts has the product judge each state of the fake client by its
// screen, its process and its files.
func TestVerdicts(t *testing.T) {
	survey := fakeclient.Script{Faults: []fakeclient.Fault{{On: fakeclient.OnIdle, Survey: true}}}
	submit := func(b *bench) { b.paste("a question"); b.keys("Enter") }
	done := func(b *bench) {
		submit(b)
		b.eventually("the turn ends", func() bool { return len(b.events(fakeclient.Ended)) > 0 })
	}
	busy := hold(false)
	busy.BusyTitle = true
	b := start(t, fakeclient.Script{})
	for _, v := range []verdict{
		{name: "idle", state: detect.Ready, rule: "ready.box", typable: true},
		{name: "idle after a turn", do: done, state: detect.Ready, rule: "ready.box", typable: true},
		{name: "busy, before the first word", script: hold(false), do: submit, state: detect.Busy, rule: "busy.spinner"},
		{name: "busy, streaming", script: hold(true), do: func(b *bench) { submit(b); b.shows("Beginning.") }, state: detect.Busy, rule: "busy.interrupt"},
		{name: "busy, with a draft", script: hold(true), do: func(b *bench) { submit(b); b.paste("more") }, state: detect.Busy, rule: "busy.glyph", draft: "more"},
		{name: "busy, with a queue", script: hold(true), do: func(b *bench) { submit(b); submit(b) }, state: detect.Busy},
		{name: "busy by its title too", script: busy, do: submit, state: detect.Busy},
		{name: "interrupted", script: hold(true), do: func(b *bench) { submit(b); b.shows("Beginning."); b.escape() }, state: detect.Ready, typable: true},
		{name: "interrupted, with the prompt put back", script: hold(false), do: func(b *bench) { submit(b); b.shows("Pondering"); b.escape() }, state: detect.Ready, draft: "a question"},
		{name: "a question", script: asking(fakeclient.DialogQuestion), do: (*bench).ask, state: detect.Gate, rule: "gate.dialog"},
		{name: "a question that is typed into", script: asking(fakeclient.DialogQuestion), do: func(b *bench) { b.ask(); b.paste("two\nlines") }, state: detect.Gate, rule: "gate.dialog"},
		{name: "a question that was declined", script: asking(fakeclient.DialogQuestion), do: func(b *bench) { b.ask(); b.escape() }, state: detect.Ready, typable: true},
		{name: "a permission", script: asking(fakeclient.DialogPermission), do: (*bench).ask, state: detect.Gate, rule: "gate.dialog"},
		{name: "a permission that was given", script: asking(fakeclient.DialogPermission), do: func(b *bench) { b.ask(); b.keys("1") }, state: detect.Ready, typable: true},
		{name: "the survey", script: survey, do: func(b *bench) { done(b); b.shows("0: Dismiss") }, state: detect.Gate, rule: "gate.survey"},
		{name: "the survey, dismissed", script: survey, do: func(b *bench) { done(b); b.shows("0: Dismiss"); b.keys("0") }, state: detect.Ready, typable: true},
		{name: "a draft", do: func(b *bench) { b.paste("half a thought") }, state: detect.Ready, draft: "half a thought"},
		{name: "a draft of several lines", do: func(b *bench) { b.paste("one\ntwo\nthree") }, state: detect.Ready, draft: "one\ntwo\nthree"},
		{name: "a draft that is a chip", do: func(b *bench) { b.paste(lines(15)) }, state: detect.Ready, draft: "[Pasted text #1 +14 lines]"},
		{name: "a draft that a person types", script: fakeclient.Script{Faults: []fakeclient.Fault{{On: fakeclient.OnStart, After: time.Millisecond, Keys: "hello"}}}, state: detect.Ready, draft: "hello"},
		{name: "a draft that was stashed", do: func(b *bench) { b.paste("later"); b.keys("C-s") }, state: detect.Ready, typable: true},
		{name: "a draft that was dropped", do: func(b *bench) { b.paste("never"); b.keys("C-c") }, state: detect.Ready, typable: true},
		{name: "a draft that was deleted", do: func(b *bench) { b.paste("never"); b.keys("C-u") }, state: detect.Ready, typable: true},
		{name: "an empty box that is restless", script: fakeclient.Script{Restless: 20 * time.Millisecond}, state: detect.Ready, typable: true},
	} {
		v.check(b)
	}
}

// TestVimVerdicts is for the box with a vim mode.
func TestVimVerdicts(t *testing.T) {
	s := fakeclient.Script{}
	b := prepare(t, rig.HostSpec{Name: "alpha", Local: true, Trusted: true, BypassAccepted: true, Fake: &s, State: map[string]any{"editorMode": "vim"}})
	for _, v := range []verdict{
		{name: "INSERT", state: detect.Ready, typable: true},
		{name: "NORMAL from the beginning", script: fakeclient.Script{VimNormal: true}, state: detect.Ready},
		{name: "NORMAL", do: func(b *bench) { b.shows("-- INSERT --"); b.escape() }, state: detect.Ready},
		{name: "INSERT again", do: func(b *bench) { b.escape(); b.shows("on (shift"); b.keys("i") }, state: detect.Ready, typable: true},
		{name: "a paste in NORMAL", script: fakeclient.Script{VimNormal: true}, do: func(b *bench) { b.paste("words") }, state: detect.Ready, draft: "words"},
		{name: "typing in NORMAL", script: fakeclient.Script{VimNormal: true}, do: func(b *bench) { b.keys("w", "w") }, state: detect.Ready},
	} {
		v.check(b)
	}
}

// check brings the client into the state and waits for the verdict.
func (v verdict) check(b *bench) {
	b.Helper()
	b.relaunch(v.script)
	if v.do != nil {
		v.do(b)
	}
	var s fleet.Status
	rigtest.Eventually(b, within, v.name+" to be judged", func() (bool, string) {
		s = b.status()
		return v.met(s), fmt.Sprintf("%s by %s: %s; draft %q, typable %v\n%s", s.State, s.Rule, s.Why, s.Draft, s.Typable(), b.screen())
	})
	if v.state == detect.Gate && (s.Dialog == nil || len(s.Dialog.Options) != 4) {
		b.Errorf("%s: dialog %+v", v.name, s.Dialog)
	}
}
