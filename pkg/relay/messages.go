package relay

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// hello is the first frame of both sides.
type hello struct {
	Build   string `json:"build"`   // see Build
	Version string `json:"version"` // as the program calls itself
	Place   place  `json:"place"`
}

// request is a call; its body is the script, behind its prelude.
type request struct {
	Endpoint   transport.Endpoint `json:"endpoint"`
	Repeatable bool               `json:"repeatable,omitempty"`
	Alone      bool               `json:"alone,omitempty"`
	Finish     bool               `json:"finish,omitempty"`
	Prelude    int                `json:"prelude,omitempty"`  // how many bytes of the body
	Person     string             `json:"person"`             // the calling process
	Attended   bool               `json:"attended,omitempty"` // it can ask
	Env        [][]byte           `json:"env"`                // may be no text
	Dir        []byte             `json:"dir"`
}

// of has r ask for s, whose text is body.
func (r *request) of(s transport.Script) (body [][]byte) {
	r.Repeatable, r.Alone, r.Finish, r.Prelude = s.Repeatable, s.Alone, s.Finish, len(s.Prelude)
	return [][]byte{[]byte(s.Prelude), []byte(s.Text)}
}

// script is what r asks for; false is nothing that can be.
func (r *request) script(body []byte) (s transport.Script, ok bool) {
	if r.Endpoint.Local || r.Prelude < 0 || r.Prelude > len(body) {
		return s, false
	}
	return transport.Script{
		Prelude: string(body[:r.Prelude]), Text: string(body[r.Prelude:]),
		Repeatable: r.Repeatable, Alone: r.Alone, Finish: r.Finish,
	}, true
}

// reply names a question. Failed is why there is no answer, which else is the body.
type reply struct {
	ID     int    `json:"id"`
	Failed string `json:"failed,omitempty"`
}

type question struct {
	ID       int                `json:"id"`
	Question transport.Question `json:"question"`
}

type warning struct {
	Endpoint transport.Endpoint `json:"endpoint"`
	Text     string             `json:"text"`
}

// cancel ends a call.
type cancel struct {
	Late bool `json:"late,omitempty"` // its time was over; else its owner ended it
}

type refusal struct {
	Why string `json:"why"`
}

// notices are what is known about an endpoint from its ssh_config.
type notices struct {
	Unhonoured []string `json:"unhonoured,omitempty"`
	Warnings   []string `json:"warnings,omitempty"`
}

// outcome is a result, whose streams are the body.
type outcome struct {
	ExitCode int     `json:"exitCode"`
	Stdout   int     `json:"stdout"` // how many bytes of the body are that
	Notices  notices `json:"notices"`
}

// failure is an *transport.Error.
type failure struct {
	Kind     transport.Kind     `json:"kind"`
	Endpoint transport.Endpoint `json:"endpoint"`
	Hint     string             `json:"hint,omitempty"`
	Started  bool               `json:"started,omitempty"`
	Text     string             `json:"text"`
	Causes   []string           `json:"causes,omitempty"`
	Lost     bool               `json:"lost,omitempty"` // the server ended it
	Notices  notices            `json:"notices"`
}

// causes are the errors that a caller may look for in an *transport.Error.
var causes = map[string]error{
	"deadline": context.DeadlineExceeded, "canceled": context.Canceled, "timeout": os.ErrDeadlineExceeded,
	"refused": syscall.ECONNREFUSED, "reset": syscall.ECONNRESET, "unroutable": syscall.EHOSTUNREACH,
	"no network": syscall.ENETUNREACH, "eof": io.EOF, "missing": os.ErrNotExist,
}

func failureOf(err *transport.Error) failure {
	f := failure{Kind: err.Kind, Endpoint: err.Endpoint, Hint: err.Hint, Started: err.Started, Text: err.Err.Error()}
	for name, c := range causes {
		if errors.Is(err.Err, c) {
			f.Causes = append(f.Causes, name)
		}
	}
	return f
}

// err is the error that f was made from, as far as callers can tell.
func (f failure) err() *transport.Error {
	r := &relayed{text: f.Text}
	for _, name := range f.Causes {
		if c := causes[name]; c != nil {
			r.causes = append(r.causes, c)
		}
	}
	return &transport.Error{Kind: f.Kind, Endpoint: f.Endpoint, Hint: f.Hint, Started: f.Started, Err: r}
}

// relayed is an error of another process.
type relayed struct {
	text   string
	causes []error
}

func (r *relayed) Error() string   { return r.text }
func (r *relayed) Unwrap() []error { return r.causes }

// Info is what a server tells about itself.
type Info struct {
	Version string    `json:"version"`
	PID     int       `json:"pid"`
	Socket  string    `json:"socket"`
	Since   time.Time `json:"since"`
	// Callers is how many calls are under way, and Calls how many were carried.
	Callers int `json:"callers"`
	Calls   int `json:"calls"`
	// Idle is after how many seconds without a call it ends; 0 is never, and nil is of a
	// version that does not tell.
	Idle *float64 `json:"idle_seconds,omitempty"`
	// Ending is whether it takes no more calls.
	Ending bool `json:"ending"`
	// Kept is of how many things callers have left something for those after them.
	Kept int `json:"kept"`
	// Environments is how many kinds of callers are told apart.
	Environments int                    `json:"environments"`
	Connections  []transport.Connection `json:"connections"`
}
