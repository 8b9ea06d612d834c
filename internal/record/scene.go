package main

import "github.com/claude-fleet/claude-fleet/internal/rig"

// What a scene is meant to be. The states are those of package detect, written
// anew: an intent must not follow the code that it is compared with. A scene
// that can rightly be two things has both, joined by "|".
const (
	ready   = "ready"
	busy    = "busy"
	gate    = "gate"
	limited = "limited"
	unauth  = "unauth"
	crashed = "crashed"
	unknown = "unknown"
)

// Whether somebody's draft is meant to be in the input box. noBox is for
// screens that draw none.
const (
	empty = "no"
	draft = "yes"
	noBox = "-"
)

// how says how a scene begins and is taken; the zero value is for one that
// begins at an idle, empty box and is taken when the screen has come to rest.
type how int

const (
	// follows: the scene begins where the one before it ended.
	follows how = 1 << iota
	// moving: the screen never rests, so it is taken as soon as it may be.
	moving
	// last: the client is not fit for another scene and is started anew.
	last

	still how = 0
)

// scene is one screen to bring about, and a row of a table.
type scene struct {
	name  string
	state string // what is meant
	draft string
	how   how
	steps []step
	until cond // what has to hold before the screen is taken
}

// track is one start of a client and what it is led through, in this order.
type track struct {
	name string
	// args of the client's command line.
	args string
	// host is how the client finds its home; its name is the recorder's matter.
	host rig.HostSpec
	// files are written below the home before the start, by path.
	files map[string]string
	// shell starts the client from an interactive shell, whose job control lets
	// it be suspended.
	shell  bool
	scenes []scene
}

// chain is a run of scenes that follow each other.
type chain []scene

// chains splits a track's scenes where one begins at an idle box.
func (t track) chains() []chain {
	var all []chain
	for i, s := range t.scenes {
		if i == 0 || s.how&follows == 0 {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], s)
	}
	return all
}
