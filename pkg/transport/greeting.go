package transport

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// greetingLimit is ConnectTimeout for what follows the TCP connection, up to the
// server's key. OpenSSH counts that in: a machine that hangs, or a port that is
// not SSH's, often takes a connection and then says nothing.
type greetingLimit struct {
	timer  *time.Timer
	passed atomic.Bool // the limit, and the connection was closed for it
}

func newGreetingLimit(d time.Duration, conn io.Closer) *greetingLimit {
	g := &greetingLimit{}
	if d > 0 {
		g.timer = time.AfterFunc(d, func() {
			g.passed.Store(true)
			_ = conn.Close()
		})
	}
	return g
}

// stop lifts the limit. It may be called more than once.
func (g *greetingLimit) stop() {
	if g.timer != nil {
		g.timer.Stop()
	}
}

func (g *greetingLimit) err(e Endpoint, s *settings) *Error {
	return &Error{
		Kind: KindTimeout, Endpoint: e,
		Err:  fmt.Errorf("no SSH greeting from %s within ConnectTimeout (%v): %w", s.addr(), s.timeout, os.ErrDeadlineExceeded),
		Hint: "something listens there and does not answer: see whether it is an SSH server, and how busy the machine is",
	}
}
