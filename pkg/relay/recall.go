package relay

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

const (
	// recallPatience is how long a caller waits for what a server has kept, once that
	// has greeted, and for its taking what is to be kept: it only makes a call cheaper.
	recallPatience = 500 * time.Millisecond
	// keepPatience is how long a server waits for a caller to give it back.
	keepPatience = 2 * time.Minute
)

// recall asks for what is kept under a key. The one connection is for one key: the
// caller may have something else kept in its place, once.
type recall struct {
	Key string `json:"key"`
}

// recalled is what is kept, in the body, which is empty where that is nothing.
type recalled struct {
	Age time.Duration `json:"age"` // by the server's clock, which nobody sets
}

// Recalled is what a Server has kept for programs like this one. It is for one
// goroutine; nil is that of no server.
type Recalled struct {
	// Blob is what the program before has had kept; nil where that is nothing. It may be
	// any bytes: of this account, and else of nobody in particular.
	Blob []byte
	// Age is since when it is kept, by a clock that stands while the machine sleeps and
	// that nobody sets.
	Age  time.Duration
	conn *net.UnixConn

	client   *Client
	endpoint transport.Endpoint
	runs     int // of the client there, before
}

// Recall asks the server for what was kept of an endpoint under a key of the callers'
// making, of 256 bytes at most, and gives nil where there is no server for this
// program. It waits no longer than a call does for the server's greeting, and half a
// second more. Whoever gets one calls its Close.
func (c *Client) Recall(ctx context.Context, e transport.Endpoint, key string) *Recalled {
	if ctx.Err() != nil || e.Local {
		return nil
	}
	conn, err := c.reach(ctx)
	if err != nil {
		c.explain(err)
		return nil
	}
	_ = conn.SetDeadline(time.Now().Add(recallPatience))
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	defer stop()
	var f frame
	var how recalled
	if err = writeFrame(conn, kindRecall, recall{Key: key}); err == nil {
		f, err = readFrame(conn, maxBlob)
	}
	if err == nil && f.kind != kindRecalled {
		err = errFrame
	}
	if err == nil {
		err = f.into(&how)
	}
	if err != nil { // the call that follows finds out what is wrong
		_ = conn.Close()
		return nil
	}
	r := &Recalled{conn: conn, client: c, endpoint: e, runs: c.runs(e)}
	if len(f.body) > 0 {
		r.Blob, r.Age = f.body, how.Age
	}
	return r
}

// Keep has the server keep blob, of 64 KiB at most, under the key in place of what was
// there. It is for five minutes, or until others need the room. Whether it is kept
// nobody can tell; the caller does not wait for it, and may end at once. It is not if
// the server has run nothing on the endpoint meanwhile: what was seen over a connection
// of the program's own is no use to the next one.
func (r *Recalled) Keep(blob []byte) {
	if r == nil || len(blob) == 0 || len(blob) > maxBlob || r.client.runs(r.endpoint) == r.runs {
		return
	}
	_ = r.conn.SetWriteDeadline(time.Now().Add(recallPatience))
	_ = writeFrame(r.conn, kindKeep, struct{}{}, blob)
	r.Close()
}

// Close lets the server go; what is kept stays.
func (r *Recalled) Close() {
	if r != nil {
		_ = r.conn.Close()
	}
}

// remember is the server's side of a Recall. Whoever waits to have something kept
// holds up no end of the server.
func (s *Server) remember(c *net.UnixConn, f frame) {
	var r recall
	if f.into(&r) != nil || len(r.Key) > maxKey {
		return
	}
	blob, age := s.kept.get(r.Key, time.Now())
	_ = c.SetDeadline(time.Now().Add(writeDeadline))
	if writeFrame(c, kindRecalled, recalled{Age: age}, blob) != nil {
		return
	}
	_ = c.SetDeadline(time.Now().Add(keepPatience))
	over := make(chan struct{})
	var beside sync.WaitGroup
	beside.Go(func() {
		select {
		case <-s.draining:
			_ = c.Close()
		case <-over:
		}
	})
	f, err := readFrame(c, maxBlob)
	if err == nil && f.kind == kindKeep {
		s.kept.put(r.Key, f.body, time.Now())
	}
	close(over)
	beside.Wait()
}
