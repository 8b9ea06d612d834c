package detect

import (
	"sync"
	"time"
)

// State is what a session can be in, as far as typing into it is concerned.
type State string

// The nine states. Classify never returns Down or Unreachable: they say that
// there was no pane to look at, so callers assign them.
const (
	Ready       State = "ready"       // the client waits for a prompt and nothing is in its way
	Busy        State = "busy"        // a turn runs, retries, compacts or waits on background agents
	Gate        State = "gate"        // a dialog waits for a person
	Limited     State = "limited"     // a usage limit is the newest event and is not known to have reset
	Unauth      State = "unauth"      // the newest turn failed for credentials, or there are none
	Crashed     State = "crashed"     // the session stands, the client is gone or suspended
	Down        State = "down"        // no tmux server, or no such session
	Unknown     State = "unknown"     // none of the others is proven
	Unreachable State = "unreachable" // the machine did not answer truthfully in time
)

// Process is what the host's process table says of the pane's client.
type Process string

// The process witness. ProcessUnknown, the zero value, says nothing.
const (
	ProcessUnknown Process = ""
	ProcessRunning Process = "running"
	ProcessStopped Process = "stopped" // suspended by job control: it reads no keys
	ProcessGone    Process = "gone"
	ProcessUnseen  Process = "unseen" // no client under the pane, and no shell in front that would prove it gone
)

// Evidence is all that a probe saw of one pane. The zero value is valid and
// classifies as Unknown. Nothing in it is modified or kept by Classify.
type Evidence struct {
	// Screen is what `tmux capture-pane -p -e` printed: rows joined by \n, SGR
	// escapes kept. It is hostile text: a program can draw anything.
	Screen []byte
	// Width and Height are the pane's size in cells; 0 when not known.
	Width, Height int
	// CursorX and CursorY are the cursor's cell, counted from 0; -1 when not known.
	// They must be read with the screen, in one command of tmux: a cursor of
	// another moment makes an idle box look as if it were being typed into.
	CursorX, CursorY int
	// Title is the pane's title. Only a known first glyph makes it evidence.
	Title string
	// Alternate, CopyMode and Dead are tmux's alternate_on, pane_in_mode and
	// pane_dead. Copy mode does not change what the capture shows.
	Alternate, CopyMode, Dead bool
	// Process is the process table's word on the client.
	Process Process
	// Client is the client's own session file, nil when there is none (versions
	// before about 2.1.85) or when it was stale.
	Client *Client
	// Transcript is the tail of the conversation, nil when it was not read.
	Transcript *Transcript
	// VimMode says that the client's settings choose the vim editor mode. No
	// version marks NORMAL mode on the screen, so only this can tell.
	VimMode bool
	// Now is the host's clock; the zero value leaves reset times without a date unresolved.
	Now time.Time
	// Zone is the host's time zone, nil when not known.
	Zone *time.Location
}

// Client is what the client's session file says.
type Client struct {
	Status     string    // "idle", "busy" or "waiting"; anything else says nothing
	WaitingFor string    // with "waiting": what for
	Since      time.Time // when the status was last set; zero when not known
}

// Transcript is the tail of the conversation, reduced to what bears on the state.
type Transcript struct {
	Event     string    // the newest event that matters: "user", "assistant", "turn_end" or "api_error"
	APIStatus int       // the HTTP status of an "api_error", 0 when it has none
	Text      string    // what the event says, for an "api_error"
	At        time.Time // when it was written; zero when not known
	// Outdated says that the client was given another login after the event, and was
	// launched with that: a refusal of the credentials, here or on the screen of the
	// resumed conversation, is of the login before.
	Outdated bool
}

// Dialog is a menu on the screen. A dialog without choices (a help page) has none.
type Dialog struct {
	Title string `json:"title"`
	// Options are the labels, top to bottom, without numbers or marks. A dialog
	// that offers only keys has those, as printed.
	Options []string `json:"options"`
	// Selected is the index in Options of the row that Enter would choose, -1 for none.
	Selected int `json:"selected"`
}

// Verdict is what a session is in, by which rule, and what the rule saw.
type Verdict struct {
	State State `json:"state"`
	// Rule names the rule or witness that decided; stable, for people and tests.
	Rule string `json:"rule"`
	// Why says in words what the rule saw and, for Unknown, what came nearest.
	Why string `json:"why"`
	// Draft is the text in the input box that somebody typed and did not send,
	// lines joined by \n. Shell mode's "!" counts as one.
	Draft  string  `json:"draft"`
	Dialog *Dialog `json:"dialog"`
	// ResetAt is when the usage limit lifts: an exact instant, or nil.
	ResetAt *time.Time `json:"reset_at"`
	// AutoResume says that the client will go on by itself at ResetAt.
	AutoResume bool `json:"auto_resume"`
	// Retry is the client's own line about the request that it retries.
	Retry string `json:"retry"`
	// Since is when the state began, as far as a witness knows.
	Since *time.Time `json:"since"`
	// Rows are the screen rows, from 0, that the rule fired on.
	Rows []int `json:"rows"`
	// VimNormal says that the box may be in vim's NORMAL mode, where a prompt
	// would be read as commands.
	VimNormal bool `json:"vim_normal"`
	// Input is where text would go; its zero value means that no live input line
	// is on the screen.
	Input Input `json:"-"`
}

// Input is the live input line on a screen.
type Input struct {
	// Mark is what stands at the beginning of its first row, right before the
	// text: a glyph, and mostly a no-break space. Empty when there is no input line, or its first
	// row is scrolled out of sight.
	Mark string
	// Row is the row of the mark, from 0. The rows from here on are the input
	// line and what is beneath it.
	Row int
	// Stashed says that the client keeps a draft that somebody put aside, and
	// will put back when the next prompt is submitted. Putting another aside would
	// lose it.
	Stashed bool
	// Queued says that prompts wait in the client's queue. An interrupted turn
	// would make way for them.
	Queued bool
}

// Typable reports whether a prompt may be typed: the session is proven ready
// and nobody's draft is in the box. It is the one question that send asks.
func (v Verdict) Typable() bool {
	return v.State == Ready && v.Draft == "" && !v.VimNormal
}

// judges keeps the parser's buffers between calls.
var judges = sync.Pool{New: func() any { return new(judge) }}

// Classify gives the verdict on the evidence. It is pure, never panics, and is
// safe for concurrent use.
func Classify(e Evidence) Verdict {
	j := judges.Get().(*judge)
	j.look(&e)
	v := j.decide(nil)
	*j = judge{reader: j.reader}
	judges.Put(j)
	return v
}
