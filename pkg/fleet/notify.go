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

// DefaultNotifyTimeout is how long a CommandNotifier's command may run.
const DefaultNotifyTimeout = 10 * time.Second

// CommandNotifier is a Notifier that runs a command of this machine's /bin/sh for each
// change, with the change as one line of JSON on its standard input. Nothing of the
// change is in its arguments or its environment, so that no text from a host is read
// as a command.
type CommandNotifier struct {
	Line string // as for sh -c
	// Timeout is how long it may run; 0 is DefaultNotifyTimeout. Then it is ended,
	// with whatever it has started in its process group.
	Timeout time.Duration
	Output  io.Writer // gets what it prints on either stream; nil: nobody
}

// Notify runs the command. The errors are *Error of ClassFailed: it could not be
// started, did not end in time, or ended with another code than 0.
func (c CommandNotifier) Notify(ctx context.Context, change StatusChange) error {
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
