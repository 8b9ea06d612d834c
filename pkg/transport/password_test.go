package transport

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// madeUp is the password of every account of a passwordServer, and madeUpHash
// what crypt(3) makes of it.
const (
	madeUp     = "made-up password"
	madeUpHash = "$6$madeupsalt$2w4.hGvyAeeaWD.LT86M8hEaBrIpreSC6lPddz9N/hvPr11utfid0oUjrCHHS16bEuaxWov9BM7XkrRtLSqa/1"
)

// passwordServer is a real sshd with password logins. It runs in a mount
// namespace of its own, in which /etc/shadow and PAM's file for sshd are the test's.
func passwordServer(t *testing.T, config ...string) *server {
	t.Helper()
	s := startServer(t, config...)
	s.stop()
	write(t, s.path("shadow"), fmt.Sprintf("%s:%s:20000:0:99999:7:::\nsshd:!:20000::::::\n", userName(t), madeUpHash))
	write(t, s.path("pam"), "auth required pam_unix.so nodelay\naccount required pam_permit.so\nsession required pam_permit.so\n")
	s.wrap = []string{"unshare", "--mount", "--propagation", "private", "sh", "-ec",
		`mount --bind "$1" /etc/shadow; mount --bind "$2" /etc/pam.d/sshd; shift 2; exec "$@"`, "sh", s.path("shadow"), s.path("pam")}
	s.start()
	return s
}

func TestPassword(t *testing.T) {
	t.Parallel()
	s := passwordServer(t, "PasswordAuthentication yes")
	none := s.path("nothing")
	account := userName(t) + "@127.0.0.1"

	for _, tc := range []struct {
		name    string
		e       Endpoint
		answers []string
		asked   int
		refused string // a part of the refusal's text or hint; empty: it connects
	}{
		{"right", s.only(none), []string{madeUp}, 1, ""},
		{"wrong twice, then right", s.only(none), []string{"no", "no", madeUp}, 3, ""},
		{"wrong three times", s.only(none), []string{"no"}, 3, "permission denied (publickey,password); 3 passwords were refused"},
		{"as often as is set", s.only(none, "NumberOfPasswordPrompts 1"), []string{"no", madeUp}, 1, "permission denied (publickey,password); 1 password was refused"},
		{"a key goes first", s.endpoint(), []string{madeUp}, 0, ""},
		{"unless the password is preferred", s.endpoint("PreferredAuthentications password,publickey"), []string{madeUp}, 1, ""},
		{"a refused password is followed by a key", s.endpoint("PreferredAuthentications password,publickey", "NumberOfPasswordPrompts 2"), []string{"no"}, 2, ""},
		{"not preferred at all", s.only(none, "PreferredAuthentications publickey"), []string{madeUp}, 0, "permission denied (publickey,password)"},
		{"off", s.only(none, "PasswordAuthentication no"), []string{madeUp}, 0, "PasswordAuthentication is off"},
		{"never in batch", s.only(none, "BatchMode yes"), []string{madeUp}, 0, "password: not tried, BatchMode is set"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := says(tc.answers...)
			pool := newPool(t, p.options())
			if tc.refused == "" {
				succeed(t, pool, tc.e)
			} else {
				err := refusal(t, pool, tc.e, KindAuth)
				wantText(t, err.Error()+"\n"+err.Hint, tc.refused)
			}
			p.wantAsked(t, tc.asked, QuestionPassword)
			for i, q := range p.questions() {
				if q.Echo || !strings.Contains(q.Text, account) || (i > 0) != (q.Detail != "") {
					t.Errorf("question %d is %+v", i, q)
				}
			}
		})
	}
	t.Run("advice fits the methods", func(t *testing.T) {
		refused := "the server said no to what was answered"
		for _, tc := range []struct {
			config      string
			answer      string // empty: there is nobody to ask
			says, lacks []string
		}{
			{"", "no", []string{refused, "takes keys, too"}, []string{"terminal"}},
			{"", "", []string{"no key was offered", "on a terminal", "ssh-add"}, []string{refused}},
			{"PreferredAuthentications password", "no", []string{refused}, []string{"key", "IdentityFile", "terminal"}},
			{"PreferredAuthentications password", "", []string{"on a terminal"}, []string{"key", "IdentityFile", "ssh-add"}},
			{"PubkeyAuthentication no", "no", []string{refused}, []string{"IdentityFile", "ssh-add"}},
			{"PubkeyAuthentication no", "", []string{"on a terminal"}, []string{"IdentityFile", "ssh-add"}},
			{"PreferredAuthentications publickey", "no", []string{"no key was offered"}, []string{refused, "terminal", "password"}},
			{"PreferredAuthentications hostbased", "no", []string{"PreferredAuthentications in ssh_config"}, []string{refused, "terminal", "key"}},
		} {
			o := Options{}
			if tc.answer != "" {
				o = says(tc.answer).options()
			}
			var lines []string
			if tc.config != "" {
				lines = append(lines, tc.config)
			}
			err := refusal(t, newPool(t, o), s.only(none, append(lines, "NumberOfPasswordPrompts 1")...), KindAuth)
			wantText(t, err.Hint, tc.says...)
			for _, part := range tc.lacks {
				if strings.Contains(err.Hint, part) {
					t.Errorf("%q with the answer %q: the hint %q speaks of %q", tc.config, tc.answer, err.Hint, part)
				}
			}
		}
	})
	t.Run("a person who is not there", func(t *testing.T) {
		for why, want := range map[string]string{
			"gone\x1b":                      "the question for the password of " + account + " was not answered: gone␛",
			"the question was not answered": "the question for the password of " + account + " was not answered",
		} {
			p := &person{answers: func(int, Question) (string, error) { return "", errors.New(why) }}
			err := refusal(t, newPool(t, p.options()), s.only(none), KindAuth)
			if !strings.HasSuffix(err.Hint, "\n"+want) || strings.Contains(err.Error(), "refused;") {
				t.Errorf("got %v; hint %q", &err, err.Hint)
			}
		}
	})
	t.Run("nobody to ask", func(t *testing.T) {
		err := refusal(t, newPool(t, Options{}), s.only(none), KindAuth)
		wantText(t, err.Hint, "password: not tried, nobody can be asked here", "on a terminal", "ssh-add")
	})
}

// TestKeyboardInteractive has PAM ask, by way of a real sshd.
func TestKeyboardInteractive(t *testing.T) {
	t.Parallel()
	s := passwordServer(t, "UsePAM yes", "KbdInteractiveAuthentication yes", "PasswordAuthentication yes")
	none := s.path("nothing")
	for _, tc := range []struct {
		name    string
		e       Endpoint
		answers []string
		asked   int
		kind    QuestionKind
		refused string
	}{
		{"right", s.only(none), []string{madeUp}, 1, QuestionKeyboard, ""},
		{"wrong, then right", s.only(none), []string{"no", madeUp}, 2, QuestionKeyboard, ""},
		{"off, so the password", s.only(none, "KbdInteractiveAuthentication no"), []string{madeUp}, 1, QuestionPassword, ""},
		{"the password preferred", s.only(none, "PreferredAuthentications password,keyboard-interactive"), []string{madeUp}, 1, QuestionPassword, ""},
		{"never in batch", s.only(none, "BatchMode yes"), []string{madeUp}, 0, 0, "keyboard-interactive: not tried, BatchMode is set"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := says(tc.answers...)
			pool := newPool(t, p.options())
			if tc.refused == "" {
				succeed(t, pool, tc.e)
			} else {
				wantText(t, refusalHint(t, pool, tc.e), tc.refused)
			}
			p.wantAsked(t, tc.asked, tc.kind)
		})
	}
	t.Run("wrong, one and the other", func(t *testing.T) {
		err := refusal(t, newPool(t, says("no").options()), s.only(none, "NumberOfPasswordPrompts 1"), KindAuth)
		wantText(t, err.Error(), "1 answer was refused; 1 password was refused")
	})
	t.Run("wrong three times, and then by password", func(t *testing.T) {
		p := &person{answers: func(_ int, q Question) (string, error) {
			if q.Kind == QuestionPassword {
				return madeUp, nil
			}
			return "no", nil
		}}
		succeed(t, newPool(t, p.options()), s.only(none))
		if q := p.questions(); len(q) != 4 || q[2].Kind != QuestionKeyboard || q[3].Kind != QuestionPassword {
			t.Errorf("asked %+v", q)
		}
	})
}

// TestSeveralMethods logs in where one method is not enough.
func TestSeveralMethods(t *testing.T) {
	t.Parallel()
	t.Run("a key and a password", func(t *testing.T) {
		s := passwordServer(t, "PasswordAuthentication yes", "AuthenticationMethods publickey,password")
		p := says(madeUp)
		succeed(t, newPool(t, p.options()), s.endpoint())
		p.wantAsked(t, 1, QuestionPassword)
		wrong := refusal(t, newPool(t, says("no").options()), s.endpoint("NumberOfPasswordPrompts 2"), KindAuth)
		wantText(t, wrong.Error(), "it accepted publickey and wants password as well; 2 passwords were refused")
		err := refusal(t, newPool(t, Options{}), s.endpoint(), KindAuth)
		wantText(t, err.Error(), "it accepted publickey and wants password as well")
		wantText(t, err.Hint, "password: not tried")
	})
	t.Run("two keys", func(t *testing.T) {
		s := startServer(t, "AuthenticationMethods publickey,publickey")
		second := s.path("second")
		pub := newKey(t, second)
		authorized, err := os.ReadFile(s.path("authorized_keys"))
		if err != nil {
			t.Fatal(err)
		}
		write(t, s.path("authorized_keys"), string(authorized)+string(ssh.MarshalAuthorizedKey(pub)))
		wrong := s.path("wrong")
		newKey(t, wrong)
		succeed(t, newPool(t, Options{}), s.endpoint("IdentityFile "+wrong, "IdentityFile "+second))
		rerr := refusal(t, newPool(t, Options{}), s.endpoint("IdentityFile "+wrong), KindAuth)
		wantText(t, rerr.Error(), "it accepted publickey and wants publickey as well")
		if n := strings.Count(rerr.Hint, "SHA256:"); n != 2 {
			t.Errorf("%d keys were offered: %s", n, rerr.Hint)
		}
	})
}

// TestQuestionsOfAServer has a server ask several things, in hostile words.
func TestQuestionsOfAServer(t *testing.T) {
	t.Parallel()
	var rounds func(ask ssh.KeyboardInteractiveChallenge) error
	s := startStandIn(t, &ssh.ServerConfig{
		KeyboardInteractiveCallback: func(_ ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
			return nil, rounds(ask)
		},
	})
	e := s.only(s.path("nothing"), "NumberOfPasswordPrompts 1")

	t.Run("two at once, and then one", func(t *testing.T) {
		rounds = func(ask ssh.KeyboardInteractiveChallenge) error {
			got, err := ask("Two steps\x1b]0;x\a", "read\nthis", []string{"Login\x1b[31m code:\r\n", "PIN: "}, []bool{true, false})
			if err != nil || strings.Join(got, ",") != "a,b" {
				return fmt.Errorf("got %q, %w", got, err)
			}
			if got, err = ask("", "", []string{"And more? "}, []bool{true}); err != nil || got[0] != "c" {
				return errors.New("no")
			}
			_, err = ask("", "done", nil, nil)
			return err
		}
		p := says("a", "b", "c")
		succeed(t, newPool(t, p.options()), e)
		p.wantAsked(t, 3, QuestionKeyboard)
		q := p.questions()
		if !q[0].Echo || q[1].Echo || !q[2].Echo {
			t.Errorf("echoes are wrong: %+v", q)
		}
		wantText(t, q[0].Text, userName(t)+"@127.0.0.1", "code:")
		wantText(t, q[0].Detail, "Two steps", "read\nthis")
		if all := fmt.Sprint(q); strings.ContainsAny(all, "\x1b\a\r") || strings.Contains(q[0].Text, "\n") {
			t.Errorf("a question is not neutral: %q", all)
		}
	})
	t.Run("not answered", func(t *testing.T) {
		rounds = func(ask ssh.KeyboardInteractiveChallenge) error {
			_, err := ask("", "", []string{"?"}, []bool{true})
			return err
		}
		p := &person{answers: func(int, Question) (string, error) { return "", errUnanswered }}
		err := refusal(t, newPool(t, p.options()), e, KindAuth)
		wantText(t, err.Hint, "the question by the server was not answered")
		if strings.Contains(err.Error(), "answer was refused") {
			t.Errorf("got %v", &err)
		}
	})
	t.Run("too many", func(t *testing.T) {
		rounds = func(ask ssh.KeyboardInteractiveChallenge) error {
			_, err := ask("", "", make([]string, 1000), make([]bool, 1000))
			return err
		}
		p := says("a")
		err := refusal(t, newPool(t, p.options()), e, KindAuth)
		wantText(t, err.Error(), "refused the login")
		p.wantAsked(t, 0, 0)
	})
	t.Run("for ever", func(t *testing.T) {
		rounds = func(ask ssh.KeyboardInteractiveChallenge) error {
			for {
				if _, err := ask("", "", []string{"?"}, []bool{true}); err != nil {
					return err
				}
			}
		}
		p := says("a")
		refusal(t, newPool(t, p.options()), e, KindAuth)
		p.wantAsked(t, keyboardRounds, QuestionKeyboard)
	})
	t.Run("nothing", func(t *testing.T) {
		n := 0
		rounds = func(ssh.KeyboardInteractiveChallenge) error { n++; return errors.New("no") }
		p := says("a")
		refusal(t, newPool(t, p.options()), s.only(s.path("nothing")), KindAuth)
		p.wantAsked(t, 0, 0)
		if n != 1 {
			t.Errorf("tried %d times", n)
		}
	})
	t.Run("the question ends with its caller", func(t *testing.T) {
		rounds = func(ask ssh.KeyboardInteractiveChallenge) error {
			_, err := ask("", "", []string{"?"}, []bool{true})
			return err
		}
		stop := make(chan struct{})
		p := &person{}
		pool := newPool(t, p.options())
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		shown := make(chan struct{})
		p.answers = func(int, Question) (string, error) { close(shown); <-stop; return "", errors.New("gone") }
		go func() { <-shown; cancel() }()
		_, err := pool.Conn(e).Run(ctx, Script{Text: ":"})
		if k, _ := KindOf(err); k != KindCanceled {
			t.Errorf("got %v", err)
		}
		close(stop)
	})
}

// TestPasswordChange reads the answer of a server that wants a new password. No
// server at hand gives it; message 60 after a password is what RFC 4252, section
// 8, has for it.
func TestPasswordChange(t *testing.T) {
	p := newPool(t, Options{})
	s := &settings{user: "me", host: "box", port: 22, password: true}
	l := newLogin(t.Context(), p, Endpoint{Destination: "box"}, s)
	defer l.close()
	l.asked, l.allowed = true, []string{"password"}
	for _, tc := range []struct {
		err, want string
	}{
		{"ssh: handshake failed: ssh: unexpected message type 60 (expected 52)", "wants a new one"},
		{"ssh: handshake failed: ssh: unable to authenticate", "permission denied (password)"},
		{"ssh: handshake failed: ssh: disconnect, reason 2: Too many authentication failures", "too many tries, after 0 keys were offered"},
		{"ssh: handshake failed: ssh: disconnect, reason 11: go\x1b[2J away", "go␛[2J away"},
	} {
		err := handshakeError(&hostKeys{}, l, errors.New(tc.err), false)
		if err.Kind != KindAuth || !strings.Contains(err.Error(), tc.want) || err.Hint == "" {
			t.Errorf("%s: %v; hint %q", tc.err, err, err.Hint)
		}
	}
}
