package main

import (
	"fmt"
	"sort"
	"strings"

	"github.com/claude-fleet/claude-fleet/internal/rig"
)

// setting is how the client is set up, for all scenes of a recording.
type setting struct {
	args            string
	state, settings map[string]any
	env             []string
	vim             bool // the box has vim's modes
}

// statusProgram prints what a person's status line may: text that looks like
// the client's own.
const statusProgram = `printf 'main  ctx 42%%\n$ 1.23 spent > ready?\nesc to interrupt is not here\n'`

// settings are what SETTING may name.
var settings = map[string]setting{
	"default":    {},
	"light":      {state: object{"theme": "light"}, settings: object{"theme": "light"}},
	"ansi":       {state: object{"theme": "dark-ansi"}, settings: object{"theme": "dark-ansi"}},
	"daltonized": {state: object{"theme": "dark-daltonized"}, settings: object{"theme": "dark-daltonized"}},
	"truecolor":  {env: []string{"COLORTERM=truecolor"}},
	"nocolor":    {env: []string{"NO_COLOR=1"}},
	"statusline-vim": {
		vim:      true,
		state:    object{"editorMode": "vim"},
		settings: object{"editorMode": "vim", "statusLine": object{"type": "command", "command": statusProgram}},
	},
	"reader":  {args: "--ax-screen-reader"},
	"verbose": {args: "--verbose"},
	// The client draws on the alternate screen, or not, from about 2.1.300 on.
	"tui-on":  {settings: object{"tui": "fullscreen"}},
	"tui-off": {settings: object{"tui": "default"}},
}

type object = map[string]any

func findSetting(name string) (setting, error) {
	s, ok := settings[name]
	if !ok {
		var names []string
		for name := range settings {
			names = append(names, name)
		}
		sort.Strings(names)
		return s, fmt.Errorf("no setting %q: choose from %s", name, strings.Join(names, ", "))
	}
	return s, nil
}

// apply lays the setting under what a track wants of its host.
func (s setting) apply(spec rig.HostSpec) rig.HostSpec {
	spec.State = merged(s.state, spec.State)
	spec.Settings = merged(s.settings, spec.Settings)
	// Older versions fetch plugins from the outside whatever they are told.
	spec.Env = append(append([]string{"GIT_ALLOW_PROTOCOL=file", "npm_config_offline=true"}, s.env...), spec.Env...)
	return spec
}

// merged has the keys of both, those of over first.
func merged(under, over object) object {
	all := object{}
	for _, m := range []object{under, over} {
		for key, value := range m {
			all[key] = value
		}
	}
	return all
}
