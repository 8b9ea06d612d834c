package main

import "github.com/claude-fleet/claude-fleet/internal/rig"

// goneTrack is the many ways in which a client leaves its pane.
var goneTrack = track{name: "gone", args: bypass, host: settled, scenes: append(retryScenes,
	scene{"crashed-shell", crashed, noBox, still | last, do(prompt("before the end"), until(shows("Done: before")), command("/exit")), ended},
	scene{"x-after-ctrl-c", crashed, noBox, still | last, do(tries(ended, quick("C-c"), soon(shows("again to exit")), quick("C-c"), soon(ended))), ended},
	scene{"crashed-kill9", crashed, noBox, still | last, do(kills), ended},
	scene{"crashed-kill9-busy", crashed, noBox, still | last, do(prompt("WAIT killed"), until(working), rest, kills), ended},
	scene{"crashed-kill9-draft", crashed, noBox, still | last, do(types("never sent"), rest, kills), ended},
	scene{"crashed-kill9-typed", crashed, noBox, still | last, do(kills, until(shows("Killed")), rest, types("ls"), keys("Enter")), ended},
	scene{"crashed-kill9-tool", crashed, noBox, still | last, do(prompt("TOOL "+longTool), until(shows(longTool0)), rest, kills), ended},
)}

// shellTrack is a client that was started from an interactive shell.
var shellTrack = track{name: "shell", args: bypass, host: settled, shell: true, scenes: []scene{
	{"ready-from-shell", ready, empty, still, do(prompt("a first talk")), both(shows("Done: a first talk"), idle)},
	{"x-suspended", crashed, noBox, still, do(keys("C-z")), suspended},
	{"ready-resumed-job", ready, empty, follows, do(types("fg"), keys("Enter")), idle},
	{"x-suspended-busy", crashed, noBox, still | last, do(prompt("WAIT suspended"), until(working), rest, keys("C-z")), suspended},
	{"x-second-talk", ready, empty, still, do(prompt("a second talk")), both(shows("Done: a second talk"), idle)},
	{"x-exit-to-shell", crashed, noBox, follows, do(command("/exit")), ended},
	{"gate-resume-start", gate, noBox, follows, do(shell("clear; claude --resume " + bypass)), slow(firstScreen, both(gone, shows("a second talk")))},
	{"ready-resumed", ready, empty, follows, do(keys("Enter")), slow(firstScreen, idle)},
	{"ready-continued", ready, empty, follows, do(command("/exit"), until(ended), shell("claude --continue "+bypass)), slow(firstScreen, idle)},
	{"crashed-bad-flag", crashed, noBox, follows, do(command("/exit"), until(ended), shell("clear; claude --no-such-flag")), both(shows("unknown option"), ended)},
}}

// crashTrack starts a client whose state file lacks what 1.0.128 needs: that
// one ends with the text that Node prints of an exception.
var crashTrack = track{name: "crash", host: rig.HostSpec{}, shell: true, scenes: []scene{
	{"crashed-exception", "crashed|gate|ready", "-|no", follows, do(shell(`clear; echo '{"hasCompletedOnboarding":true,"projects":{"'$PWD'":{"hasTrustDialogAccepted":true}}}' > ~/.claude.json; claude`)),
		slow(firstScreen, showsAny("TypeError", "shortcuts", "mode", "trust"))},
}}
