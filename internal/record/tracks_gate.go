package main

import (
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
)

// manualMode makes the client ask before it acts: the versions name the mode
// differently on their command line, and all know this key.
var manualMode = object{"permissions": object{"defaultMode": "default"}}

// trusting and permitting are dialogs, by what every version's has.
var (
	trusting   = slow(firstScreen, showsAny("Is this a project you", "Do you trust", "trust this folder"))
	permitting = both(gone, showsAny("Do you want to", "Yes, and"))
)

// trustTrack and the next two show the dialogs of a first start. Versions ask
// for the two in different orders, and up to 2.1.0 for one alone.
var trustTrack = track{name: "trust", scenes: []scene{
	{"gate-trust", gate, noBox, follows, nil, trusting},
	{"gate-trust-other-row", gate, noBox, follows, do(keys("Down")), trusting},
	{"gate-trust-escape", crashed, noBox, follows | last, do(keys("Escape")), ended},
}}

var trustBypassTrack = track{name: "trust-bypass", args: bypass, host: rig.HostSpec{BypassAccepted: true}, scenes: []scene{
	{"gate-trust-bypass", gate, noBox, follows, nil, slow(firstScreen/2, trusting)},
}}

var bypassGateTrack = track{name: "bypass-gate", args: bypass, host: rig.HostSpec{Trusted: true}, scenes: []scene{
	{"gate-bypass", gate, noBox, follows, nil, slow(firstScreen, shows("Yes, I accept"))},
	{"gate-bypass-other-row", gate, noBox, follows, do(keys("Down")), shows("Yes, I accept")},
	{"ready-after-gates", ready, empty, follows, do(keys("Enter")), slow(firstScreen, idle)},
}}

// onboardingTrack is a client that never ran here. With the vendor's host out of
// reach it gives up; the name of another provider takes it past that.
var onboardingTrack = track{name: "onboarding", host: rig.HostSpec{
	State: object{"hasCompletedOnboarding": nil, "theme": nil}, Env: []string{"CLAUDE_CODE_USE_BEDROCK=1"},
}, scenes: []scene{
	{"onboarding", gate, noBox, follows, nil, slow(firstScreen, showsAny("Choose the text style", "text style", "Dark mode"))},
	{"onboarding-2", gate, noBox, follows, do(keys("Enter")), gone},
}}

var badSettingsTrack = track{name: "bad-settings", host: settled,
	files: map[string]string{".claude/settings.json": "{ \"model\": \n"}, scenes: []scene{
		{"x-bad-settings", "gate|ready", "-|no", follows, nil, slow(firstScreen, showsAny("Settings Error", "Exit and fix", "invalid settings", "Found invalid", "Found 1 invalid"))},
	}}

// manualTrack is a client that asks before it acts. 2.1.332 offers to change
// that at first.
var manualTrack = track{name: "manual", host: rig.HostSpec{Trusted: true, BypassAccepted: true, Settings: manualMode}, scenes: []scene{
	{"x-first-screen", "ready|gate", "no|-", follows, do(until(slow(firstScreen, showsAny("mode", "shortcuts"))), soon(shows("your default permission mode?"))), anything},
	{"ready-default-mode", ready, empty, still, nil, idle},
	{"gate-permission-bash", gate, noBox, still, do(prompt("TOOL touch made.txt")), permitting},
	{"gate-permission-bash-other-row", gate, noBox, follows, do(keys("Down")), permitting},
	{"ready-after-reject", ready, "no|yes", follows, do(keys("Escape")), resting},
	{"gate-permission-write", gate, noBox, still, do(prompt("WRITE made-too.txt")), permitting},
	{"gate-permission-long", gate, noBox, still, do(prompt("TOOL for i in 1 2 3 4 5 6 7 8 9; do echo a long command line that goes on and on; touch made-$i.txt; done; rm -rf build")), permitting},
	{"gate-permission-typed", gate, noBox, follows, do(keys("Down"), keys("Tab"), types("rather not")), gone},
	{"gate-question", gate, noBox, still, do(prompt("ASK")), both(gone, shows("Which database should it use?", "Postgres"))},
	{"gate-question-other-row", gate, noBox, follows, do(keys("Down", "Down")), shows("Which database should it use?")},
	{"gate-question-typed", gate, noBox, follows, do(types("a third one")), shows("a third one")},
	{"ready-after-dismiss", ready, empty, still, do(prompt("ASK"), until(both(gone, shows("Which database should it use?"))), keys("Escape")), resting},
	{"gate-question-multi", gate, noBox, still, do(prompt("ASK MULTI")), both(gone, shows("Which features should it have?", "Export"))},
	{"gate-question-multi-ticked", gate, noBox, follows, do(keys("Enter", "Down")), both(gone, shows("Which features should it have?"))},
	{"gate-question-many", gate, noBox, still, do(prompt("ASK MANY")), both(gone, shows("Which database should it use?", "Postgres"))},
	{"gate-question-many-second", gate, noBox, follows, do(keys("Enter")), shows("Which features should it have?")},
	{"gate-question-review", gate, noBox, follows, do(keys("Right")), showsAny("Review your answers", "Submit answers", "Ready to submit")},
	{"ready-accept-edits", ready, empty, still, do(keys("BTab")), both(idle, shows("accept edits"))},
	{"ready-plan-mode", ready, empty, follows, do(keys("BTab")), both(idle, shows("plan mode"))},
	{"gate-plan", gate, noBox, follows, do(prompt("PLAN")), both(gone, showsAny("Exit plan mode?", "Ready to code?", "Would you like to proceed"))},
	{"gate-plan-other-row", gate, noBox, follows, do(keys("Down")), gone},
	{"x-mode-3", ready, empty, still, do(keys("BTab")), slow(5*time.Second, idle)},
	{"x-mode-4", ready, empty, follows | last, do(keys("BTab")), slow(5*time.Second, idle)},
}}
