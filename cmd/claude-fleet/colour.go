package main

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// colourMode is the value of --color.
type colourMode string

// The values of --color: colour where a person looks, everywhere, or nowhere.
const (
	colourAuto   colourMode = "auto"
	colourAlways colourMode = "always"
	colourNever  colourMode = "never"
)

var colourModes = []string{string(colourAuto), string(colourAlways), string(colourNever)}

// String, Set and Type make it a flag that takes no other value.
func (m *colourMode) String() string { return string(*m) }

func (m *colourMode) Set(value string) error {
	if !slices.Contains(colourModes, value) {
		return usagef("it takes %s", strings.Join(colourModes, ", "))
	}
	*m = colourMode(value)
	return nil
}

func (m *colourMode) Type() string { return "WHEN" }

func completeColour(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return colourModes, cobra.ShellCompDirectiveNoFileComp
}

// colours tells whether standard output is to be coloured. What the command line
// says goes before the environment, and JSON has no colours.
func (a *app) colours() bool {
	switch {
	case a.json || a.colour == colourNever:
		return false
	case a.colour == colourAlways:
		return true
	}
	return os.Getenv("NO_COLOR") == "" && !dumb() && terminalOf(a.out) != nil
}

// dumb tells whether the terminal can do no more than show text in lines.
func dumb() bool {
	name := os.Getenv("TERM")
	return name == "" || name == "dumb"
}

// colour is a colour of the terminal, as the number that SGR has for it.
type colour string

// The colours that are used; no colour is the terminal's own.
const (
	noColour colour = ""
	red      colour = "31"
	green    colour = "32"
	yellow   colour = "33"
)

// paint is the one place that colours text, which is neutralised before.
func (a *app) paint(c colour, text string) string {
	if c == noColour || text == "" || !a.colours() {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// stateColour is green for ready, yellow for what goes on by itself, red for the
// states that need a person.
func stateColour(s detect.State) colour {
	switch s {
	case detect.Ready:
		return green
	case detect.Busy:
		return yellow
	}
	return red
}

func severityColour(s fleet.Severity) colour {
	switch s {
	case fleet.SeverityOK:
		return green
	case fleet.SeverityWarning:
		return yellow
	case fleet.SeverityFault:
		return red
	}
	return noColour
}
