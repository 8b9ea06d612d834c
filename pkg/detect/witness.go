package detect

import "time"

// A second witness may only lower a verdict towards not typing. witnesses is
// the whole of what each pair gives; a pair that is not in it leaves the
// screen's verdict as it is. (That the refusal on a screen is of an earlier login,
// Transcript.Outdated, is no second opinion: it says what the screen shows.)
//
//	witness              screen says          verdict
//	pane dead            anything             crashed
//	process gone         anything             crashed
//	process suspended    anything             crashed
//	process running      crashed              unknown
//	process not seen     ready                unknown
//	client busy          ready                busy
//	client waiting       ready                gate
//	newest event 401/403 ready                unauth
//	newest event a limit ready                limited
var witnesses = [...]struct {
	name  string
	holds func(*Evidence) bool
	from  State // "" for any
	to    State
	why   string
}{
	{"witness.dead", func(e *Evidence) bool { return e.Dead }, "", Crashed, "tmux says that the pane is dead"},
	{"witness.gone", func(e *Evidence) bool { return e.Process == ProcessGone }, "", Crashed, "the client's process is gone"},
	{"witness.stopped", func(e *Evidence) bool { return e.Process == ProcessStopped }, "", Crashed, "the client's process is suspended"},
	{"witness.running", func(e *Evidence) bool { return e.Process == ProcessRunning }, Crashed, Unknown, "the client's process runs"},
	{"witness.unseen", func(e *Evidence) bool { return e.Process == ProcessUnseen }, Ready, Unknown, "no process of a client is to be seen under the pane"},
	{"witness.client-waiting", clientSays("waiting"), Ready, Gate, "the client's session file says that it waits for a person"},
	{"witness.client-busy", clientSays("busy"), Ready, Busy, "the client's session file says that a turn runs"},
	{"witness.transcript-auth", refusedAuth, Ready, Unauth, "the newest event of the transcript is a refusal of the credentials"},
	{"witness.transcript-limit", refusedLimit, Ready, Limited, "the newest event of the transcript is a usage limit"},
}

func clientSays(status string) func(*Evidence) bool {
	return func(e *Evidence) bool { return e.Client != nil && e.Client.Status == status }
}

func refusedAuth(e *Evidence) bool {
	t := e.Transcript
	return t != nil && t.Event == "api_error" && !t.Outdated &&
		(t.APIStatus == 401 || t.APIStatus == 403 || sortEventText(t.Text) == eventAuth)
}

func refusedLimit(e *Evidence) bool {
	t := e.Transcript
	if t == nil || t.Event != "api_error" || sortEventText(t.Text) != eventLimit {
		return false
	}
	at, exact := resetTime(t.Text, e.Now, e.Zone, t.At)
	return !exact || e.Now.IsZero() || !e.Now.After(at)
}

// since is when the verdict's state began, as far as a witness that agrees
// with it knows.
func since(e *Evidence, st State) *time.Time {
	if t := e.Transcript; t != nil && t.Event == "api_error" && !t.At.IsZero() && (st == Unauth || st == Limited) {
		at := t.At
		return &at
	}
	c := e.Client
	if c == nil || c.Since.IsZero() {
		return nil
	}
	agrees := c.Status == "idle" && (st == Ready || st == Unauth || st == Limited) ||
		c.Status == "busy" && st == Busy || c.Status == "waiting" && st == Gate
	if !agrees {
		return nil
	}
	at := c.Since
	return &at
}
