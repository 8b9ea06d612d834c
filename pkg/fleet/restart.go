package fleet

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

// RestartOptions are how Restart goes about it.
type RestartOptions struct {
	// Fresh starts the client without the conversation that it had.
	Fresh bool
	// Force also ends a session that a terminal is attached to, one with a draft in
	// its input box, which is lost, and whatever else runs in its pane.
	Force bool
}

// Was is what a session was at before it was restarted. Its texts are from the
// host's screen and files and are not neutralised, but for Text.
type Was struct {
	State detect.State `json:"state"`
	// Text says in one line what was running; it is safe to print.
	Text string `json:"text"`
	// Turn is what the client showed of a turn that ran, and Prompt what had begun it;
	// empty when none did, or where nothing of it shows.
	Turn   string `json:"turn"`
	Prompt string `json:"prompt"`
	// Draft is what somebody had typed and not sent.
	Draft  string         `json:"draft"`
	Dialog *detect.Dialog `json:"dialog"`
	// Queued: prompts waited for the end of the turn.
	Queued bool `json:"queued"`
	// Background is what the client counted of agents and shells in the background.
	Background string `json:"background"`
	Attached   int    `json:"attached"` // terminals
	// Conversation is the id of the one that the client had open; empty when it had
	// none, or when that is not known.
	Conversation string `json:"conversation"`
}

// RestartResult is how a host was restarted, or was not.
type RestartResult struct {
	UpResult
	Was Was
}

// MarshalJSON writes the result as one object: that of an UpResult, and "was".
func (r RestartResult) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		upJSON
		Was Was `json:"was"`
	}{r.json(), r.Was})
}

// Restart ends the clients of hosts, turns and dialogs as well, and starts each
// anew with the conversation that it had. Results are yielded as they come; for no
// host there are none.
//
// No key is typed. The client's own process, on the terminal of the session's pane
// and no other, gets a SIGTERM, which ends it in order with its hooks run, and a
// SIGKILL where it has not ended by that in ten seconds; it is launched again in the
// same pane before anybody else can do anything there. What is down is started, and
// a session whose client is gone gets it back, as by Up. No more clients than Up
// would start are started where nobody is logged in.
//
// A session that a terminal is attached to, one with a draft in its input box, and
// one in which something else runs that would be ended, are left alone unless Force
// is set: an *Error of ClassRefused, and nothing was done. So is a session whose
// client has another terminal than the pane, as behind script(1).
func (f *Fleet) Restart(ctx context.Context, o RestartOptions, hosts ...Host) iter.Seq[RestartResult] {
	g := newStarts()
	return stream(ctx, hosts, func(ctx context.Context, h Host, emit func(RestartResult)) {
		emit(f.restartOne(ctx, h, o, g))
	})
}

// restartOne is Restart for one host; g says when it may begin.
func (f *Fleet) restartOne(ctx context.Context, h Host, o RestartOptions, g *starts) RestartResult {
	look := f.probeOne(ctx, h)
	r := &restarting{f: f, h: h, o: o}
	if err := r.refusal(look); err != nil {
		return r.result(look, err)
	}
	if err := g.begin(ctx); err != nil {
		return r.result(look, notBegun(ctx, look, err, "restart"))
	}
	res := r.run(ctx)
	g.end(res.Status.State)
	return res
}
