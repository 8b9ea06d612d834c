package main

import (
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
)

// listing is a host whose client may keep a list of tasks, which 2.1.332 does
// only where it is told to.
var listing = rig.HostSpec{Trusted: true, BypassAccepted: true, Env: []string{"CLAUDE_CODE_ENABLE_TODO_TOOLS=1", "CLAUDE_CODE_ENABLE_TASKS=1"}}

// turnTrack is a client as the product starts it, led through turns.
var turnTrack = track{name: "turns", args: bypass, host: listing, scenes: []scene{
	{"ready-fresh", ready, empty, still, nil, idle},
	{"busy-silent", busy, empty, moving, do(prompt("SILENT first byte")), both(working, spins)},
	{"busy-early", busy, empty, moving, do(prompt("WAIT first word")), both(working, spins)},
	{"busy-thinking", busy, empty, moving, do(prompt("THINK thought")), both(working, spins)},
	{"busy-thinking-late", busy, empty, follows | moving, do(soon(shows("4s")), soon(shows("8s"))), both(working, spins)},
	{"busy-streaming", busy, empty, moving, do(prompt("STREAM 20"), soon(shows("word11"))), working},
	{"busy-copy-mode", busy, empty, follows | moving, do(tmuxes("copy-mode"), rest), working},
	{"ready-interrupted", ready, "no|yes", follows, do(tmuxes("send-keys", "-X", "cancel"), keys("Escape")), resting},
	{"ready-after-turn", ready, empty, still, do(prompt("hello there")), both(shows("Done: hello there"), idle)},
	{"busy-held-text", busy, empty, moving, do(prompt("HOLD text"), soon(shows("Holding text"))), working},
	{"busy-queued", busy, empty, follows | moving, do(prompt("one more"), rest), both(working, shows("one more"))},
	{"busy-queued-draft", busy, draft, follows | moving, do(types("and a draft"), rest), both(working, typed("and a draft"))},
	{"busy-tool", busy, empty, moving, do(prompt("TOOL " + longTool)), both(runs, shows(longTool0))},
	{"busy-tool-late", busy, empty, follows | moving, do(soon(shows("4s")), soon(shows("8s"))), runs},
	{"busy-tool-queued", busy, empty, follows | moving, do(prompt("beside the tool"), rest), both(runs, shows("beside the tool"))},
	{"busy-tool-draft", busy, draft, follows | moving, do(types("for later"), rest), both(runs, typed("for later"))},
	{"ready-after-tool", ready, empty, still, do(prompt("TOOL echo made > made.txt")), both(shows("Done: tool finished"), idle)},
	{"ready-after-write", ready, empty, still, do(prompt("WRITE notes.txt")), both(shows("Done: tool finished"), idle)},
	{"ready-tool-interrupted", ready, "no|yes", still, do(prompt("TOOL "+longTool), until(both(runs, shows(longTool0))), rest, keys("Escape")), resting},
	{"ready-markdown", ready, empty, still, do(prompt("MARKDOWN LONG")), both(shows("That is all."), idle)},
	{"ready-adversarial-markdown", ready, empty, still, do(prompt("MARKDOWN FAKES")), both(shows("Enter to confirm · Esc to exit"), idle)},
	{"busy-adversarial", busy, empty, follows | moving, do(prompt("WAIT behind the fakes")), both(working, spins)},
	{"busy-todo", busy, empty, moving, do(prompt("TASK\nTHEN HOLD list"), soon(showsAny("Read the notes", "Reading the notes"))), working},
	{"busy-todo-shown", busy, empty, follows | moving, do(keys("C-t")), working},
	{"x-ctrl-t", ready, empty, follows, do(releases), both(shows("Done: HOLD list"), resting)},
	{"busy-background-shell", busy, empty, moving, do(prompt("BACKGROUND " + longTool + "\nTHEN HOLD shell")), working},
	{"x-background-shell", "ready|busy", empty, follows, do(releases), both(shows("Done: HOLD shell"), notWorking)},
	{"busy-agent", busy, empty, moving, do(prompt("AGENT HOLD part")), both(working, showsAny("Do a part of it", "general-purpose"))},
	{"ready-after-agent", ready, empty, follows, do(releases), both(shows("Done: tool finished"), idle)},
	{"busy-compacting", busy, empty, moving, do(prompt("first of all"), until(both(shows("Done: first"), idle)), prompt("and then"), until(both(shows("Done: and then"), idle)),
		prompt("COMPACT talk"), until(both(shows("Done: talk"), idle)), command("/compact")), both(working, shows("Compacting"))},
	{"x-compact", ready, empty, follows, do(releases), both(slow(30*time.Second, showsAny("ompacted", "summary")), idle)},
	{"busy-shell", busy, empty, moving, do(bang(longTool)), both(shows(longTool0), not(typed("!")))},
	{"ready-after-shell", ready, empty, still, do(bang("echo from the shell")), both(shows("from the shell"), idle)},
	{"busy-background-agent", "busy", empty, moving | last, do(prompt("DELEGATE HOLD aside"), soon(shows("Done: tool finished"))), working},
}}
