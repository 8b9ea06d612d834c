package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// evil is text that a hostile host shows: it clears the screen, writes a title,
// turns the direction of writing and is no UTF-8.
const evil = "\x1b[2J\x1b]0;owned\a\r\nok\u202egnp.exe\x9b31m\xff"

// evilDisconnect is a server that greets and at once says goodbye, with evil for
// a reason. No sshd can be had to do so.
func evilDisconnect(t *testing.T) (port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() { // ends with the listener
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			// RFC 4253: message 1, a reason, a description, a language.
			payload := fmt.Appendf([]byte{1, 0, 0, 0, 2, 0, 0, 0, byte(len(evil))}, "%s\x00\x00\x00\x00", evil)
			padding := 8 - (5+len(payload))%8 + 8
			size := 1 + len(payload) + padding
			_, _ = fmt.Fprintf(c, "SSH-2.0-%s\r\n", "evil")
			_, _ = c.Write(append(append([]byte{0, 0, 0, byte(size), byte(padding)}, payload...), make([]byte, padding)...))
			_, _ = c.Read(make([]byte, 4096))
			_ = c.Close()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

// TestKinds has every kind of error by a cause that is real: what it says, what
// it advises, and that nothing in it acts on a terminal.
func TestKinds(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	evilFile := s.path("evil")
	write(t, evilFile, evil)
	write(t, s.path("none_known"), "")
	other := s.path("other")
	newKey(t, other)
	changed := startServer(t)
	changed.know(newKey(t, changed.path("new")))
	banner := startServer(t, "Banner "+evilFile)
	wrong := func(s *server) Endpoint {
		block := strings.ReplaceAll(s.block("box"), "IdentityFile "+s.client, "IdentityFile "+other)
		return Endpoint{Destination: "box", ConfigFile: s.configFile(block)}
	}
	at := func(port int) Endpoint { return s.endpoint(fmt.Sprintf("Port %d", port)) }

	for _, tc := range []struct {
		name    string
		kind    Kind
		started bool
		text    string // Run must fail with; "" does not matter
		hint    string
		e       Endpoint
		ctx     func(t *testing.T) context.Context
		script  string
	}{
		{name: "a name that has no address", kind: KindResolve, hint: "spelling", e: s.endpoint("HostName no-such-host.invalid")},
		{name: "a closed port", kind: KindConnect, text: "refused", hint: "see whether sshd runs", e: at(freePort(t))},
		{name: "a silent port", kind: KindTimeout, text: "greeting", hint: "allow more time", e: at(silentListener(t)), ctx: shortly},
		{name: "a silent port, by ConnectTimeout", kind: KindTimeout, hint: "see whether it is an SSH server", e: s.endpoint(fmt.Sprintf("Port %d", silentListener(t)), "ConnectTimeout 1")},
		{name: "a slow Match exec", kind: KindTimeout, text: "reading ssh_config", hint: "the machine was not asked yet", e: Endpoint{Destination: "box", ConfigFile: s.configFile("Match exec \"sleep 600\"\n", s.block("box"))}, ctx: shortly},
		{name: "an unknown host", kind: KindHostKeyUnknown, hint: "compare the fingerprint", e: s.endpoint("UserKnownHostsFile " + s.path("none_known"))},
		{name: "a changed host", kind: KindHostKeyChanged, hint: "ssh-keygen", e: changed.endpoint()},
		{name: "a key that is not taken", kind: KindAuth, hint: other, e: wrong(s)},
		{name: "a key that is not taken, and a banner", kind: KindAuth, hint: other, e: wrong(banner)},
		{name: "a command that fails", kind: KindProxy, text: "owned", hint: "by hand", e: s.endpoint("ProxyCommand sh -c 'cat " + evilFile + " >&2; exit 1'")},
		{name: "a command that talks", kind: KindProxy, hint: "by hand", e: s.endpoint("ProxyCommand cat " + evilFile)},
		{name: "a hop that is closed", kind: KindProxy, text: "hop", hint: "see whether sshd runs", e: Endpoint{Destination: "box", ConfigFile: s.configFile(s.block("box", "ProxyJump hop"), s.block("hop", fmt.Sprintf("Port %d", freePort(t))))}},
		{name: "no sessions", kind: KindSession, hint: "MaxSessions", e: startServer(t, "MaxSessions 0").endpoint()},
		{name: "an evil goodbye", kind: KindProtocol, text: "owned", hint: "SSH server", e: at(evilDisconnect(t))},
		{name: "no shell", kind: KindProtocol, started: true, text: "owned", hint: "forced command", e: startServer(t, "ForceCommand cat "+evilFile).endpoint()},
		{name: "no shell, said on the other stream", kind: KindProtocol, started: true, text: "owned", hint: "forced command", e: startServer(t, "ForceCommand cat "+evilFile+" >&2").endpoint()},
		{name: "too much output", kind: KindProtocol, started: true, text: "32 MiB", hint: "print less", e: s.endpoint(), script: "yes | head -c 40000000"},
		{name: "a syntax error", kind: KindProtocol, started: true, hint: "/bin/sh", e: s.endpoint(), script: "if " + evil},
		{name: "no config file", kind: KindConfig, hint: "there is no file " + s.path("nowhere"), e: Endpoint{Destination: "box", ConfigFile: s.path("nowhere")}},
		{name: "no destination", kind: KindConfig, hint: "write an ssh alias", e: Endpoint{Destination: evil}},
		{name: "a NUL", kind: KindConfig, hint: "printf", e: s.endpoint(), script: "echo \x00"},
		{name: "stopped before", kind: KindCanceled, hint: "run it again", e: s.endpoint(), ctx: canceled},
		{name: "out of time", kind: KindTimeout, started: true, hint: "more time", e: s.endpoint(), script: "echo " + Quote(evil) + "; sleep 600", ctx: soon},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			ctx := within(t, time.Minute)
			if tc.ctx != nil {
				ctx = tc.ctx(t)
			}
			_, err := newPool(t, Options{}).Conn(tc.e).Run(ctx, Script{Text: tc.script})
			wantError(t, err, tc.kind, tc.started, tc.text, tc.hint)
		})
	}
	t.Run("stopped under way", func(t *testing.T) {
		ctx, cancel := context.WithCancel(within(t, time.Minute))
		file := filepath.Join(t.TempDir(), "up")
		got := startScript(ctx, t, newPool(t, Options{}).Conn(s.endpoint()), Script{Text: "touch " + file + "; sleep 600"}, file)
		cancel()
		wantError(t, <-got, KindCanceled, true, "running the script", "look what it has done")
	})
	t.Run("a closed pool", func(t *testing.T) {
		p := NewPool(Options{})
		_ = p.Close()
		_, err := p.Conn(s.endpoint()).Run(within(t, time.Minute), Script{})
		wantError(t, err, KindCanceled, false, "closed", "run it again")
	})
	t.Run("a link that breaks", func(t *testing.T) {
		s := startServer(t)
		file := filepath.Join(t.TempDir(), "up")
		got := startScript(within(t, time.Minute), t, newPool(t, Options{}).Conn(s.endpoint()), Script{Text: "touch " + file + "; sleep 600"}, file)
		s.stop()
		wantError(t, <-got, KindConnect, true, "broke", "look before")
	})
}

func shortly(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// soon is time enough for a script to begin, on any machine.
func soon(t *testing.T) context.Context { return within(t, 15*time.Second) }

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func wantError(t *testing.T, err error, kind Kind, started bool, text, hint string) {
	t.Helper()
	var te *Error
	if !errors.As(err, &te) {
		t.Fatalf("got %v", err)
	}
	if te.Kind != kind || te.Started != started || Started(err) != started {
		t.Errorf("got %v, started %t; want kind %v, started %t", err, te.Started, kind, started)
	}
	wantText(t, err.Error(), text, kind.String())
	if te.Hint == "" {
		t.Errorf("no hint with: %v", err)
	}
	wantText(t, te.Hint, hint)
	if s := err.Error(); s != Neutralise(s) {
		t.Errorf("the text acts on a terminal: %q", s)
	}
	if s := te.Hint; s != NeutraliseLines(s) {
		t.Errorf("the hint acts on a terminal: %q", s)
	}
}

// TestNilError has an Error that is nil be none, bare and wrapped.
func TestNilError(t *testing.T) {
	var none *Error
	some := &Error{Kind: KindAuth, Err: errors.New("refused")}
	for _, c := range []struct {
		err     error
		kind    Kind
		started bool
		text    string
	}{
		{none, 0, true, "no error"},
		{fmt.Errorf("box: %w", none), 0, true, "box: no error"},
		{some, KindAuth, false, some.Error()},
		{fmt.Errorf("box: %w", some), KindAuth, false, "box: " + some.Error()},
	} {
		if k, ok := KindOf(c.err); k != c.kind || ok != (c.kind != 0) {
			t.Errorf("%s: %v, %t", c.text, k, ok)
		}
		if got := Started(c.err); got != c.started {
			t.Errorf("%s: started %t", c.text, got)
		}
		if got := c.err.Error(); got != c.text {
			t.Errorf("%q, want %q", got, c.text)
		}
		if errors.Is(c.err, context.Canceled) {
			t.Errorf("%s: is canceled", c.text)
		}
	}
}
