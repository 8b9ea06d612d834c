package main

import (
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
)

// final makes an error final after one retry, which versions up to 2.1.85 make
// of a 401 too.
var final = []string{"CLAUDE_CODE_MAX_RETRIES=1"}

// errorTrack is what the API refuses, and what comes of it.
var errorTrack = track{name: "errors", args: bypass,
	host: rig.HostSpec{Trusted: true, BypassAccepted: true, Env: final}, scenes: []scene{
		{"ready-after-400", ready, empty, still, do(prompt("ERR 400")), both(shows("API Error"), idle)},
		{"ready-after-500", ready, empty, still, do(prompt("ERR 500")), both(slow(30*time.Second, shows("API Error")), idle)},
		{"ready-after-529", ready, empty, still, do(prompt("ERR 529")), both(slow(30*time.Second, showsAny("API Error", "verloaded")), idle)},
		{"ready-after-reset", ready, empty, still, do(prompt("DROP")), both(slow(30*time.Second, showsAny("API Error", "ECONNRESET", "onnection")), idle)},
		{"unauth-401", unauth, "no|yes", still, do(prompt("ERR 401")), both(slow(30*time.Second, showsAny("Please run /login", "API Error: 401")), resting)},
		{"unauth-403-revoked", unauth, "no|yes", still, do(prompt("ERR 403 OAuth token has been revoked. Please obtain a new token.")), both(slow(30*time.Second, showsAny("Please run /login", "API Error: 403", "revoked.")), resting)},
		{"ready-after-unauth", ready, empty, still, do(prompt("once again")), both(shows("Done: once again"), idle)},
		{"limited-weekly", limited, "no|-", still, do(prompt("LIMIT 400000 seven_day")), both(slow(30*time.Second, showsAny("hit your", "limit reached")), notWorking)},
		{"limited-weekly-after-escape", limited, "no|yes", follows | last, do(keys("Escape")), notWorking},
		{"limited", limited, "no|-", still, do(prompt("LIMIT 7200")), both(slow(30*time.Second, showsAny("hit your", "limit reached")), notWorking)},
		{"limited-after-escape", limited, "no|yes", follows, do(keys("Escape")), notWorking},
		{"limited-draft", limited, draft, follows, do(types("for afterwards")), typed("for afterwards")},
		{"limited-options", "limited|gate", noBox, follows | last, do(keys("C-u"), command("/rate-limit-options")), both(gone, showsAny("Stop and wait", "What do you want to do"))},
		{"x-limit-over", ready, empty, still | last, do(prompt("LIMIT 1"), soon(showsAny("hit your", "limit reached")), maybe(gone, keys("Escape")), soon(resting), keys("Escape", "C-u"), prompt("after the limit")), both(shows("Done: after the limit"), idle)},
	}}

// retryScenes are the retries that the client itself chooses, which are ten.
var retryScenes = []scene{
	{"busy-retry-529", busy, empty, moving, do(prompt("ERR 529")), showsAny("etrying in", "attempt")},
	{"busy-retry-late", busy, empty, follows | moving, nil, slow(40*time.Second, showsAny("attempt 4", "attempt 5"))},
	{"busy-retry-draft", busy, draft, follows | moving, do(types("meanwhile"), rest), typed("meanwhile")},
	{"busy-retry-500", busy, empty, moving, do(prompt("ERR 500")), showsAny("etrying in", "attempt")},
	{"busy-retry-reset", busy, empty, moving | last, do(prompt("DROP")), showsAny("etrying in", "attempt", "ECONNRESET", "onnection dropped")},
}

// noCredentialsTrack is a client with no token.
var noCredentialsTrack = track{name: "no-credentials", args: bypass,
	host: rig.HostSpec{Trusted: true, BypassAccepted: true, Env: []string{"CLAUDE_CODE_OAUTH_TOKEN"}}, scenes: []scene{
		{"unauth-no-credentials", "unauth|ready", empty, still, nil, idle},
		{"unauth-no-credentials-2", unauth, "no|yes", still, do(prompt("anybody there?")), both(showsAny("Please run /login", "run /login"), resting)},
		{"unauth-no-credentials-3", unauth, draft, follows, do(keys("C-u"), types("a draft")), typed("a draft")},
		{"gate-login", gate, noBox, still, do(command("/login")), both(gone, showsAny("Select login method", "account with subscription"))},
		{"gate-login-other-row", gate, noBox, follows, do(keys("Down")), gone},
		{"gate-login-code", gate, noBox, follows | last, do(keys("Enter"), maybe(shows("How do you want to sign in"), keys("Enter"))), both(gone, showsAny("Paste code", "rowser"))},
	}}
