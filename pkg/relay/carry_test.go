package relay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// brought is a caller as speak makes it, at the end of a connection of its own.
func brought(t *testing.T, s *Server, r request) *caller {
	t.Helper()
	_, conn := pair(t)
	r.Env = append(r.Env, []byte("PATH="+os.Getenv("PATH")))
	return &caller{server: s, conn: conn, request: &r, open: map[int]chan answer{}, aside: make(chan struct{}), gone: make(chan struct{})}
}

// heard has the caller heard something this long ago.
func (c *caller) heard(ago time.Duration) *caller {
	c.alive.Store((time.Since(c.server.since) - ago).Nanoseconds())
	return c
}

// TestHeldUp runs nothing that can't be repeated for a caller who has given up, and
// tells it to do that by itself; what does no harm is run.
func TestHeldUp(t *testing.T) {
	_, _, e := box(t, rig.HostSpec{})
	s := idle(t, "")
	s.since = time.Now().Add(-time.Hour)
	ran := filepath.Join(t.TempDir(), "ran")
	for _, o := range []struct {
		repeatable bool
		ago        time.Duration
		refused    string
	}{{false, time.Hour, errStale.Error()}, {true, time.Hour, ""}, {false, 0, ""}} {
		_ = os.Remove(ran)
		c := brought(t, s, request{Endpoint: e, Repeatable: o.repeatable}).heard(o.ago)
		_, _, refused, err := s.carry(within(t, time.Minute), c, transport.Script{Text: ": >" + ran, Repeatable: o.repeatable}, &transport.Person{})
		_, missing := os.Stat(ran)
		if refused != o.refused || (missing != nil) != (o.refused != "") || (err == nil) != (o.refused == "") {
			t.Errorf("%+v: refused %q, %v, %v", o, refused, err, missing)
		}
	}
	// A call that has just come is not held up, however old the server is.
	if got := spoken(t, s, s.hello, kindRun, request{Endpoint: e, Env: [][]byte{[]byte("PATH=" + os.Getenv("PATH"))}}); len(got) != 1 || got[0].kind != kindDone {
		t.Errorf("%q", got)
	}
}

// TestBeat tells a caller that its call goes on, and notes when that was too late.
func TestBeat(t *testing.T) {
	s := &Server{since: time.Now().Add(-time.Hour)}
	for _, ago := range []time.Duration{0, time.Hour} {
		c := brought(t, s, request{}).heard(ago)
		before := c.alive.Load()
		over, done := make(chan struct{}), make(chan struct{})
		go func() { defer close(done); c.beat(over) }()
		rigtest.Eventually(t, 20*time.Second, "the caller hears something", func() (bool, string) { return c.alive.Load() > before, "" })
		close(over)
		<-done
		if err := c.waits(); errors.Is(err, errStale) != (ago > 0) {
			t.Errorf("after %v: %v", ago, err)
		}
	}
}

// TestUnable leaves to a caller what the server has no right to, and what may want to
// ask on the terminal, and nothing else that fails.
func TestUnable(t *testing.T) {
	r, _, e := box(t, rig.HostSpec{})
	shell := filepath.Join(t.TempDir(), "shell")
	if err := os.WriteFile(shell, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := idle(t, "")
	for _, o := range []struct {
		name, line, shell string
		attended          bool
		refused           string
	}{
		{"a shell that can't be run", "ProxyCommand true", shell, false, "it could not do on this machine"},
		{"a command that fails", "ProxyCommand false", "/bin/sh", false, ""},
		{"a command that fails, on a terminal", "ProxyCommand false", "/bin/sh", true, "may want to ask on the terminal"},
		{"a hop that is not there, on a terminal", "ProxyJump 127.0.0.1:1", "/bin/sh", true, ""},
	} {
		at := transport.Endpoint{Destination: e.Destination, ConfigFile: rewrite(t, r, "IdentitiesOnly yes", "IdentitiesOnly yes\n	"+o.line)}
		c := brought(t, s, request{Endpoint: at, Attended: o.attended, Env: [][]byte{[]byte("SHELL=" + o.shell)}}).heard(0)
		_, _, refused, err := s.carry(within(t, time.Minute), c, transport.Script{Text: "true"}, &transport.Person{})
		if err == nil || (refused == "") != (o.refused == "") || !strings.Contains(refused, o.refused) {
			t.Errorf("%s: refused %q, %v", o.name, refused, err)
		}
	}
}

// TestEndsAmidLogin leaves to its caller a call that waits for a login when the server
// ends.
func TestEndsAmidLogin(t *testing.T) {
	_, h, e := box(t, rig.HostSpec{Proxy: true})
	s := idle(t, "")
	h.Proxy.Stall()
	defer h.Proxy.Resume()
	c := brought(t, s, request{Endpoint: e}).heard(0)
	done := make(chan string, 1)
	go func() {
		_, _, refused, _ := s.carry(within(t, time.Minute), c, transport.Script{Text: "true"}, &transport.Person{})
		done <- refused
	}()
	rigtest.Eventually(t, 20*time.Second, "it dials", func() (bool, string) { return h.Proxy.Traffic().Connections > 0, "" })
	s.pools.close()
	if got := <-done; got != "it is ending" {
		t.Errorf("refused %q", got)
	}
}

// inUse is how many calls hold a pool.
func inUse(s *Server) int {
	s.pools.mu.Lock()
	defer s.pools.mu.Unlock()
	n := 0
	for _, h := range s.pools.held {
		n += h.calls
	}
	return n
}

// TestCrowd goes direct where the server has no room.
func TestCrowd(t *testing.T) {
	_, h, e := box(t, rig.HostSpec{})
	path := socket(t)
	s := serving(t, Options{}, path)
	p := program(t, transport.Options{}, NewClient("", nil, path))
	run(t, p, e, "true")
	s.mu.Lock()
	s.callers += maxCallers
	s.mu.Unlock()
	run(t, p, e, "true")
	wantLogins(t, h, 2)
	s.mu.Lock()
	s.callers -= maxCallers
	s.mu.Unlock()
	run(t, p, e, "true")
	wantLogins(t, h, 2)
	rigtest.Eventually(t, 20*time.Second, "two calls are counted", func() (bool, string) { return s.info().Calls == 2, fmt.Sprintf("%+v", s.info()) })
}

// TestFull goes direct where the server has no room, and comes back to it: the calls
// of TestCrowd, silent connections, and kinds of callers.
func TestFull(t *testing.T) {
	_, h, e := box(t, rig.HostSpec{})
	path := socket(t)
	s := serving(t, Options{}, path)
	var told said
	p := program(t, transport.Options{}, NewClient("", told.say, path))
	run(t, p, e, "true")
	wantLogins(t, h, 1)
	s.mu.Lock()
	s.conns += maxConns
	s.mu.Unlock()
	run(t, p, e, "true")
	wantLogins(t, h, 2)
	s.mu.Lock()
	s.conns -= maxConns
	s.mu.Unlock()
	run(t, p, e, "true")
	wantLogins(t, h, 2)
	if n := s.info().Calls; n != 2 || !strings.Contains(told.all(), errBusy.Error()) {
		t.Errorf("%d calls, said %q", n, told.all())
	}
	rigtest.Eventually(t, 20*time.Second, "no connection is counted", func() (bool, string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.conns == 0 && s.callers == 0, fmt.Sprint(s.conns, s.callers)
	})

	// There is a pool for callers like these, and no room for another kind before one
	// has nothing to do.
	used := s.pools.all()[0]
	count := func(n int) {
		s.pools.mu.Lock()
		defer s.pools.mu.Unlock()
		used.calls += n
	}
	count(1)
	for i := range maxPools - 1 {
		if s.pools.take(fmt.Sprint(i), []string{}, "/", true, nil) == nil {
			t.Fatalf("no room for the pool %d", i)
		}
	}
	run(t, p, e, "true")
	t.Setenv("SSH_AUTH_SOCK", "/another")
	run(t, p, e, "true")
	wantLogins(t, h, 2) // the program has one of its own
	if n := s.info().Calls; n != 3 || !strings.Contains(told.all(), "no room for one more kind of caller") {
		t.Errorf("%d calls, said %q", n, told.all())
	}
	count(-1)
	run(t, p, e, "true")
	wantLogins(t, h, 3)
	if n := s.info().Calls; n != 4 || used.Connected(e) {
		t.Errorf("%d calls, and the pool that had nothing to do is connected %t", n, used.Connected(e))
	}
	if n := len(s.pools.all()); n != maxPools {
		t.Errorf("%d pools", n)
	}
}

// TestSweep closes what is of no use, and neither what runs nor what is connected.
func TestSweep(t *testing.T) {
	_, _, e := box(t, rig.HostSpec{})
	s := idle(t, "")
	c := brought(t, s, request{Endpoint: e}).heard(0)
	if _, _, refused, err := s.carry(within(t, time.Minute), c, transport.Script{Text: "true"}, &transport.Person{}); refused != "" || err != nil {
		t.Fatal(refused, err)
	}
	connected := s.pools.all()[0]
	unused := s.pools.take("unused", []string{}, "/", true, nil)
	s.pools.give(unused)
	busy := s.pools.take("busy", []string{}, "/", true, nil)
	s.pools.sweep(time.Now().Add(poolIdle - time.Minute))
	if n := len(s.pools.all()); n != 3 {
		t.Errorf("%d pools before their time", n)
	}
	s.pools.sweep(time.Now().Add(poolIdle + time.Minute))
	left := s.pools.all()
	if len(left) != 2 || !connected.Connected(e) {
		t.Errorf("%d pools, connected %t", len(left), connected.Connected(e))
	}
	if _, err := unused.Look(context.Background(), e); !errors.Is(err, transport.ErrPoolClosed) {
		t.Errorf("the unused one: %v", err)
	}
	if _, err := busy.Look(context.Background(), e); err != nil {
		t.Errorf("the busy one: %v", err)
	}

	// Where there is a connection, nobody waits for another person's answer.
	first, second := brought(t, s, request{Endpoint: e, Person: "first"}), brought(t, s, request{Endpoint: e, Person: "second"})
	for _, h := range []*held{connected, busy} {
		s.pools.wait(h, first)
		answered := s.pools.ask(h, first)
		if got := s.pools.wait(h, second); got != (h == connected) {
			t.Errorf("connected %t: goes on %t", h == connected, got)
		}
		answered()
		s.pools.unwait(h, first)
		s.pools.unwait(h, second)
	}
	// A question of a caller who has gone holds up nobody.
	s.pools.wait(busy, second)
	s.pools.ask(busy, first)()
	select {
	case <-second.aside:
		t.Error("set aside for one who has gone")
	default:
	}
	if !s.pools.wait(busy, first) {
		t.Error("it has to wait")
	}
	s.pools.ask(busy, first)
	select {
	case <-second.aside:
	default:
		t.Error("not set aside for another's question")
	}
}
