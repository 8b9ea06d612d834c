package rig

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// echoServer sends back what it gets, and ends when its client does.
func echoServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				_ = c.Close()
			}()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l.Addr().String()
}

func startProxy(t *testing.T, target string) *Proxy {
	t.Helper()
	p, err := NewProxy(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("close the proxy: %v", err)
		}
	})
	return p
}

func dialProxy(t *testing.T, p *Proxy) net.Conn {
	t.Helper()
	c, err := net.DialTimeout("tcp", p.Addr(), 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// exchange sends a word and reads it back, or says why it can't within d.
func exchange(c net.Conn, word string, d time.Duration) error {
	if err := c.SetDeadline(time.Now().Add(d)); err != nil {
		return err
	}
	if _, err := io.WriteString(c, word); err != nil {
		return err
	}
	got := make([]byte, len(word))
	if _, err := io.ReadFull(c, got); err != nil {
		return err
	}
	if string(got) != word {
		return errors.New("got " + string(got))
	}
	return nil
}

func TestProxyPassesAndCounts(t *testing.T) {
	p := startProxy(t, echoServer(t))
	c := dialProxy(t, p)
	if err := exchange(c, "hello", 5*time.Second); err != nil {
		t.Fatal(err)
	}
	if got, want := p.Traffic(), (Traffic{Connections: 1, Open: 1, Up: 5, Down: 5, Turns: 2}); got != want {
		t.Errorf("traffic %+v, want %+v", got, want)
	}
	// An end from one side passes on as an end, after all that came before it.
	big := bytes.Repeat([]byte("0123456789abcdef"), 128<<10) // 2 MiB
	sent := make(chan error, 1)
	go func() {
		_, err := c.Write(big)
		sent <- errors.Join(err, c.(*net.TCPConn).CloseWrite())
	}()
	got, err := io.ReadAll(c)
	if err := errors.Join(err, <-sent); err != nil || !bytes.Equal(got, big) {
		t.Errorf("%d of %d bytes came back, %v", len(got), len(big), err)
	}
	waitUntil(t, "the link is gone", func() bool { return p.Traffic().Open == 0 })
}

func TestProxyDelay(t *testing.T) {
	p := startProxy(t, echoServer(t))
	c := dialProxy(t, p)
	const delay = 60 * time.Millisecond
	p.SetDelay(delay)
	begin := time.Now()
	if err := exchange(c, "hello", 5*time.Second); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < 2*delay {
		t.Errorf("a round trip took %v, want %v at least", took, 2*delay)
	}
	// A delay makes bytes late, not fewer: 64 chunks must not take 64 delays.
	begin = time.Now()
	if err := exchange(c, strings.Repeat("x", 1<<20), 20*time.Second); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > 32*delay {
		t.Errorf("1 MiB took %v", took)
	}
	p.SetDelay(0)
	begin = time.Now()
	if err := exchange(c, "hello", 5*time.Second); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took >= 2*delay {
		t.Errorf("with no delay any more, a round trip took %v", took)
	}
}

func TestProxyFaults(t *testing.T) {
	const short, long = 150 * time.Millisecond, 5 * time.Second
	for _, c := range []struct {
		name  string
		fault func(*Proxy) error
		heal  func(*Proxy) error
		// old and fresh judge what a connection from before the fault and a new
		// one see; nil means no error.
		old, fresh func(error) bool
		lasts      bool // the old connection works again once healed
	}{
		{"none", nothing, nothing, none, none, true},
		{"stall", func(p *Proxy) error { p.Stall(); return nil }, func(p *Proxy) error { p.Resume(); return nil }, timeout, timeout, true},
		{"cut", func(p *Proxy) error { p.Cut(); return nil }, nothing, reset, none, false},
		{"refuse", func(p *Proxy) error { return p.Refuse(true) }, func(p *Proxy) error { return p.Refuse(false) }, none, refused, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := startProxy(t, echoServer(t))
			old := dialProxy(t, p)
			if err := exchange(old, "before", long); err != nil {
				t.Fatal(err)
			}
			if err := c.fault(p); err != nil {
				t.Fatal(err)
			}
			if err := exchange(old, "during", short); !c.old(err) {
				t.Errorf("the old connection: %v", err)
			}
			fresh, err := net.DialTimeout("tcp", p.Addr(), long)
			if err == nil {
				defer func() { _ = fresh.Close() }()
				err = exchange(fresh, "during", short)
			}
			if !c.fresh(err) {
				t.Errorf("a new connection: %v", err)
			}
			if err := c.heal(p); err != nil {
				t.Fatal(err)
			}
			if c.lasts {
				// A stalled word is late, not lost: it comes before the next one.
				word := "after"
				if err := old.SetDeadline(time.Now().Add(long)); err != nil {
					t.Fatal(err)
				}
				if c.name == "stall" {
					got := make([]byte, len("during"))
					if _, err := io.ReadFull(old, got); err != nil || string(got) != "during" {
						t.Errorf("after the stall: %q, %v", got, err)
					}
				}
				if err := exchange(old, word, long); err != nil {
					t.Errorf("the old connection, healed: %v", err)
				}
			}
			if err := exchange(dialProxy(t, p), "after", long); err != nil {
				t.Errorf("a new connection, healed: %v", err)
			}
		})
	}
}

func nothing(*Proxy) error   { return nil }
func none(err error) bool    { return err == nil }
func timeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
func reset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func TestProxyWithoutTarget(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	target := l.Addr().String()
	_ = l.Close()
	p := startProxy(t, target)
	// The reset can come as early as the dial.
	c, err := net.Dial("tcp", p.Addr())
	if err == nil {
		defer func() { _ = c.Close() }()
		err = exchange(c, "hello", 5*time.Second)
	}
	if !reset(err) {
		t.Errorf("with nobody behind the proxy: %v", err)
	}
}

func TestProxyCloseEndsAll(t *testing.T) {
	p, err := NewProxy(echoServer(t))
	if err != nil {
		t.Fatal(err)
	}
	c := dialProxy(t, p)
	if err := exchange(c, "hello", 5*time.Second); err != nil {
		t.Fatal(err)
	}
	p.Stall() // a stalled link has to end too
	p.SetDelay(time.Hour)
	if _, err := io.WriteString(c, "late"); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if got := p.Traffic().Open; got != 0 {
		t.Errorf("%d links are open", got)
	}
	if err := p.Refuse(false); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a closed proxy listens again: %v", err)
	}
	if _, err := net.Dial("tcp", p.Addr()); !refused(err) {
		t.Errorf("dial a closed proxy: %v", err)
	}
}

// waitUntil polls for what another goroutine brings about.
func waitUntil(t *testing.T, what string, ok func() bool) {
	t.Helper()
	late := time.After(10 * time.Second)
	for !ok() {
		select {
		case <-late:
			t.Fatalf("%s: not within 10 s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}
