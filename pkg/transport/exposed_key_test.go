package transport

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// TestExposedKey compares with real ssh what becomes of a private key that
// others may read.
func TestExposedKey(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	text, err := os.ReadFile(s.client)
	if err != nil {
		t.Fatal(err)
	}
	priv, err := ssh.ParsePrivateKey(text)
	if err != nil {
		t.Fatal(err)
	}
	agent := startAgent(t, s.client)
	pub := string(ssh.MarshalAuthorizedKey(priv.PublicKey()))
	rsa := s.path("rsa")
	rsaPub := sshKeygen(t, rsa, "-t", "rsa", "-m", "PEM")
	rsaText, err := os.ReadFile(rsa)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s.path("authorized_keys"), pub+string(ssh.MarshalAuthorizedKey(rsaPub)))
	rsaAgent := startAgent(t, rsa)

	for _, tc := range []struct {
		name   string
		mode   os.FileMode
		key    []byte
		pub    string // what stands beside it
		config []string
		used   bool // by ssh and by this package

	}{
		{name: "ours alone", mode: 0o600, key: text, used: true},
		{name: "ours, to read only", mode: 0o400, key: text, used: true},
		{name: "the group may read it", mode: 0o640, key: text},
		{name: "others may read it", mode: 0o604, key: text},
		{name: "the group may write it", mode: 0o620, key: text},
		{name: "others may run it", mode: 0o601, key: text},
		{name: "everybody, with its public half beside it", mode: 0o644, key: text, pub: pub},
		{name: "in the agent", mode: 0o644, key: text, config: []string{"IdentityAgent " + agent, "IdentitiesOnly yes"}, used: true},
		{name: "in the agent, with its public half beside it", mode: 0o644, key: text, pub: pub, config: []string{"IdentityAgent " + agent, "IdentitiesOnly yes"}, used: true},
		{name: "of the old form", mode: 0o600, key: rsaText, used: true},
		{name: "of the old form, for all", mode: 0o644, key: rsaText},
		// Its public half is nowhere to be seen.
		{name: "of the old form, in the agent", mode: 0o644, key: rsaText, config: []string{"IdentityAgent " + rsaAgent, "IdentitiesOnly yes"}},
		{name: "of the old form, in the agent, with its public half beside it", mode: 0o644, key: rsaText, pub: string(ssh.MarshalAuthorizedKey(rsaPub)),
			config: []string{"IdentityAgent " + rsaAgent, "IdentitiesOnly yes"}, used: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := s.path("subject")
			_ = os.Remove(file + ".pub")
			if tc.pub != "" {
				write(t, file+".pub", tc.pub)
			}
			write(t, file, string(tc.key))
			if err := os.Chmod(file, tc.mode); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = os.Remove(file) }()
			e := s.only(file, tc.config...)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if out, err := exec.CommandContext(ctx, "ssh", "-F", e.ConfigFile, "-o", "BatchMode=yes", "box", "true").CombinedOutput(); (err == nil) != tc.used {
				t.Errorf("ssh: %v: %s", err, out)
			}
			p := &person{}
			o := p.options()
			o.Ask = nil
			pool := newPool(t, o)
			if tc.used {
				succeed(t, pool, e)
				if len(p.warned) > 0 {
					t.Errorf("said %q", p.warned)
				}
				return
			}
			for range 2 {
				err := refusal(t, pool, e, KindAuth)
				wantText(t, err.Hint, file+" is not used: others may read it; chmod 600 "+Quote(file))
			}
			if len(p.warned) != 1 || !strings.Contains(p.warned[0], file+" is not used") {
				t.Errorf("said %q", p.warned)
			}
		})
	}

	t.Run("of somebody else", func(t *testing.T) {
		if os.Getuid() != 0 { // nobody else can read such a file
			return
		}
		file := s.path("foreign")
		write(t, file, string(text))
		if err := os.Chmod(file, 0o640); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(file, 65534, -1); err != nil {
			t.Fatal(err)
		}
		succeed(t, newPool(t, Options{}), s.only(file))
	})
	t.Run("locked", func(t *testing.T) {
		file := s.path("locked")
		write(t, file, string(text))
		lock(t, file, "another made-up phrase")
		if err := os.Chmod(file, 0o644); err != nil {
			t.Fatal(err)
		}
		p := says("another made-up phrase")
		refusal(t, newPool(t, p.options()), s.only(file), KindAuth)
		p.wantAsked(t, 0, QuestionPassphrase)
	})
}
