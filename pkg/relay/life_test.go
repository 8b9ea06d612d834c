package relay

import (
	"context"
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

// TestChanged makes a connection anew where it would not be made so any more.
func TestChanged(t *testing.T) {
	r, h, e := box(t, rig.HostSpec{})
	e.ConfigFile = rewrite(t, r)
	path := socket(t)
	serving(t, Options{}, path)
	p := program(t, transport.Options{}, NewClient("", nil, path))
	edit := func(file string, change func(string) string) {
		t.Helper()
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, []byte(change(string(text))), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	fails := func(want transport.Kind) {
		t.Helper()
		_, err := p.Conn(e).Run(within(t, time.Minute), transport.Script{Text: "true"})
		if k, _ := transport.KindOf(err); k != want {
			t.Errorf("%v, want %v", err, want)
		}
	}
	run(t, p, e, "true")
	wantLogins(t, h, 1)

	began, end := filepath.Join(t.TempDir(), "began"), filepath.Join(t.TempDir(), "end")
	done := make(chan error, 1)
	go func() {
		_, err := p.Conn(e).Run(within(t, time.Minute), transport.Script{Text: fmt.Sprintf("echo $$ >%s; while [ ! -e %s ]; do sleep 0.1; done", began, end)})
		done <- err
	}()
	readPID(t, began)
	edit(e.ConfigFile, func(s string) string { return s + "	ServerAliveInterval 77\n" })
	run(t, p, e, "true")
	wantLogins(t, h, 2)
	if err := os.WriteFile(end, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("what ran on the old connection: %v", err)
	}
	edit(e.ConfigFile, func(s string) string { return s + "# nothing new\n" })
	run(t, p, e, "true")
	wantLogins(t, h, 2)

	var line string
	edit(r.KnownHosts(), func(s string) string { line = s; return s + "elsewhere " + strings.SplitN(s, " ", 2)[1] })
	run(t, p, e, "true")
	wantLogins(t, h, 2)
	edit(r.KnownHosts(), func(string) string { return line + "@revoked " + line })
	fails(transport.KindHostKeyChanged)
	edit(r.KnownHosts(), func(string) string { return line })
	run(t, p, e, "true")
	wantLogins(t, h, 3)
	edit(r.KnownHosts(), func(string) string { return "" })
	fails(transport.KindHostKeyUnknown)
	edit(r.KnownHosts(), func(string) string { return line })
	run(t, p, e, "true")
	wantLogins(t, h, 4)
}

// TestSleep gives no connection out, after this machine has slept, before it has
// shown that it lives.
func TestSleep(t *testing.T) {
	_, h, e := box(t, rig.HostSpec{Proxy: true})
	path := socket(t)
	var told said
	s := serving(t, Options{Say: told.say}, path)
	p := program(t, transport.Options{}, NewClient("", nil, path))
	run(t, p, e, "true")
	usable := func() bool { return s.pools.all()[0].Connected(e) }
	h.Proxy.Stall()
	now, cancel := context.WithCancel(context.Background())
	cancel()
	s.wake(now)
	if !usable() || told.all() != "" {
		t.Errorf("without a sleep: %t, %q", usable(), told.all())
	}
	s.mu.Lock()
	s.now = func() (time.Time, time.Time) { t := time.Now(); return t.Round(0).Add(time.Hour), t }
	s.mu.Unlock()
	s.wake(now)
	if usable() || !strings.Contains(told.all(), "slept for 1h0m0s") {
		t.Errorf("after a sleep: %t, %q", usable(), told.all())
	}
	s.waking.Lock()
	s.looked = time.Now()
	s.waking.Unlock()
	s.mu.Lock()
	s.now = func() (time.Time, time.Time) { t := time.Now(); return t.Round(0), t }
	s.mu.Unlock()
	// Who comes after it waits until that is known.
	woken := make(chan bool)
	go func() {
		s.wake(within(t, time.Minute))
		woken <- usable()
	}()
	h.Proxy.Resume()
	if !<-woken {
		t.Error("the connection is not given out again")
	}
	run(t, p, e, "true")
	wantLogins(t, h, 1)
}

// TestIdle ends a server that nobody calls, and none that is at work.
func TestIdle(t *testing.T) {
	_, h, e := box(t, rig.HostSpec{})
	path := socket(t)
	s, err := Listen(Options{Idle: 500 * time.Millisecond}, path)
	if err != nil {
		t.Fatal(err)
	}
	why := make(chan string)
	go func() { why <- s.Serve(context.Background()) }()
	p := program(t, transport.Options{}, NewClient("", nil, path))
	run(t, p, e, "sleep 2")
	if got := <-why; got != "nobody has called for 500ms" {
		t.Errorf("ended since %q", got)
	}
	if _, err := Inquire(within(t, time.Minute), path); err == nil {
		t.Error("it is still there")
	}
	run(t, p, e, "true")
	wantLogins(t, h, 2)
}

// TestIdleAtWork ends no server for its idleness while a call runs, nor as soon as that
// has ended, and closes pools that are of no use meanwhile.
func TestIdleAtWork(t *testing.T) {
	_, _, e := box(t, rig.HostSpec{})
	path := socket(t)
	s, err := Listen(Options{Idle: time.Hour}, path)
	if err != nil {
		t.Fatal(err)
	}
	every := make(chan time.Time)
	why := make(chan string)
	ctx, end := context.WithCancel(context.Background())
	go func() { why <- s.serveEvery(ctx, every) }()
	idle := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.last = time.Now().Add(-2 * time.Hour)
	}
	tick := func() {
		select {
		case every <- time.Now():
		case <-time.After(20 * time.Second):
			t.Error("nobody looks any more")
		}
	}
	look := func() { // the second one is taken when the first is over
		tick()
		tick()
	}
	p := program(t, transport.Options{}, NewClient("", nil, path))
	began, done := filepath.Join(t.TempDir(), "began"), make(chan error, 1)
	go func() {
		_, err := p.Conn(e).Run(within(t, time.Minute), transport.Script{Text: fmt.Sprintf("echo $$ >%[1]s; while [ ! -e %[1]s.end ]; do sleep 0.1; done", began)})
		done <- err
	}()
	readPID(t, began)
	unused := s.pools.take("unused", []string{}, "/", true, nil)
	s.pools.give(unused)
	s.pools.mu.Lock()
	unused.last = time.Now().Add(-2 * poolIdle)
	s.pools.mu.Unlock()
	idle()
	look()
	if i := s.info(); i.Ending || i.Environments != 1 {
		t.Errorf("while a call runs: %+v", i)
	}
	if err := os.WriteFile(began+".end", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	rigtest.Eventually(t, 20*time.Second, "the call is over", func() (bool, string) { return s.info().Callers == 0, "" })
	look()
	if s.info().Ending {
		t.Errorf("after the call: %+v", s.info())
	}
	idle()
	tick()
	if got := <-why; got != "nobody has called for 1h0m0s" {
		t.Errorf("ended since %q", got)
	}
	end()
}

// TestStop lets what runs come to its end.
func TestStop(t *testing.T) {
	_, h, e := box(t, rig.HostSpec{})
	path := socket(t)
	if _, err := Stop(within(t, time.Minute), path); err == nil {
		t.Error("stopped where nothing runs")
	}
	s := serving(t, Options{}, path)
	p := program(t, transport.Options{}, NewClient("", nil, path))
	began, end := filepath.Join(t.TempDir(), "began"), filepath.Join(t.TempDir(), "end")
	done := make(chan error, 1)
	go func() {
		_, err := p.Conn(e).Run(within(t, time.Minute), transport.Script{Text: fmt.Sprintf("echo $$ >%s; while [ ! -e %s ]; do sleep 0.1; done", began, end)})
		done <- err
	}()
	readPID(t, began)
	stopped := make(chan error, 1)
	go func() {
		i, err := Stop(within(t, time.Minute), path)
		if i.Callers != 1 || !i.Ending {
			t.Errorf("%+v", i)
		}
		stopped <- err
	}()
	rigtest.Eventually(t, 20*time.Second, "it is ending", func() (bool, string) { return s.info().Ending, "" })
	run(t, p, e, "true") // direct
	wantLogins(t, h, 2)
	select {
	case err := <-stopped:
		t.Errorf("it has ended before its call: %v", err)
	default:
	}
	if err := os.WriteFile(end, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if s, err := Listen(Options{}, path); err != nil { // at once
		t.Error(err)
	} else {
		s.drain("")
		_ = s.l.lock.Close()
	}
}

// TestTerminated ends what runs, on the host too, and says that it may have begun.
func TestTerminated(t *testing.T) {
	_, _, e := box(t, rig.HostSpec{})
	path := socket(t)
	s, err := Listen(Options{}, path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() { defer close(over); s.Serve(ctx) }()
	p := program(t, transport.Options{}, NewClient("", nil, path))
	began := filepath.Join(t.TempDir(), "began")
	done := make(chan error, 1)
	go func() {
		_, err := p.Conn(e).Run(within(t, time.Minute), transport.Script{Text: fmt.Sprintf("echo $$ >%s; sleep 300", began)})
		done <- err
	}()
	pid := readPID(t, began)
	end()
	err = <-done
	if k, _ := transport.KindOf(err); k != transport.KindConnect || !transport.Started(err) {
		t.Errorf("%v", err)
	}
	<-over
	wantEnded(t, pid)
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket is still there")
	}
}

// TestReplaced ends a server whose program is another one by now, and hands on no
// call to it meanwhile.
func TestReplaced(t *testing.T) {
	path := socket(t)
	s, err := Listen(Options{Idle: 400 * time.Millisecond}, path)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.last = time.Now().Add(time.Hour) // not idle
	s.mu.Unlock()
	if s.replaced() {
		t.Error("replaced at once")
	}
	if s.file, err = os.Stat("/bin/sh"); err != nil {
		t.Fatal(err)
	}
	why := make(chan string)
	go func() { why <- s.Serve(context.Background()) }()
	if got := <-why; got != "its program was replaced" {
		t.Errorf("ended since %q", got)
	}
}
