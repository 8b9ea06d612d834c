package transport

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// refusal runs a trivial script and gives the error, of which it wants the kind
// and that nothing has started.
func refusal(t *testing.T, p *Pool, e Endpoint, kind Kind) Error {
	t.Helper()
	_, err := p.Conn(e).Run(within(t, 20*time.Second), Script{Text: ":"})
	var te *Error
	if !errors.As(err, &te) || te.Kind != kind || te.Started {
		t.Fatalf("got %v (%+v); want a %s error, not started", err, te, kind)
	}
	return *te
}

func succeed(t *testing.T, p *Pool, e Endpoint) {
	t.Helper()
	res, err := p.Conn(e).Run(within(t, 20*time.Second), Script{Text: "echo ok"})
	if err != nil || string(res.Stdout) != "ok\n" {
		t.Fatalf("got %q, %v", res.Stdout, err)
	}
}

func wantText(t *testing.T, got string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(got, p) {
			t.Errorf("%q lacks %q", got, p)
		}
	}
}

func TestHostKeys(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	other := newKey(t, s.path("other"))
	known := func(lines ...string) { write(t, s.path("known_hosts"), strings.Join(lines, "\n")) }
	line := func(host string, k ssh.PublicKey) string {
		return host + " " + strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k)))
	}
	bracketed := fmt.Sprintf("[127.0.0.1]:%d", s.port)

	for _, tc := range []struct {
		name   string
		known  []string
		config []string
		kind   Kind // 0: it connects
	}{
		{"known", []string{line(bracketed, s.hosts[0])}, []string{"StrictHostKeyChecking yes"}, 0},
		{"unknown", []string{line("elsewhere", other)}, nil, KindHostKeyUnknown},
		{"unknown, strict", nil, []string{"StrictHostKeyChecking yes"}, KindHostKeyUnknown},
		{"a file of nothing but rubbish", []string{"what is this"}, nil, KindHostKeyUnknown},
		{"no file at all", nil, []string{"UserKnownHostsFile /nonexistent/known_hosts"}, KindHostKeyUnknown},
		{"changed", []string{line(bracketed, other)}, nil, KindHostKeyChanged},
		{"changed, strict", []string{line(bracketed, other)}, []string{"StrictHostKeyChecking yes"}, KindHostKeyChanged},
		{"changed, and checking is off", []string{line(bracketed, other)}, []string{"StrictHostKeyChecking no"}, KindHostKeyChanged},
		{"changed, and new ones are accepted", []string{line(bracketed, other)}, []string{"StrictHostKeyChecking accept-new"}, KindHostKeyChanged},
		{"revoked, and checking is off", []string{"@revoked " + line("*", s.hosts[0])}, []string{"StrictHostKeyChecking no"}, KindHostKeyChanged},
		// Stricter than OpenSSH, which looks without the port only for what it has
		// not found with it.
		{"revoked without the port", []string{line(bracketed, s.hosts[0]), "@revoked " + line("127.0.0.1", s.hosts[0])}, nil, KindHostKeyChanged},
	} {
		t.Run(tc.name, func(t *testing.T) {
			known(append(tc.known, "")...)
			p := newPool(t, Options{})
			if tc.kind == 0 {
				succeed(t, p, s.endpoint(tc.config...))
				return
			}
			refusal(t, p, s.endpoint(tc.config...), tc.kind)
		})
	}

	t.Run("what a change says", func(t *testing.T) {
		known("# a comment", line(bracketed, other), "")
		err := refusal(t, newPool(t, Options{}), s.endpoint(), KindHostKeyChanged)
		wantText(t, err.Error(), s.path("known_hosts")+":2", ssh.FingerprintSHA256(other), ssh.FingerprintSHA256(s.hosts[0]))
		// The hint's last line is the exact command: run it, and the host is merely unknown.
		lines := strings.Split(err.Hint, "\n")
		if out, err := exec.Command("sh", "-c", lines[len(lines)-1]).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", lines[len(lines)-1], err, out)
		}
		refusal(t, newPool(t, Options{}), s.endpoint(), KindHostKeyUnknown)
	})

	for _, strict := range []string{"accept-new", "no"} {
		t.Run("recorded by "+strict, func(t *testing.T) {
			known("elsewhere ssh-ed25519 AAAA") // an open last line, too
			var warned atomic.Int32
			p := newPool(t, Options{Warn: func(_ Endpoint, text string) {
				if strings.Contains(text, ssh.FingerprintSHA256(s.hosts[0])) {
					warned.Add(1)
				}
			}})
			succeed(t, p, s.endpoint("StrictHostKeyChecking "+strict))
			if warned.Load() != 1 {
				t.Errorf("said %d times that an unknown key was accepted", warned.Load())
			}
			text, err := os.ReadFile(s.path("known_hosts"))
			if err != nil || string(text) != "elsewhere ssh-ed25519 AAAA\n"+line(bracketed, s.hosts[0])+"\n" {
				t.Errorf("known_hosts is %q, %v", text, err)
			}
			// From then on it is known, to OpenSSH too.
			succeed(t, newPool(t, Options{}), s.endpoint("StrictHostKeyChecking yes"))
		})
	}

	t.Run("recorded hashed", func(t *testing.T) {
		known("")
		succeed(t, newPool(t, Options{}), s.endpoint("StrictHostKeyChecking accept-new", "HashKnownHosts yes"))
		text, _ := os.ReadFile(s.path("known_hosts"))
		if strings.Contains(string(text), "127.0.0.1") || !strings.HasPrefix(strings.TrimSpace(string(text)), "|1|") {
			t.Errorf("known_hosts is %q", text)
		}
		succeed(t, newPool(t, Options{}), s.endpoint("StrictHostKeyChecking yes"))
	})
}

// TestUnhonoured has a keyword that is set and not acted on named once, and one
// that is acted on, or not set, never.
func TestUnhonoured(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	told := make(chan []string, 8)
	p := newPool(t, Options{Unhonoured: func(_ Endpoint, keywords []string) { told <- keywords }})
	e := s.endpoint("Compression yes", "ConnectTimeout 7")
	succeed(t, p, e)
	succeed(t, p, e)
	succeed(t, p, s.endpoint("ConnectTimeout 7"))
	close(told)
	var all []string
	for keywords := range told {
		all = append(all, strings.Join(keywords, ","))
	}
	if len(all) != 1 || !strings.EqualFold(all[0], "compression") {
		t.Errorf("told %q", all)
	}
}

// TestMoreKeyTypesThanKnown is the server with three keys of which known_hosts
// has but one, as OpenSSH leaves it.
func TestMoreKeyTypesThanKnown(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.stop()
	for _, typ := range []string{"ecdsa", "rsa"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", typ, "-N", "", "-f", s.path("host_"+typ)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if err := os.Remove(s.path("host_ecdsa.pub")); err != nil {
		t.Fatal(err)
	}
	pub, err := os.ReadFile(s.path("host_rsa.pub"))
	if err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(s.path("host_rsa.pub"))
	s.start()
	succeed(t, newPool(t, Options{}), s.endpoint())
	rsa, _, _, _, err := ssh.ParseAuthorizedKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	s.know(rsa)
	succeed(t, newPool(t, Options{}), s.endpoint())
}

func TestAuth(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	wrong := s.path("wrong")
	newKey(t, wrong)
	locked := s.path("locked")
	text, err := os.ReadFile(s.client)
	if err != nil {
		t.Fatal(err)
	}
	write(t, locked, string(text))
	if out, err := exec.Command("ssh-keygen", "-q", "-p", "-P", "", "-N", "made-up phrase", "-f", locked).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	only := s.only

	t.Run("wrong key", func(t *testing.T) {
		err := refusal(t, newPool(t, Options{}), only(wrong), KindAuth)
		wantText(t, err.Hint, wrong, "SHA256:")
	})
	t.Run("wrong key first", func(t *testing.T) {
		succeed(t, newPool(t, Options{}), s.endpoint("IdentityFile "+wrong))
	})
	t.Run("locked key", func(t *testing.T) {
		err := refusal(t, newPool(t, Options{}), only(locked), KindAuth)
		wantText(t, err.Hint, locked, "passphrase", "ssh-add")
	})
	t.Run("missing key", func(t *testing.T) {
		err := refusal(t, newPool(t, Options{}), only("/nonexistent/key"), KindAuth)
		wantText(t, err.Hint, "/nonexistent/key", "does not exist")
	})
	t.Run("wrong user", func(t *testing.T) {
		e := s.endpoint()
		e.Destination = "no-such-user@box"
		err := refusal(t, newPool(t, Options{}), e, KindAuth)
		wantText(t, err.Error(), "no-such-user")
	})

	sock := startAgent(t, s.client)
	t.Run("key only in the agent", func(t *testing.T) {
		succeed(t, newPool(t, Options{}), only("none", "IdentityAgent "+sock))
	})
	t.Run("agent key chosen by its public file", func(t *testing.T) {
		key, err := ssh.ParsePrivateKey(text)
		if err != nil {
			t.Fatal(err)
		}
		write(t, s.path("chosen.pub"), string(ssh.MarshalAuthorizedKey(key.PublicKey())))
		succeed(t, newPool(t, Options{}), only(s.path("chosen.pub"), "IdentityAgent "+sock, "IdentitiesOnly yes"))
		succeed(t, newPool(t, Options{}), only(locked, "IdentityAgent "+sock, "IdentitiesOnly yes"))
	})
	t.Run("IdentitiesOnly keeps the agent's other keys back", func(t *testing.T) {
		refusal(t, newPool(t, Options{}), only(wrong, "IdentityAgent "+sock, "IdentitiesOnly yes"), KindAuth)
		succeed(t, newPool(t, Options{}), only(wrong, "IdentityAgent "+sock))
	})
	t.Run("seven agent keys and MaxAuthTries 6", func(t *testing.T) {
		var seven []string
		for i := range 7 {
			f := s.path(fmt.Sprintf("many%d", i))
			newKey(t, f)
			seven = append(seven, f)
		}
		full := startAgent(t, append(seven, s.client)...)
		succeed(t, newPool(t, Options{}), s.endpoint("IdentityAgent "+full, "IdentitiesOnly yes"))
		succeed(t, newPool(t, Options{}), s.endpoint("IdentityAgent "+full)) // named, so it goes first
		err := refusal(t, newPool(t, Options{}), only("none", "IdentityAgent "+full), KindAuth)
		wantText(t, err.Error(), "too many tries, after 6 keys were offered")
		wantText(t, err.Hint, "IdentityFile", "IdentitiesOnly yes")
		if n := strings.Count(err.Hint, "SHA256:"); n != 6 {
			t.Errorf("%d keys were offered: %s", n, err.Hint)
		}
	})
	t.Run("an agent that hangs", func(t *testing.T) {
		l, err := net.Listen("unix", s.path("hung.sock"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		succeed(t, newPool(t, Options{}), s.endpoint("IdentityAgent "+s.path("hung.sock")))
	})
	t.Run("an agent that is gone", func(t *testing.T) {
		succeed(t, newPool(t, Options{}), s.endpoint("IdentityAgent "+s.path("no.sock")))
		err := refusal(t, newPool(t, Options{}), only("none", "IdentityAgent "+s.path("no.sock")), KindAuth)
		wantText(t, err.Hint, "agent cannot be reached")
	})
}

// startAgent runs a real ssh-agent with the keys of files.
func startAgent(t *testing.T, files ...string) string {
	t.Helper()
	sock := filepath.Join(t.TempDir(), "agent")
	cmd := exec.Command("ssh-agent", "-D", "-a", sock)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	eventually(t, "the agent listens", func() bool { _, err := os.Stat(sock); return err == nil })
	if len(files) == 0 {
		return sock
	}
	add := exec.Command("ssh-add", append([]string{"-q"}, files...)...)
	add.Env = append(os.Environ(), "SSH_AUTH_SOCK="+sock)
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatalf("ssh-add: %v: %s", err, out)
	}
	return sock
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.stop()
	sh := func(line string) {
		t.Helper()
		cmd := exec.Command("sh", "-ec", line)
		cmd.Dir = s.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", line, err, out)
		}
	}
	newKey(t, s.path("ca"))
	sh("ssh-keygen -y -f ca >ca.pub; ssh-keygen -y -f host_ed25519 >certified.pub; ssh-keygen -y -f id >id.pub")
	sh("ssh-keygen -q -s ca -h -I box -n 127.0.0.1 certified.pub; ssh-keygen -q -s ca -I me -n " + userName(t) + " id.pub")
	s.config = append(s.config, "HostCertificate "+s.path("certified-cert.pub"), "TrustedUserCAKeys "+s.path("ca.pub"))
	ca, err := os.ReadFile(s.path("ca.pub"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, s.path("authorized_keys"), "") // the certificate alone may log in
	s.start()

	t.Run("both ways", func(t *testing.T) {
		write(t, s.path("known_hosts"), fmt.Sprintf("@cert-authority [127.0.0.1]:%d %s", s.port, ca))
		succeed(t, newPool(t, Options{}), s.endpoint())
	})
	t.Run("a certificate that nobody vouches for is no hindrance", func(t *testing.T) {
		s.know(s.hosts[0])
		succeed(t, newPool(t, Options{}), s.endpoint())
	})
	t.Run("another authority", func(t *testing.T) {
		pub := newKey(t, s.path("other_ca"))
		write(t, s.path("known_hosts"), fmt.Sprintf("@cert-authority [127.0.0.1]:%d %s", s.port, ssh.MarshalAuthorizedKey(pub)))
		_, err := newPool(t, Options{}).Conn(s.endpoint()).Run(within(t, 20*time.Second), Script{Text: ":"})
		if k, _ := KindOf(err); k != KindHostKeyUnknown && k != KindHostKeyChanged {
			t.Errorf("got %v", err)
		}
	})
	t.Run("without the user's certificate", func(t *testing.T) {
		s.know(s.hosts[0])
		sh("mv id-cert.pub elsewhere-cert.pub")
		refusal(t, newPool(t, Options{}), s.endpoint(), KindAuth)
		succeed(t, newPool(t, Options{}), s.endpoint("CertificateFile "+s.path("elsewhere-cert.pub")))
	})
}
