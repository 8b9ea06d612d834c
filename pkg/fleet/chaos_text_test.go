package fleet_test

import (
	"fmt"
	"strings"
)

// chaosText is one shape of prompt. Each prompt of it is like no other, and no
// part of it of a line's length, or of 40 bytes, is without its tag.
type chaosText struct {
	name string
	make func(tag string) string
	// api is what the API is given for it; nil for the prompt itself.
	api func(prompt string) string
	// mute prompts are not for the model, so that the API is given nothing.
	mute bool
}

// relayCommand is a command of the user's own, by the file that defines it.
const (
	relayCommand = "relay"
	relayText    = "Please repeat: $ARGUMENTS"
)

var chaosTexts = []chaosText{
	{name: "line", make: func(tag string) string { return tag + " is one line; drop table x;" }},
	{name: "3 lines", make: func(tag string) string { return taggedLines(tag, 3) }},
	{name: "30 lines", make: func(tag string) string { return taggedLines(tag, 30) }},
	{name: "2 kB", make: func(tag string) string { return taggedLine(tag, 2<<10) }},
	{name: "30 kB", make: func(tag string) string { return taggedLines(tag, 900) }},
	// Its turn runs while the same is sent again.
	{name: "long turn", make: func(tag string) string { return tag + " is the first line\nSTREAM 6\n" + tag + " is the last" }},
	{name: "shell", make: func(tag string) string { return "!echo " + tag + " in the shell" }, mute: true},
	{name: "command", make: func(tag string) string { return "/" + relayCommand + " " + tag + " by a command" },
		api: func(prompt string) string {
			return strings.Replace(relayText, "$ARGUMENTS", strings.TrimPrefix(prompt, "/"+relayCommand+" "), 1)
		}},
}

func taggedLines(tag string, n int) string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("%s has line %d of %d here", tag, i+1, n)
	}
	return strings.Join(lines, "\n")
}

func taggedLine(tag string, bytes int) string {
	var b strings.Builder
	for i := 0; b.Len() < bytes; i++ {
		fmt.Fprintf(&b, "%s goes on with part %d; ", tag, i)
	}
	return strings.TrimSpace(b.String())
}
