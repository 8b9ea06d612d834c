package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// TestReport67Path is the program that a login finds and a command over SSH does
// not, since no start-up file has set PATH. What the account has comes first.
// eneskirca/nodeterm#449, h3nock/remux#1.
func TestReport67Path(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	program := func(dir, name, says string) string {
		file := filepath.Join(home, dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, file, "#!/bin/sh\necho "+says+"\n")
		if err := os.Chmod(file, 0o700); err != nil {
			t.Fatal(err)
		}
		return filepath.Dir(file)
	}
	program(".local/bin", "fleet-made-up", "found")
	program(".local/bin", "fleet-both", "appended")
	program(".nix-profile/bin", "fleet-nix", "nix")
	own := program("own", "fleet-both", "own")
	s := startServer(t, fmt.Sprintf(`ForceCommand exec env HOME=%s PATH=%s:/usr/bin:/bin sh -c "$SSH_ORIGINAL_COMMAND"`, home, own))
	conn := newPool(t, Options{}).Conn(s.endpoint())
	for _, tc := range []struct {
		text, out string
		code      int
	}{
		{"fleet-made-up", "found\n", 0},
		{"fleet-nix", "nix\n", 0},
		{"fleet-both", "own\n", 0},
		{"case $PATH in " + own + ":/usr/bin:/bin:*) echo first;; esac", "first\n", 0},
		{"fleet-nowhere", "", 127},
	} {
		res, err := conn.Run(within(t, time.Minute), Script{Text: tc.text})
		if err != nil || string(res.Stdout) != tc.out || res.ExitCode != tc.code {
			t.Errorf("%s: %q, %d, %v", tc.text, res.Stdout, res.ExitCode, err)
		}
		if tc.code == 127 && !strings.Contains(string(res.Stderr), tc.text) {
			t.Errorf("what is missing is not said: %q", res.Stderr)
		}
	}
}

// TestReport68Noise is the host that talks before it does anything: a banner of
// sshd, a start-up file that prints on both streams and dawdles. None of it is
// the answer, and none of it is the error. mutagen-io/mutagen#393,
// firstmate#4124.
func TestReport68Noise(t *testing.T) {
	t.Parallel()
	banner := filepath.Join(t.TempDir(), "banner")
	write(t, banner, "WARNING: authorised made-up users only\n")
	s := startServer(t, "Banner "+banner,
		`ForceCommand echo noise; echo more noise >&2; sleep 0.2; printf 'no line feed'; printf 'nor here' >&2; exec sh -c "$SSH_ORIGINAL_COMMAND"`)
	conn := newPool(t, Options{}).Conn(s.endpoint())
	for _, tc := range []struct {
		text, out, err string
		code           int
	}{
		{"echo out; echo err >&2; exit 3", "out\n", "err\n", 3},
		{"echo noise", "noise\n", "", 0}, // the script's own is its own
		{":", "", "", 0},
	} {
		res, err := conn.Run(within(t, time.Minute), Script{Text: tc.text})
		if err != nil || string(res.Stdout) != tc.out || string(res.Stderr) != tc.err || res.ExitCode != tc.code {
			t.Errorf("%s: %q, %q, %d, %v", tc.text, res.Stdout, res.Stderr, res.ExitCode, err)
		}
	}
	write(t, s.path("authorized_keys"), "")
	err := refusal(t, newPool(t, Options{}), s.endpoint(), KindAuth)
	before, _, _ := strings.Cut(err.Hint, "\nthe server says: WARNING")
	if strings.Contains(err.Error()+before, "WARNING") {
		t.Errorf("the banner is taken for the error: %v; %s", &err, err.Hint)
	}
}

// TestReport69SleepingHost is one machine among many that is asleep: its answer
// is a timeout of its own, and the others' do not wait for it.
// littlebearapps/untether#625, vshulcz/deja-vu#1773.
func TestReport69SleepingHost(t *testing.T) {
	t.Parallel()
	asleep := startServer(t)
	asleep.signal(syscall.SIGSTOP)
	p := newPool(t, Options{})
	ctx, cancel := context.WithCancel(within(t, time.Minute))
	slow := make(chan error, 1)
	go func() {
		_, err := p.Conn(asleep.endpoint()).Run(ctx, Script{Text: ":"})
		slow <- err
	}()
	var others sync.WaitGroup
	for range 4 {
		e := startServer(t).endpoint()
		others.Go(func() { succeed(t, p, e) })
	}
	others.Wait() // all there, and the sleeper still keeps its caller waiting
	select {
	case err := <-slow:
		t.Errorf("the sleeping host answered: %v", err)
	default:
	}
	cancel()
	if err := <-slow; !errors.Is(err, context.Canceled) || Started(err) {
		t.Errorf("got %v", err)
	}
	asleep.signal(syscall.SIGCONT)
	succeed(t, p, asleep.endpoint())
}

// TestReport70ManyAgentKeys is the agent with more keys than the server lets one
// try: the one that IdentityFile names must come before the rest.
// trailofbits/coop#68, semaphoreci/cli#156.
func TestReport70ManyAgentKeys(t *testing.T) {
	t.Parallel()
	s := startServer(t, "MaxAuthTries 6")
	var files []string
	for i := range 7 {
		files = append(files, s.path(fmt.Sprintf("many%d", i)))
		newKey(t, files[i])
	}
	sock := startAgent(t, append(files, s.client)...)
	for _, lines := range [][]string{{"IdentitiesOnly yes"}, {"IdentitiesOnly no"}, {"IdentitiesOnly yes", "IdentityFile " + files[3]}} {
		succeed(t, newPool(t, Options{}), s.endpoint(append(lines, "IdentityAgent "+sock)...))
	}
	unnamed := strings.ReplaceAll(s.block("box", "IdentityAgent "+sock), "IdentityFile "+s.client, "IdentityFile none")
	refusal(t, newPool(t, Options{}), Endpoint{Destination: "box", ConfigFile: s.configFile(unnamed)}, KindAuth)
}

// TestReport71NobodyToAsk is what makes an ssh in the background hang: a
// question about an unknown host, and the socket of a master that is gone.
// agent-deck#1206, #1421.
func TestReport71NobodyToAsk(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	stale := s.path("control.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	_ = l.Close()
	if _, err := os.Stat(stale); err != nil {
		t.Fatal(err)
	}
	control := []string{"ControlMaster auto", "ControlPath " + stale, "ControlPersist yes"}
	succeed(t, newPool(t, Options{}), s.endpoint(control...))
	write(t, s.path("known_hosts"), "")
	for _, strict := range []string{"ask", "yes"} {
		terr := refusal(t, newPool(t, Options{}), s.endpoint(append(control, "StrictHostKeyChecking "+strict)...), KindHostKeyUnknown)
		wantText(t, terr.Error(), ssh.FingerprintSHA256(s.hosts[0]))
	}
	if known, _ := os.ReadFile(s.path("known_hosts")); len(known) != 0 {
		t.Errorf("a host was taken for known: %q", known)
	}
}

// TestReport72SameNames is two machines with everything alike but the machine:
// alias, user, directory and script. Nothing of one may be taken for the
// other's. agent-deck#1850 to #1854, #1858.
func TestReport72SameNames(t *testing.T) {
	t.Parallel()
	one, two := startServer(t), startServer(t)
	p := newPool(t, Options{})
	var all sync.WaitGroup
	for _, s := range []*server{one, two} {
		e := s.endpoint()
		for range 5 {
			all.Go(func() {
				res, err := p.Conn(e).Run(within(t, time.Minute), Script{Text: "set -- $SSH_CONNECTION; echo $4"})
				if err != nil || string(res.Stdout) != fmt.Sprintln(s.port) {
					t.Errorf("the host on port %d answers %q, %v", s.port, res.Stdout, err)
				}
			})
		}
	}
	all.Wait()
	if a, b := one.endpoint(), one.endpoint(); a == b || a.String() != b.String() {
		t.Error("one alias in two files is one endpoint")
	}
}
