package transport

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// TestCheckHostCert has each fault of a certificate named.
func TestCheckHostCert(t *testing.T) {
	_, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ca, err := ssh.NewSignerFromKey(priv)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) uint64 { return uint64(now.Add(d).Unix()) }
	for _, tc := range []struct {
		name   string
		change func(*ssh.Certificate)
		forge  func(*ssh.Certificate) // after it was signed
		want   string                 // empty: nothing is wrong
		hint   string
	}{
		{"valid", nil, nil, "", ""},
		{"valid for ever", func(c *ssh.Certificate) { c.ValidAfter, c.ValidBefore = 0, ssh.CertTimeInfinity }, nil, "", ""},
		{"in its last second", func(c *ssh.Certificate) { c.ValidBefore = at(time.Second) }, nil, "", ""},
		{"expired", func(c *ssh.Certificate) { c.ValidBefore = at(0) }, nil, "expired on 2026-06-01T12:00:00Z", "renewed"},
		{"not yet valid", func(c *ssh.Certificate) { c.ValidAfter = at(time.Hour) }, nil, "not valid before 2026-06-01T13:00:00Z", "clock of this machine"},
		{"for a user", func(c *ssh.Certificate) { c.CertType = ssh.UserCert }, nil, "for a user", "issued anew"},
		{"for another host", func(c *ssh.Certificate) { c.ValidPrincipals = []string{"a", "b"} }, nil, "for a,b, not for box", "issued for box, or"},
		{"with an option nobody knows", func(c *ssh.Certificate) { c.CriticalOptions = map[string]string{"x": "y"} }, nil, "critical option", "issued anew"},
		{"forged", nil, func(c *ssh.Certificate) { c.Serial++ }, "does not verify", "issued anew"},
		{"signed with SHA-1", nil, func(c *ssh.Certificate) { c.Signature.Format = ssh.KeyAlgoRSA }, "SHA-1", "issued anew"},
	} {
		cert := &ssh.Certificate{
			Key: ca.PublicKey(), CertType: ssh.HostCert, ValidPrincipals: []string{"box"},
			ValidAfter: at(-time.Hour), ValidBefore: at(time.Hour),
		}
		if tc.change != nil {
			tc.change(cert)
		}
		if err := cert.SignCert(rand.Reader, ca); err != nil {
			t.Fatal(err)
		}
		if tc.forge != nil {
			tc.forge(cert)
		}
		err := checkHostCert(cert, "box", now)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
		if err != nil {
			wantText(t, certHint(cert, "box", now), tc.hint)
		}
	}
}

// TestHostCertFault has the fault of a real host's certificate told first, with
// what to do about it.
func TestHostCertFault(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	ca := newKey(t, s.path("ca"))
	write(t, s.path("certified.pub"), string(ssh.MarshalAuthorizedKey(s.hosts[0])))
	s.config = append(s.config, "HostCertificate "+s.path("certified-cert.pub"))
	at := fmt.Sprintf("[127.0.0.1]:%d", s.port)
	for _, tc := range []struct {
		name, sign, mark string
		what, hint       string // empty: it is in order
	}{
		{"in order", "-n 127.0.0.1", "@cert-authority", "", ""},
		{"expired", "-n 127.0.0.1 -V 20200101000000Z:20200102000000Z", "@cert-authority", "its certificate expired on 2020-01-02T00:00:00Z;", "renewed"},
		{"not yet valid", "-n 127.0.0.1 -V 20990101000000Z:20990102000000Z", "@cert-authority", "its certificate is not valid before 2099-01-01T00:00:00Z;", "clock"},
		{"for another name", "-n elsewhere", "@cert-authority", "its certificate is for elsewhere, not for 127.0.0.1;", "issued for 127.0.0.1"},
		{"for nobody", "", "@cert-authority", "its certificate names no host;", "issued for 127.0.0.1"},
		{"of an authority that nobody knows", "-n 127.0.0.1", "# no line", "no known_hosts file has " + s.addr(), "compare the fingerprint"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s.stop()
			args := append(strings.Fields("-q -h -I box"), strings.Fields(tc.sign)...)
			if out, err := exec.Command("ssh-keygen", append(args, "-s", s.path("ca"), s.path("certified.pub"))...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			s.start()
			write(t, s.path("known_hosts"), tc.mark+" "+keyLine(at, ca)+"\n")
			if tc.what == "" {
				succeed(t, newPool(t, Options{}), s.endpoint())
				return
			}
			for _, strict := range []string{"ask", "yes"} {
				err := refusal(t, newPool(t, Options{}), s.endpoint("StrictHostKeyChecking "+strict), KindHostKeyUnknown)
				_, first, _ := strings.Cut(err.Err.Error(), s.addr()+": ")
				if first == "" {
					first = err.Err.Error()
				}
				if !strings.HasPrefix(first, tc.what) || !strings.Contains(err.Hint, tc.hint) {
					t.Errorf("got %v; hint %q", err.Err, err.Hint)
				}
				if ours := tc.mark == "@cert-authority"; ours != strings.Contains(err.Hint, s.path("known_hosts")+":1, "+ssh.FingerprintSHA256(ca)) || ours && strings.Contains(err.Hint, "ssh -F") {
					t.Errorf("hint %q", err.Hint)
				}
			}
			p := says("no")
			refusal(t, newPool(t, p.options()), s.endpoint(), KindHostKeyUnknown)
			p.wantAsked(t, 1, QuestionHostKey)
			if tc.mark == "@cert-authority" && !strings.HasPrefix(p.questions()[0].Detail, s.addr()+": "+strings.TrimSuffix(tc.what, ";")) {
				t.Errorf("asked %q", p.questions()[0].Detail)
			}
		})
	}
}
