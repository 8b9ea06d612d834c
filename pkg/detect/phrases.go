package detect

import "strings"

// The client's own words, by what they mean. They were read off the screens of
// versions 1.0.128 to 2.1.332; a phrase counts only in the region where the
// client prints it.

// hints are what the client writes into an empty input box, for terminals that
// can't dim.
var hints = []string{
	hintQueued,
	hintFix,
	"Resend your message to try again",
}

const (
	hintQueued = "Press up to edit queued messages"
	hintFix    = "Once fixed, resend your message"
)

func knownHint(t string) bool {
	for _, h := range hints {
		if t == h {
			return true
		}
	}
	return false
}

// eventPhrases sort the newest event by how its text starts or what it holds.
// The first line that fits wins.
var eventPhrases = []struct {
	kind  eventKind
	start string // the text starts with this
	has   string // and holds this, near the start
}{
	{eventAuth, "Please run /login", ""},
	{eventAuth, "", "Please run /login"},
	{eventAuth, "API Error: 401", ""},
	{eventAuth, "OAuth token ", "revoked"},
	{eventAuth, "Invalid API key", ""},
	{eventAuth, "Failed to authenticate", ""},
	{eventLimit, "You've hit your ", "limit"},
	{eventLimit, "You've reached your ", "limit"},
	{eventLimit, "Claude AI usage limit reached", ""},
	{eventLimit, "Claude usage limit reached", ""},
	{eventLimit, "You've used all ", "limit"},
	{eventLimit, "You're out of ", "usage"},
	{eventLimit, "Spending cap reached", ""},
	{eventLimit, "Credit balance ", "low"},
	{eventLimit, "", "limit reached ∙ resets "},
	{eventLimit, "", "limit reached · resets "},
	{eventLimit, "", "limit reached|"},
	{eventError, "API Error", ""},
	{eventError, "Unable to connect to API", ""},
	{eventError, "Connection dropped", ""},
}

// near is how far into an event's text a phrase may start.
const near = 60

func sortEventText(text string) eventKind {
	head := text
	if len(head) > near+40 {
		head = head[:near+40]
	}
	for _, p := range eventPhrases {
		if strings.HasPrefix(text, p.start) && strings.Contains(head, p.has) {
			return p.kind
		}
	}
	return eventNone
}

// note is what the client prints beneath a limit banner.
type note uint8

const (
	noteNone note = iota
	noteResumes
	noteCancelled
	noteUpgrade // an offer in a row of its own
)

func limitNote(t string) note {
	switch {
	case strings.HasPrefix(t, "Usage limit reached · ") && strings.Contains(t, "continu"):
		return noteResumes
	case strings.HasPrefix(t, "Automatic continue cancelled"):
		return noteCancelled
	case strings.HasPrefix(t, "/upgrade to increase your usage limit"):
		return noteUpgrade
	}
	return noteNone
}

// authFooters stand at the right end of the footer. A narrow pane may cut off
// the `Run /login` that follows.
var authFooters = []string{"Missing API key ·", "Not logged in ·", "Login expired ·"}

const (
	// A tool's line says this until its result is drawn, in the versions that draw
	// no such line for a running tool alone.
	toolRuns      = "Running…"
	loginOffer    = "Run /login"
	interruptKey  = "esc to interrupt"
	viewerTitle   = "Showing detailed transcript"
	sendNow       = "ctrl+x ctrl+s to send now" // under a queued prompt, from 2.1.300 on
	surveyDismiss = "0: Dismiss"
)

// refusedCommands stand in the place of the prompt that the client refuses.
var refusedCommands = []string{"Unknown slash command", "Unknown skill", "Unknown command"}

// searchPrompts stand in the footer, before what is searched for in the history.
var searchPrompts = []string{"search prompts:", "no matching prompt:"}

// modeMarks start the row that shows the permission mode.
var modeMarks = []string{"⏵⏵", "⏸", "?", "-- INSERT", "esc"}

// keyHints start or end a row that tells which keys a dialog takes.
var keyStarts = []string{
	"Enter to ", "Esc to ", "Press Enter", "Press ↑", "Press Ctrl-C again", "Press Esc", "Enter/", "Type to ", "ctrl-g to edit", "ctrl+g to edit", "←/→ ", "↑/↓ ",
	"r to retry", "A to show", "Ctrl+A to ", "s to use ", "↓ to navigate", "Tab to ", "Space to ", "esc to cancel",
	"Paste code here",
}

var keyParts = []string{
	" · Esc to ", " · Esc cancel", " · Enter to ", "· esc to cancel", "Enter to confirm",
}

func keyHint(t string) bool {
	t = strings.TrimLeft(t, " \u00a0")
	if strings.HasPrefix(t, "Continuing automatically") {
		return false // the strip beneath a box, where a usage limit is waited for
	}
	for _, k := range keyStarts {
		if strings.HasPrefix(t, k) {
			return true
		}
	}
	for _, k := range keyParts {
		if strings.Contains(t, k) {
			return true
		}
	}
	return false
}

// limitChoice reports whether a menu is the one that opens on a usage limit.
func limitChoice(options []string) bool {
	for _, o := range options {
		if l := strings.ToLower(o); strings.Contains(l, "wait for limit to reset") || strings.Contains(l, "wait for the limit") || strings.Contains(l, "spend limit") {
			return true
		}
	}
	return false
}
