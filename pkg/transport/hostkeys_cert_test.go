package transport

import (
	"crypto/ed25519"
	"crypto/rand"
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
	}{
		{"valid", nil, nil, ""},
		{"valid for ever", func(c *ssh.Certificate) { c.ValidAfter, c.ValidBefore = 0, ssh.CertTimeInfinity }, nil, ""},
		{"in its last second", func(c *ssh.Certificate) { c.ValidBefore = at(time.Second) }, nil, ""},
		{"expired", func(c *ssh.Certificate) { c.ValidBefore = at(0) }, nil, "expired on 2026-06-01T12:00:00Z"},
		{"not yet valid", func(c *ssh.Certificate) { c.ValidAfter = at(time.Hour) }, nil, "not valid before 2026-06-01T13:00:00Z"},
		{"for a user", func(c *ssh.Certificate) { c.CertType = ssh.UserCert }, nil, "for a user"},
		{"for another host", func(c *ssh.Certificate) { c.ValidPrincipals = []string{"a", "b"} }, nil, "for a,b, not for box"},
		{"with an option nobody knows", func(c *ssh.Certificate) { c.CriticalOptions = map[string]string{"x": "y"} }, nil, "critical option"},
		{"forged", nil, func(c *ssh.Certificate) { c.Serial++ }, "does not verify"},
		{"signed with SHA-1", nil, func(c *ssh.Certificate) { c.Signature.Format = ssh.KeyAlgoRSA }, "SHA-1"},
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
	}
}
