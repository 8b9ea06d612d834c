package detect

import "math/bits"

// fact is one thing that the evidence shows or does not show. Facts are found
// once; rules only combine them.
type fact uint64

const (
	factEmpty      fact = 1 << iota // nothing is drawn
	factBox                         // an input box between its rules
	factLive                        // the no-break space behind its glyph
	factWhole                       // nothing foreign drawn over or beneath it
	factIdle                        // the glyph has the colour of an idle box
	factScrolled                    // an input box whose draft is taller than it, so that its glyph is out of sight
	factFooter                      // something is drawn beneath the box, or in it: an idle empty box always has a footer
	factTorn                        // a frame's right edge is missing: columns were cut off the capture
	factMuted                       // the glyph is greyed: a turn runs
	factReader                      // the screen reader's prompt line
	factSpinner                     // the running turn's line, newest above the box
	factRetry                       // the line that counts down to the next attempt
	factTitleBusy                   // the pane's title starts with a busy glyph
	factInterrupt                   // the mode row offers esc to interrupt
	factAgents                      // the mode row counts background agents that run
	factQueued                      // what is queued waits above the box, or the box tells how to edit it
	factFixFirst                    // the box tells to mend something first
	factDialog                      // a menu or a page with key hints, no live box
	factLimitMenu                   // that menu is the usage limit's
	factSurvey                      // a survey above the box takes the next digit
	factSearch                      // the footer takes the keys for a history search
	factCursorAway                  // the cursor stands outside the box
	factLimitEvent                  // the newest event is a usage limit
	factLimitStrip                  // the footer counts down to a limit's reset
	factLapsed                      // that limit's reset is an exact instant in the past
	factUnanswered                  // the newest prompt has no answer above an idle box
	factAuthEvent                   // the newest event is a refusal of the credentials
	factAuthFooter                  // the footer says that nobody is logged in
	factViewer                      // the transcript viewer
	factShell                       // a shell prompt at the bottom, with the cursor
	factSuspended                   // the client says that it was suspended
	factEnd
)

// factNames name the facts for traces, in their order.
var factNames = [...]string{
	"empty screen", "input box", "live box", "whole box", "idle glyph", "scrolled box", "footer", "torn frame", "muted glyph", "screen-reader prompt",
	"spinner", "retry line", "busy title", "interrupt key", "running agents", "queue hint", "fix-first hint", "dialog", "limit menu",
	"survey", "history search", "cursor outside the box", "limit event", "limit strip", "limit lapsed", "unanswered prompt",
	"credentials event", "credentials footer", "transcript viewer", "shell prompt", "suspend notice",
}

const (
	anyBox  = factBox | factReader | factScrolled
	anyBusy = factSpinner | factRetry | factTitleBusy | factInterrupt | factAgents | factQueued | factMuted
	blocked = factDialog | factLimitMenu | factSurvey | factSearch | factViewer
	refused = factAuthEvent | factAuthFooter | factFixFirst | factLimitStrip | factUnanswered
	gone    = factShell | factSuspended | factEmpty | factTorn
)

// rule is a row of the table: the state holds when all of must, at least one of
// some (where given) and none of not are there.
type rule struct {
	name  string
	state State
	must  fact
	some  fact
	not   fact
	why   string
}

// rules are tried from the top; the first that fires wins. Ready comes last and
// is the only state that needs proof of everything.
var rules = [...]rule{
	// name              state    all of                  one of          none of             why
	{"screen.empty", Unknown, factEmpty, 0, 0, "nothing is drawn: an empty capture is not a state"},
	{"viewer.transcript", Unknown, factViewer, 0, factWhole, "the transcript viewer hides the input box"},
	{"crash.suspended", Crashed, factSuspended, 0, factWhole, "the client says that it is suspended"},
	{"crash.shell", Crashed, factShell, 0, factWhole | factReader, "a shell prompt waits where the client was"},

	{"gate.search", Gate, factSearch, 0, 0, "a history search takes the keys"},
	{"gate.survey", Gate, factBox | factSurvey, 0, 0, "a survey takes the next digit"},
	{"limit.menu", Limited, factLimitMenu, 0, factWhole, "the usage limit's menu is open"},
	{"gate.dialog", Gate, factDialog, 0, factWhole, "a dialog waits for a person"},

	{"busy.retry", Busy, factRetry, anyBox, 0, "a request is being retried"},
	{"busy.spinner", Busy, factSpinner, anyBox, 0, "the newest line above the box is a running turn's"},
	{"busy.interrupt", Busy, factInterrupt, anyBox, 0, "the mode row offers esc to interrupt"},
	{"busy.agents", Busy, factAgents, anyBox, 0, "background agents run, whose results will start a turn"},
	{"busy.queue", Busy, factQueued | factBox, 0, 0, "prompts wait in the queue"},
	{"busy.glyph", Busy, factMuted | factBox | factWhole, 0, 0, "the box's glyph is greyed"},
	{"busy.title", Busy, factTitleBusy, anyBox, 0, "the pane's title shows a running turn"},
	{"busy.unboxed", Busy, factTitleBusy | factSpinner, 0, 0, "title and spinner show a running turn"},

	{"unauth.event", Unauth, factAuthEvent, anyBox, 0, "the newest event is a refusal of the credentials"},
	{"unauth.footer", Unauth, factAuthFooter, anyBox, 0, "the footer says that nobody is logged in"},
	{"limit.strip", Limited, factLimitStrip, anyBox, 0, "the client waits for a usage limit to reset"},
	{"limit.event", Limited, factLimitEvent, anyBox, factLapsed, "the newest event is a usage limit"},
	{"unauth.hint", Unauth, factFixFirst | factBox, 0, 0, "the box tells to fix something before going on"},

	{"box.scrolled", Unknown, factScrolled, 0, 0, "a draft that is taller than the input box hides its beginning, and whether a turn runs"},

	{"ready.lapsed", Ready, factBox | factLive | factWhole | factIdle | factFooter | factLimitEvent | factLapsed, 0,
		anyBusy | blocked | refused | gone | factCursorAway, "the usage limit above has reset, and the box is idle"},
	{"ready.box", Ready, factBox | factLive | factWhole | factIdle | factFooter, 0,
		anyBusy | blocked | refused | gone | factLimitEvent | factCursorAway, "the box is idle and nothing is in its way"},
	{"ready.reader", Ready, factReader, 0,
		anyBusy | blocked | refused | factLimitEvent | factBox | factSuspended | factEmpty, "the screen reader's prompt waits"},
}

// fires reports whether a rule's conditions hold.
func (r *rule) fires(have fact) bool {
	return have&r.must == r.must && (r.some == 0 || have&r.some != 0) && have&r.not == 0
}

// lacks counts what keeps a rule from firing.
func (r *rule) lacks(have fact) (missing, present fact) {
	missing = r.must &^ have
	if r.some != 0 && have&r.some == 0 {
		missing |= r.some
	}
	return missing, have & r.not
}

// index is the place of a single fact in tables over facts.
func (f fact) index() int { return bits.TrailingZeros64(uint64(f)) }

// names lists the facts in f.
func (f fact) names() []string {
	var ns []string
	for i, n := range factNames {
		if f&(1<<i) != 0 {
			ns = append(ns, n)
		}
	}
	return ns
}
