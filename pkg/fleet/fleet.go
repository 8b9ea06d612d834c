package fleet

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/conc/pool"

	"github.com/claude-fleet/claude-fleet/pkg/relay"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// Fleet is a fleet table and the connections to its machines. Its methods are
// safe for concurrent use. Nothing about a host is remembered between calls but
// the connection: what a method tells was seen while it ran (see WithServer for the
// one exception). Load and New make one; two of them share nothing.
type Fleet struct {
	table *Table
	conns *transport.Pool
	// server is the one that may hold the connections; nil without WithServer.
	server *relay.Client
	asks   bool // somebody can be asked
}

// Option changes how a Fleet works.
type Option func(*options)

type options struct {
	timeout time.Duration
	notice  func(Notice)
	ask     func(context.Context, transport.Question) (string, error)
	free    func() bool
	server  *server
}

// server is one that may hold connections.
type server struct {
	version string
	sockets []string
}

// WithTimeout gives every host the deadline d in place of the table's; 0 keeps those.
func WithTimeout(d time.Duration) Option { return func(o *options) { o.timeout = d } }

// Notice is something that a user should know although the work goes on.
type Notice struct {
	Machine string // as ssh knows it
	Text    string // neutralised
	// Minor notices are for whoever asked for details: a keyword in ssh_config
	// that is not acted on. The others, such as a host key that was accepted
	// unseen because ssh_config says so, are for everybody.
	Minor bool
}

// WithNotices has tell called for each notice, from several goroutines at once. Without
// it, or with nil, they are dropped.
func WithNotices(tell func(Notice)) Option { return func(o *options) { o.notice = tell } }

// WithAsk has ask put the questions that a login may come to (an unknown host key,
// a passphrase, a password) to a person. It is called for one question at a time;
// an error means that there is no answer, and its ctx ends when none is needed
// any more. What an answer may be is with each kind of transport.Question. Hosts'
// deadlines stand still meanwhile. Without it, or with nil, nobody is asked and
// such a host is unreachable.
func WithAsk(ask func(context.Context, transport.Question) (string, error)) Option {
	return func(o *options) { o.ask = ask }
}

// WithTerminalFree has free tell whether the terminal is anybody's now. Where it is
// not, since the caller draws on it, an ssh in a ProxyCommand has none and fails at
// once where it would ask; what WithAsk has is asked all the same. free is called
// from several goroutines. Without it, the terminal is free wherever WithAsk is set.
func WithTerminalFree(free func() bool) Option { return func(o *options) { o.free = free } }

// WithServer has scripts for hosts behind SSH run over the connections of a
// claude-fleet serve that listens at one of the sockets, the first that answers, so
// that short programs don't log in each time. What can't be done there (none runs, or
// one of another version) goes over connections of the Fleet's own, and so does
// Attach; of why, a minor notice tells. No socket means those that the command serve
// uses. version is what the program calls itself, and empty that of this module,
// which is right for a program that was built with a released one. Without this
// option no server is used.
//
// Such a server also keeps what Status and Read have seen for whoever looks next at the
// same hosts, in its memory and for some minutes, and the hosts are asked only for what has
// changed since. What Status then tells of folders and of the account's settings is up to
// 5 s old.
func WithServer(version string, sockets ...string) Option {
	return func(o *options) { o.server = &server{version, sockets} }
}

// Load reads the fleet table at path, or where path is empty from
// $CLAUDE_FLEET_CONFIG, else claude-fleet/fleet.conf in the user's config
// folder, else one local host for the current directory. The errors are
// *ConfigError, several of them joined. No connection is made yet.
func Load(path string, opts ...Option) (*Fleet, error) {
	table, err := LoadTable(path)
	if err != nil {
		return nil, err
	}
	return New(table, opts...), nil
}

// New is a fleet over a table that the caller has read, or made with NewTable. The
// table must not be written to any more; several fleets may have it. No connection is
// made yet.
func New(table *Table, opts ...Option) *Fleet {
	var o options
	for _, set := range opts {
		set(&o)
	}
	if o.notice == nil {
		o.notice = func(Notice) {}
	}
	if o.timeout > 0 {
		hosts := slices.Clone(table.Hosts)
		for i := range hosts {
			hosts[i].Timeout = o.timeout
		}
		table = &Table{Path: table.Path, Hosts: hosts}
	}
	server := o.server.client(o.notice)
	var carrier transport.Carrier
	if server != nil {
		carrier = server
	}
	return &Fleet{table: table, server: server, asks: o.ask != nil, conns: transport.NewPool(transport.Options{
		Carrier:  carrier,
		Ask:      o.ask,
		Attended: o.free,
		Warn: func(e transport.Endpoint, text string) {
			o.notice(Notice{Machine: e.String(), Text: transport.Neutralise(text)})
		},
		Unhonoured: func(e transport.Endpoint, keywords []string) {
			text := "ssh_config sets what is not acted on here: " + strings.Join(keywords, ", ")
			o.notice(Notice{Machine: e.String(), Text: transport.Neutralise(text), Minor: true})
		},
	})}
}

// client is the way to a server, or nil.
func (s *server) client(tell func(Notice)) *relay.Client {
	if s == nil {
		return nil
	}
	sockets, passed := s.sockets, error(nil)
	if len(sockets) == 0 {
		sockets, passed = relay.Places()
	}
	c := relay.NewClient(s.version, func(text string) { tell(Notice{Machine: "serve", Text: text, Minor: true}) }, sockets...)
	c.Pass(passed)
	return c
}

// Close ends all calls that are under way, and then the connections; it returns within
// a few seconds, with nothing of the fleet left running. Sessions on the hosts go on. A
// call on a fleet that is closed fails as on a host that does not answer, with an
// *Error over transport.ErrPoolClosed. The error is nil, and closing again does nothing.
func (f *Fleet) Close() error { return f.conns.Close() }

// Table is the fleet table, with the deadlines of WithTimeout. It must not be written to.
func (f *Fleet) Table() *Table { return f.table }

// AllHosts names every host to Select, for verbs that act and so want their
// hosts named. A tag of the table that is called so comes first.
const AllHosts = "@all"

// Select returns the hosts that are named, by label or "@tag", in table order
// and without doubles; all of them for no name. A name that is not in the table
// is an *Error of ClassUsage over a *SelectError, which has what it may have meant.
func (f *Fleet) Select(names ...string) ([]Host, error) {
	if slices.Contains(names, AllHosts) && !slices.ContainsFunc(f.table.Hosts, func(h Host) bool { return slices.Contains(h.Tags, AllHosts[1:]) }) {
		names = nil
	}
	hosts, err := f.table.Select(names...)
	if err != nil {
		return nil, &Error{Class: ClassUsage, Msg: err.Error(), Err: err}
	}
	return hosts, nil
}

// host returns the one host of that label.
func (f *Fleet) host(name string) (Host, error) {
	for _, h := range f.table.Hosts {
		if h.Name == name {
			return h, nil
		}
	}
	_, err := f.Select(name)
	if err == nil { // a tag
		err = &Error{Class: ClassUsage, Msg: quote(name) + " names several hosts, and this takes one", Hint: "name one host; claude-fleet map shows them"}
	}
	return Host{}, err
}

// endpoint is the machine of a host.
func (h Host) endpoint() transport.Endpoint {
	if h.Transport == TransportLocal {
		return transport.Endpoint{Local: true}
	}
	return transport.Endpoint{Destination: h.SSH, ConfigFile: h.SSHConfig}
}

func (f *Fleet) conn(h Host) transport.Conn { return f.conns.Conn(h.endpoint()) }

const (
	// maxParallel bounds the machines that are spoken to at once; each costs a
	// socket and, while it is dialled, some CPU for the handshake.
	maxParallel = 64
	// overdue is after how long a machine counts as one that is waited for, and costs
	// no more than its socket: the next one has its turn, however many are silent.
	overdue = time.Second
)

// turnAt is a turn at what free has room for, which the caller has just filled. done
// ends it; it is over anyway when it is overdue.
func turnAt(free chan struct{}) (done func()) {
	end := sync.OnceFunc(func() { <-free })
	timer := time.AfterFunc(overdue, end)
	return func() {
		timer.Stop()
		end()
	}
}

// stream runs work for each item, maxParallel at once and those that are overdue, and yields what
// they emit as it comes. work may call emit as often as it likes, from its own
// goroutine. When the consumer stops or ctx ends, what is under way is cancelled
// and waited for before stream returns.
func stream[T, R any](ctx context.Context, items []T, work func(ctx context.Context, item T, emit func(R))) iter.Seq[R] {
	return streamAll(ctx, items, maxParallel, work)
}

// streamAll is stream with another bound, for work that goes on until somebody
// ends it: what waited for its turn behind that would wait for ever.
func streamAll[T, R any](ctx context.Context, items []T, parallel int, work func(ctx context.Context, item T, emit func(R))) iter.Seq[R] {
	return func(yield func(R) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		results := make(chan R)
		go func() {
			defer close(results)
			p, free := pool.New(), make(chan struct{}, max(1, parallel))
			for _, item := range items {
				free <- struct{}{} // soon: what goes on is overdue in a moment
				done := turnAt(free)
				p.Go(func() {
					defer done()
					work(ctx, item, func(r R) { results <- r })
				})
			}
			p.Wait()
		}()
		// The channel is read to its end even when the consumer has stopped: that
		// is what waits for the goroutines.
		stopped := false
		for r := range results {
			if !stopped && !yield(r) {
				stopped = true
				cancel()
			}
		}
	}
}
