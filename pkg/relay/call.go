package relay

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// call is one that was handed to a server.
type call struct {
	client   *Client
	conn     *net.UnixConn
	endpoint transport.Endpoint
	who      *transport.Person

	writing   sync.Mutex
	answering sync.WaitGroup
	open      map[int]context.CancelFunc // the questions that are put; follow's alone
	silent    bool                       // the server fell silent; follow's alone
}

// follow sees the call to its end. When ctx ends, it tells the server, which ends
// the script as the owner of the connection would, and gives what that says of it.
func (c *call) follow(ctx context.Context) (transport.Result, error) {
	asking, stopAsking := context.WithCancel(ctx)
	frames := make(chan frame)
	done := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() { // ends with the connection
		defer close(frames)
		for {
			f, err := readFrame(&patient{conn: c.conn}, maxBody)
			if err != nil {
				return
			}
			select {
			case frames <- f:
			case <-done:
				return
			}
		}
	})
	defer func() {
		close(done)
		_ = c.conn.Close()
		stopAsking()
		reader.Wait()
		c.answering.Wait()
	}()
	c.open = map[int]context.CancelFunc{}
	ended := ctx.Done()
	var late <-chan time.Time
	for {
		select {
		case <-ended:
			ended = nil
			cause := context.Cause(ctx)
			c.send(kindCancel, cancel{Late: errors.Is(cause, context.DeadlineExceeded)})
			t := time.NewTimer(cancelPatience)
			defer t.Stop()
			late = t.C
		case <-late:
			c.silent = true
			return transport.Result{}, transport.StoppedError(ctx, c.endpoint)
		case f, ok := <-frames:
			if !ok {
				if ctx.Err() != nil {
					return transport.Result{}, transport.StoppedError(ctx, c.endpoint)
				}
				c.silent = true
				return transport.Result{}, transport.LostError(c.endpoint)
			}
			res, err, over := c.take(asking, f)
			te, failed := errors.AsType[*transport.Error](err)
			if failed && ctx.Err() != nil && (te.Kind == transport.KindTimeout || te.Kind == transport.KindCanceled) {
				te.Err = &relayed{te.Err.Error(), []error{te.Err, context.Cause(ctx)}} // such as ErrPoolClosed
			}
			if over {
				return res, err
			}
		}
	}
}

// take acts on one frame; over is whether it was the last.
func (c *call) take(asking context.Context, f frame) (_ transport.Result, err error, over bool) {
	switch f.kind {
	case kindAlive:
	case kindWarn:
		var w warning
		if err = f.into(&w); err == nil && c.who.Warn != nil {
			c.who.Warn(w.Endpoint, w.Text)
		}
	case kindQuestion:
		var q question
		if err = f.into(&q); err == nil {
			c.put(asking, q)
		}
	case kindWithdraw:
		var r reply
		if err = f.into(&r); err == nil && c.open[r.ID] != nil {
			c.open[r.ID]()
		}
	case kindNotCarried:
		var r refusal
		if err = f.into(&r); err == nil {
			return transport.Result{}, direct("%s", r.Why), true
		}
	case kindFailed:
		var r failure
		if err = f.into(&r); err == nil {
			c.client.tell(c.endpoint, r.Notices, c.who)
			if r.Lost {
				return transport.Result{}, transport.LostError(c.endpoint), true
			}
			return transport.Result{}, r.err(), true
		}
	case kindDone:
		var o outcome
		if err = f.into(&o); err == nil && o.Stdout >= 0 && o.Stdout <= len(f.body) {
			c.client.tell(c.endpoint, o.Notices, c.who)
			c.client.count(c.endpoint)
			return transport.Result{Stdout: f.body[:o.Stdout:o.Stdout], Stderr: f.body[o.Stdout:], ExitCode: o.ExitCode}, nil, true
		}
		err = errFrame
	default:
		err = errFrame
	}
	if err != nil { // no server of ours; whether it has run anything is not known
		return transport.Result{}, transport.LostError(c.endpoint), true
	}
	return transport.Result{}, nil, false
}

// put asks the person, beside what else comes.
func (c *call) put(ctx context.Context, q question) {
	ctx, withdraw := context.WithCancel(ctx)
	c.open[q.ID] = withdraw
	c.answering.Go(func() { // ends at the latest with ctx
		defer withdraw()
		if c.who.Ask == nil {
			c.send(kindAnswer, reply{ID: q.ID, Failed: "nobody can be asked"})
			return
		}
		answer, err := c.who.Ask(ctx, q.Question)
		if ctx.Err() != nil {
			return // nobody wants it: the call has ended, or the login
		}
		if err != nil {
			c.send(kindAnswer, reply{ID: q.ID, Failed: err.Error()})
			return
		}
		c.send(kindAnswer, reply{ID: q.ID}, []byte(answer))
	})
}

// send writes a frame. That the server is gone shows where its frames are read.
func (c *call) send(k kind, header any, body ...[]byte) {
	c.writing.Lock()
	defer c.writing.Unlock()
	_ = c.conn.SetWriteDeadline(time.Now().Add(greetDeadline))
	_ = writeFrame(c.conn, k, header, body...)
}

// patient reads from a server that has to send something every alivePatience.
type patient struct{ conn net.Conn }

func (p *patient) Read(b []byte) (int, error) {
	for again := false; ; again = true {
		_ = p.conn.SetReadDeadline(time.Now().Add(alivePatience))
		n, err := p.conn.Read(b)
		if n == 0 && !again && errors.Is(err, os.ErrDeadlineExceeded) {
			continue
		}
		if n > 0 && errors.Is(err, os.ErrDeadlineExceeded) {
			err = nil
		}
		if n == 0 && err == nil {
			err = io.ErrNoProgress
		}
		return n, err
	}
}
