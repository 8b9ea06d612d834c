package main

import "strings"

// panel is a row for a slash command whose panel takes the input box away. What
// it shows differs so much between versions that nothing of it is waited for;
// and some versions only print a line, hence the two intents.
func panel(name string) scene {
	return scene{"gate-" + name, "gate|ready", "-|no", still, do(command("/"+name), soon(gone)), either(gone, idle)}
}

// prints is a row for a slash command that prints into the conversation, in
// most versions.
func prints(name string) scene {
	s := panel(name)
	s.name, s.state = "x-"+name, "ready|gate"
	return s
}

// inside is a row for a step inside the panel before it.
func inside(name string, keyNames string) scene {
	return scene{"gate-" + name, gate, noBox, follows, do(keys(strings.Fields(keyNames)...)), gone}
}

// panelTrack opens one panel after the other.
var panelTrack = track{name: "panels", args: bypass, host: settled, scenes: []scene{
	panel("model"), inside("model-other-row", "Down"), panel("config"), inside("config-down", "Down Down"),
	panel("help"), panel("status"), panel("usage"), panel("resume"),
	panel("permissions"), panel("theme"), panel("agents"), panel("mcp"), panel("hooks"), panel("memory"),
	panel("export"), panel("add-dir"), panel("ide"), panel("output-style"), panel("bug"), panel("tui"), panel("effort"), panel("plugin"),
	prints("context"), prints("cost"), panel("doctor"), prints("statusline"), prints("clear"),
}}
