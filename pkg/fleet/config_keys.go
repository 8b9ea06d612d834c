package fleet

import (
	"slices"
	"strings"
)

// The keys of a host, as fleet.conf spells them.
const (
	keyProject   = "project"
	keyWorkdir   = "workdir"
	keyTransport = "transport"
	keySSH       = "ssh"
	keySession   = "session"
	keyCommand   = "command"
	keyTags      = "tags"
	keyTimeout   = "timeout"
	keySSHConfig = "ssh_config"
)

// keySpec is what is known of one key.
type keySpec struct {
	name  string
	check func(string) *fault // of its text, or of each item of a list
	list  bool                // it takes a list of strings, not a string
	// notDefault says why [defaults] does not take the key; empty where it does.
	notDefault string
	example    string // a value, as TOML, for hints
}

// keySpecs are all keys of a host. [defaults] takes those that make sense for
// many hosts at once.
var keySpecs = []keySpec{
	{name: keyProject, check: checkLine, example: `"shop"`, notDefault: "it follows from each host's workdir; state it in the host's own table"},
	{name: keyWorkdir, check: checkWorkdir, example: `"~/shop"`},
	{name: keyTransport, check: checkTransport, example: `"ssh"`},
	{name: keySSH, check: checkTarget, example: `"user@box:22"`, notDefault: "it would send every host to one machine; state it in the host's own table"},
	{name: keySession, check: checkSession, example: `"claude"`},
	{name: keyCommand, check: checkLine, example: `"claude"`},
	{name: keyTags, check: checkName, example: `["gpu", "eu"]`, list: true},
	{name: keyTimeout, check: checkTimeout, example: `"10s"`},
	{name: keySSHConfig, check: checkPath, example: `"~/.ssh/config"`},
}

// specOf finds a key.
func specOf(key string) (keySpec, bool) {
	i := slices.IndexFunc(keySpecs, func(s keySpec) bool { return s.name == key })
	if i < 0 {
		return keySpec{}, false
	}
	return keySpecs[i], true
}

// unknownKey words a key that is not known, among those that are.
func unknownKey(key string, known []string) fault {
	if words := near(key, known); len(words) > 0 {
		return fault{"unknown key" + didYouMean(words), ""}
	}
	return fault{"unknown key", "known are " + strings.Join(known, ", ")}
}

// hostKeys are the names of all keys of a host; defaultKeys, of those that
// [defaults] takes.
func hostKeys() (names []string) {
	for _, s := range keySpecs {
		names = append(names, s.name)
	}
	return names
}

func defaultKeys() (names []string) {
	for _, s := range keySpecs {
		if s.notDefault == "" {
			names = append(names, s.name)
		}
	}
	return names
}
