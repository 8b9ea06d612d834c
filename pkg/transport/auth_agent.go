package transport

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

const (
	// agentListDeadline bounds what an agent may take to say which keys it has. A
	// signature is bounded by the dial alone: the user may have to touch a key.
	agentListDeadline = 5 * time.Second
	// touchPatience is how long a security key may take before the user is told
	// that it waits to be touched.
	touchPatience = 2 * time.Second
)

// agentConn is a connection to an agent, or none.
type agentConn struct {
	conn net.Conn
	stop func() bool
}

func (a *agentConn) close() {
	if a.conn != nil {
		a.stop()
		_ = a.conn.Close()
	}
}

// SocketID tells the socket at path from another that is there later, as when an
// agent was started anew. It is empty where there is none, or the path is not a
// whole one.
func SocketID(path string) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	st, err := os.Stat(path)
	if err != nil {
		return ""
	}
	id := fmt.Sprint(st.ModTime().UnixNano())
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		id += fmt.Sprint(" ", sys.Dev, " ", sys.Ino)
	}
	return id
}

// agentKeys lists the agent's keys. An agent that is absent, silent or broken
// is a note, not an error: files may do.
func (l *login) agentKeys() []ssh.Signer {
	if l.s.agent == "" {
		return nil
	}
	d := net.Dialer{Timeout: agentListDeadline}
	conn, err := d.DialContext(l.ctx, "unix", l.s.agent)
	if err != nil {
		l.note("the agent cannot be reached: %v", err)
		return nil
	}
	l.agent.conn = conn
	l.agent.stop = context.AfterFunc(l.ctx, func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(agentListDeadline))
	signers, err := agent.NewClient(conn).Signers()
	if err != nil {
		l.note("the agent at %s did not list its keys: %v", l.s.agent, err)
		return nil
	}
	_ = conn.SetDeadline(time.Time{})
	return signers
}

// agentSigner signs by the agent, tells the user to touch a security key, and
// keeps why it could not.
type agentSigner struct {
	ssh.Signer
	l    *login
	from string
}

// Sign implements ssh.Signer.
func (s *agentSigner) Sign(r io.Reader, data []byte) (*ssh.Signature, error) {
	return s.SignWithAlgorithm(r, data, "")
}

// SignWithAlgorithm implements ssh.AlgorithmSigner.
func (s *agentSigner) SignWithAlgorithm(_ io.Reader, data []byte, algorithm string) (*ssh.Signature, error) {
	as, ok := s.Signer.(ssh.AlgorithmSigner)
	if !ok {
		return nil, errors.New("the agent's key cannot choose its algorithm")
	}
	if strings.HasPrefix(s.PublicKey().Type(), "sk-") {
		signed := make(chan struct{})
		defer close(signed)
		s.l.pool.own(func() { s.l.remindToTouch(s.from, signed) })
	}
	sig, err := as.SignWithAlgorithm(rand.Reader, data, algorithm)
	if err != nil {
		err = fmt.Errorf("%s: the agent did not sign: %w", s.from, err)
		s.l.note("%s", Neutralise(err.Error()))
		s.l.unsigned("the agent did not sign")
	}
	return sig, err
}

// remindToTouch ends with the signature or with the login.
func (l *login) remindToTouch(key string, signed <-chan struct{}) {
	t := time.NewTimer(touchPatience)
	defer t.Stop()
	select {
	case <-signed:
	case <-l.ctx.Done():
	case <-t.C:
		l.pool.warn(l.ctx, l.e, "touch your security key: "+Neutralise(key)+" waits for it to log in to "+l.account())
	}
}
