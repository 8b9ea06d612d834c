package main

// panel is a row for a slash command whose panel takes the input box away; what
// it shows differs so much between versions that nothing of it is waited for.
func panel(name string) scene {
	return scene{"gate-" + name, gate, noBox, still, do(command("/" + name)), gone}
}

// line is a row for a slash command that prints into the conversation.
func line(name string) scene {
	return scene{"x-" + name, "ready|gate", "no|-", still, do(command("/" + name)), not(typed("/"))}
}

// panelTrack opens one panel after the other.
var panelTrack = track{name: "panels", args: bypass, host: settled, scenes: []scene{
	panel("model"), panel("config"), panel("help"), panel("status"), panel("usage"), panel("resume"),
	panel("permissions"), panel("theme"), panel("agents"), panel("mcp"), panel("hooks"), panel("memory"),
	panel("doctor"), panel("export"), panel("add-dir"), panel("ide"), panel("output-style"), panel("bug"),
	line("context"), line("cost"), line("statusline"),
	panel("login"),
}}
