package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// serve speaks with one caller. Whatever is wrong with it ends this connection alone.
func (s *Server) serve(c *net.UnixConn) {
	if keep := s.speak(c); !keep {
		_ = c.Close()
	}
}

// speak is serve; keep is whether the connection is to last as long as the server.
func (s *Server) speak(c *net.UnixConn) (keep bool) {
	if err := checkPeer(c); err != nil {
		s.opts.Say("a caller was refused: " + err.Error())
		return false
	}
	ended := context.AfterFunc(s.open, func() { _ = c.Close() })
	defer ended()
	_ = c.SetDeadline(time.Now().Add(greetDeadline))
	if writeFrame(c, kindHello, s.hello) != nil {
		return false
	}
	var theirs hello
	f, err := readFrame(c, maxGreeting)
	if err != nil || f.kind != kindHello || f.into(&theirs) != nil {
		return false
	}
	outside := checkPlace(c)
	if outside != nil {
		s.opts.Say("a caller was refused: " + outside.Error())
	}
	fits := theirs == s.hello && outside == nil
	first, err := readHead(c)
	if k := first.kind(); !fits && outside == nil && theirs.Place == s.hello.Place && (err != nil || k != kindAsk && k != kindStop) {
		// It wanted to call, and has seen that it must not.
		switch {
		case newer(theirs.Version, s.hello.Version):
			s.drain("a newer version (" + transport.Neutralise(theirs.Version) + ") is in use")
			return false
		case s.replaced():
			s.drain("its program was replaced")
			return false
		}
	}
	if err != nil {
		return false
	}
	// A request may be long, and its writer slow.
	_ = c.SetDeadline(time.Now().Add(writeDeadline))
	most := maxGreeting
	if first.kind() == kindRun {
		if outside != nil {
			refuse(c, "it runs in another place (account, home or namespace)")
			return false
		}
		if !s.admit() {
			refuse(c, errBusy.Error())
			return false
		}
		defer s.leave()
		if fits {
			most = maxBody
		}
	}
	f, err = first.read(c, most)
	if err != nil || outside != nil {
		return false
	}
	_ = c.SetDeadline(time.Time{})
	switch f.kind {
	case kindAsk:
		_ = writeFrame(c, kindInfo, s.info())
	case kindStop:
		s.drain("it was told to stop")
		if writeFrame(c, kindInfo, s.info()) == nil {
			s.mu.Lock()
			s.stoppers = append(s.stoppers, c)
			s.mu.Unlock()
			return true
		}
	case kindRecall:
		if fits {
			s.remember(c, f)
		}
	case kindRun:
		var r request
		if !fits || f.into(&r) != nil {
			return false
		}
		if script, ok := r.script(f.body); ok {
			(&caller{server: s, conn: c, request: &r, open: map[int]chan answer{}, aside: make(chan struct{}), gone: make(chan struct{})}).serve(script)
		}
	}
	return false
}

// refuse answers a request, which need not have been read.
func refuse(c *net.UnixConn, why string) {
	if writeFrame(c, kindNotCarried, refusal{Why: why}) == nil {
		_, _ = io.CopyN(io.Discard, c, maxHeader+maxBody) // until the caller has read it
	}
}

// caller is one whose call is carried.
type caller struct {
	server  *Server
	conn    *net.UnixConn
	request *request

	writing sync.Mutex
	mu      sync.Mutex
	asked   int
	stale   bool                // it was left without a sign for too long
	alive   atomic.Int64        // when it had one, in nanoseconds of the server's life
	open    map[int]chan answer // the questions without an answer
	aside   chan struct{}       // closed while it waits, when another person is asked
	turned  bool                // it is; this is pools.mu's
	gone    chan struct{}       // closed when nobody is there to answer
}

// answer is what came for a question.
type answer struct {
	text string
	err  error
}

// serve runs the script and says what became of it. When the caller is gone, the
// script is ended as if this process were the caller and went.
func (c *caller) serve(script transport.Script) {
	s := c.server
	if !s.begin() {
		_ = c.send(kindNotCarried, refusal{Why: "it is ending"})
		return
	}
	defer s.end()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	c.alive.Store(time.Since(s.since).Nanoseconds())
	var beside sync.WaitGroup
	beside.Go(func() { c.listen(cancel) }) // ends with the connection
	over := make(chan struct{})
	beside.Go(func() { c.beat(over) })
	defer func() {
		close(over)
		close(c.gone) // a login may go on for others, with this one's question
		_ = c.conn.Close()
		beside.Wait()
	}()
	s.wake(ctx)
	who := &transport.Person{ID: c.request.Person, Aside: c.aside, Warn: func(e transport.Endpoint, text string) {
		_ = c.send(kindWarn, warning{e, text})
	}}
	if c.request.Attended {
		who.Ask = c.ask
	}
	res, notices, refused, err := s.carry(ctx, c, script, who)
	if refused == "" {
		s.count() // before its caller knows
	}
	te, failed := errors.AsType[*transport.Error](err)
	switch {
	case refused != "":
		_ = c.send(kindNotCarried, refusal{Why: refused})
	case failed:
		f := failureOf(te)
		f.Notices, f.Lost = notices, te.Started && errors.Is(err, transport.ErrPoolClosed)
		_ = c.send(kindFailed, f)
	case err != nil: // none that a script's end has: whether it ran is not known
		_ = c.send(kindFailed, failure{Kind: transport.KindProtocol, Endpoint: c.request.Endpoint, Started: true, Text: err.Error(), Notices: notices})
	default:
		_ = c.send(kindDone, outcome{ExitCode: res.ExitCode, Stdout: len(res.Stdout), Notices: notices}, res.Stdout, res.Stderr)
	}
}

// errCallerGone is why the call of a caller who has gone is over.
var errCallerGone = fmt.Errorf("the caller has gone: %w", context.Canceled)

// listen reads what the caller says until it has gone, or says what is no frame.
func (c *caller) listen(end context.CancelCauseFunc) {
	defer end(errCallerGone)
	for {
		f, err := readFrame(c.conn, maxGreeting)
		if err != nil {
			return
		}
		switch f.kind {
		case kindCancel:
			var how cancel
			if f.into(&how) != nil {
				return
			}
			if how.Late {
				end(context.DeadlineExceeded)
			} else {
				end(context.Canceled)
			}
		case kindAnswer:
			var r reply
			if f.into(&r) != nil {
				return
			}
			a := answer{text: string(f.body)}
			if r.Failed != "" {
				a = answer{err: errors.New(r.Failed)}
			}
			c.mu.Lock()
			if ch := c.open[r.ID]; ch != nil {
				ch <- a // has room for the one
				delete(c.open, r.ID)
			}
			c.mu.Unlock()
		default:
			return
		}
	}
}

// ask has the caller's person answer.
func (c *caller) ask(ctx context.Context, q transport.Question) (string, error) {
	ch := make(chan answer, 1)
	c.mu.Lock()
	c.asked++
	id := c.asked
	c.open[id] = ch
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.open, id)
		c.mu.Unlock()
	}()
	if err := c.send(kindQuestion, question{ID: id, Question: q}); err != nil {
		return "", errCallerGone
	}
	select {
	case a := <-ch:
		return a.text, a.err
	case <-c.gone:
		return "", errCallerGone
	case <-ctx.Done():
		_ = c.send(kindWithdraw, reply{ID: id})
		return "", context.Cause(ctx)
	}
}

// beat says now and then that the call goes on.
func (c *caller) beat(over <-chan struct{}) {
	t := time.NewTicker(aliveEvery)
	defer t.Stop()
	for {
		select {
		case <-over:
			return
		case <-t.C:
			c.mu.Lock()
			c.stale = c.stale || c.silent() > 2*alivePatience
			c.mu.Unlock()
			if c.send(kindAlive, struct{}{}) != nil {
				return
			}
			c.alive.Store(time.Since(c.server.since).Nanoseconds())
		}
	}
}

// silent is for how long the caller has heard nothing.
func (c *caller) silent() time.Duration {
	return time.Since(c.server.since) - time.Duration(c.alive.Load())
}

// errStale is that of a call whose caller has taken this server for dead meanwhile.
var errStale = errors.New("it was held up")

// waits is nil if the caller still waits for what it wants done: a process that was
// frozen must not do then what nobody looks for any more.
func (c *caller) waits() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stale || c.silent() > 2*alivePatience {
		return errStale
	}
	return nil
}

// send writes a frame; a caller that takes none is given up.
func (c *caller) send(k kind, header any, body ...[]byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_ = c.conn.SetWriteDeadline(time.Now().Add(writeDeadline))
	err := writeFrame(c.conn, k, header, body...)
	if err != nil {
		_ = c.conn.Close() // part of a frame may be out
	}
	return err
}
