package relay

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

const (
	// aliveEvery is how often a server says that a call goes on, and alivePatience
	// how long a caller goes without that, twice: one who was suspended finds its
	// time over before it has looked.
	aliveEvery    = time.Second
	alivePatience = 3 * time.Second
	// cancelPatience is how long a caller whose time is over waits for what the
	// server says of the call.
	cancelPatience = time.Second
	// greetPatience is how long a caller waits for a server to greet: one that is
	// frozen must not cost a caller its own time.
	greetPatience = 2 * time.Second
	// offPause is how long a server that is of no use is left alone.
	offPause = 30 * time.Second
)

// Client runs scripts over the connections of a Server, where there is one for it.
// It is safe for concurrent use, and holds nothing between calls.
type Client struct {
	sockets []string
	version string
	say     func(string)
	person  string

	build   string // of the program that this process runs; else noBuild says why not
	noBuild error

	mu       sync.Mutex
	mine     hello // once it is known
	offUntil time.Time
	said     map[string]bool
	passed   error // why a place is not among the sockets, until that is said
	told     map[transport.Endpoint]bool
	carried  map[transport.Endpoint]int // scripts that a server has run to their end
}

// NewClient gives the client of a program of this version (empty: what it was
// built with) for the first server that answers at one of the sockets. say, which
// may be nil, is told once that a server's connections are used, and each reason why
// one that is there, or what else is at a socket's path, is not.
func NewClient(version string, say func(string), sockets ...string) *Client {
	if say == nil {
		say = func(string) {}
	}
	c := &Client{
		sockets: sockets, version: ownVersion(version), say: say, person: rand.Text(),
		said: map[string]bool{}, told: map[transport.Endpoint]bool{}, carried: map[transport.Endpoint]int{},
	}
	// Now, as the file may be another one by the first call.
	c.build, c.noBuild = build(c.version)
	return c
}

// direct is why a call is not carried.
func direct(format string, args ...any) error {
	return fmt.Errorf("%w: %w", transport.ErrNotCarried, fmt.Errorf(format, args...))
}

// Carry implements transport.Carrier.
func (c *Client) Carry(ctx context.Context, e transport.Endpoint, s transport.Script, who *transport.Person) (transport.Result, error) {
	if ctx.Err() != nil || !utf8.ValidString(e.Destination+e.ConfigFile) {
		return transport.Result{}, direct("nothing that a server could do")
	}
	if e.ConfigFile != "" && !filepath.IsAbs(e.ConfigFile) {
		return transport.Result{}, direct("the ssh_config is named without its folder")
	}
	conn, err := c.connect(ctx, s, e, who)
	if err != nil {
		c.explain(err)
		return transport.Result{}, direct("%w", err)
	}
	path := conn.RemoteAddr().String()
	call := &call{client: c, conn: conn, endpoint: e, who: who}
	res, err := call.follow(ctx)
	if call.silent {
		c.leave()
		if ctx.Err() == nil {
			c.explain(&atError{path, errSilent})
		}
	}
	switch {
	case errors.Is(err, transport.ErrNotCarried):
		c.explain(&atError{path, err})
	case !errors.Is(err, transport.ErrCarrierLost) && !call.silent:
		c.once("the connections of claude-fleet serve at " + path + " are used")
	}
	return res, err
}

// atError is why the server at a path is not used.
type atError struct {
	path string
	err  error
}

func (e *atError) Error() string { return e.err.Error() }
func (e *atError) Unwrap() error { return e.err }

// explain says why a server that is there is not used, once, and what is done instead.
func (c *Client) explain(err error) {
	if absent(err) || errors.Is(err, errOff) {
		return
	}
	what := "the connections of claude-fleet serve are not used: "
	if at, ok := errors.AsType[*atError](err); ok {
		what = "the connections of claude-fleet serve at " + at.path + " are not used: "
	}
	c.once(what + reason(err) + "; this run connects by itself")
}

func reason(err error) string {
	return strings.TrimPrefix(err.Error(), transport.ErrNotCarried.Error()+": ")
}

// once says text, unless it was said.
func (c *Client) once(text string) {
	c.mu.Lock()
	first := !c.said[text] && len(c.said) < 16
	if first {
		c.said[text] = true
	}
	c.mu.Unlock()
	if first {
		c.say(transport.Neutralise(text))
	}
}

// Pass has the first call say why a place is not looked in, as Places tells; nil is
// nothing.
func (c *Client) Pass(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.passed = why
}

// passedOver says why a place is not looked in.
func (c *Client) passedOver() {
	c.mu.Lock()
	why := c.passed
	c.passed = nil
	c.mu.Unlock()
	if why != nil {
		c.once("claude-fleet serve is not looked for in a folder: " + why.Error() + "; its other places are tried")
	}
}

// absent is whether err is that of a socket where nobody listens.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

// errBusy is that of a server which is full, or is ending.
var errBusy = errors.New("it takes no more calls now")

// errSilent is that of one which went, or hung, amid a call.
var errSilent = errors.New("it fell silent amid a call")

// errOff is that of a server which was of no use just now.
var errOff = errors.New("left alone")

// reach connects to a server that is of use.
func (c *Client) reach(ctx context.Context) (*net.UnixConn, error) {
	c.mu.Lock()
	off := time.Now().Before(c.offUntil)
	c.mu.Unlock()
	if off {
		return nil, errOff
	}
	conn, theirs, err := c.greet(ctx, greetPatience)
	if err == nil {
		if err = c.fits(theirs); err != nil {
			err = &atError{conn.RemoteAddr().String(), err}
			_ = conn.Close()
		}
	}
	if err != nil {
		if !absent(err) && !errors.Is(err, errBusy) && ctx.Err() == nil {
			c.leave()
		}
		return nil, err
	}
	return conn, nil
}

// connect reaches the server and hands it the call. Without an error all of it was
// handed over.
func (c *Client) connect(ctx context.Context, s transport.Script, e transport.Endpoint, who *transport.Person) (*net.UnixConn, error) {
	conn, err := c.reach(ctx)
	if err != nil {
		return nil, err
	}
	dir, _ := os.Getwd()
	r := request{Endpoint: e, Person: c.person, Attended: who.Ask != nil, Dir: []byte(dir)}
	body := r.of(s)
	for _, kv := range os.Environ() {
		r.Env = append(r.Env, []byte(kv))
	}
	_ = conn.SetWriteDeadline(time.Now().Add(2 * alivePatience))
	stop := context.AfterFunc(ctx, func() { _ = conn.SetWriteDeadline(time.Now()) })
	defer stop()
	if err = writeFrame(conn, kindRun, r, body...); err != nil {
		_ = conn.Close()
		if ctx.Err() == nil {
			c.leave()
		}
		return nil, err
	}
	return conn, nil
}

// leave has the server left alone for a while.
func (c *Client) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offUntil = time.Now().Add(offPause)
}

// greet connects to the first server that is there, and exchanges greetings, for
// which each may take patience.
func (c *Client) greet(ctx context.Context, patience time.Duration) (*net.UnixConn, hello, error) {
	var theirs hello
	mine, err := c.hello()
	if err != nil {
		return nil, theirs, err
	}
	c.passedOver()
	err = fs.ErrNotExist
	for i, path := range c.sockets {
		conn, derr := dial(ctx, path, patience)
		if derr != nil {
			err = &atError{path, derr}
			if !absent(derr) && ctx.Err() == nil && i < len(c.sockets)-1 {
				c.once("what listens at " + path + " is passed over: " + derr.Error() + "; " + c.sockets[i+1] + " is tried")
			}
			continue
		}
		_ = conn.SetDeadline(time.Now().Add(patience))
		stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
		f, ferr := readFrame(conn, maxGreeting)
		switch {
		case ferr != nil:
		case f.kind != kindHello:
			ferr = errFrame
		default:
			ferr = f.into(&theirs)
		}
		if ferr == nil {
			ferr = writeFrame(conn, kindHello, mine)
		}
		if !stop() && ferr == nil {
			ferr = context.Cause(ctx)
		}
		if ferr != nil {
			_ = conn.Close()
			if errors.Is(ferr, io.EOF) {
				ferr = errBusy
			}
			return nil, theirs, &atError{path, ferr}
		}
		_ = conn.SetDeadline(time.Time{})
		return conn, theirs, nil
	}
	return nil, theirs, err
}

func (c *Client) hello() (hello, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mine.Build == "" {
		if c.noBuild != nil {
			return hello{}, c.noBuild
		}
		c.mine = hello{Build: c.build, Version: c.version, Place: here()}
	}
	return c.mine, nil
}

// fits is nil if a server means the same by everything.
func (c *Client) fits(theirs hello) error {
	mine, err := c.hello()
	switch {
	case err != nil:
		return err
	case theirs.Version != mine.Version:
		return fmt.Errorf("it is version %s, and this is %s", theirs.Version, mine.Version)
	case theirs.Build != mine.Build:
		return errors.New("it is another build of the same version")
	case theirs.Place != mine.Place:
		return errors.New("it runs in another place (account, home or namespace)")
	}
	return nil
}

// count counts a script that a server has run, and runs gives how many those are.
func (c *Client) count(e transport.Endpoint) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.carried[e]++
}

func (c *Client) runs(e transport.Endpoint) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.carried[e]
}

// tell passes on what is known of an endpoint's ssh_config, once.
func (c *Client) tell(e transport.Endpoint, n notices, who *transport.Person) {
	c.mu.Lock()
	told := c.told[e]
	c.told[e] = true
	c.mu.Unlock()
	if told {
		return
	}
	if len(n.Unhonoured) > 0 && who.Unhonoured != nil {
		who.Unhonoured(e, n.Unhonoured)
	}
	for _, w := range n.Warnings {
		if who.Warn != nil {
			who.Warn(e, w)
		}
	}
}
