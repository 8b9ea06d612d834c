package relay

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// agentWith is the socket of an agent that has the rig's key, or none.
func agentWith(t *testing.T, keyFile string) string {
	t.Helper()
	ring := agent.NewKeyring()
	if keyFile != "" {
		text, err := os.ReadFile(keyFile)
		if err != nil {
			t.Fatal(err)
		}
		key, err := ssh.ParseRawPrivateKey(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := ring.Add(agent.AddedKey{PrivateKey: *key.(*ed25519.PrivateKey)}); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(filepath.Dir(filepath.Dir(socket(t))), "agent")
	l, err := net.Listen("unix", path)
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
			_ = agent.ServeAgent(ring, c)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return path
}

// TestAgents never uses a connection that another caller's agent has made.
func TestAgents(t *testing.T) {
	r, h, e := box(t, rig.HostSpec{})
	e.ConfigFile = rewrite(t, r, "IdentityFile "+r.IdentityFile(), "", "IdentitiesOnly yes", "", "IdentityAgent none", "")
	path := socket(t)
	serving(t, Options{}, path)
	with, without := agentWith(t, r.IdentityFile()), agentWith(t, "")
	try := func(sock string) error {
		t.Setenv("SSH_AUTH_SOCK", sock)
		_, err := program(t, transport.Options{}, NewClient("", nil, path)).Conn(e).Run(within(t, time.Minute), transport.Script{Text: "true"})
		return err
	}
	for range 2 {
		if err := try(with); err != nil {
			t.Fatal(err)
		}
		if k, _ := transport.KindOf(try(without)); k != transport.KindAuth {
			t.Errorf("without a key: %v", k)
		}
	}
	wantLogins(t, h, 1)
}

// TestEnvironments tells callers apart by what ssh_config makes of their variables,
// and by no more.
func TestEnvironments(t *testing.T) {
	r, h, e := box(t, rig.HostSpec{SSHDConfig: []string{"AcceptEnv FLEET_SENT"}})
	path := socket(t)
	s := serving(t, Options{}, path)
	try := func(name, value string) (string, error) {
		t.Setenv(name, value)
		res, err := program(t, transport.Options{}, NewClient("", nil, path)).Conn(e).Run(within(t, time.Minute), transport.Script{Text: "echo $FLEET_SENT"})
		return strings.TrimSpace(string(res.Stdout)), err
	}
	want := func(name, value, out string, n int) {
		t.Helper()
		got, err := try(name, value)
		if err != nil || got != out {
			t.Errorf("%s=%s: %q, %v", name, value, got, err)
		}
		wantLogins(t, h, n)
	}
	want("FLEET_SENT", "1", "", 1) // it is not sent yet
	want("FLEET_SENT", "2", "", 1)
	e.ConfigFile = rewrite(t, r, "IdentitiesOnly yes", "IdentitiesOnly yes\n	SendEnv FLEET_S*")
	want("FLEET_SENT", "1", "1", 2)
	want("FLEET_SENT", "2", "2", 3)
	want("FLEET_OTHER", "x", "2", 3)
	want("FLEET_SENT", "1", "1", 3)

	// A command of ssh_config may go by any of them.
	e.ConfigFile = rewrite(t, r, "Host box\n", "Match exec \"test x$FLEET_OTHER = xbad\"\n	Port 1\nHost box\n")
	want("FLEET_OTHER", "good", "", 4)
	if _, err := try("FLEET_OTHER", "bad"); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("bad: %v", err)
	}
	want("FLEET_OTHER", "good", "", 4)
	want("SHLVL", "99", "", 4)
	want("FLEET_OTHER", "fine", "", 5)

	// So may a variable that it names.
	e.ConfigFile = rewrite(t, r, "IdentityFile "+r.IdentityFile(), "IdentityFile ${FLEET_KEY}")
	want("FLEET_KEY", r.IdentityFile(), "", 6)
	if _, err := try("FLEET_KEY", "/nowhere"); err == nil {
		t.Error("another key was not looked at")
	}
	calls := s.info().Calls
	if calls != 13 { // every one went through the server
		t.Errorf("%d calls", calls)
	}
	// A file without its folder is not the server's business.
	e.ConfigFile = rewrite(t, r, "IdentitiesOnly yes", "IdentitiesOnly yes\n	CertificateFile cert")
	want("FLEET_OTHER", "x", "", 7)
	want("FLEET_OTHER", "x", "", 8)
}

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
	h.Proxy.Resume()
	rigtest.Eventually(t, 20*time.Second, "the connection is given out again", func() (bool, string) { return usable(), "" })
	s.waking.Lock()
	s.looked = time.Now()
	s.waking.Unlock()
	s.mu.Lock()
	s.now = func() (time.Time, time.Time) { t := time.Now(); return t.Round(0), t }
	s.mu.Unlock()
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

// TestSocketTaken ends a server that nobody finds any more.
func TestSocketTaken(t *testing.T) {
	path := socket(t)
	s, err := Listen(Options{Idle: 400 * time.Millisecond}, path)
	if err != nil {
		t.Fatal(err)
	}
	why := make(chan string)
	s.mu.Lock()
	s.last = time.Now().Add(time.Hour) // not idle
	s.mu.Unlock()
	go func() { why <- s.Serve(context.Background()) }()
	there(t, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := <-why; got != "its socket was taken away" {
		t.Errorf("ended since %q", got)
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
