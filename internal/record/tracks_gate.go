package main

import "github.com/claude-fleet/claude-fleet/internal/rig"

// manualMode makes the client ask before it acts: the versions name the mode
// differently on their command line, and all know this key.
var manualMode = object{"permissions": object{"defaultMode": "default"}}

// asking is a host whose client asks.
var asking = rig.HostSpec{Trusted: true, BypassAccepted: true, Settings: manualMode}

// trustTrack and the next two show the dialogs of a first start.
var trustTrack = track{name: "trust", args: bypass, scenes: []scene{
	{"gate-trust", gate, noBox, follows, nil, slow(firstScreen, showsAny("Is this a project you", "Do you trust", "trust this folder"))},
	{"gate-trust-other-row", gate, noBox, follows, do(keys("Down")), showsAny("trust")},
	{"gate-trust-escape", crashed, noBox, follows | last, do(keys("Escape")), ended},
}}

var trustOtherTrack = track{name: "trust-plain", scenes: []scene{
	{"gate-trust-manual", gate, noBox, follows, nil, slow(firstScreen, showsAny("Is this a project you", "Do you trust", "trust this folder"))},
}}

var bypassGateTrack = track{name: "bypass-gate", args: bypass, host: rig.HostSpec{Trusted: true}, scenes: []scene{
	{"gate-bypass", gate, noBox, follows, nil, slow(firstScreen, shows("Yes, I accept"))},
	{"gate-bypass-other-row", gate, noBox, follows, do(keys("Down")), shows("Yes, I accept")},
}}

// manualTrack is a client that asks before it acts.
var manualTrack = track{name: "manual", host: asking, scenes: []scene{
	{"ready-default-mode", ready, empty, still, nil, idle},
	{"gate-permission-bash", gate, noBox, still, do(prompt("TOOL touch made.txt")), showsAny("Do you want to", "Yes, and")},
	{"gate-permission-bash-other-row", gate, noBox, follows, do(keys("Down")), showsAny("Do you want to", "Yes, and")},
	{"ready-after-reject", ready, "no|yes", follows, do(keys("Escape")), resting},
	{"gate-permission-write", gate, noBox, still, do(prompt("WRITE made-too.txt")), showsAny("Do you want to", "Yes, and")},
	{"gate-permission-long", gate, noBox, still, do(prompt("TOOL for i in 1 2 3 4 5 6 7 8 9; do echo a long command line that goes on and on; touch made-$i.txt; done; rm -rf build")), showsAny("Do you want to", "Yes, and")},
	{"gate-question", gate, noBox, still, do(prompt("ASK")), both(gone, shows("Which database should it use?", "Postgres"))},
	{"gate-question-other-row", gate, noBox, follows, do(keys("Down", "Down")), shows("Which database should it use?")},
	{"gate-question-typed", gate, noBox, follows, do(types("a third one")), shows("a third one")},
	{"ready-after-dismiss", ready, empty, still, do(prompt("ASK"), until(both(gone, shows("Which database should it use?"))), keys("Escape")), resting},
	{"gate-question-multi", gate, noBox, still, do(prompt("ASK MULTI")), both(gone, shows("Which features should it have?", "Export"))},
	{"gate-question-many", gate, noBox, still, do(prompt("ASK MANY")), both(gone, shows("Which database should it use?", "Postgres"))},
	{"gate-question-many-second", gate, noBox, follows, do(keys("Enter")), shows("Which features should it have?")},
	{"gate-question-review", gate, noBox, follows, do(keys("Right")), showsAny("Review your answers", "Submit answers", "Ready to submit")},
	{"ready-accept-edits", ready, empty, still, do(keys("BTab")), both(idle, shows("accept edits"))},
	{"ready-plan-mode", ready, empty, follows, do(keys("BTab")), both(idle, shows("plan mode"))},
	{"gate-plan", gate, noBox, follows | last, do(prompt("PLAN")), showsAny("Exit plan mode?", "Ready to code?", "Would you like to proceed")},
}}
