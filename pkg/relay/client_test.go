package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// standIn is a server for what a real one never does. speak has each connection, whose
// greeting has been sent, and what the caller says after its own.
func standIn(t *testing.T, speak func(c *net.UnixConn)) (path string, callers *atomic.Int32) {
	t.Helper()
	path = filepath.Dir(socket(t))
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := build(ownVersion(""))
	if err != nil {
		t.Fatal(err)
	}
	callers = new(atomic.Int32)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.AcceptUnix()
			if err != nil {
				return
			}
			callers.Add(1)
			_ = c.SetDeadline(time.Now().Add(time.Minute))
			if writeFrame(c, kindHello, hello{Build: b, Version: ownVersion(""), Place: here()}) == nil {
				if _, err := readFrame(c, maxGreeting); err == nil {
					speak(c)
				}
			}
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return path, callers
}

func carryBy(ctx context.Context, c *Client, s transport.Script) error {
	_, err := c.Carry(ctx, transport.Endpoint{Destination: "nowhere"}, s, &transport.Person{})
	return err
}

// TestUnsent sends nothing that would mean something else to a server.
func TestUnsent(t *testing.T) {
	path, callers := standIn(t, func(c *net.UnixConn) { _, _ = readFrame(c, maxBody) })
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for _, o := range []struct {
		ctx   context.Context
		e     transport.Endpoint
		calls int32
	}{
		{context.Background(), transport.Endpoint{Destination: "a\xff"}, 0},
		{context.Background(), transport.Endpoint{Destination: "a", ConfigFile: "/\xff"}, 0},
		{context.Background(), transport.Endpoint{Destination: "a", ConfigFile: "config"}, 0},
		{over, transport.Endpoint{Destination: "a"}, 0},
		{context.Background(), transport.Endpoint{Destination: "a", ConfigFile: "/config"}, 1},
	} {
		c := NewClient("", nil, path)
		_, err := c.Carry(o.ctx, o.e, transport.Script{}, &transport.Person{})
		if errors.Is(err, transport.ErrNotCarried) != (o.calls == 0) || callers.Load() != o.calls {
			t.Errorf("%+v: %v, %d calls", o.e, err, callers.Load())
		}
	}
	c := NewClient("", nil, filepath.Join("/tmp", strings.Repeat("x", 200), "serve.sock"))
	if err := carryBy(context.Background(), c, transport.Script{}); !errors.Is(err, transport.ErrNotCarried) || !strings.Contains(err.Error(), "path of the socket is too long") {
		t.Errorf("%v", err)
	}
}

// TestUnread leaves a server alone that takes no request, and not where it is the
// caller who has no time.
func TestUnread(t *testing.T) {
	closed := make(chan struct{})
	path, _ := standIn(t, func(c *net.UnixConn) { <-closed })
	defer close(closed)
	large := transport.Script{Text: strings.Repeat("x", 8<<20)}
	for _, own := range []bool{true, false} { // the last one, as the stand-in has one at a time
		c := NewClient("", nil, path)
		ctx := within(t, time.Minute)
		if own {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, 200*time.Millisecond)
			defer cancel()
		}
		begin := time.Now()
		err := carryBy(ctx, c, large)
		if !errors.Is(err, transport.ErrNotCarried) || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("its own time %t: %v", own, err)
		}
		if own && time.Since(begin) > alivePatience {
			t.Errorf("it took %v", time.Since(begin))
		}
		if got := time.Now().Before(c.offUntil); got == own {
			t.Errorf("its own time %t: left alone %t", own, got)
		}
		if own {
			closed <- struct{}{}
		}
	}
}

// TestUngreeted leaves no server alone because a caller had no time to be greeted.
func TestUngreeted(t *testing.T) {
	path := filepath.Dir(socket(t))
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	c := NewClient("", nil, path)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := carryBy(ctx, c, transport.Script{}); !errors.Is(err, transport.ErrNotCarried) || time.Now().Before(c.offUntil) {
		t.Errorf("%v, left alone until %v", err, c.offUntil)
	}
}

// TestCalledOff has a caller whose time is over wait for the server's word, which says
// most, and for no longer than a second.
func TestCalledOff(t *testing.T) {
	for _, o := range []struct {
		name   string
		answer func(c *net.UnixConn)
		kind   transport.Kind
		caused bool // by the end of the caller's time
		off    bool
	}{
		{"out of time", func(c *net.UnixConn) {
			_ = writeFrame(c, kindFailed, failure{Kind: transport.KindTimeout, Text: "waiting"})
		}, transport.KindTimeout, true, false},
		{"something else", func(c *net.UnixConn) {
			_ = writeFrame(c, kindFailed, failure{Kind: transport.KindAuth, Text: "refused"})
		}, transport.KindAuth, false, false},
		{"no word", func(c *net.UnixConn) { _, _ = io.Copy(io.Discard, c) }, transport.KindTimeout, true, true},
	} {
		path, _ := standIn(t, func(c *net.UnixConn) {
			if f, err := readFrame(c, maxBody); err != nil || f.kind != kindRun {
				t.Errorf("%s: %c, %v", o.name, f.kind, err)
			}
			var how cancel
			if f, err := readFrame(c, maxBody); err != nil || f.kind != kindCancel || f.into(&how) != nil || !how.Late {
				t.Errorf("%s: %c %s, %v", o.name, f.kind, f.header, err)
			}
			o.answer(c)
		})
		c := NewClient("", nil, path)
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		err := carryBy(ctx, c, transport.Script{Text: "true"})
		if k, _ := transport.KindOf(err); k != o.kind || errors.Is(err, context.DeadlineExceeded) != o.caused {
			t.Errorf("%s: %v", o.name, err)
		}
		if got := time.Now().Before(c.offUntil); got != o.off {
			t.Errorf("%s: left alone %t", o.name, got)
		}
	}
}

// TestReasons tells each reason once, and no more than a few.
func TestReasons(t *testing.T) {
	n := 0
	path, callers := standIn(t, func(c *net.UnixConn) {
		_, _ = readFrame(c, maxBody)
		_ = writeFrame(c, kindNotCarried, refusal{Why: fmt.Sprintf("reason %d \x1b[1m", n/2)})
		n++
	})
	var told said
	c := NewClient("", told.say, path)
	for range 60 {
		if err := carryBy(context.Background(), c, transport.Script{}); !errors.Is(err, transport.ErrNotCarried) {
			t.Fatal(err)
		}
	}
	if len(told.lines) != 16 || !strings.Contains(told.lines[15], "reason 15") || strings.Contains(told.all(), "\x1b") || callers.Load() != 60 {
		t.Errorf("%d calls: %q", callers.Load(), told.lines)
	}
}

// slow is a connection that has what reads says, a reading each.
type slow struct {
	net.Conn
	reads []error // nil is a byte
	both  bool    // a byte comes with each error
}

func (s *slow) SetReadDeadline(time.Time) error { return nil }

func (s *slow) Read(b []byte) (int, error) {
	err := s.reads[0]
	s.reads = s.reads[1:]
	if err == nil || s.both {
		return copy(b, "x"), err
	}
	if errors.Is(err, errNothing) {
		err = nil
	}
	return 0, err
}

var errNothing = errors.New("neither a byte nor an error")

// TestPatient takes one silence for this machine's own, and two for the end.
func TestPatient(t *testing.T) {
	late := fmt.Errorf("read: %w", os.ErrDeadlineExceeded)
	for _, o := range []struct {
		reads []error
		both  bool
		n     int
		want  error
	}{
		{[]error{nil}, false, 1, nil},
		{[]error{late, nil}, false, 1, nil},
		{[]error{late, late, nil}, false, 0, os.ErrDeadlineExceeded},
		{[]error{late}, true, 1, nil},
		{[]error{io.EOF, nil}, false, 0, io.EOF},
		{[]error{errNothing, nil}, false, 0, io.ErrNoProgress},
	} {
		p := &patient{conn: &slow{reads: o.reads, both: o.both}}
		if n, err := p.Read(make([]byte, 8)); n != o.n || !errors.Is(err, o.want) {
			t.Errorf("%v: %d, %v", o.reads, n, err)
		}
	}
}
