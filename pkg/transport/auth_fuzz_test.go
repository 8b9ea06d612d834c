package transport

import (
	"encoding/pem"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// FuzzKnownLine reads lines of known_hosts, which others may have written.
func FuzzKnownLine(f *testing.F) {
	const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHNvbWUga2V5IG9mIHRoaXJ0eS10d28gYnl0ZXMhISEh"
	for _, s := range []string{"", "#", "box " + key, "@revoked * " + key, "@cert-authority [box]:1,!x* " + key + " c", "|1|AAAA|AAAA " + key, "a b c", "!,,! x y"} {
		f.Add(s, "box")
	}
	f.Fuzz(func(t *testing.T, line, name string) {
		e, ok := parseKnownLine(line)
		if !ok {
			return
		}
		if e.hosts == "" || e.kind == "" || e.blob == "" || strings.HasPrefix(strings.TrimLeft(line, " \t"), "#") {
			t.Errorf("%q gives %+v", line, e)
		}
		named := e.names(name)
		if k, err := e.key(); err == nil && k.Type() != e.kind {
			t.Errorf("%q gives a %s key", line, k.Type())
		}
		if got := lookUp([]knownEntry{e}, name); len(got) > 0 && !named {
			t.Errorf("%q names %q only at times", line, name)
		}
	})
}

// FuzzKeyFile reads what IdentityFile, RevokedHostKeys and their like may name.
func FuzzKeyFile(f *testing.F) {
	f.Add([]byte("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHNvbWUga2V5IG9mIHRoaXJ0eS10d28gYnl0ZXMhISEh me"))
	f.Add([]byte("# a\n\nssh-rsa x"))
	f.Add([]byte(krlMagic + "\x00\x00"))
	f.Add(pem.EncodeToMemory(&pem.Block{Type: "OPENSSH PRIVATE KEY", Bytes: []byte("openssh-key-v1\x00\x00\x00\x00\x04none")}))
	file := f.TempDir() + "/k"
	newKey(f, file)
	if text, err := os.ReadFile(file); err == nil {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		embedded(text)
		pub := parsePublic(text)
		keys, err := parseRevoked(text)
		for _, k := range append(keys, pub) {
			if k == nil {
				continue
			}
			if again, err := ssh.ParsePublicKey(k.Marshal()); err != nil || !sameKey(again, k) {
				t.Errorf("%q gives a key that is none: %v", text, err)
			}
		}
		if err != nil && len(keys) > 0 {
			t.Errorf("%q gives keys and %v", text, err)
		}
		if cert, ok := pub.(*ssh.Certificate); ok {
			_ = checkHostCert(cert, "box", time.Unix(1e9, 0))
			_ = certTime(cert.ValidBefore)
		}
	})
}
