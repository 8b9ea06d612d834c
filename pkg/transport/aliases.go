package transport

import (
	"slices"
	"strings"
)

// Alias is a name that a Host line of ssh_config gives to a machine.
type Alias struct {
	Name string `json:"name"`
	File string `json:"file"`
	Line int    `json:"line"` // from 1
}

// Aliases lists the names in the Host lines of the user's ssh_config, or of
// configFile instead, as with ssh -F, and of the files that it includes: in the
// order of the files, each name once, where it stands first. Patterns with
// wildcards and negated ones are no names, nor is what could be no destination.
// A user's file that is missing has no names; any other file that cannot be
// read, or has a mistake in it, is an error.
func Aliases(configFile string) ([]Alias, error) {
	var out []Alias
	var p configParser
	for _, src := range usualSources(configFile) {
		if !src.user {
			continue // the system's names are not the user's choice
		}
		f, err := p.parse(src, 0)
		if err != nil {
			return nil, &Error{Kind: KindConfig, Endpoint: Endpoint{Destination: "ssh_config"}, Err: err, Hint: "mend that line, or name another file"}
		}
		if f != nil {
			out = f.aliases(out)
		}
	}
	return out, nil
}

// aliases adds those of f to out.
func (f *configFile) aliases(out []Alias) []Alias {
	for _, l := range f.lines {
		for _, inc := range l.included {
			out = inc.aliases(out)
		}
		if l.key != "host" {
			continue
		}
		for _, name := range l.args {
			if strings.ContainsAny(name, "*?!") || checkTarget(name, target{host: name}) != nil ||
				slices.ContainsFunc(out, func(a Alias) bool { return a.Name == name }) {
				continue
			}
			out = append(out, Alias{Name: name, File: f.path, Line: l.n})
		}
	}
	return out
}
