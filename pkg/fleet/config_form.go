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

// yamlLine matches a line that only a mapping of YAML has: a key, its colon and no
// more, or a value that is no column.
var yamlLine = lazyRegexp(`^(---|[A-Za-z0-9_"'.-]+:([ \t]+[^ \t]+)?[ \t]*)$`)

// foreignForm names the format of a file that is neither of ours by its first line
// that says anything; empty where that line may be one of ours. A host in columns
// has three at least.
func foreignForm(text string) (name string, line int) {
	form := formOf(text)
	first := strings.TrimSpace(strings.Split(text, "\n")[form.line-1])
	switch {
	case strings.HasPrefix(first, "{"):
		return "JSON", form.line
	case !form.toml && yamlLine().MatchString(first):
		return "YAML", form.line
	}
	return "", form.line
}
