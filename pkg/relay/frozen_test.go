package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// TestFrozen goes direct where the server does not greet, and when it falls silent
// amid a call; what a caller's own end says goes first.
func TestFrozen(t *testing.T) {
	_, h, e := box(t, rig.HostSpec{})
	path := socket(t)
	cmd := child(t, serveEnv+"="+path)
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	there(t, path)
	var fell said
	amid := NewClient("", fell.say, path)
	p := program(t, transport.Options{}, amid)
	began := filepath.Join(t.TempDir(), "began")
	done := make(chan error, 1)
	go func() {
		_, err := p.Conn(e).Run(within(t, time.Minute), transport.Script{Text: fmt.Sprintf("echo $$ >>%s; sleep 300", began)})
		done <- err
	}()
	readPID(t, began)
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, transport.ErrCarrierLost) {
		t.Errorf("amid a call: %v", err)
	}
	if want := "the connections of claude-fleet serve at " + path + " are not used: it fell silent amid a call; this run connects by itself"; fell.all() != want {
		t.Errorf("said %q, want %q", fell.all(), want)
	}
	if _, err := amid.connect(context.Background(), transport.Script{}, e, &transport.Person{}); !errors.Is(err, errOff) {
		t.Errorf("after that: %v", err)
	}
	var told said
	c := NewClient("", told.say, path)
	for range 2 {
		run(t, program(t, transport.Options{}, c), e, "true")
	}
	if !strings.Contains(told.all(), "timeout") || len(told.lines) != 1 {
		t.Errorf("said %q", told.all())
	}
	wantLogins(t, h, 3)
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(50*time.Millisecond, func() { cancel(context.Canceled) })
	if _, _, err := NewClient("", nil, path).greet(ctx, time.Hour); err == nil {
		t.Error("greeted by a frozen server")
	}
}

// TestNewerLooks ends no server that a newer release merely asks about itself.
func TestNewerLooks(t *testing.T) {
	path := socket(t)
	s := serving(t, Options{Version: "v1.2.3"}, path)
	c, _, err := NewClient("v1.3.0", nil, path).greet(context.Background(), greetDeadline)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(greetDeadline))
	if err = writeFrame(c, kindAsk, struct{}{}); err == nil {
		_, err = readFrame(c, maxBody)
	}
	if err != nil || s.info().Ending {
		t.Errorf("%+v, %v", s.info(), err)
	}
}

// TestSilent has room for who asks beside connections that say nothing.
func TestSilent(t *testing.T) {
	path := socket(t)
	s := serving(t, Options{}, path)
	for range maxCallers + 1 {
		c, err := dial(context.Background(), path, greetDeadline)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
	}
	if _, err := Inquire(within(t, time.Minute), path); err != nil {
		t.Errorf("%v, %+v", err, s.info())
	}
}

// lie calls, or asks, with the greeting that the server wants to hear, and prints the
// answer.
func lie(path, how string) {
	c, err := dial(context.Background(), path, 20*time.Second)
	if err == nil {
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		var f frame
		if f, err = readFrame(c, maxGreeting); err == nil {
			var theirs hello
			_ = f.into(&theirs)
			_ = writeFrame(c, kindHello, theirs)
			if how == "lie" {
				_ = writeFrame(c, kindRun, request{}, []byte("true"))
			} else {
				_ = writeFrame(c, kindAsk, struct{}{})
			}
			f, err = readFrame(c, maxGreeting)
			fmt.Printf("%c %s", f.kind, f.header)
		}
	}
	fmt.Println(err)
}

// TestChangedAmidDial has nobody go on with a login to where ssh_config pointed
// before, whether it joined that or began it.
func TestChangedAmidDial(t *testing.T) {
	r, h, e := box(t, rig.HostSpec{})
	old, err := rig.NewProxy(h.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = old.Close() })
	old.Stall()
	_, port, _ := net.SplitHostPort(h.Addr)
	_, oldPort, _ := net.SplitHostPort(old.Addr())
	e.ConfigFile = rewrite(t, r, "Port "+port, "Port "+oldPort, "IdentitiesOnly yes", "IdentitiesOnly yes\n	HostKeyAlias [127.0.0.1]:"+port)
	path := socket(t)
	s := serving(t, Options{}, path)
	done := make(chan error, 2)
	call := func() {
		_, err := program(t, transport.Options{}, NewClient("", nil, path)).Conn(e).Run(within(t, time.Minute), transport.Script{Text: "true"})
		done <- err
	}
	go call()
	rigtest.Eventually(t, 20*time.Second, "the first dials", func() (bool, string) {
		i := s.info()
		return i.Callers == 1 && old.Traffic().Connections > 0, fmt.Sprintf("%+v", i)
	})
	text, err := os.ReadFile(e.ConfigFile)
	if err == nil {
		err = os.WriteFile(e.ConfigFile, []byte(strings.ReplaceAll(string(text), "Port "+oldPort, "Port "+port)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	go call()
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	wantLogins(t, h, 1)
}

// TestChangedHop makes a connection anew whose jump host would be another one.
func TestChangedHop(t *testing.T) {
	r, h, e := box(t, rig.HostSpec{})
	e.ConfigFile = rewrite(t, r, "Host box\n", "Host box hop\n")
	add := func(lines string) {
		t.Helper()
		text, err := os.ReadFile(e.ConfigFile)
		if err == nil {
			err = os.WriteFile(e.ConfigFile, append(text, lines...), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	add("Host box\n	ProxyJump hop\n")
	path := socket(t)
	serving(t, Options{}, path)
	p := program(t, transport.Options{}, NewClient("", nil, path))
	for _, c := range []struct {
		lines string
		n     int
	}{{"", 2}, {"# nothing\n", 2}, {"Host hop\n	ServerAliveInterval 77\n", 4}} {
		add(c.lines)
		run(t, p, e, "true")
		wantLogins(t, h, c.n)
	}
}

// TestStale begins nothing that can't be repeated for a caller who has heard
// nothing for so long that it has given up.
func TestStale(t *testing.T) {
	c := &caller{server: &Server{since: time.Now().Add(-time.Hour)}}
	for _, o := range []struct {
		silent time.Duration
		stale  bool
		want   error
	}{{0, false, nil}, {3 * alivePatience, false, errStale}, {0, true, errStale}} {
		c.stale = o.stale
		c.alive.Store((time.Hour - o.silent).Nanoseconds())
		if err := c.waits(); !errors.Is(err, o.want) {
			t.Errorf("%v: %v", o, err)
		}
	}
}

// TestScarce leaves to the caller what this process lacks, and nothing else.
func TestScarce(t *testing.T) {
	for err, want := range map[error]bool{
		syscall.EMFILE: true, syscall.EACCES: true, syscall.ECONNREFUSED: false, os.ErrDeadlineExceeded: false, context.Canceled: false,
	} {
		te := &transport.Error{Err: fmt.Errorf("dial: %w", err)}
		if got := scarce(te); got != want {
			t.Errorf("%v: %t", err, got)
		}
	}
}

// TestGround makes no folder in the place of another account.
func TestGround(t *testing.T) {
	dir := t.TempDir()
	if err := ownGround(filepath.Join(dir, "a", "b")); err != nil {
		t.Error(err)
	}
	if os.Getuid() != 0 {
		return // only root can give a folder away
	}
	if err := os.Chown(dir, 65534, -1); err != nil {
		t.Fatal(err)
	}
	if err := ownGround(filepath.Join(dir, "a", "b")); err == nil {
		t.Error("a folder of another account is good enough")
	}
}
