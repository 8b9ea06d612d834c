package fleet

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transcript"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// JournalDays is for how many days a host remembers what became of a prompt.
const JournalDays = 3

// journalRoot is the folder on a host under which each session of it has a
// folder of its own.
const journalRoot = "~/.local/state/claude-fleet"

// validID holds what may name an attempt: it names a file on the host, too.
var validID = lazyRegexp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// checkID refuses an id that can't be used.
func checkID(id string) error {
	if validID().MatchString(id) {
		return nil
	}
	return &Error{Class: ClassUsage, Msg: fmt.Sprintf("%q can't be an id", cut(neutral(id), 80)),
		Hint: "use up to 64 letters, digits, dots, dashes and underscores, the first of them a letter or digit"}
}

// newID names an attempt that its caller has not named.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the program instead
	return hex.EncodeToString(b[:])
}

// journalOf is where an attempt is written down on its host.
func journalOf(h Host, id, head string) *tmux.Journal {
	return &tmux.Journal{Dir: path.Join(journalRoot, h.Session), Name: "send-" + id, Head: head, Days: JournalDays}
}

// attempt is what a host remembers of one sending of a prompt.
type attempt struct {
	digest       string // of the prompt, see transcript.Digest
	conversation string
	offset       int64 // length of the conversation before the attempt
	queued       bool  // into a turn that ran
	pane         string
	at           time.Time // when the typing began, by the host's clock
	noted        time.Time // when the last stage was written down; zero when it was not read from there
	stages       []tmux.Stage
	alive        bool // its script still runs
}

// head is the part of a journal that the sender writes.
func (a attempt) head(id string) string {
	queued := ""
	if a.queued {
		queued = "queued yes\n"
	}
	return fmt.Sprintf("claude-fleet %s\nprompt %s\npane %s\nconversation %s %d\n%s", id, a.digest, a.pane, a.conversation, a.offset, queued)
}

// parseAttempt reads a journal as JournalFragment printed it. It is false where
// there is none, or one that was cut off before anything was typed.
func parseAttempt(out string) (attempt, bool) {
	var a attempt
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		switch {
		case len(words) == 1 && words[0] == "alive":
			a.alive = true
		case len(words) < 2:
		case words[0] == "prompt":
			a.digest = words[1]
		case words[0] == "pane":
			a.pane = words[1]
		case words[0] == "queued":
			a.queued = true
		case words[0] == "conversation" && len(words) == 3:
			a.conversation = words[1]
			a.offset, _ = strconv.ParseInt(words[2], 10, 64)
		case slices.Contains(allStages, tmux.Stage(words[0])):
			if n, err := strconv.ParseInt(words[1], 10, 64); err == nil {
				if a.noted = time.UnixMilli(n); len(a.stages) == 0 {
					a.at = a.noted
				}
			}
			a.stages = append(a.stages, tmux.Stage(words[0]))
		}
	}
	return a, len(a.stages) > 0
}

var allStages = []tmux.Stage{tmux.StageTyping, tmux.StageEnter, tmux.StageSubmitted, tmux.StageStuck, tmux.StageTyped, tmux.StageErased}

// last is how far an attempt came.
func (a attempt) last() tmux.Stage { return a.stages[len(a.stages)-1] }

// over tells whether nothing more will come of the attempt's script.
func (a attempt) over() bool {
	switch a.last() {
	case tmux.StageTyping, tmux.StageEnter, tmux.StageTyped:
		return !a.alive
	}
	return true
}

// errNoAttempt is what a host knows nothing of.
var errNoAttempt = errors.New("no attempt of that id is known")

// attempt asks a host for one, once; errNoAttempt when it has none.
func (f *Fleet) attempt(ctx context.Context, h Host, id string) (attempt, error) {
	ctx, cancel := f.conns.WithTimeout(ctx, h.Timeout)
	defer cancel()
	res, err := f.conn(h).Run(ctx, transport.Script{Text: journalOf(h, id, "").Fragment(), Repeatable: true})
	if err != nil {
		return attempt{}, err
	}
	a, ok := parseAttempt(string(res.Stdout))
	if !ok {
		return attempt{}, errNoAttempt
	}
	return a, nil
}

const (
	// ownWithin is how long after the last that its script noted a record may be an
	// attempt's own. Later the same words are another sending's, or a person's.
	ownWithin = time.Minute
	// commandWithin is that for a command, which is recorded when it is done: a
	// compaction takes minutes.
	commandWithin = 10 * time.Minute
)

// own tells whether a record's prompt can be this attempt's, by when it was sent.
// An equal one of another sender comes into the conversation behind the attempt's
// offset, too: queued before, or sent later.
func (a attempt) own(r transcript.Record) bool {
	if r.Sent.Before(a.at) {
		return false
	}
	// Some versions do not tell when what waited in the queue was sent.
	if a.noted.IsZero() || a.queued && r.Sent.Equal(r.At) && !r.Enqueued() {
		return true
	}
	within := ownWithin
	if _, command := r.Command(); command && slices.Contains(a.stages, tmux.StageEnter) {
		within = commandWithin
	}
	return r.Sent.Before(a.noted.Add(within))
}

// shows finds the record that proves the attempt: the prompt in the conversation,
// or else that it was queued; and what the client says of a command that it does
// not know (Refused), or of a prompt that a hook did not let through (Typed).
func (a attempt) shows(records []transcript.Record) (r transcript.Record, result Result) {
	for _, r := range records {
		if a.own(r) && transcript.MatchesDigest(r, a.digest) {
			return r, Accepted
		}
	}
	for _, r := range records {
		if _, ok := transcript.BlocksDigest(r, a.digest); ok && a.own(r) {
			return r, Typed
		}
	}
	for _, r := range records {
		if a.own(r) && transcript.QueuesDigest(r, a.digest) {
			return r, Queued
		}
	}
	for i, r := range records {
		command, ok := strings.CutPrefix(r.Text(), "Unknown command: ")
		if !ok || r.Type != "system" || !a.own(r) {
			continue
		}
		args := ""
		if i+1 < len(records) {
			args, _ = strings.CutPrefix(records[i+1].Text(), "Args from unknown skill: ")
		}
		if a.digest == transcript.Digest(command) || a.digest == transcript.Digest(command+" "+args) {
			return r, Refused
		}
	}
	return transcript.Record{}, ""
}
