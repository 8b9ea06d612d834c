package fleet

import (
	"context"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/transcript"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// Reading is what a host's session said, newest last.
type Reading struct {
	Host string `json:"host"`
	// Source is "transcript", the client's own record of the conversation, or
	// "screen".
	Source       string `json:"source"`
	Conversation string `json:"conversation"` // its id; empty for a screen
	Turns        []Turn `json:"turns"`
	// Lines are the same for a terminal, neutralised; or the rows of the screen.
	Lines []string `json:"lines"`
}

// Turn is one thing that was said or done. Its texts are not neutralised.
type Turn struct {
	// Who is "user" for a prompt or a command that was given to the client,
	// "assistant", "tool" for a call of one, "tool error" for one that failed or
	// was not allowed, "shell" and "client" for what a "!" command and the client
	// itself said, or "error" for a refusal of the service.
	Who  string `json:"who"`
	Text string `json:"text"` // of a call the argument that says most
	Tool string `json:"tool"` // the tool's name; empty where there is none
	// At and ID are those of the record; zero and empty where it does not tell.
	At time.Time `json:"at"`
	ID string    `json:"id"`
	// Turn counts from the end: 1 is the newest turn, which began with the newest
	// prompt.
	Turn int `json:"turn"`
}

// ReadOptions says how much to read. Lines and Turns exclude each other, and so
// do Turns and Screen; none of them is Lines of DefaultReadLines.
type ReadOptions struct {
	Lines int // the last so many lines
	Turns int // the last so many turns, whole; a turn begins at a person's prompt
	// Screen reads the rows of the client's pane as it was seen, all of them
	// unless Lines says otherwise, in place of the conversation.
	Screen bool
}

// DefaultReadLines is how many lines Read returns unless told.
const DefaultReadLines = 40

// readBytes is how much of a conversation's end is read at first; the end grows
// until it holds enough.
const readBytes = 256 << 10

// Read returns the last of a session's conversation, or, where the client keeps
// none, of its screen: from client 2.1.300 on the screen is an alternate one, and
// what scrolled off it is nowhere else. Of a session that is crashed or down it
// is the conversation that it had last. Only as much of the conversation's end is
// read as is needed, and of records over some kilobytes only the beginning.
//
// The errors are *Error; where there is nothing to read, one of ClassRefused.
func (f *Fleet) Read(ctx context.Context, name string, o ReadOptions) (Reading, error) {
	if err := o.check(); err != nil {
		return Reading{}, err
	}
	h, err := f.host(name)
	if err != nil {
		return Reading{}, err
	}
	ctx, cancel := f.conns.WithTimeout(ctx, h.Timeout)
	defer cancel()
	s := f.probeAlone(ctx, groups([]Host{h})[0].glancing())
	if s.Err != nil {
		return Reading{}, s.Err
	}
	if !o.Screen {
		r, err := f.readConversation(ctx, s, o)
		if err != nil || len(r.Turns) > 0 {
			return r, err
		}
	}
	if s.pane == nil {
		return Reading{}, &Error{Class: ClassRefused, Host: name, State: s.State, Rule: s.Rule, Msg: "there is nothing to read: " + s.Why, Hint: sendHint(s.Status)}
	}
	r := Reading{Host: name, Source: "screen", Turns: []Turn{}, Lines: screenLines(s.pane.Screen)}
	if o.Screen {
		r.Lines = screenRows(s.pane.Screen)
	}
	if lines := o.lines(); lines > 0 && (!o.Screen || o.Lines > 0) {
		r.Lines = r.Lines[max(0, len(r.Lines)-lines):]
	}
	return r, nil
}

func (o ReadOptions) check() error {
	switch {
	case o.Lines > 0 && o.Turns > 0:
		return &Error{Class: ClassUsage, Msg: "a number of lines and a number of turns exclude each other"}
	case o.Screen && o.Turns > 0:
		return &Error{Class: ClassUsage, Msg: "a screen has no turns; ask for lines of it"}
	}
	return nil
}

// lines is how many lines to return; 0 when turns were asked for.
func (o ReadOptions) lines() int {
	if o.Lines <= 0 && o.Turns <= 0 {
		return DefaultReadLines
	}
	return max(o.Lines, 0)
}

// readConversation reads the end of the host's conversation. There are no turns
// when there is none.
func (f *Fleet) readConversation(ctx context.Context, s seen, o ReadOptions) (Reading, error) {
	r := Reading{Host: s.Host.Name, Source: "transcript", Turns: []Turn{}, Lines: []string{}, Conversation: conversation(s)}
	if r.Conversation == "" {
		var err error
		if r.Conversation, err = f.lastConversation(ctx, s); err != nil || r.Conversation == "" {
			return r, err
		}
	}
	for size := int64(readBytes); ; {
		q := transcript.NewTailQuery(r.Conversation, size)
		res, err := f.conn(s.Host).Run(ctx, transport.Script{Text: q.Fragment(), Repeatable: true})
		if err != nil {
			return Reading{}, failed(s.Host.Name, "reading the conversation", err)
		}
		tail := q.Parse(res.Stdout)
		all := turns(tail.Records, tail.Whole)
		have, want := countTurns(all), o.Turns
		if want > 0 {
			r.Turns = lastTurns(all, want)
			r.Lines = turnLines(r.Turns)
		} else {
			want = o.lines()
			r.Turns, r.Lines = lastLines(all, want)
			have = len(r.Lines)
		}
		if have >= want || tail.Full {
			return r, nil
		}
		// At least twice as much, and as much more as is missing by what it has.
		size *= int64(min(max(2, 2*want/(have+1)), 16))
	}
}
