package transport

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// offerLine is what sshd logs for a key that is offered, and then for its refusal;
// of a key that signs without being offered first, it logs the second alone.
var offerLine = regexp.MustCompile(`pkalg (\S+) pkblob (.*?) \[preauth\]|Failed publickey for .* ssh2: (\S+ \S+)`)

// offers runs a login and gives what sshd saw offered in it.
func offers(t *testing.T, s *server, login func()) []string {
	t.Helper()
	before, err := os.ReadFile(s.path("log"))
	if err != nil {
		t.Fatal(err)
	}
	login()
	var got []string
	eventually(t, "sshd logs the end of the login", func() bool {
		log, err := os.ReadFile(s.path("log"))
		if err != nil {
			t.Fatal(err)
		}
		got = nil
		log = log[len(before):]
		for _, m := range offerLine.FindAllSubmatch(log, -1) {
			key := string(m[2]) + string(m[3])
			if len(got) == 0 || !strings.Contains(got[len(got)-1], " "+key) {
				got = append(got, string(m[1])+" "+key)
			}
		}
		return regexp.MustCompile(`(?m)(Connection (closed|reset) by|Disconnect(ed|ing)|Received disconnect).*$`).Match(log)
	})
	return got
}

// TestOfferOrder compares, in the log of one sshd, the keys that real ssh and
// this package offer, and their order.
func TestOfferOrder(t *testing.T) {
	t.Parallel()
	s := startServer(t, "LogLevel DEBUG", "MaxAuthTries 30")
	write(t, s.path("authorized_keys"), "") // so that all are offered
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, k := range []string{"a", "b", "c", "d", "e", "ca"} {
		sshKeygen(t, in(k), "-t", "ed25519")
	}
	sshKeygen(t, in("rsa"), "-t", "rsa")
	sshKeygen(t, in("ecdsa"), "-t", "ecdsa")
	sh := func(line string) {
		t.Helper()
		cmd := exec.Command("sh", "-ec", line)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", line, err, out)
		}
	}
	sh(`mkdir certified; cp d d.pub e e.pub rsa rsa.pub certified/
		ssh-keygen -q -s ca -I d -n root certified/d.pub; ssh-keygen -q -s ca -I rsa -n root certified/rsa.pub
		mkdir apart; cp e.pub apart/e.pub; ssh-keygen -q -s ca -I e -n root apart/e.pub
		mkdir host; cp a a.pub host/; ssh-keygen -q -s ca -h -I a -n root host/a.pub
		mkdir nopub; cp b nopub/b
		mkdir locked; cp c c.pub locked/; ssh-keygen -q -p -a 1 -P '' -N 'made-up phrase' -f locked/c
		mkdir legacy; cp rsa legacy/rsa; ssh-keygen -q -p -m PEM -P '' -N 'made-up phrase' -f legacy/rsa; cp rsa legacy/open; ssh-keygen -q -p -m PEM -P '' -N '' -f legacy/open`)
	three := startAgent(t, in("a"), in("b"), in("c"))
	withCert := startAgent(t, in("a"), in("certified/d"), in("rsa"))

	const alone = "IdentitiesOnly yes"
	for _, tc := range []struct {
		name   string
		agent  string
		config []string
		n      int // how many are offered
	}{
		{"agent alone", three, []string{"IdentityFile none"}, 3},
		{"no agent, no files", "", []string{"IdentityFile none"}, 0},
		{"file that the agent has", three, []string{"IdentityFile DIR/b"}, 3},
		{"files that the agent has, in another order", three, []string{"IdentityFile DIR/c", "IdentityFile DIR/b"}, 3},
		{"file that the agent has not", three, []string{"IdentityFile DIR/d"}, 4},
		{"both kinds", three, []string{"IdentityFile DIR/d", "IdentityFile DIR/c", "IdentityFile DIR/e"}, 5},
		{"files alone", "", []string{"IdentityFile DIR/d", "IdentityFile DIR/a", "IdentityFile DIR/rsa", "IdentityFile DIR/ecdsa"}, 4},
		{"only these", three, []string{alone, "IdentityFile DIR/b"}, 1},
		{"only these, the agent has not", three, []string{alone, "IdentityFile DIR/d"}, 1},
		{"only these, both kinds", three, []string{alone, "IdentityFile DIR/d", "IdentityFile DIR/c", "IdentityFile DIR/a"}, 3},
		{"only, and none", three, []string{alone, "IdentityFile none"}, 0},
		{"chosen by the public file", three, []string{alone, "IdentityFile DIR/b.pub"}, 1},
		{"public file first, others after", three, []string{"IdentityFile DIR/c.pub"}, 3},
		{"missing file", three, []string{"IdentityFile DIR/nothing"}, 3},
		{"no public file beside", "", []string{"IdentityFile DIR/nopub/b", "IdentityFile DIR/a"}, 2},
		{"no public file beside, in the agent", three, []string{alone, "IdentityFile DIR/nopub/b"}, 1},
		{"locked, with its public half", "", []string{"IdentityFile DIR/locked/c", "IdentityFile DIR/a"}, 2},
		{"locked, in the agent", three, []string{"IdentityFile DIR/locked/c", "IdentityFile DIR/d"}, 4},
		{"locked, its public half unknown", "", []string{"IdentityFile DIR/legacy/rsa", "IdentityFile DIR/a"}, 1},
		{"certificate beside", "", []string{"IdentityFile DIR/certified/d"}, 2},
		{"certificate beside, among others", "", []string{"IdentityFile DIR/a", "IdentityFile DIR/certified/d", "IdentityFile DIR/b"}, 4},
		{"certificate beside, agent", three, []string{"IdentityFile DIR/certified/d"}, 5},
		{"certificate of a host beside", "", []string{"IdentityFile DIR/host/a"}, 1},
		{"RSA certificate beside", "", []string{"IdentityFile DIR/certified/rsa"}, 2},
		{"CertificateFile", "", []string{"CertificateFile DIR/apart/e-cert.pub", "IdentityFile DIR/a", "IdentityFile DIR/e"}, 3},
		{"CertificateFile, agent", three, []string{"CertificateFile DIR/apart/e-cert.pub", "IdentityFile DIR/e"}, 5},
		{"CertificateFile and IdentityFile that the agent has", three, []string{"CertificateFile DIR/apart/e-cert.pub", "IdentityFile DIR/b", "IdentityFile DIR/e"}, 5},
		{"two CertificateFiles", "", []string{"CertificateFile DIR/certified/d-cert.pub", "CertificateFile DIR/apart/e-cert.pub", "IdentityFile DIR/e", "IdentityFile DIR/d"}, 4},
		{"CertificateFile missing", "", []string{"CertificateFile DIR/nothing-cert.pub", "IdentityFile DIR/e"}, 1},
		{"certificate in the agent", withCert, []string{"IdentityFile none"}, 4},
		{"certificate in the agent, named", withCert, []string{"IdentityFile DIR/certified/d"}, 4},
		{"certificate in the agent, only", withCert, []string{alone, "IdentityFile DIR/certified/d"}, 2},
		{"certificate in the agent, the bare key named", withCert, []string{alone, "IdentityFile DIR/d"}, 1},
		{"algorithms leave one out", withCert, []string{"PubkeyAcceptedAlgorithms ssh-ed25519", "IdentityFile DIR/ecdsa"}, 2},
		{"algorithms leave the bare keys out", withCert, []string{"PubkeyAcceptedAlgorithms ssh-ed25519-cert-v01@openssh.com", "IdentityFile none"}, 1},
		{"RSA by one algorithm", withCert, []string{"PubkeyAcceptedAlgorithms rsa-sha2-256", "IdentityFile DIR/a"}, 1},
		{"RSA by the other first", withCert, []string{"PubkeyAcceptedAlgorithms rsa-sha2-256,rsa-sha2-512,ssh-ed25519", "IdentityFile none"}, 3},
		{"RSA certificate by one algorithm", "", []string{"PubkeyAcceptedAlgorithms rsa-sha2-256-cert-v01@openssh.com", "IdentityFile DIR/certified/rsa"}, 1},
		{"off", three, []string{"PubkeyAuthentication no"}, 0},
		{"another method only", three, []string{"PreferredAuthentications password,keyboard-interactive"}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			lines := []string{"BatchMode yes"}
			if tc.agent != "" {
				lines = append(lines, "IdentityAgent "+tc.agent)
			}
			for _, l := range tc.config {
				lines = append(lines, strings.ReplaceAll(l, "DIR", dir))
			}
			block := strings.ReplaceAll(s.block("box", lines...), "  IdentityFile "+s.client+"\n", "")
			config := s.configFile(block)
			theirs := offers(t, s, func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if out, err := exec.CommandContext(ctx, "ssh", "-F", config, "box", "true").CombinedOutput(); err == nil {
					t.Errorf("ssh logged in: %s", out)
				}
			})
			ours := offers(t, s, func() {
				refusal(t, newPool(t, Options{}), Endpoint{Destination: "box", ConfigFile: config}, KindAuth)
			})
			if !slices.Equal(theirs, ours) || len(ours) != tc.n {
				t.Errorf("want %d\nssh:\n  %s\nthis package:\n  %s", tc.n, strings.Join(theirs, "\n  "), strings.Join(ours, "\n  "))
			}
		})
	}

	// What follows is not quite as with OpenSSH, on purpose.
	t.Run("a key of the old form is offered before it signs", func(t *testing.T) {
		block := strings.ReplaceAll(s.block("box", "IdentityFile "+in("legacy/open"), "IdentityFile "+in("a")), "  IdentityFile "+s.client+"\n", "")
		got := offers(t, s, func() {
			refusal(t, newPool(t, Options{}), Endpoint{Destination: "box", ConfigFile: s.configFile(block)}, KindAuth)
		})
		if len(got) != 2 || !strings.HasPrefix(got[0], "rsa-sha2-512 RSA ") {
			t.Errorf("offered %q", got)
		}
	})
	t.Run("one key in two files is offered once", func(t *testing.T) {
		sh("cp a again")
		block := strings.ReplaceAll(s.block("box", "IdentityFile "+in("a"), "IdentityFile "+in("again")), "  IdentityFile "+s.client+"\n", "")
		got := offers(t, s, func() {
			refusal(t, newPool(t, Options{}), Endpoint{Destination: "box", ConfigFile: s.configFile(block)}, KindAuth)
		})
		if len(got) != 1 {
			t.Errorf("offered %q", got)
		}
	})
	t.Run("nothing is offered that cannot sign", func(t *testing.T) {
		block := strings.ReplaceAll(s.block("box", "CertificateFile "+in("apart/e-cert.pub"), "IdentityFile "+in("a.pub"), "IdentityFile "+in("b")), "  IdentityFile "+s.client+"\n", "")
		var err Error
		got := offers(t, s, func() {
			err = refusal(t, newPool(t, Options{}), Endpoint{Destination: "box", ConfigFile: s.configFile(block)}, KindAuth)
		})
		b, _ := os.ReadFile(in("b.pub"))
		pub, _, _, _, perr := ssh.ParseAuthorizedKey(b)
		if perr != nil {
			t.Fatal(perr)
		}
		if len(got) != 1 || !strings.Contains(got[0], ssh.FingerprintSHA256(pub)) {
			t.Errorf("offered %q", got)
		}
		wantText(t, err.Hint, in("a.pub")+" is a public key", "apart/e-cert.pub: nothing holds the key")
	})
}
