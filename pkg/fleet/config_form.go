package fleet

import (
	"strings"
)

// fileForm is what a file was taken for, and the line that decided it.
type fileForm struct {
	toml bool
	line int
}

// tomlKeyLine matches a line that begins with a key of TOML and its equals sign:
// parts that are bare or quoted, with dots between.
var tomlKeyLine = lazyRegexp(
	`^([A-Za-z0-9_-]+|"([^"\\]|\\.)*"|'[^']*')([ \t]*\.[ \t]*([A-Za-z0-9_-]+|"([^"\\]|\\.)*"|'[^']*'))*[ \t]*=`)

// looksLikeTOML reports whether a line, without its leading blanks, begins a
// table or a key of TOML, be it one without a name.
func looksLikeTOML(line string) bool {
	return line[0] == '[' || line[0] == '=' || tomlKeyLine().MatchString(line)
}

// formOf tells the two forms of a file apart by its first line that says
// anything. A file that says nothing is taken for TOML.
func formOf(text string) fileForm {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line != "" && line[0] != '#' {
			return fileForm{looksLikeTOML(line), n}
		}
	}
	return fileForm{toml: true, line: 1}
}
