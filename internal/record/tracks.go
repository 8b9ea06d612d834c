package main

import "github.com/claude-fleet/claude-fleet/internal/rig"

// tracks are all that is recorded. The longest come first, so that the ones
// that run beside each other end at about the same time.
var tracks = []track{
	bypassTrack, panelTrack, promptTrack,
	trustTrack, trustOtherTrack, bypassGateTrack, manualTrack,
}

// settled is a host that shows no dialog at its start.
var settled = rig.HostSpec{Trusted: true, BypassAccepted: true}

// bypass is how the product starts the client.
const bypass = "--dangerously-skip-permissions"
