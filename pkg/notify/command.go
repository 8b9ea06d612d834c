package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// DefaultTimeout is how long a command may run.
const DefaultTimeout = 10 * time.Second

// Command is a fleet.Notifier that runs a command of this machine's /bin/sh for each
// change, with the change as one line of JSON on its standard input. Nothing of the
// change is in its arguments or its environment, so that no text from a host is read
// as a command.
type Command struct {
	Line string // as for sh -c
	// Timeout is how long it may run; 0 is DefaultTimeout. Then it is ended,
	// with whatever it has started in its process group.
	Timeout time.Duration
	Output  io.Writer // gets what it prints on either stream; nil: nobody
}

// Notify runs the command. The errors are *fleet.Error of fleet.ClassFailed: it could not be
// started, did not end in time, or ended with another code than 0.
func (c Command) Notify(ctx context.Context, change fleet.StatusChange) error {
	limit := c.Timeout
	if limit <= 0 {
		limit = DefaultTimeout
	}
	failed := func(msg string, err error) error {
		return &fleet.Error{Class: fleet.ClassFailed, Host: change.Status.Host.Name, Msg: "the notify command " + msg, Hint: "the change will be told again", Err: err}
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
