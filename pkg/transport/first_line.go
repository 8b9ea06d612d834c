package transport

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
)

// watch gives conn so that the login, and with it an open question, ends when
// the other side goes away, and so that what came instead of an SSH greeting is
// remembered.
func (l *login) watch(conn net.Conn) *watchedConn { return &watchedConn{Conn: conn, gone: l.cancel} }

// watchedConn tells of the first failure to read.
type watchedConn struct {
	net.Conn
	gone context.CancelCauseFunc
	mu   sync.Mutex
	line firstLine
}

func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	c.line.add(p[:max(n, 0)])
	c.mu.Unlock()
	if err != nil {
		c.gone(err)
	}
	return n, err
}

// stray is what came first, if no SSH greeting has come: one neutral line.
func (c *watchedConn) stray() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return excerpt([]byte(c.line.stray()), 200)
}

// firstLine finds the first line of a stream that does not begin as RFC 4253,
// section 4.2, has it: lines of other text, and then one that begins with SSH-.
type firstLine struct {
	first   string // the first line that is not empty
	line    []byte // the one that is coming in
	greeted bool
}

func (f *firstLine) add(b []byte) {
	for len(b) > 0 && !f.greeted {
		part, rest, whole := bytes.Cut(b, []byte("\n"))
		// No more is kept than tells a greeting from other text, and is shown.
		f.line = append(f.line, part[:min(len(part), max(0, 256-len(f.line)))]...)
		b = rest
		if !whole {
			return
		}
		f.greeted = bytes.HasPrefix(f.line, []byte("SSH-"))
		if f.first == "" {
			f.first = strings.TrimSpace(string(f.line))
		}
		f.line = f.line[:0]
	}
}

func (f *firstLine) stray() string {
	switch {
	case f.greeted:
		return ""
	case f.first != "":
		return f.first
	case bytes.HasPrefix(f.line, []byte("SSH-")):
		return ""
	}
	return strings.TrimSpace(string(f.line))
}

// dropWords are what OpenSSH's sshd says in the clear when it hangs up on a
// login that it has no room for; the second since it has PerSourcePenalties.
var dropWords = []string{"Exceeded MaxStartups", "Not allowed at this time"}

// notSSH is the error of a server that said stray where its greeting belongs;
// nil if that is how sshd drops a login.
func notSSH(e Endpoint, s *settings, stray string) *Error {
	if stray == "" || slices.Contains(dropWords, stray) {
		return nil
	}
	return &Error{
		Kind: KindProtocol, Endpoint: e, Err: fmt.Errorf("%s sent %q, which is no SSH greeting", s.addr(), stray),
		Hint: "another service listens there: see Port and HostName in ssh_config, and on which port sshd listens",
	}
}

// late is the error e of what was waited for until cause, a deadline, passed:
// lines of other text may go before a greeting, so that it could still have come.
func (e *Error) late(cause error) *Error {
	late := *e
	late.Kind, late.Err = KindTimeout, fmt.Errorf("%w, and nothing more in time: %w", e.Err, cause)
	return &late
}
