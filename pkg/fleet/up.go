package fleet

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
)

const (
	// upLimit bounds one host's way up: a cold client takes 2 to 5 s to its first
	// screen, and two dialogs may stand before the box.
	upLimit = 90 * time.Second
	// upSteps is how many steps give what follows them an upLimit of its own: a start,
	// a relaunch without the conversation, and the two dialogs.
	upSteps = 4
	upTick  = 300 * time.Millisecond
	// unknownGrace is how long an unknown screen that up did not cause is looked
	// at again before it is given up: it may be half drawn.
	unknownGrace = 3 * time.Second
)

// exitNotFound is the exit code with which sh says that there is no such command.
const exitNotFound = 127

// inherited are the variables that the tmux server may have from a client it
// was started under; with the first, a client refuses to start.
var inherited = []string{"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID"}

// UpResult is how a host came up, or did not.
type UpResult struct {
	Status Status   // as last seen
	Did    []string // what was done, in order; empty when there was nothing to do
	// Kept says what keeps a session that was started when the login ends by which
	// it was: the user's systemd unit, a scope of the user's systemd, or nothing.
	Kept tmux.Kept
	// Notes are what a person should know although it went on: that the unit is
	// another session's, or that the session ends with the last login.
	Notes []string
	// Err is nil when the session ended ready, busy or limited, else an *Error. It
	// is over ErrNotBegun for a host that was left as it was found.
	Err error
}

// MarshalJSON writes the result as one object; error and hint are empty when
// there is none.
func (r UpResult) MarshalJSON() ([]byte, error) { return json.Marshal(r.json()) }

// upJSON is the form that scripts read. Fields are only ever added.
type upJSON struct {
	Status Status   `json:"status"`
	Did    []string `json:"did"`
	Kept   string   `json:"kept"`
	Notes  []string `json:"notes"`
	Error  string   `json:"error"`
	Hint   string   `json:"hint"`
}

func (r UpResult) json() upJSON {
	j := upJSON{Status: r.Status, Did: r.Did, Kept: string(r.Kept), Notes: r.Notes}
	if j.Did == nil {
		j.Did = []string{}
	}
	if j.Notes == nil {
		j.Notes = []string{}
	}
	if r.Err != nil {
		j.Error, j.Hint = r.Err.Error(), HintOf(r.Err)
	}
	return j
}

// Up brings the sessions of hosts up, each as gently as it can be: a session
// that is down is started, one whose client is gone gets it back with the
// conversation it had, and the two start-up dialogs (trust in the folder,
// bypassed permissions) are accepted by their labels. Nothing else is answered,
// and a session that runs is left alone. Results are yielded as they come; for
// no host there are none.
//
// Clients that find no valid login may share one that has run out, and each that
// starts makes that worse. So few are started at first, more as some come up, and
// none any more once unauthLimit hosts have turned out to have none: the others
// are left as they were, which is an *Error of ClassRefused over ErrNotBegun.
func (f *Fleet) Up(ctx context.Context, hosts ...Host) iter.Seq[UpResult] {
	g := newStarts()
	return stream(ctx, hosts, func(ctx context.Context, h Host, emit func(UpResult)) {
		emit(f.upOne(ctx, h, g))
	})
}

// upOne looks at a host, and once it may be started takes it up.
func (f *Fleet) upOne(ctx context.Context, h Host, g *starts) UpResult {
	s := f.probeOne(ctx, h)
	switch s.State {
	case detect.Unauth:
		g.found()
		return f.climb(ctx, h, climb{})
	case detect.Down, detect.Crashed, detect.Gate, detect.Unknown:
	default:
		return f.climb(ctx, h, climb{}) // there is nothing to start
	}
	if err := g.begin(ctx); err != nil {
		return UpResult{Status: s.Status, Err: notBegun(ctx, s, err, "up")}
	}
	r := f.climb(ctx, h, climb{})
	g.end(r.Status.State)
	return r
}

// notBegun is why a host was not begun, of which begin said err.
func notBegun(ctx context.Context, s seen, err error, verb string) *Error {
	e := &Error{Class: ClassRefused, Host: s.Host.Name, State: s.State, Rule: s.Rule,
		Msg: "not begun: " + err.Error(), Hint: "log in on one of them, then run " + verb + " again", Err: err}
	if ctx.Err() != nil {
		e.Class, e.Msg, e.Hint = ClassFailed, "interrupted before it was begun", ""
	}
	return e
}
