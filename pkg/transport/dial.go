package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
)

const (
	// dropRetries is how often a connection that the server dropped before
	// login is tried again: sshd does that when too many are logging in.
	dropRetries = 4
	dropPause   = 250 * time.Millisecond // before the first retry; doubles
)

// connect makes one connection. It ends when ctx does, at any point.
func (r *route) connect(ctx context.Context, d *dialing) (*link, *Error) {
	e := r.key.Endpoint
	d.doing("reading ssh_config")
	s, err := r.pool.resolve(ctx, r.key)
	if err != nil {
		return nil, err
	}
	r.warnOnce(s)
	g := r.pool.gate(s.proxyCommand + s.proxyJump + "/" + s.addr())
	for try := 0; ; try++ {
		if g.enter(ctx) != nil {
			return nil, contextError(ctx, e, "waiting for other logins to "+s.addr(), false)
		}
		ln, dropped, err := r.connectOnce(ctx, s, d)
		g.leave(dropped)
		if err == nil || !dropped || try == dropRetries || ctx.Err() != nil {
			return ln, err
		}
		pause(ctx, jitter(dropPause<<try))
	}
}

// warnOnce names what is not acted on of the settings of an endpoint, or was left
// out of them.
func (r *route) warnOnce(s *settings) {
	r.mu.Lock()
	first := !r.warned
	r.warned = true
	r.mu.Unlock()
	if first && len(s.unhonoured) > 0 && r.pool.opts.Unhonoured != nil {
		r.pool.opts.Unhonoured(r.key.Endpoint, slices.Clone(s.unhonoured))
	}
	for _, w := range s.origin.warnings {
		if first && r.pool.opts.Warn != nil {
			r.pool.opts.Warn(r.key.Endpoint, w)
		}
	}
}

// connectOnce tries once. dropped is whether the server hung up before it had
// shown a key, so that trying again may help.
func (r *route) connectOnce(ctx context.Context, s *settings, d *dialing) (ln *link, dropped bool, _ *Error) {
	e := r.key.Endpoint
	keys, err := newHostKeys(ctx, r.pool, e, s)
	if err != nil {
		return nil, false, err
	}
	d.doing("connecting to " + s.addr())
	conn, under, err := r.open(ctx, s, d)
	if err != nil {
		return nil, false, err
	}
	d.doing("waiting for the SSH greeting of " + s.addr())
	login := newLogin(ctx, r.pool, e, s)
	defer login.close()
	config := clientConfig(s)
	config.HostKeyAlgorithms = keys.algorithms()
	config.AuthCallback = login.next
	config.HostKeyCallback = func(name string, addr net.Addr, key ssh.PublicKey) error {
		d.doing("logging in to " + s.addr() + " as " + s.user)
		return keys.check(name, addr, key)
	}
	// SetDeadline works on sockets only, not on a bastion's channel. Closing
	// works on all.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	sc, chans, reqs, herr := ssh.NewClientConn(login.watch(conn), s.addr(), config)
	cut := !stop()
	if herr == nil && cut {
		_ = sc.Close()
		herr = context.Cause(ctx)
	}
	if herr != nil {
		defer under()
		defer func() { _ = conn.Close() }()
		if ctx.Err() != nil {
			return nil, false, contextError(ctx, e, d.what(), false)
		}
		if pc, ok := conn.(*commandConn); ok && !keys.seen {
			return nil, false, &Error{Kind: KindProxy, Endpoint: e, Err: pc.failure(), Hint: "try the ProxyCommand of ssh_config by hand"}
		}
		dropped := !keys.seen && hungUp(herr)
		return nil, dropped, handshakeError(keys, login, herr, dropped)
	}
	every, misses := r.pool.opts.KeepAlive, 3
	if s.aliveEvery > 0 {
		every = s.aliveEvery
	}
	if s.aliveCount > 0 {
		misses = s.aliveCount
	}
	return &link{
		route: r, s: s, client: ssh.NewClient(sc, chans, reqs), under: under, dead: make(chan struct{}),
		every: every, misses: misses, limit: channelsPerLink, idleSince: time.Now(),
	}, false, nil
}

// open gives the byte stream to the server, and what to call when it is over.
func (r *route) open(ctx context.Context, s *settings, d *dialing) (net.Conn, func(), *Error) {
	e := r.key.Endpoint
	switch {
	case s.proxyCommand != "":
		return r.proxyCommand(s)
	case s.proxyJump != "":
		return r.jump(ctx, s, d)
	}
	nd := net.Dialer{Timeout: s.timeout, KeepAlive: 15 * time.Second}
	network := map[string]string{"inet": "tcp4", "inet6": "tcp6"}[s.family]
	if network == "" {
		network = "tcp"
	}
	if s.bind != "" {
		local, err := net.ResolveTCPAddr(network, net.JoinHostPort(s.bind, "0"))
		if err != nil {
			return nil, nil, &Error{Kind: KindConfig, Endpoint: e, Err: fmt.Errorf("BindAddress: %w", err)}
		}
		nd.LocalAddr = local
	}
	var conn net.Conn
	var err error
	for try := range max(s.attempts, 1) {
		if try > 0 {
			pause(ctx, time.Second) // as OpenSSH does between ConnectionAttempts
		}
		if conn, err = nd.DialContext(ctx, network, s.addr()); err == nil {
			return conn, func() {}, nil
		}
		if ctx.Err() != nil {
			return nil, nil, contextError(ctx, e, "connecting to "+s.addr(), false)
		}
	}
	return nil, nil, tcpError(e, s, err)
}

func tcpError(e Endpoint, s *settings, err error) *Error {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return &Error{Kind: KindResolve, Endpoint: e, Err: err, Hint: "no address is known for " + s.host + ": see the spelling, HostName in ssh_config, and the network"}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &Error{Kind: KindTimeout, Endpoint: e, Err: err, Hint: "nothing answered at " + s.addr() + ": see whether the machine is up and a firewall lets you through"}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &Error{Kind: KindConnect, Endpoint: e, Err: err, Hint: "the machine is up, but nothing listens on port " + fmt.Sprint(s.port) + ": see whether sshd runs, and on which port"}
	}
	return &Error{Kind: KindConnect, Endpoint: e, Err: err, Hint: "see the address, the network and the firewall"}
}

// hungUp is whether err is the other side's going away.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
