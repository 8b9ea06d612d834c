package relay

import (
	"crypto/ed25519"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/claude-fleet/claude-fleet/internal/rig"
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

// TestIdentityAgent never uses a connection that the agent has made which was at the
// path of ssh_config before, however the path is written.
func TestIdentityAgent(t *testing.T) {
	r, h, e := box(t, rig.HostSpec{})
	path := socket(t)
	serving(t, Options{}, path)
	n := 0
	for _, c := range []struct{ written, name string }{
		{"%s", ""}, {"$FLEET_AGENT", "FLEET_AGENT"}, {"${FLEET_OTHER_AGENT}", "FLEET_OTHER_AGENT"}, {"SSH_AUTH_SOCK", "SSH_AUTH_SOCK"},
	} {
		with, without := agentWith(t, r.IdentityFile()), agentWith(t, "")
		if c.name != "" {
			t.Setenv(c.name, with)
		}
		written := strings.ReplaceAll(c.written, "%s", with)
		e.ConfigFile = rewrite(t, r, "IdentityFile "+r.IdentityFile(), "", "IdentitiesOnly yes", "", "IdentityAgent none", "IdentityAgent "+written)
		p := program(t, transport.Options{}, NewClient("", nil, path))
		run(t, p, e, "true")
		run(t, p, e, "true")
		n++
		wantLogins(t, h, n)
		if err := os.Rename(without, with); err != nil {
			t.Fatal(err)
		}
		_, err := p.Conn(e).Run(within(t, time.Minute), transport.Script{Text: "true"})
		if k, _ := transport.KindOf(err); k != transport.KindAuth {
			t.Errorf("IdentityAgent %s: another agent, without a key: %v", written, err)
		}
		wantLogins(t, h, n)
	}
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

// TestLoginVariables has the terminals of one who is logged in by ssh share a
// connection, although a command of ssh_config may look whether there is a login, and
// from where; and tells them apart where the file names what each has of its own.
func TestLoginVariables(t *testing.T) {
	r, h, e := box(t, rig.HostSpec{})
	files := map[string]string{}
	seen := filepath.Join(t.TempDir(), "seen")
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$SSH_CONNECTION,$SSH_CLIENT,$SSH_TTY\" >"+seen+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := socket(t)
	serving(t, Options{}, path)
	for _, c := range []struct {
		config, port, from, seen string
		logins                   int
	}{
		{"exec " + script, "1001", "192.0.2.1", "192.0.2.1 0 192.0.2.2 22,192.0.2.1 0 22,/dev/tty", 1},
		{"exec " + script, "1002", "192.0.2.1", "192.0.2.1 0 192.0.2.2 22,192.0.2.1 0 22,/dev/tty", 1},
		{"exec " + script, "1002", "192.0.2.9", "192.0.2.9 0 192.0.2.2 22,192.0.2.9 0 22,/dev/tty", 2},
		{"exec " + script, "", "", ",,", 3},
		{"exec \"" + script + "; : SSH_TTY\"", "1001", "192.0.2.1", "192.0.2.1 1001 192.0.2.2 22,192.0.2.1 1001 22,/dev/pts/1001", 4},
		{"exec \"" + script + "; : SSH_TTY\"", "1002", "192.0.2.1", "192.0.2.1 1002 192.0.2.2 22,192.0.2.1 1002 22,/dev/pts/1002", 5},
	} {
		for name, value := range map[string]string{
			"SSH_CONNECTION": c.from + " " + c.port + " 192.0.2.2 22", "SSH_CLIENT": c.from + " " + c.port + " 22", "SSH_TTY": "/dev/pts/" + c.port,
		} {
			if c.port == "" {
				value = ""
			}
			t.Setenv(name, value)
		}
		if files[c.config] == "" {
			files[c.config] = rewrite(t, r, "Host box\n", "Match "+c.config+"\nHost box\n")
		}
		e.ConfigFile = files[c.config]
		run(t, program(t, transport.Options{}, NewClient("", nil, path)), e, "true")
		wantLogins(t, h, c.logins)
		if got, err := os.ReadFile(seen); err != nil || strings.TrimSpace(string(got)) != c.seen {
			t.Errorf("%s: the command saw %q, %v", c.config, got, err)
		}
	}
}
