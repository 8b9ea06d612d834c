package main

import "github.com/claude-fleet/claude-fleet/internal/rig"

// tracks are all that is recorded. The longest come first, so that the ones
// that run beside each other end at about the same time.
var tracks = []track{
	turnTrack, panelTrack, boxTrack, manualTrack, errorTrack, goneTrack, shellTrack,
	noCredentialsTrack, bypassGateTrack, trustTrack, trustBypassTrack,
	onboardingTrack, badSettingsTrack, crashTrack,
}

// settled is a host that shows no dialog at its start.
var settled = rig.HostSpec{Trusted: true, BypassAccepted: true}

// bypass is how the product starts the client.
const bypass = "--dangerously-skip-permissions"

// longTool is a command that runs until it is ended, or for 25 seconds: the
// client from about 2.1.300 on refuses a plain sleep.
const (
	longTool  = "timeout 25 tail -f /dev/null; echo made"
	longTool0 = "timeout 25 tail" // what is surely seen of it
)
