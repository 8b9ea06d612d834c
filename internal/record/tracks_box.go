package main

import "strings"

// bigPaste is over what the client puts into the box as it is.
var bigPaste = strings.TrimSpace(strings.Repeat("a line of a long paste that nobody wants to see whole\n", 15))

const longLine = "a draft that is longer than the box is wide, so that it has to be broken into rows, which is where readers of screens take its second row for something else than a draft"

// boxTrack is about the input box and the footers below it.
var boxTrack = track{name: "box", args: bypass, host: settled, scenes: []scene{
	{"ready-unsent", ready, draft, still, do(types("a draft that nobody sent")), typed("a draft that nobody sent")},
	{"ready-wrapped-draft", ready, draft, still, do(types(longLine)), typed(longLine[:10])},
	{"ready-multiline-draft", ready, draft, still, do(pastes("first line\nsecond line\nthird line")), shows("second line")},
	{"ready-unsent-paste", ready, draft, still, do(pastes(bigPaste)), showsAny("Pasted text", "a line of a long paste")},
	{"ready-numbered-draft", ready, draft, still, do(types("1. Yes")), typed("1. Yes")},
	{"ready-bashmode", ready, draft, still, do(keys("!")), showsAny("!\u00a0", "for bash mode", "for shell mode")},
	{"ready-bashmode-draft", ready, draft, follows | last, do(types("ls -l")), shows("ls -l")},
	{"menu-slash", ready, draft, still, do(keys("/")), typed("/")},
	{"menu-slash-filtered", ready, draft, follows, do(types("mod")), typed("/mod")},
	{"x-at-menu", ready, draft, still, do(keys("@")), typed("@")},
	{"x-memory-mode", ready, draft, last, do(keys("#")), showsAny("#")},
	{"x-question-help", "ready|gate", "no|-", last, do(keys("?")), showsAny("for file", "for commands", "for bash mode", "for shell mode")},
	{"ctrl-c-once", ready, empty, moving, do(tries(shows("again to exit"), quick("C-c"), soon(shows("again to exit")))), shows("again to exit")},
	{"x-escape-once", ready, empty, moving, do(quick("Escape")), idle},
	{"x-draft-escape", ready, "yes|no", moving, do(types("half a thought"), rest, quick("Escape")), typed("half a thought")},
	{"x-draft-cleared", ready, empty, still, do(types("half a thought"), rest, keys("C-u")), idle},
	{"x-one-turn", ready, empty, still, do(prompt("one turn")), both(shows("Done: one turn"), idle)},
	{"x-history-up", ready, draft, still, do(keys("Up")), typed("one turn")},
	{"x-double-escape", gate, noBox, still, do(quick("Escape"), quick("Escape")), showsAny("Rewind", "Jump to")},
	{"x-history-search", "ready|gate", "no|-|yes", still, do(keys("C-r")), showsAny("earch prompts", "earch history", "search")},
	{"transcript-view", unknown, noBox, still, do(keys("C-o")), showsAny("detailed transcript", "Showing")},
	{"x-stash", ready, empty, last, do(types("put away"), rest, keys("C-s")), anything},
	{"tmux-copy-mode", ready, empty, still, do(tmuxes("copy-mode")), anything},
	{"x-tab-1", ready, empty, still, do(keys("BTab")), idle},
	{"x-tab-2", ready, empty, follows, do(keys("BTab")), idle},
	{"x-tab-3", ready, empty, follows, do(keys("BTab")), idle},
	{"x-tab-4", ready, empty, follows | last, do(keys("BTab")), idle},
}}
