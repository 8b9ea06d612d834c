package transport

import (
	"io"
	"net"
	"sync"

	"golang.org/x/crypto/ssh"
)

// agentForward is the forwarding of an agent over one link, for the sessions on
// it that were attached to with ForwardAgent. The host can reach the agent while
// there is one, and no longer.
type agentForward struct {
	mu       sync.Mutex
	sessions int
	serving  bool
}

// forwardAgent asks the server to forward the agent into this very session, if
// ssh_config says so, and lets it in until the channel is over.
func (ch *channel) forwardAgent() error {
	l := ch.link
	if l.s.forwardAgent == "" {
		return nil
	}
	l.forward.mu.Lock()
	l.forward.sessions++
	if !l.forward.serving {
		l.forward.serving = true
		opened := l.client.HandleChannelOpen("auth-agent@openssh.com")
		l.route.pool.own(func() { // the channel of channels closes with the connection
			for c := range opened {
				l.openAgent(c)
			}
		})
	}
	l.forward.mu.Unlock()
	l.route.pool.own(func() {
		<-ch.over
		l.forward.mu.Lock()
		defer l.forward.mu.Unlock()
		l.forward.sessions--
	})
	// As OpenSSH does, without waiting for a reply: a server that refuses gives a
	// session without an agent.
	_, err := ch.SendRequest("auth-agent-req@openssh.com", false, nil)
	return err
}

// openAgent connects a channel that the host opens with the agent.
func (l *link) openAgent(c ssh.NewChannel) {
	l.forward.mu.Lock()
	wanted := l.forward.sessions > 0
	l.forward.mu.Unlock()
	if !wanted {
		_ = c.Reject(ssh.Prohibited, "no session has the agent")
		return
	}
	l.route.pool.own(func() {
		d := net.Dialer{Timeout: agentListDeadline}
		conn, err := d.DialContext(l.route.pool.ctx, "unix", l.s.forwardAgent)
		if err != nil {
			_ = c.Reject(ssh.ConnectionFailed, "the agent cannot be reached")
			return
		}
		defer func() { _ = conn.Close() }()
		ch, reqs, err := c.Accept()
		if err != nil {
			return
		}
		defer func() { _ = ch.Close() }()
		over := make(chan struct{})
		defer close(over)
		own := l.route.pool.own
		own(func() { ssh.DiscardRequests(reqs) })
		own(func() { // an agent that hangs must not outlive the connection
			select {
			case <-l.dead:
				_ = conn.Close()
			case <-over:
			}
		})
		own(func() {
			_, _ = io.Copy(conn, ch)
			if u, ok := conn.(*net.UnixConn); ok {
				_ = u.CloseWrite()
			}
		})
		_, _ = io.Copy(ch, conn)
	})
}
