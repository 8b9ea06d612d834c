package transport

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// carrierFunc is a Carrier.
type carrierFunc func(ctx context.Context, e Endpoint, s Script, who *Person) (Result, error)

func (f carrierFunc) Carry(ctx context.Context, e Endpoint, s Script, who *Person) (Result, error) {
	return f(ctx, e, s, who)
}

// TestCarrier runs a script by the pool's own connections where the carrier has not,
// and again where it was lost and does no harm, of which the error then tells.
func TestCarrier(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	gone := Endpoint{Destination: "nowhere", ConfigFile: s.endpoint().ConfigFile}
	write(t, s.path("gone"), "Host nowhere\n HostName 127.0.0.1\n Port 1\n")
	gone.ConfigFile = s.path("gone")
	for _, tc := range []struct {
		name       string
		e          Endpoint
		err        error
		repeatable bool
		out        string
		kind       Kind
		started    bool
	}{
		{"carried", s.endpoint(), nil, false, "carried", 0, true},
		{"not carried", s.endpoint(), fmt.Errorf("%w: busy", ErrNotCarried), false, "own", 0, true},
		{"lost", s.endpoint(), LostError(s.endpoint()), false, "", KindConnect, true},
		{"lost, repeatable", s.endpoint(), LostError(s.endpoint()), true, "own", 0, true},
		{"not carried, and no host", gone, ErrNotCarried, true, "", KindConnect, false},
		{"lost, repeatable, and no host", gone, LostError(gone), true, "", KindConnect, true},
		{"its own failure", s.endpoint(), &Error{Kind: KindAuth, Err: errors.New("x")}, true, "", KindAuth, false},
	} {
		p := newPool(t, Options{Carrier: carrierFunc(func(_ context.Context, e Endpoint, s Script, _ *Person) (Result, error) {
			if e != tc.e || s.Repeatable != tc.repeatable {
				t.Errorf("%s: carries %+v, %+v", tc.name, e, s)
			}
			return Result{Stdout: []byte("carried")}, tc.err
		})})
		res, err := p.Conn(tc.e).Run(within(t, time.Minute), Script{Text: "printf own", Repeatable: tc.repeatable})
		if k, _ := KindOf(err); k != tc.kind || (err == nil) != (tc.kind == 0) || string(res.Stdout) != tc.out && err == nil || Started(err) != tc.started {
			t.Errorf("%s: %q, %v, started %t", tc.name, res.Stdout, err, Started(err))
		}
	}
	over, cancel := context.WithCancel(context.Background())
	warned := 0
	o := Options{
		Warn:       func(Endpoint, string) { warned++ },
		Unhonoured: func(Endpoint, []string) { warned++ },
		Carrier: carrierFunc(func(ctx context.Context, e Endpoint, s Script, who *Person) (Result, error) {
			who.Warn(e, "")
			who.Unhonoured(e, nil)
			if answer, err := who.Ask(ctx, Question{}); answer != "answer" || err != nil {
				t.Errorf("answered %q, %v", answer, err)
			}
			cancel()
			return Result{}, LostError(e)
		}),
		Ask: func(context.Context, Question) (string, error) { return "answer", nil },
	}
	// For one who is there no more nothing is run again.
	_, err := newPool(t, o).Conn(s.endpoint()).Run(over, Script{Text: ": >" + Quote(s.path("ran")), Repeatable: true})
	if _, serr := os.Stat(s.path("ran")); !errors.Is(err, ErrCarrierLost) || serr == nil || warned != 2 {
		t.Errorf("lost, and called off: %v, %v, warned %d times", err, serr, warned)
	}
	if _, err := newPool(t, o).Conn(s.endpoint()).Run(within(t, time.Minute), Script{Text: "a\x00"}); err == nil || Started(err) {
		t.Errorf("no script: %v", err)
	}
	o.Ask, o.Carrier = nil, carrierFunc(func(_ context.Context, _ Endpoint, _ Script, who *Person) (Result, error) {
		if who.Ask != nil {
			t.Error("somebody can be asked where nobody is")
		}
		return Result{}, nil
	})
	if _, err := newPool(t, o).Conn(s.endpoint()).Run(within(t, time.Minute), Script{Text: "true"}); err != nil {
		t.Error(err)
	}
	p := newPool(t, Options{Carrier: carrierFunc(func(context.Context, Endpoint, Script, *Person) (Result, error) {
		t.Error("a local script was carried")
		return Result{}, ErrNotCarried
	})})
	if _, err := p.Conn(Endpoint{Local: true}).Run(within(t, time.Minute), Script{Text: "true"}); err != nil {
		t.Error(err)
	}
}

// TestEnvironment reads ssh_config, and runs what it says, in the environment that
// the Options have, with an ssh binary and without.
func TestEnvironment(t *testing.T) {
	t.Setenv("FLEET_WHERE", "/here")
	t.Setenv("SSH_AUTH_SOCK", "/agent/here")
	dir := t.TempDir()
	config := filepath.Join(dir, "config")
	write(t, config, "Match exec \"test $FLEET_WHERE = /there && test -e mark\"\n Port 77\nHost *\n IdentityFile ${FLEET_WHERE}/id\n")
	write(t, filepath.Join(dir, "mark"), "")
	e := Endpoint{Destination: "box", ConfigFile: config}
	for _, binary := range []string{"", NoSSHBinary} {
		for _, tc := range []struct {
			o        Options
			port     int
			id, sock string
		}{
			{Options{}, 22, "/here/id", "/agent/here"},
			{Options{Env: []string{"FLEET_WHERE=/there", "SSH_AUTH_SOCK=/agent/there", "PATH=" + os.Getenv("PATH")}, Dir: dir}, 77, "/there/id", "/agent/there"},
			{Options{Env: []string{"FLEET_WHERE=/there", "PATH=" + os.Getenv("PATH")}, Dir: filepath.Join(dir, "gone")}, 22, "/there/id", ""},
		} {
			tc.o.SSHBinary = binary
			c, err := newPool(t, tc.o).Resolve(within(t, time.Minute), e)
			if err != nil || c.Port != tc.port || !slices.Equal(c.IdentityFiles, []string{tc.id}) || c.IdentityAgent != tc.sock {
				t.Errorf("%q, %q: %d, %q, %q, %v", binary, tc.o.Env, c.Port, c.IdentityFiles, c.IdentityAgent, err)
			}
		}
	}
	env := []string{"PATH=relative:" + dir + ":/nowhere"}
	write(t, filepath.Join(dir, "ssh"), "")
	if got, err := LookPath(env, "ssh"); err == nil {
		t.Errorf("found %q, which does not run", got)
	}
	if err := os.Chmod(filepath.Join(dir, "ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := LookPath(env, "ssh"); err != nil || got != filepath.Join(dir, "ssh") {
		t.Errorf("found %q, %v", got, err)
	}
}

// TestLook tells what the way to a host, and to its hops, hangs on.
func TestLook(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "config")
	write(t, config, `Host plain
 Compression yes
Host sends
 SendEnv LC_* LANG
Host command
 ProxyCommand false
Host exec
Match host exec exec true
Host behind
 ProxyJump sends
Host far
 ProxyJump command
Host file
 CertificateFile here/cert
`)
	p := newPool(t, Options{})
	for _, tc := range []struct {
		host string
		want Look
	}{
		{"plain", Look{Unhonoured: []string{"Compression"}}},
		{"sends", Look{Patterns: []string{"LANG", "LC_*"}}},
		{"command", Look{Whole: true, Command: true}},
		{"exec", Look{Whole: true}},
		{"behind", Look{Patterns: []string{"LANG", "LC_*"}}},
		{"far", Look{Whole: true, Command: true}},
		{"file", Look{Relative: true}},
	} {
		got, err := p.Look(within(t, time.Minute), Endpoint{Destination: tc.host, ConfigFile: config})
		if err != nil || !slices.Equal(got.Patterns, tc.want.Patterns) || got.Whole != tc.want.Whole || got.Command != tc.want.Command || got.Login || got.Relative != tc.want.Relative || !slices.Equal(got.Unhonoured, tc.want.Unhonoured) {
			t.Errorf("%s: %+v, %v", tc.host, got, err)
		}
	}
	for text, want := range map[string]Look{
		"Host a\n # ${HOME} SSH_TTY\n":                {},
		"Host b\n IdentityFile ${HOME}/x\n":           {Whole: true},
		"Host b\n ProxyCommand printenv SSH_TTY\n":    {Login: true},
		"Match exec \"test $SSH_CLIENT\"\nHost *\n":   {Whole: true, Login: true},
		"Match host b exec \"[ $SSH_CONNECTION ]\"\n": {Whole: true, Login: true},
	} {
		file := filepath.Join(t.TempDir(), "config")
		write(t, file, text)
		if got, err := p.Look(within(t, time.Minute), Endpoint{Destination: "a", ConfigFile: file}); err != nil || got.Whole != want.Whole || got.Login != want.Login {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

// TestPersons has the one who causes a login asked, and another who waits for it
// asked anew when that one gives no answer; who can't be asked is told how it failed.
func TestPersons(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	write(t, s.path("known_hosts"), "")
	e := s.endpoint()
	text, err := os.ReadFile(e.ConfigFile)
	if err != nil {
		t.Fatal(err)
	}
	e.ConfigFile = s.path("asking")
	write(t, e.ConfigFile, "Host *\n StrictHostKeyChecking ask\n"+string(text))
	p := newPool(t, Options{Ask: func(context.Context, Question) (string, error) {
		t.Error("the pool's own person was asked")
		return "", errNobody
	}})
	type result struct{ err error }
	run := func(who *Person) chan result {
		done := make(chan result, 1)
		go func() {
			_, err := p.Conn(e).Run(WithPerson(within(t, time.Minute), who), Script{Text: "true"})
			done <- result{err}
		}()
		return done
	}
	asked, gone := make(chan struct{}), make(chan struct{})
	first := run(&Person{ID: "first", Ask: func(context.Context, Question) (string, error) {
		close(asked)
		<-gone
		return "", errors.New("gone")
	}})
	<-asked
	n := 0
	second := run(&Person{ID: "second", Ask: func(context.Context, Question) (string, error) {
		n++
		return "yes", nil
	}})
	third := run(&Person{ID: "third"})
	r := p.route(routeKey{Endpoint: e})
	eventually(t, "all wait for one login", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.dial != nil && r.dial.waiters == 3
	})
	close(gone)
	if k, _ := KindOf((<-first).err); k != KindHostKeyUnknown {
		t.Errorf("the first: %v", k)
	}
	if k, _ := KindOf((<-third).err); k != KindHostKeyUnknown {
		t.Errorf("the third: %v", k)
	}
	if err := (<-second).err; err != nil || n != 1 {
		t.Errorf("the second: %v, asked %d times", err, n)
	}
	if n := s.logged("Accepted publickey"); n != 1 {
		t.Errorf("%d logins", n)
	}
}
