package transport

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
)

// TestHostKeyQuestion has a person judge an unknown host.
func TestHostKeyQuestion(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	other := newKey(t, s.path("other"))
	fingerprint := ssh.FingerprintSHA256(s.hosts[0])
	at := fmt.Sprintf("[127.0.0.1]:%d", s.port)
	for _, tc := range []struct {
		name   string
		known  string
		config []string
		answer string // several with | between
		asked  int
		kind   Kind // 0: it connects, and is recorded
	}{
		{"yes", "", nil, "yes", 1, 0},
		{"yes, loudly", "", nil, " YES ", 1, 0},
		{"the fingerprint", "", nil, fingerprint, 1, 0},
		{"another fingerprint", "", nil, ssh.FingerprintSHA256(other), 3, KindHostKeyUnknown},
		{"another fingerprint, then this", "", nil, ssh.FingerprintSHA256(other) + "|" + fingerprint, 2, 0},
		{"a part of it", "", nil, fingerprint[:20], 3, KindHostKeyUnknown},
		{"no", "", nil, "no", 1, KindHostKeyUnknown},
		{"no, loudly", "", nil, " NO|yes", 1, KindHostKeyUnknown},
		{"y", "", nil, "y", 3, KindHostKeyUnknown},
		{"y, then yes", "", nil, "y|yes", 2, 0},
		{"y, then no", "", nil, "y|no|yes", 2, KindHostKeyUnknown},
		{"nothing", "", nil, "", 3, KindHostKeyUnknown},
		{"nothing, twice, then yes", "", nil, "||yes", 3, 0},
		{"yes only at the fourth time", "", nil, "|||yes", 3, KindHostKeyUnknown},
		{"in batch", "", []string{"BatchMode yes"}, "yes", 0, KindHostKeyUnknown},
		{"strict", "", []string{"StrictHostKeyChecking yes"}, "yes", 0, KindHostKeyUnknown},
		{"changed", keyLine(at, other) + "\n", nil, "yes", 0, KindHostKeyChanged},
		{"revoked", "@revoked " + keyLine("*", s.hosts[0]) + "\n", nil, "yes", 0, KindHostKeyChanged},
	} {
		t.Run(tc.name, func(t *testing.T) {
			write(t, s.path("known_hosts"), tc.known)
			p := says(strings.Split(tc.answer, "|")...)
			pool := newPool(t, p.options())
			want := tc.known
			if tc.kind == 0 {
				succeed(t, pool, s.endpoint(tc.config...))
				want += keyLine(at, s.hosts[0]) + "\n"
			} else {
				refusal(t, pool, s.endpoint(tc.config...), tc.kind)
			}
			p.wantAsked(t, tc.asked, QuestionHostKey)
			for i, q := range p.questions() {
				wantText(t, q.Text, "box", "yes")
				wantText(t, q.Detail, s.addr(), "ssh-ed25519", fingerprint)
				if again := strings.Contains(q.Detail, "Please type yes, no or the fingerprint"); again != (i > 0) || again == strings.Contains(q.Detail, "No other name") {
					t.Errorf("question %d says %q", i, q.Detail)
				}
			}
			if text, err := os.ReadFile(s.path("known_hosts")); err != nil || string(text) != want {
				t.Errorf("known_hosts is %q, %v", text, err)
			}
		})
	}

	t.Run("other names with the same key", func(t *testing.T) {
		write(t, s.path("known_hosts"), strings.Join([]string{
			keyLine("elsewhere,10.0.0.1", s.hosts[0]), keyLine("third", other), keyLine(hashed(t, "secret"), s.hosts[0]), keyLine("127.0.0.1", other), "",
		}, "\n"))
		p := says("no")
		err := refusal(t, newPool(t, p.options()), s.endpoint(), KindHostKeyUnknown)
		wantText(t, err.Error(), s.path("known_hosts")+":4 has the ssh-ed25519 key "+ssh.FingerprintSHA256(other), "you did not take it")
		p.wantAsked(t, 1, QuestionHostKey)
		detail := p.questions()[0].Detail
		wantText(t, detail, "known_hosts:1: elsewhere,10.0.0.1", "known_hosts:3: a hashed name", "without the port")
		if strings.Contains(detail, "third") {
			t.Errorf("a name with another key is shown: %s", detail)
		}
	})
	t.Run("two names of one host at once", func(t *testing.T) {
		write(t, s.path("known_hosts"), "")
		before := s.logged("Connection from")
		p := &person{answers: func(int, Question) (string, error) {
			eventually(t, "all are connected", func() bool { return s.logged("Connection from") >= before+3 })
			return "yes", nil
		}}
		pool := newPool(t, p.options())
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { succeed(t, pool, s.endpoint()) })
		}
		wg.Wait()
		p.wantAsked(t, 1, QuestionHostKey)
	})
	t.Run("nobody answers", func(t *testing.T) {
		write(t, s.path("known_hosts"), "")
		for why, want := range map[string]string{
			"the terminal is gone":          "the question whether that is its key was not answered: the terminal is gone",
			"the question was not answered": "the question whether that is its key was not answered",
		} {
			p := &person{answers: func(int, Question) (string, error) { return "yes", errors.New(why) }}
			err := refusal(t, newPool(t, p.options()), s.endpoint(), KindHostKeyUnknown)
			if !strings.HasSuffix(err.Error(), ": "+want) {
				t.Errorf("got %v", &err)
			}
			p.wantAsked(t, 1, QuestionHostKey)
		}
	})
	for _, file := range []string{"none", "/dev/null"} {
		t.Run("no record in "+file, func(t *testing.T) {
			for _, strict := range []string{"ask", "accept-new", "no"} {
				p := says("yes")
				succeed(t, newPool(t, p.options()), s.endpoint("UserKnownHostsFile "+file, "StrictHostKeyChecking "+strict))
				if n := len(p.questions()); (n == 1) != (strict == "ask") {
					t.Errorf("%s: asked %d questions", strict, n)
				}
				if said := strings.Join(p.warned, "\n"); !strings.Contains(said, fingerprint) || !strings.Contains(said, "no record") {
					t.Errorf("%s: said %q", strict, said)
				}
			}
			refusal(t, newPool(t, Options{}), s.endpoint("UserKnownHostsFile "+file), KindHostKeyUnknown)
		})
	}
	t.Run("a file that cannot be written", func(t *testing.T) {
		// As with ssh, which says so and goes on.
		for _, strict := range []string{"ask", "accept-new", "no"} {
			p := says("yes")
			succeed(t, newPool(t, p.options()), s.endpoint("UserKnownHostsFile /proc/no/known_hosts", "StrictHostKeyChecking "+strict))
			wantText(t, strings.Join(p.warned, "\n"), "cannot be recorded", fingerprint)
		}
		refusal(t, newPool(t, Options{}), s.endpoint("UserKnownHostsFile /proc/no/known_hosts"), KindHostKeyUnknown)
	})
}

// TestRevocationList names what is not supported, before anything connects.
func TestRevocationList(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	newKey(t, s.path("other"))
	krl := s.path("krl")
	sh := fmt.Sprintf("ssh-keygen -y -f '%s' >'%s.pub' && ssh-keygen -q -k -f '%s' '%s.pub'", s.path("other"), s.path("other"), krl, s.path("other"))
	if out, err := exec.Command("sh", "-c", sh).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	err := refusal(t, newPool(t, Options{}), s.endpoint("RevokedHostKeys "+krl), KindConfig)
	wantText(t, err.Error(), "RevokedHostKeys "+krl, "binary key revocation list")
	succeed(t, newPool(t, Options{}), s.endpoint("RevokedHostKeys none"))
	werr := refusal(t, newPool(t, Options{}), s.endpoint("RevokedHostKeys "+fileOf(t, "# bad", keyLine("", s.hosts[0])[1:])), KindHostKeyChanged)
	wantText(t, werr.Error(), "revokes", ssh.FingerprintSHA256(s.hosts[0]))
}
