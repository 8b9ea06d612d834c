package transport

// Faults that users of such tools reported, one test each: what stands for the
// whole kind of it, with what must go well beside it.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	xknownhosts "golang.org/x/crypto/ssh/knownhosts"
)

// TestReport62HalfOpenLink is a peer that is there and says nothing: any wait on
// it needs an end of its own. golang/go#26643, #19338. See TestHalfOpen too.
func TestReport62HalfOpenLink(t *testing.T) {
	t.Parallel()
	s, healthy := startServer(t), startServer(t)
	e := s.endpoint()
	p := newPool(t, Options{})
	succeed(t, p, e)
	succeed(t, p, healthy.endpoint())
	file := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(within(t, time.Minute))
	got := startScript(ctx, t, p.Conn(e), Script{Text: fmt.Sprintf("echo $$ >%s.new; mv %s.new %s; sleep 60; :", file, file, file)}, file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}

	s.signal(syscall.SIGSTOP)
	short, cancelShort := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancelShort()
	begin := time.Now()
	_, err = p.Conn(e).Run(short, Script{Text: ":"})
	if k, _ := KindOf(err); k != KindTimeout || Started(err) || time.Since(begin) > 2*time.Second {
		t.Errorf("a new call: %v after %v, started %t", err, time.Since(begin), Started(err))
	}
	begin = time.Now()
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) || time.Since(begin) > time.Second {
		t.Errorf("the call under way: %v after %v", err, time.Since(begin))
	}
	succeed(t, p, healthy.endpoint())

	s.signal(syscall.SIGCONT)
	succeed(t, p, e)
	eventually(t, "the abandoned script is gone", func() bool { return !alive(pid) })
}

// TestReport63NoGreeting is a port that takes connections and speaks no SSH: a
// timeout for TCP alone waits for ever. golang/go#21941, #15113.
func TestReport63NoGreeting(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() { // ends with the listener
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = c.Close() })
			_, _ = c.Read(make([]byte, 256))
			_, _ = c.Write([]byte("-ERR unknown command 'SSH-2.0-Go'\r\n"))
		}
	}()
	for name, port := range map[string]int{"redis": l.Addr().(*net.TCPAddr).Port, "silence": silentListener(t)} {
		for _, limit := range []string{"the caller's", "the pool's", "ConnectTimeout"} {
			t.Run(name+", "+limit, func(t *testing.T) {
				ctx, o, lines := within(t, time.Minute), Options{}, []string{fmt.Sprintf("Port %d", port)}
				switch limit {
				case "the caller's":
					ctx = shortly(t)
				case "the pool's":
					o.DialTimeout = 500 * time.Millisecond
				default:
					lines = append(lines, "ConnectTimeout 1")
				}
				_, err := newPool(t, o).Conn(s.endpoint(lines...)).Run(ctx, Script{Text: ":"})
				if k, _ := KindOf(err); k != KindTimeout || Started(err) {
					t.Errorf("got %v", err)
				}
			})
		}
	}
	succeed(t, newPool(t, Options{}), s.endpoint("ConnectTimeout 10"))
}

// TestReport64KeyTypes is the server with keys of several types of which
// known_hosts has one, as OpenSSH leaves it: the others are no attack, a changed
// one is. golang/go#29286, melbahja/goph#81.
func TestReport64KeyTypes(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.stop()
	for _, typ := range []string{"ecdsa", "rsa"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", typ, "-N", "", "-f", s.path("host_"+typ)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		_ = os.Remove(s.path("host_" + typ + ".pub")) // sshd would take it for a key
	}
	s.start()
	other := newKey(t, s.path("other"))
	name := xknownhosts.Normalize(s.addr())
	line := func(name string, k ssh.PublicKey) string { return xknownhosts.Line([]string{name}, k) + "\n" }
	for _, tc := range []struct {
		name, known string
		kind        Kind // 0: it connects
	}{
		{"one of three types", line(name, s.hosts[0]), 0},
		{"hashed", line(xknownhosts.HashHostname(name), s.hosts[0]), 0},
		{"hashed, another host's", line(xknownhosts.HashHostname("[127.0.0.1]:1"), s.hosts[0]), KindHostKeyUnknown},
		{"another port's", line("[127.0.0.1]:1", s.hosts[0]), KindHostKeyUnknown},
		{"changed", line(name, other), KindHostKeyChanged},
		{"hashed and changed", line(xknownhosts.HashHostname(name), other), KindHostKeyChanged},
		{"revoked", line(name, s.hosts[0]) + "@revoked " + line("*", s.hosts[0]), KindHostKeyChanged},
		{"another one is revoked", line(name, s.hosts[0]) + "@revoked " + line("*", other), 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			write(t, s.path("known_hosts"), tc.known)
			if tc.kind == 0 {
				succeed(t, newPool(t, Options{}), s.endpoint())
				return
			}
			err := refusal(t, newPool(t, Options{}), s.endpoint(), tc.kind)
			if tc.name == "changed" {
				wantText(t, err.Error(), ssh.FingerprintSHA256(other), ssh.FingerprintSHA256(s.hosts[0]))
			}
		})
	}
}

// TestReport65MatchFinal is the ssh_config that a distribution ships, with what
// a simple parser does not know: the alias must not be lost for it.
// alebeck/boring#20, dimonomid/nerdlog#12.
func TestReport65MatchFinal(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	included := s.path("included")
	for _, tc := range []struct {
		name, before, after string
		kind                Kind
	}{
		{"Match final all", "Include " + included + "\n", "Match final all\n  ServerAliveInterval 60\n", 0},
		{"Match exec that holds", "Match exec true\n  HostName 127.0.0.1\nMatch exec false\n  HostName no-such-host.invalid\n", "", 0},
		{"Match exec that does not", "Match exec true\n  HostName no-such-host.invalid\n", "", KindResolve},
	} {
		t.Run(tc.name, func(t *testing.T) {
			write(t, included, "Match final all\n  SendEnv LANG\nHost elsewhere\n  Port 1\n")
			e := Endpoint{Destination: "box", ConfigFile: s.configFile(tc.before, s.block("box"), tc.after)}
			if tc.kind != 0 {
				refusal(t, newPool(t, Options{}), e, tc.kind)
				return
			}
			succeed(t, newPool(t, Options{}), e)
		})
	}
}

// TestReport66LoginShells is the account whose login shell is not sh, and reads
// a command string in its own way, or refuses some of it, or is slow and talks.
// NousResearch/hermes-agent#80625, ShunmeiCho/cc-clip#98. It feeds the command string to each shell as sshd would to a
// login shell: as one argument after -c. A start-up file prints on both streams
// and dawdles.
func TestReport66LoginShells(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	noise := "echo noise from a start-up file\necho more of it 1>&2\nsleep 0.1\n"
	for _, f := range []string{".zshenv", ".bashrc", ".config/fish/config.fish"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, f)), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(home, f), noise)
	}
	write(t, filepath.Join(home, ".cshrc"), "echo noise from a start-up file\nsleep 0.1\n")
	for _, shell := range []string{"sh", "bash", "rbash", "zsh", "fish", "csh"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Fatalf("%v: the test needs it", err)
			}
			// SHLVL lets bash take its start-up file again.
			s := startServer(t, fmt.Sprintf(`ForceCommand cd %s && exec env -u SHLVL HOME=%s %s -c "$SSH_ORIGINAL_COMMAND"`, home, home, path))
			conn := newPool(t, Options{}).Conn(s.endpoint())
			conformOutput(t, conn)
			conformOutput(t, repeated{conn}) // in a persistent shell
			code, screen := attach(t, conn, "printf '%s\\n' "+Quote("it's \"$HOME\" `x` \\ ! é")+"; exit 3")
			if code != 3 || !strings.Contains(screen, "it's \"$HOME\" `x` \\ ! é\r\n") {
				t.Errorf("attached: exit code %d, %q", code, screen)
			}
			// Cancelling works where sshd passes on no signals, as with a forced command.
			file := filepath.Join(t.TempDir(), "pid")
			ctx, cancel := context.WithCancel(within(t, time.Minute))
			got := startScript(ctx, t, conn, Script{Text: fmt.Sprintf("echo $$ >%s.new; mv %s.new %s; sleep 60; :", file, file, file)}, file)
			text, _ := os.ReadFile(file)
			pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
			cancel()
			if err := <-got; !errors.Is(err, context.Canceled) {
				t.Errorf("the cancelled call: %v", err)
			}
			eventually(t, "the process is gone", func() bool { return pid > 0 && !alive(pid) })
			// So does the watchdog where the server has gone.
			file += "2"
			got = startScript(within(t, time.Minute), t, conn, Script{Text: idsText(file) + "trap '' TERM; sleep 600; :"}, file)
			pid = idFrom(t, file)
			s.stop()
			if err := <-got; err == nil {
				t.Error("the call succeeded without its server")
			}
			wantGroupGone(t, pid)
		})
	}
}
