package fleet

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// ReauthOptions says what Reauth does.
type ReauthOptions struct {
	// Token is what the hosts are given; none is needed to remove.
	Token Token
	// Force gives it to a host too that has a login of its own, which it then hides
	// until it is removed again: a full login, an API key, another token. Without
	// Force such a host is refused.
	Force bool
	// Restart restarts the session whatever it does and whoever is attached to it.
	// Without it only a session that reads unauth is restarted, with nobody attached
	// and no draft in its input box: any other runs on with the login that it has.
	Restart bool
	// Remove takes the token away again.
	Remove bool
}

// ReauthResult is what became of the token on a host.
type ReauthResult struct {
	Status Status   // as last seen
	Did    []string // what was done, in order; empty when there was nothing to do
	// Auth is what the client there says of its login when it is launched as the
	// session is: "oauth_token" for the token, "claude.ai" for a full login,
	// "api_key", "none", or empty where it was not asked.
	Auth  string
	Notes []string // what a person should know, such as that the session runs on as it was
	// Err is an *Error, or nil when the host has the token and its session runs, or
	// will run when it is restarted, with it.
	Err error
}

// MarshalJSON writes the result as one object; error and hint are empty when
// there is none.
func (r ReauthResult) MarshalJSON() ([]byte, error) {
	j := struct {
		Status Status   `json:"status"`
		Did    []string `json:"did"`
		Auth   string   `json:"auth"`
		Notes  []string `json:"notes"`
		Error  string   `json:"error"`
		Hint   string   `json:"hint"`
	}{Status: r.Status, Did: r.Did, Auth: r.Auth, Notes: r.Notes}
	if j.Did == nil {
		j.Did = []string{}
	}
	if j.Notes == nil {
		j.Notes = []string{}
	}
	if r.Err != nil {
		j.Error, j.Hint = r.Err.Error(), HintOf(r.Err)
	}
	return json.Marshal(j)
}

const (
	// reauthLimit bounds the work on one host up to the restart, which has a limit
	// of its own: the client is asked three times.
	reauthLimit = 4 * time.Minute
	// askLimit bounds each asking on the host, in seconds: a client on a loaded
	// machine takes 15 s from its start to an answer of the service (2.1.332).
	askLimit = 75
)

// Reauth gives hosts a token, or takes it away, and yields results as they come;
// hosts share nothing that a dead one could hold up, and for no host there are
// none. On each host, in this order:
//
//   - The client there is asked for its login without the token. A host that has
//     one of its own is refused (ClassRefused), unless Force: the token is good for
//     inference only, features that need a full login reject it, and while it is
//     there the client uses it in place of that login. Whether a full login has run
//     out can't be told from outside, so one that has is refused as well, and so is
//     a host that doesn't say. A forced token leaves the other login's files alone.
//   - The token is tried there by one short prompt, past the session and with no
//     trace in its conversations. One that the service refuses is an error of
//     ClassFailed, and nothing was changed.
//   - EnvFile is written, mode 0600 in a folder of mode 0700; its other lines stay.
//   - The session is restarted with its conversation if it reads unauth and nobody
//     is in the way (see Restart). Where it would have to be and was not, the error
//     is one of ClassNeedsPerson.
//   - The client is asked once more, launched as the session is, and has to name
//     the token; the session must not read unauth.
//
// The token reaches a host on the standard input of a shell and is in no argument
// list, there or here.
func (f *Fleet) Reauth(ctx context.Context, o ReauthOptions, hosts ...Host) iter.Seq[ReauthResult] {
	return stream(ctx, hosts, func(ctx context.Context, h Host, emit func(ReauthResult)) {
		r := &reauthing{f: f, h: h, o: o}
		r.run(ctx)
		emit(r.out)
	})
}
