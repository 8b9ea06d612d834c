package transport

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Kind says what went wrong on the way to an endpoint. A script's own non-zero
// exit is no error and has no Kind.
type Kind int

// The kinds, in the order in which a connection meets them.
const (
	// KindConfig is a destination, an option or an ssh_config that is wrong, or
	// asks for what is not supported; the error names it.
	KindConfig Kind = iota + 1
	// KindResolve is a host name without an address.
	KindResolve
	// KindConnect is a machine that refuses, resets or cannot be routed to, or
	// a link that broke; see Error.Started.
	KindConnect
	// KindTimeout is a deadline that passed: the caller's or the dial's own.
	KindTimeout
	// KindCanceled is a context that its owner cancelled, or a closed Pool.
	KindCanceled
	// KindHostKeyUnknown is a host that no known_hosts file vouches for.
	KindHostKeyUnknown
	// KindHostKeyChanged is a host whose key is not the known one, or revoked.
	KindHostKeyChanged
	// KindAuth is a login that the server refused.
	KindAuth
	// KindProxy is a ProxyJump hop or a ProxyCommand that failed.
	KindProxy
	// KindSession is a logged-in server that opens no session or runs nothing.
	KindSession
	// KindProtocol is an answer that is not what the protocol says: no frame,
	// too much output, no common algorithm.
	KindProtocol
)

var kindNames = map[Kind]string{
	KindConfig:         "config",
	KindResolve:        "resolve",
	KindConnect:        "connect",
	KindTimeout:        "timeout",
	KindCanceled:       "canceled",
	KindHostKeyUnknown: "host key unknown",
	KindHostKeyChanged: "host key changed",
	KindAuth:           "auth",
	KindProxy:          "proxy",
	KindSession:        "session",
	KindProtocol:       "protocol",
}

// String is the word that a table shows for the kind.
func (k Kind) String() string {
	if s, ok := kindNames[k]; ok {
		return s
	}
	return fmt.Sprintf("kind %d", int(k))
}

// ErrPoolClosed is wrapped by the error of every call on a closed Pool.
var ErrPoolClosed = errors.New("the connection pool is closed")

// Error is what Run and Attach return. Text in it that came from the host is
// neutralised. It must not be changed: callers that waited for one dial share it.
type Error struct {
	Kind     Kind
	Endpoint Endpoint
	// Hint says what the user may do about it; it may have several lines and
	// is not part of Error().
	Hint string
	// Started is whether the script may have begun to run, so that running it
	// again could do its work twice.
	Started bool
	Err     error
}

// Error gives one line: endpoint, kind, cause.
func (e *Error) Error() string {
	if e == nil { // an importer's mistake, which must not end its program
		return "no error"
	}
	return fmt.Sprintf("%s: %s: %v", e.Endpoint, e.Kind, e.Err)
}

// Unwrap gives the cause, so that errors.Is finds context.DeadlineExceeded,
// context.Canceled, syscall.ECONNREFUSED and the like.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// asError gives the outermost Error in err's chain; one that is nil is none.
func asError(err error) (e *Error, ok bool) {
	e, _ = errors.AsType[*Error](err)
	return e, e != nil
}

// KindOf gives the kind of the outermost Error in err's chain; ok is false if
// there is none.
func KindOf(err error) (kind Kind, ok bool) {
	if e, found := asError(err); found {
		return e.Kind, true
	}
	return 0, false
}

// Started reports whether err may have come after the script began to run. It
// is true for an error that is not ours: of what is not known, the worse is assumed.
func Started(err error) bool {
	if err == nil {
		return true
	}
	if e, found := asError(err); found {
		return e.Started
	}
	return true
}

// stoppedHint says what a call that its own side ended has left undone.
func stoppedHint(started bool) string {
	if started {
		return "this side stopped it, and its script is ended too: look what it has done before running it again"
	}
	return "this side stopped it before anything ran: run it again if that was not meant"
}

// contextError is the Error for a context that ended while doing what doing says.
func contextError(ctx context.Context, e Endpoint, doing string, started bool) *Error {
	cause := context.Cause(ctx)
	if errors.Is(cause, context.Canceled) || errors.Is(cause, ErrPoolClosed) {
		return &Error{Kind: KindCanceled, Endpoint: e, Started: started, Err: fmt.Errorf("stopped while %s: %w", doing, cause), Hint: stoppedHint(started)}
	}
	return &Error{
		Kind: KindTimeout, Endpoint: e, Started: started,
		Hint: timeoutHint(doing),
		Err:  fmt.Errorf("out of time while %s: %w", doing, cause),
	}
}

// The beginnings of what a call may be doing of which the machine's silence is
// not the likeliest reason to run out of time.
const (
	readingConfig    = "reading ssh_config"
	awaitingGreeting = "waiting for the SSH greeting of "
	awaitingLogins   = "waiting for other logins to "
	awaitingRoom     = "waiting to try again, since the server dropped a login (MaxStartups?), to "
	loggingIn        = "logging in to "
	awaitingChannel  = "waiting for a free channel"
)

// timeoutHint says what to do when the time was over while doing what doing says.
func timeoutHint(doing string) string {
	for _, h := range []struct{ doing, hint string }{
		{readingConfig, "the machine was not asked yet: see what takes so long here, such as a command of Match exec in ssh_config, or allow more time"},
		{awaitingGreeting, "something listens there and has not greeted: see whether it is an SSH server, and how busy the machine is, or allow more time"},
		{awaitingLogins, "logins go on a few at a time to one address: see what holds up the others, or allow more time"},
		{awaitingRoom, "the server has no room for more logins: see MaxStartups of its sshd, or allow more time"},
		{loggingIn, "the machine answers, and the login takes long: see an agent or a security key that waits for you here, and how busy the machine is, or allow more time"},
		{awaitingChannel, "what runs on the host already leaves no room: see what takes so long there, or allow more time"},
	} {
		if strings.HasPrefix(doing, h.doing) {
			return h.hint
		}
	}
	return "the machine did not answer in time: see whether it is up and reachable, or allow more time"
}
