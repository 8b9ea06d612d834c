package transport

import (
	"context"
	"sync"
	"time"
)

// NoSSHBinary as Options.SSHBinary means to read ssh_config without one.
const NoSSHBinary = "-"

// Options tune a Pool. The zero value is right for most.
type Options struct {
	// SSHBinary is the ssh that resolves ssh_config by its -G option; it never
	// connects. Empty is the one in PATH, if there is one.
	SSHBinary string
	// DialTimeout bounds the making of one connection, bastions included;
	// default 30 s. ConnectTimeout of ssh_config bounds the TCP part of it.
	// Where logins to one machine have to wait for each other, or are dropped
	// and tried again, all of that may take four times as long.
	DialTimeout time.Duration
	// KeepAlive is how often an SSH connection is asked whether it lives;
	// default 15 s, and ServerAliveInterval of ssh_config goes first. After
	// three questions without an answer (ServerAliveCountMax) it is dropped.
	KeepAlive time.Duration
	// IdleTimeout is how long an unused connection is kept; default 5 min.
	IdleTimeout time.Duration
	// MaxConns is how many connections one endpoint may have, 8 channels each;
	// default 8. Work beyond them waits.
	MaxConns int
	// Warn is told what the user has to know although the work goes on, such as
	// an unknown host key that was accepted; nil drops it. Unhonoured is told,
	// once an endpoint, the keywords that its ssh_config sets and that are not
	// acted on here; nil drops it. Both are called from several goroutines.
	Warn       func(e Endpoint, text string)
	Unhonoured func(e Endpoint, keywords []string)
	// Env and Dir, where Env is not nil, are the environment (NAME=value) and the
	// directory of whoever the Pool works for, if that is not this process: the
	// agent, the ssh binary, and the commands and variables of ssh_config are
	// taken from there. Scripts on this machine still run in this process's.
	Env []string
	Dir string
	// Ask puts a question to a person and gives the answer, or an error if
	// there is none; ctx ends when nobody needs the answer any more. nil, which
	// is right wherever no person sits, means that nothing is asked. It is
	// called by one goroutine at a time, and is not called where ssh_config sets
	// BatchMode.
	Ask func(ctx context.Context, q Question) (string, error)
	// Carrier, where it is not nil, runs scripts on endpoints that are not local; what
	// it does not run, and Attach, go over the Pool's own connections.
	Carrier Carrier
	// Attended tells whether a ProxyCommand that is started now may ask on the
	// terminal by itself, as an ssh in it does; nil is yes wherever Ask is set. It is
	// called from several goroutines.
	Attended func() bool
}

func (o Options) withDefaults() Options {
	if o.DialTimeout <= 0 {
		o.DialTimeout = 30 * time.Second
	}
	if o.KeepAlive <= 0 {
		o.KeepAlive = 15 * time.Second
	}
	if o.IdleTimeout <= 0 {
		o.IdleTimeout = 5 * time.Minute
	}
	if o.MaxConns <= 0 {
		o.MaxConns = 8
	}
	return o
}

const (
	// dialsPerAddress is how many connections to one address may be under way.
	// sshd drops some of more than 10 that have not logged in (MaxStartups).
	dialsPerAddress = 4
	// dialRounds is how many DialTimeouts the waiting before a login, and its
	// retries, may take.
	dialRounds = 4
	// closeGrace is how long Close waits for the ending of scripts whose caller
	// has gone, before it cuts the connections.
	closeGrace = 3 * time.Second
)

// Pool keeps the connections to all endpoints of a process. It is safe for
// concurrent use.
type Pool struct {
	opts   Options
	open   context.Context // ends when Close begins: calls return
	shut   context.CancelCauseFunc
	calls  sync.WaitGroup  // Run and Attach under way
	ending sync.WaitGroup  // the endings of abandoned scripts
	ctx    context.Context // ends when Close cuts everything
	cancel context.CancelCauseFunc
	tasks  sync.WaitGroup // every goroutine of the pool
	clock  clock
	asking chan struct{} // holds one token while a question is put
	keys   keyring
	local  keptShell

	mu     sync.Mutex
	closed bool
	routes map[routeKey]*route
	gates  map[string]*gate // by address

	configs configCache
	env     *environment
}

// NewPool makes a pool. It connects to nothing before there is work.
func NewPool(o Options) *Pool {
	p := &Pool{opts: o.withDefaults(), routes: map[routeKey]*route{}, gates: map[string]*gate{}, asking: make(chan struct{}, 1), env: environmentOf(o)}
	p.open, p.shut = context.WithCancelCause(context.Background())
	p.ctx, p.cancel = context.WithCancelCause(context.Background())
	return p
}

// Conn gives the way to run scripts on e. It never fails and never dials: what
// is wrong with e comes from the first Run. Conns of one endpoint share its
// connections.
func (p *Pool) Conn(e Endpoint) Conn {
	if e.Local {
		return &localConn{pool: p}
	}
	c := &sshConn{pool: p, route: p.route(routeKey{Endpoint: e})}
	if p.opts.Carrier != nil {
		return &carriedConn{c}
	}
	return c
}

// Close ends every call that is under way, which fails with ErrPoolClosed, then
// their scripts, for which it allows three seconds, then the connections. It
// returns when nothing of the pool is left running. Its error is always nil; a
// second Close does nothing.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.shut(ErrPoolClosed)
	p.calls.Wait() // they do not wait for anything but the end of their context
	grace := time.AfterFunc(closeGrace, func() { p.cancel(ErrPoolClosed) })
	defer grace.Stop()
	p.ending.Wait()
	p.cancel(ErrPoolClosed)
	p.tasks.Wait()
	return nil
}

// enter begins a call on the pool. The call's context then also ends with the
// pool; leave ends the call.
func (p *Pool) enter(ctx context.Context, e Endpoint) (_ context.Context, leave func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, nil, &Error{Kind: KindCanceled, Endpoint: e, Err: ErrPoolClosed, Hint: stoppedHint(false)}
	}
	p.calls.Add(1)
	ctx, unhook := withEnd(ctx, p.open)
	return ctx, func() { unhook(); p.calls.Done() }, nil
}

// own runs f in a goroutine that Close waits for. The caller must be such a
// goroutine itself, or between enter and leave.
func (p *Pool) own(f func()) { p.tasks.Go(f) }

// endScript runs f, which ends an abandoned script, as own does; Close gives it
// time before it cuts connections. Only a call may use it.
func (p *Pool) endScript(f func()) {
	p.ending.Add(1)
	p.own(func() {
		defer p.ending.Done()
		f()
	})
}

// gate gives the gate that logins to addr pass.
func (p *Pool) gate(addr string) *gate {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.gates[addr]
	if g == nil {
		g = newGate()
		p.gates[addr] = g
	}
	return g
}

// route gives the one route for k.
func (p *Pool) route(k routeKey) *route {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.routes[k]
	if r == nil {
		r = &route{pool: p, key: k, changed: make(chan struct{})}
		p.routes[k] = r
	}
	return r
}
