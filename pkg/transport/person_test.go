package transport

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// person answers the questions of a pool, and remembers them.
type person struct {
	mu      sync.Mutex
	asked   []Question
	warned  []string
	answers func(n int, q Question) (string, error) // n counts from 0
}

// says gives answers one after the other, and the last for ever.
func says(answers ...string) *person {
	return &person{answers: func(n int, _ Question) (string, error) { return answers[min(n, len(answers)-1)], nil }}
}

func (p *person) options() Options {
	return Options{
		Ask: func(_ context.Context, q Question) (string, error) {
			p.mu.Lock()
			n := len(p.asked)
			p.asked = append(p.asked, q)
			p.mu.Unlock()
			return p.answers(n, q)
		},
		Warn: func(_ Endpoint, text string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.warned = append(p.warned, text)
		},
	}
}

func (p *person) questions() []Question {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Question(nil), p.asked...)
}

// wantAsked has the person asked n questions of one kind.
func (p *person) wantAsked(t *testing.T, n int, kind QuestionKind) {
	t.Helper()
	q := p.questions()
	if len(q) != n {
		t.Fatalf("asked %d questions, want %d: %+v", len(q), n, q)
	}
	for _, q := range q {
		if q.Kind != kind {
			t.Errorf("asked %+v, want kind %v", q, kind)
		}
	}
}

// logged counts what sshd has logged.
func (s *server) logged(what string) int {
	log, _ := os.ReadFile(s.path("log"))
	return strings.Count(string(log), what)
}

// lock gives a key a passphrase.
func lock(t *testing.T, file, phrase string, args ...string) {
	t.Helper()
	args = append([]string{"-q", "-p", "-a", "1", "-P", "", "-N", phrase, "-f", file}, args...)
	if out, err := exec.Command("ssh-keygen", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// only is the server by one IdentityFile, with lines before it.
func (s *server) only(file string, lines ...string) Endpoint {
	block := strings.ReplaceAll(s.block("box", lines...), "IdentityFile "+s.client, "IdentityFile "+file)
	return Endpoint{Destination: "box", ConfigFile: s.configFile(block)}
}

func TestPassphrase(t *testing.T) {
	t.Parallel()
	const phrase = "made-up phrase"
	s := startServer(t)
	text, err := os.ReadFile(s.client)
	if err != nil {
		t.Fatal(err)
	}
	locked := s.path("locked")
	write(t, locked, string(text))
	lock(t, locked, phrase)
	foreign := s.path("foreign") // locked, and the server does not take it
	newKey(t, foreign)
	lock(t, foreign, phrase)
	old := s.path("old") // in a form that hides the public half
	oldPub := sshKeygen(t, old, "-t", "rsa", "-m", "PEM")
	lock(t, old, phrase, "-m", "PEM")
	if err := os.Remove(old + ".pub"); err != nil {
		t.Fatal(err)
	}
	authorized, err := os.ReadFile(s.path("authorized_keys"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, s.path("authorized_keys"), string(authorized)+string(ssh.MarshalAuthorizedKey(oldPub)))

	takes := "takes the key " + locked + " for " + userName(t) + ", but it stays locked: "
	for _, tc := range []struct {
		name    string
		e       Endpoint
		answers []string
		asked   int
		text    string // of the refusal; empty: it connects
		hint    string // what its first line says
	}{
		{"right", s.only(locked), []string{phrase}, 1, "", ""},
		{"wrong twice, then right", s.only(locked), []string{"no", "neither", phrase}, 3, "", ""},
		{"wrong three times", s.only(locked), []string{"no"}, 3, takes + "no passphrase fitted", "try again with the key's passphrase"},
		{"as often as is set", s.only(locked, "NumberOfPasswordPrompts 1"), []string{"no", phrase}, 1, takes + "no passphrase fitted", "ssh-add " + Quote(locked)},
		{"skipped", s.only(locked), []string{""}, 1, takes + "no passphrase was given", "try again with the key's passphrase"},
		{"the server would not take it", s.only(foreign), []string{phrase}, 0, "permission denied (publickey)", "authorized_keys"},
		{"the server takes the other one", s.only(s.client, "IdentityFile "+foreign), []string{phrase}, 0, "", ""},
		{"never in batch", s.only(locked, "BatchMode yes"), []string{phrase}, 0, takes + "its passphrase is needed, and BatchMode is set", "load the locked key into an agent: ssh-add " + Quote(locked)},
		{"among refused ones", s.only(foreign, "IdentityFile "+locked), []string{""}, 1, takes + "no passphrase was given", "try again with the key's passphrase"},
		{"its public half is not known", s.only(old), []string{phrase}, 1, "", ""},
		{"its public half is not known, and skipped", s.only(old), []string{""}, 1, "permission denied (publickey); the key " + old + " stays locked: no passphrase was given", "ssh-add " + Quote(old)},
		{"its public half is not known, in batch", s.only(old, "BatchMode yes"), []string{phrase}, 0, old + " stays locked: its passphrase is needed, and BatchMode is set", "ssh-add " + Quote(old)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := says(tc.answers...)
			pool := newPool(t, p.options())
			if tc.text == "" {
				succeed(t, pool, tc.e)
			} else {
				err := refusal(t, pool, tc.e, KindAuth)
				wantText(t, err.Error(), tc.text)
				first, rest, _ := strings.Cut(err.Hint, "\n")
				wantText(t, first, tc.hint)
				if strings.Contains(err.Hint+err.Error(), phrase) {
					t.Error("the error has the passphrase in it")
				}
				for line := range strings.Lines(rest) {
					if strings.HasPrefix(line, "refused: ") != strings.Contains(line, foreign) || strings.Contains(line, foreign) && strings.Contains(line, locked) {
						t.Errorf("of the refused keys it says %q", line)
					}
				}
			}
			p.wantAsked(t, tc.asked, QuestionPassphrase)
			for i, q := range p.questions() {
				if q.Echo || !strings.Contains(q.Text, "Passphrase") || (i > 0) != (q.Detail != "") || q.Endpoint != tc.e {
					t.Errorf("question %d is %+v", i, q)
				}
			}
		})
	}
	t.Run("nobody to ask", func(t *testing.T) {
		err := refusal(t, newPool(t, Options{}), s.only(locked), KindAuth)
		wantText(t, err.Error(), takes+"its passphrase is needed, and nobody can be asked here")
		first, _, _ := strings.Cut(err.Hint, "\n")
		wantText(t, first, "run it on a terminal", "ssh-add "+Quote(locked))
	})

	t.Run("once for all endpoints", func(t *testing.T) {
		before := s.logged("Postponed publickey")
		p := &person{answers: func(int, Question) (string, error) {
			eventually(t, "all have come to the locked key", func() bool { return s.logged("Postponed publickey") >= before+4 })
			return phrase, nil
		}}
		pool := newPool(t, p.options())
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { succeed(t, pool, s.only(locked)) })
		}
		wg.Wait()
		succeed(t, pool, s.only(locked))
		p.wantAsked(t, 1, QuestionPassphrase)
	})
	t.Run("a skip is for all endpoints, too", func(t *testing.T) {
		p := says("", phrase)
		pool := newPool(t, p.options())
		refusal(t, pool, s.only(locked), KindAuth)
		wantText(t, refusalHint(t, pool, s.only(locked)), "it was not unlocked a moment ago")
		p.wantAsked(t, 1, QuestionPassphrase)
	})
	t.Run("a skipped key is followed by others", func(t *testing.T) {
		p := says("")
		other := s.path("second")
		pub := newKey(t, other)
		write(t, s.path("authorized_keys"), string(authorized)+string(ssh.MarshalAuthorizedKey(pub)))
		succeed(t, newPool(t, p.options()), s.only(other, "IdentityFile "+locked))
		p.wantAsked(t, 1, QuestionPassphrase)
	})
	t.Run("a person who is not there", func(t *testing.T) {
		p := &person{answers: func(int, Question) (string, error) { return "", fmt.Errorf("no terminal\x1b[2J") }}
		err := refusal(t, newPool(t, p.options()), s.only(locked), KindAuth)
		wantText(t, err.Error(), takes+"the question for its passphrase was not answered")
		wantText(t, err.Hint, "the question for the passphrase of "+locked+" was not answered: no terminal")
		if strings.Contains(err.Hint, "\x1b") {
			t.Errorf("the hint is %q", err.Hint)
		}
		p.wantAsked(t, 1, QuestionPassphrase)
	})
	t.Run("a question ends with its caller", func(t *testing.T) {
		shown, over := make(chan struct{}), make(chan struct{})
		pool := newPool(t, Options{Ask: func(ctx context.Context, _ Question) (string, error) {
			close(shown)
			<-ctx.Done()
			close(over)
			return "", ctx.Err()
		}})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-shown; cancel() }()
		_, err := pool.Conn(s.only(locked)).Run(ctx, Script{Text: ":"})
		if k, _ := KindOf(err); k != KindCanceled {
			t.Errorf("got %v", err)
		}
		select {
		case <-over:
		case <-time.After(20 * time.Second):
			t.Error("the question stays open")
		}
	})
	t.Run("a question ends with its server", func(t *testing.T) {
		box := startServer(t, "LoginGraceTime 2")
		write(t, box.path("authorized_keys"), string(authorized))
		over := make(chan struct{})
		pool := newPool(t, Options{Ask: func(ctx context.Context, _ Question) (string, error) {
			<-ctx.Done()
			close(over)
			return "", ctx.Err()
		}})
		err := refusal(t, pool, box.only(locked), KindConnect)
		wantText(t, err.Hint, "LoginGraceTime")
		select {
		case <-over:
		case <-time.After(20 * time.Second):
			t.Error("the question stays open")
		}
	})
}

func refusalHint(t *testing.T, p *Pool, e Endpoint) string {
	t.Helper()
	err := refusal(t, p, e, KindAuth)
	return err.Hint
}
