package fleet

import (
	"slices"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

// states are the nine, in the order in which the documents have them.
var states = []detect.State{
	detect.Ready, detect.Busy, detect.Gate, detect.Limited, detect.Unauth, detect.Crashed, detect.Down, detect.Unknown, detect.Unreachable,
}

// StateNames are the names of the states.
func StateNames() []string {
	names := make([]string, len(states))
	for i, s := range states {
		names[i] = string(s)
	}
	return names
}

// ParseStates reads names of states. The error is an *Error of ClassUsage, which
// has the state that a name may have meant.
func ParseStates(names ...string) ([]detect.State, error) {
	known := StateNames()
	var all []detect.State
	for _, name := range names {
		s := detect.State(strings.ToLower(strings.TrimSpace(name)))
		if slices.Contains(states, s) {
			all = append(all, s)
			continue
		}
		msg := "no state " + quote(name)
		if found := near(name, known); len(found) > 0 {
			msg += didYouMean(found)
		} else {
			msg += " (there are " + strings.Join(known, ", ") + ")"
		}
		return nil, &Error{Class: ClassUsage, Msg: msg}
	}
	if len(all) == 0 {
		return nil, &Error{Class: ClassUsage, Msg: "no state is named; there are " + strings.Join(known, ", ")}
	}
	return all, nil
}
