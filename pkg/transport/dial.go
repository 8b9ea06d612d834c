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

// connect makes one connection. It ends when ctx does, at any point.
func (r *route) connect(ctx context.Context, d *dialing) (*link, *Error) {
	e := r.key.Endpoint
	d.doing(readingConfig)
	s, err := r.pool.resolve(ctx, r.key)
	if err != nil {
		return nil, err
	}
	r.readFor(d, s)
	r.warnOnce(ctx, s)
	g := r.pool.gate(s.gateKey())
	for try := 0; ; try++ {
		if g.enter(ctx) != nil {
			return nil, contextError(ctx, e, awaitingLogins+s.addr(), false)
		}
		once, cancel := r.pool.WithTimeout(ctx, r.pool.opts.DialTimeout)
		ln, dropped, err := r.connectOnce(once, s, d)
		cancel()
		crowded := g.leave(dropped)
		if err == nil || !dropped || ctx.Err() != nil || !dropPolicy.again(try, crowded) {
			return ln, err
		}
		d.doing(awaitingRoom + s.addr())
		pause(ctx, dropPolicy.wait(try))
	}
}

// warnOnce names what is not acted on of the settings of an endpoint, or was left
// out of them.
func (r *route) warnOnce(ctx context.Context, s *settings) {
	r.mu.Lock()
	first := !r.warned
	r.warned = true
	r.mu.Unlock()
	if first && len(s.unhonoured) > 0 && r.pool.opts.Unhonoured != nil {
		r.pool.opts.Unhonoured(r.key.Endpoint, slices.Clone(s.unhonoured))
	}
	for _, w := range s.origin.warnings {
		if first && personOf(ctx) == nil { // who else is told by Look
			r.pool.warn(ctx, r.key.Endpoint, w)
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
	d.doing(awaitingGreeting + s.addr())
	login := newLogin(ctx, r.pool, e, s)
	defer login.close()
	config := clientConfig(s)
	config.HostKeyAlgorithms = keys.algorithms()
	config.AuthCallback = login.next
	config.BannerCallback = login.hear
	// SetDeadline works on sockets only, not on a bastion's channel. Closing
	// works on all.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	greeting := newGreetingLimit(s.timeout, conn)
	defer greeting.stop()
	config.HostKeyCallback = func(name string, addr net.Addr, key ssh.PublicKey) error {
		greeting.stop()
		d.doing(loggingIn + s.addr() + " as " + s.user)
		return keys.check(name, addr, key)
	}
	watched := login.watch(conn)
	sc, chans, reqs, herr := ssh.NewClientConn(watched, s.addr(), config)
	cut := !stop()
	if herr == nil && cut {
		_ = sc.Close()
		herr = context.Cause(ctx)
	}
	if herr != nil {
		defer under()
		defer func() { _ = conn.Close() }()
		stray := watched.stray()
		other := notSSH(e, s, stray)
		if ctx.Err() != nil {
			if cause := context.Cause(ctx); other != nil && errors.Is(cause, context.DeadlineExceeded) {
				return nil, false, other.late(cause)
			}
			return nil, false, login.explain(contextError(ctx, e, d.what(), false))
		}
		if pc, ok := conn.(*commandConn); ok && !keys.seen && !greeting.passed.Load() {
			why := pc.failure()
			if stray != "" {
				why = fmt.Errorf("%w; it sent %q, which is no SSH greeting", why, stray)
			}
			return nil, proxyWasDropped(why), &Error{Kind: KindProxy, Endpoint: e, Err: why, Hint: "try the ProxyCommand of ssh_config by hand"}
		}
		switch passed := greeting.passed.Load(); {
		case passed && other != nil:
			return nil, false, other.late(os.ErrDeadlineExceeded)
		case passed:
			return nil, false, greeting.err(e, s)
		case other != nil:
			return nil, false, other
		}
		dropped := !keys.seen && hungUp(herr)
		if dropped && stray != "" {
			herr = fmt.Errorf("%s: %w", stray, herr)
		}
		return nil, dropped, login.explain(handshakeError(keys, login, herr, dropped))
	}
	every, misses := r.pool.opts.KeepAlive, 3
	if s.aliveEvery > 0 {
		every = s.aliveEvery
	}
	if s.aliveCount > 0 {
		misses = s.aliveCount
	}
	ln = &link{
		route: r, s: s, via: d.via, client: ssh.NewClient(sc, chans, reqs), under: under, dead: make(chan struct{}),
		every: every, misses: misses, limit: channelsPerLink, idleSince: time.Now(), since: time.Now(),
	}
	ln.host.Store(keys.toJudge(keys.stamps))
	return ln, false, nil
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
			return nil, nil, &Error{Kind: KindConfig, Endpoint: e, Err: fmt.Errorf("BindAddress: %w", err), Hint: "see BindAddress in ssh_config: it must be an address of this machine"}
		}
		nd.LocalAddr = local
	}
	var conn net.Conn
	var err error
	for try := range max(s.attempts, 1) {
		if try > 0 {
			d.doing("trying again to connect to " + s.addr())
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
	var unsuited *net.AddrError
	var late net.Error
	switch {
	case errors.As(err, &dns):
		return &Error{Kind: KindResolve, Endpoint: e, Err: err, Hint: "no address is known for " + s.host + ": see the spelling, HostName in ssh_config, and the network"}
	case errors.As(err, &unsuited):
		return &Error{Kind: KindResolve, Endpoint: e, Err: err, Hint: s.host + " has no address of the family that AddressFamily and BindAddress in ssh_config ask for"}
	case errors.As(err, &late) && late.Timeout(): // the dialer's or the kernel's
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
