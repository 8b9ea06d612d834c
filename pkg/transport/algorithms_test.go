package transport

import (
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// TestAlgorithms has them negotiated with a real sshd.
func TestAlgorithms(t *testing.T) {
	t.Parallel()
	s := startServer(t, "KexAlgorithms diffie-hellman-group16-sha512,ecdh-sha2-nistp521", "Ciphers aes256-ctr", "MACs hmac-sha2-512", "LogLevel DEBUG")
	succeed(t, newPool(t, Options{}), s.endpoint())
	for _, tc := range []struct {
		line string
		kind Kind // 0: it connects
		want []string
	}{
		{"KexAlgorithms ecdh-sha2-nistp521", 0, nil},
		{"KexAlgorithms curve25519-sha256", KindProtocol, []string{"key exchange", "this side takes curve25519-sha256", "diffie-hellman-group16-sha512,ecdh-sha2-nistp521"}},
		{"KexAlgorithms sntrup761x25519-sha512@openssh.com", KindConfig, []string{"KexAlgorithms"}},
		{"Ciphers aes256-gcm@openssh.com,aes256-ctr", 0, nil},
		{"Ciphers aes128-ctr", KindProtocol, []string{"the server offers aes256-ctr"}},
		{"MACs hmac-sha2-512,hmac-sha2-256", 0, nil},
		{"MACs hmac-sha2-256", KindProtocol, []string{"the server offers hmac-sha2-512"}},
		{"HostKeyAlgorithms ssh-ed25519", 0, nil},
		{"HostKeyAlgorithms rsa-sha2-512", KindProtocol, []string{"the server offers ssh-ed25519"}},
		{"HostKeyAlgorithms sk-ssh-ed25519@openssh.com", KindConfig, []string{"HostKeyAlgorithms"}},
		{"PubkeyAcceptedAlgorithms rsa-sha2-512", KindAuth, []string{"PubkeyAcceptedAlgorithms leaves out"}},
		{"PubkeyAcceptedAlgorithms ssh-ed25519", 0, nil},
	} {
		t.Run(tc.line, func(t *testing.T) {
			if tc.kind == 0 {
				succeed(t, newPool(t, Options{}), s.endpoint(tc.line))
				return
			}
			err := refusal(t, newPool(t, Options{}), s.endpoint(tc.line), tc.kind)
			wantText(t, err.Error()+"\n"+err.Hint, tc.want...)
		})
	}
}

// TestHostKeyAlgorithms has the known types asked for first.
func TestHostKeyAlgorithms(t *testing.T) {
	key := func(kind string, bits ...string) ssh.PublicKey {
		return sshKeygen(t, t.TempDir()+"/k", append([]string{"-t", kind}, bits...)...)
	}
	ed, rsa, ec := key("ed25519"), key("rsa"), key("ecdsa", "-b", "384")
	for _, tc := range []struct {
		name  string
		known []string
		algos []string // configured
		want  string   // the first of them
	}{
		{"nothing known", nil, nil, "ssh-ed25519 ecdsa-sha2-nistp256"},
		{"one known", []string{keyLine("box", rsa)}, nil, "rsa-sha2-512 rsa-sha2-256 ssh-ed25519"},
		{"two known", []string{keyLine("box", rsa), keyLine("box", ec)}, nil, "ecdsa-sha2-nistp384 rsa-sha2-512 rsa-sha2-256 ssh-ed25519"},
		{"another host's", []string{keyLine("elsewhere", rsa)}, nil, "ssh-ed25519"},
		{"an authority", []string{"@cert-authority " + keyLine("box", rsa)}, nil, "ssh-ed25519-cert-v01@openssh.com"},
		{"a revoked one is not known", []string{"@revoked " + keyLine("box", rsa)}, nil, "ssh-ed25519"},
		{"configured", []string{keyLine("box", rsa)}, []string{"ssh-ed25519", "rsa-sha2-256"}, "rsa-sha2-256 ssh-ed25519"},
		{"configured, nothing known", nil, []string{"rsa-sha2-256", "ssh-ed25519"}, "rsa-sha2-256 ssh-ed25519"},
		{"configured, certificates alone", []string{keyLine("box", ed)}, []string{"ssh-ed25519-cert-v01@openssh.com"}, "ssh-ed25519-cert-v01@openssh.com"},
		{"SHA-1 as it is written", nil, []string{"ssh-rsa"}, "ssh-rsa"},
	} {
		algos := tc.algos
		if algos == nil {
			algos = hostKeyList.base
		}
		s := &settings{host: "box", port: 22, hostKeyAlgos: algos, userKnown: []string{fileOf(t, tc.known...)}}
		h, kerr := newHostKeys(t.Context(), newPool(t, Options{}), Endpoint{}, s)
		if kerr != nil {
			t.Fatal(kerr)
		}
		got := h.algorithms()
		if all := strings.Join(got, " "); !strings.HasPrefix(all, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, all, tc.want)
		}
		if len(got) != len(algos) {
			t.Errorf("%s: only %q", tc.name, got)
		}
	}
}
