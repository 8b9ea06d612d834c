package fleet

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// countTurns is how many whole turns there are.
func countTurns(all []Turn) int {
	if len(all) == 0 {
		return 0
	}
	n := 0
	for i, t := range all {
		if (i == 0 || all[i-1].Turn != t.Turn) && t.Who == "user" {
			n++
		}
	}
	return n
}

// lastTurns are the last n turns.
func lastTurns(all []Turn, n int) []Turn {
	for i, t := range all {
		if t.Turn <= n {
			return all[i:]
		}
	}
	return []Turn{}
}

// lastLines are the last n lines of turns, and the turns that they are of.
func lastLines(all []Turn, n int) ([]Turn, []string) {
	var parts [][]string // the last turn's first
	i, have := len(all), 0
	for i > 0 && have < n {
		i--
		parts = append(parts, turnLines(all[i:i+1]))
		have += len(parts[len(parts)-1])
	}
	slices.Reverse(parts)
	lines := slices.Concat(parts...)
	return all[i:], append([]string{}, lines[max(0, len(lines)-n):]...)
}

// turnLines draws turns for a terminal: who, then the text, its further lines
// indented, so that no line of it can pass for a turn of its own.
func turnLines(all []Turn) []string {
	lines := []string{}
	for _, t := range all {
		who, text := t.Who+": ", t.Text
		if t.Tool != "" {
			who += transport.Neutralise(t.Tool)
			if text != "" {
				who += ": "
			}
		}
		for i, line := range strings.Split(strings.Trim(transport.NeutraliseLines(text), "\n"), "\n") {
			if i == 0 {
				line = who + line
			} else {
				line = "  " + line
			}
			lines = append(lines, strings.TrimRight(line, " "))
		}
	}
	return lines
}

// screenRows are the rows of a captured screen, without attributes.
func screenRows(screen []byte) []string {
	lines := strings.Split(transport.NeutraliseLines(strings.TrimSuffix(ansi.Strip(string(screen)), "\n")), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// screenLines are those rows without the empty ones at the end.
func screenLines(screen []byte) []string {
	lines := screenRows(screen)
	for len(lines) > 1 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
