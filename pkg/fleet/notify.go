package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// Notifier is told of changes. Notify returns when the change has been told, or an
// error; then the same change, with the same ID, may be told again later.
type Notifier interface {
	Notify(ctx context.Context, c StatusChange) error
}

// NotifierFunc is a Notifier that is one function.
type NotifierFunc func(ctx context.Context, c StatusChange) error

// Notify calls f.
func (f NotifierFunc) Notify(ctx context.Context, c StatusChange) error { return f(ctx, c) }

// DefaultNotifyTimeout is how long a Command may run.
const DefaultNotifyTimeout = 10 * time.Second

// Command is a Notifier that runs a command of this machine's /bin/sh for each
// change, with the change as one line of JSON on its standard input. Nothing of the
// change is in its arguments or its environment, so that no text from a host is read
// as a command.
type Command struct {
	Line string // as for sh -c
	// Timeout is how long it may run; 0 is DefaultNotifyTimeout. Then it is ended,
	// with whatever it has started in its process group.
	Timeout time.Duration
	Output  io.Writer // gets what it prints on either stream; nil: nobody
}

// Notify runs the command. The errors are *Error of ClassFailed: it could not be
// started, did not end in time, or ended with another code than 0.
func (c Command) Notify(ctx context.Context, change StatusChange) error {
	limit := c.Timeout
	if limit <= 0 {
		limit = DefaultNotifyTimeout
	}
	failed := func(msg string, err error) error {
		return &Error{Class: ClassFailed, Host: change.Status.Host.Name, Msg: "the notify command " + msg, Hint: "the change will be told again", Err: err}
	}
	line, err := json.Marshal(change)
	if err != nil {
		return failed("could not be told of the change", err)
	}
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := shell(timed, c.Line)
	cmd.Stdin = bytes.NewReader(append(line, '\n'))
	cmd.Stdout, cmd.Stderr = c.Output, c.Output
	err = cmd.Run()
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // it ended well, and left something in the background
		return nil
	case ctx.Err() != nil:
		return failed("was broken off", ctx.Err())
	case timed.Err() != nil:
		return failed(fmt.Sprintf("did not end within %s, and was ended", limit), err)
	}
	return failed("failed: "+err.Error(), err)
}

// DefaultNotifyLimit is how many changes are told a minute.
const DefaultNotifyLimit = 10

// Telling tells a Notifier what changed: each change once, and no more of them at
// once than the limit. What is beyond it, and what the Notifier could not be told, is
// not lost: the next look at that host shows the change still, or that it has passed.
// It is not safe for concurrent use.
type Telling struct {
	Notifier Notifier
	// Told is what the Notifier was last told, and changes with each telling. It must
	// not be nil.
	Told Marks
	// Limit is how many changes are told in any minute; 0 is DefaultNotifyLimit.
	Limit int
	// Only says which changes are told; nil is all of them. The others count as told.
	Only func(StatusChange) bool

	times  []time.Time // of the last tellings, at most Limit
	failed map[string]failing
	now    func() time.Time
}

// failing is a host whose change could not be told.
type failing struct {
	until time.Time // not tried again before
	pause time.Duration
}

const (
	// retryNotify is how long a change is left alone that could not be told; it
	// doubles each time.
	retryNotify    = 5 * time.Second
	maxRetryNotify = 5 * time.Minute
)

// Look tells what differs between s and what was told of its host last. told says
// that the Notifier was called and had no error, and so that Told has changed. later
// says that there is a change that is left for a later look, because of the limit or
// since it could not be told a moment ago.
func (t *Telling) Look(ctx context.Context, s Status) (told, later bool, err error) {
	now := time.Now
	if t.now != nil {
		now = t.now
	}
	at := now()
	change, changed := t.Told.Change(s, at)
	if !changed || t.Only != nil && !t.Only(change) {
		t.Told.Note(s, at)
		delete(t.failed, s.Host.Name)
		return false, false, nil
	}
	if at.Before(t.failed[s.Host.Name].until) || !t.mayTell(at) {
		return false, true, nil
	}
	t.times = append(t.times, at)
	if err := t.Notifier.Notify(ctx, change); err != nil {
		if t.failed == nil {
			t.failed = map[string]failing{}
		}
		pause := min(max(2*t.failed[s.Host.Name].pause, retryNotify), maxRetryNotify)
		t.failed[s.Host.Name] = failing{until: now().Add(jittered(pause)), pause: pause}
		return false, true, notifyError(s.Host.Name, err)
	}
	delete(t.failed, s.Host.Name)
	t.Told.Note(s, at)
	return true, false, nil
}

// mayTell tells whether the limit allows one telling more.
func (t *Telling) mayTell(at time.Time) bool {
	limit := t.Limit
	if limit <= 0 {
		limit = DefaultNotifyLimit
	}
	for len(t.times) > 0 && at.Sub(t.times[0]) >= time.Minute {
		t.times = t.times[1:]
	}
	return len(t.times) < limit
}

func notifyError(host string, err error) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return err
	}
	return &Error{Class: ClassFailed, Host: host, Msg: "a change could not be told: " + neutral(err.Error()), Err: err}
}
