package relay

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// serveEnv makes the test binary a server, for tests that kill one.
const serveEnv = "RELAY_TEST_SERVE"

// callEnv makes it a caller, for tests that kill one: it runs the script that the
// variable has on the endpoint of its arguments.
const callEnv = "RELAY_TEST_CALL"

// otherEnv makes it a process of another account, at a socket.
const otherEnv = "RELAY_TEST_OTHER"

// other prints what the other end of a socket says: as a client (dial), or as a
// server (listen), after it has printed up.
func other(how, path string) {
	if how == "lie" {
		lie(path)
		return
	}
	var c net.Conn
	var err error
	if how == "dial" {
		c, err = net.Dial("unix", path)
	} else {
		var l net.Listener
		if l, err = net.Listen("unix", path); err == nil {
			fmt.Print("up")
			c, err = l.Accept()
		}
	}
	if err != nil {
		fmt.Print(err)
		return
	}
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	got, err := io.ReadAll(c)
	fmt.Printf("%q %v", got, err)
}

func TestMain(m *testing.M) {
	if how := os.Getenv(otherEnv); how != "" {
		other(how, os.Args[1])
		os.Exit(0)
	}
	if socket := os.Getenv(serveEnv); socket != "" {
		s, err := Listen(Options{}, socket)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(s.Serve(context.Background()))
		os.Exit(0)
	}
	if script := os.Getenv(callEnv); script != "" {
		pool := transport.NewPool(transport.Options{Carrier: NewClient("", nil, os.Args[1])})
		_, err := pool.Conn(transport.Endpoint{Destination: os.Args[2], ConfigFile: os.Args[3]}).Run(context.Background(), transport.Script{Text: script, Finish: os.Args[4] == "finish"})
		fmt.Println(err)
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// box is a host with a real sshd, and its endpoint.
func box(t *testing.T, spec rig.HostSpec) (*rig.Rig, *rig.Host, transport.Endpoint) {
	t.Helper()
	spec.Name, spec.NoClient = "box", true
	r := rigtest.Start(t, spec)
	return r, r.Host("box"), transport.Endpoint{Destination: "box", ConfigFile: r.SSHConfig()}
}

// socket is a path that is short enough for one.
func socket(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "relay-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "s", "serve.sock")
}

// said collects lines.
type said struct {
	mu    sync.Mutex
	lines []string
}

func (s *said) say(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line)
}

func (s *said) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}

// serving starts a server in this process and ends it with the test.
func serving(t *testing.T, o Options, path string) *Server {
	t.Helper()
	s, err := Listen(o, path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Serve(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		if _, err := os.Lstat(path); err == nil {
			t.Error("the socket is still there")
		}
	})
	return s
}

// program is what a caller's process is: a pool of its own.
func program(t *testing.T, o transport.Options, c *Client) *transport.Pool {
	t.Helper()
	if c != nil {
		o.Carrier = c
	}
	p := transport.NewPool(o)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// run runs a repeatable script that must go well.
func run(t *testing.T, p *transport.Pool, e transport.Endpoint, text string) string {
	t.Helper()
	res, err := p.Conn(e).Run(within(t, time.Minute), transport.Script{Text: text, Repeatable: true})
	if err != nil {
		t.Fatal(err)
	}
	return string(res.Stdout)
}

// logins is how many logins the host's sshd has let in.
func logins(h *rig.Host) int { return strings.Count(h.SSHDLog(), "Accepted publickey") }

func wantLogins(t *testing.T, h *rig.Host, n int) {
	t.Helper()
	rigtest.Eventually(t, 20*time.Second, fmt.Sprintf("%d logins", n), func() (bool, string) {
		return logins(h) >= n, h.SSHDLog()
	})
	if got := logins(h); got != n {
		t.Fatalf("%d logins, want %d:\n%s", got, n, h.SSHDLog())
	}
}

// child starts this test binary in another role.
func child(t *testing.T, env string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), env)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// there waits until a server listens.
func there(t *testing.T, path string) {
	t.Helper()
	rigtest.Eventually(t, 20*time.Second, "a server listens", func() (bool, string) {
		_, err := Inquire(context.Background(), path)
		return err == nil, fmt.Sprint(err)
	})
}

// TestCarry has programs one after the other run scripts over one login, with the
// very results, and log in each by itself where no server is.
func TestCarry(t *testing.T) {
	_, h, e := box(t, rig.HostSpec{})
	path := socket(t)
	for i := range 2 {
		p := program(t, transport.Options{}, NewClient("", nil, path))
		run(t, p, e, "true")
		wantLogins(t, h, i+1)
	}
	s := serving(t, Options{}, path)
	before := logins(h)
	var told said
	for range 3 {
		p := program(t, transport.Options{}, NewClient("", told.say, path))
		res, err := p.Conn(e).Run(within(t, time.Minute), transport.Script{Text: "printf 'a\\0b\\377'; echo no >&2; pwd >&2; exit 7"})
		if want := "no\n" + h.Home + "\n"; err != nil || string(res.Stdout) != "a\x00b\xff" || string(res.Stderr) != want || res.ExitCode != 7 {
			t.Fatalf("%q, %q, %d, %v", res.Stdout, res.Stderr, res.ExitCode, err)
		}
	}
	wantLogins(t, h, before+1)
	i, err := Inquire(within(t, time.Minute), path)
	if err != nil || i.Calls != 3 || i.Callers != 0 || i.PID != os.Getpid() || len(i.Connections) != 1 || i.Connections[0].Destination != "box" || i.Socket != s.Socket() {
		t.Errorf("%+v, %v", i, err)
	}
	if told.all() != "" {
		t.Errorf("said %q", told.all())
	}
}

// TestLarge carries as much as a script and its streams may have, and not more.
func TestLarge(t *testing.T) {
	_, h, e := box(t, rig.HostSpec{})
	path := socket(t)
	serving(t, Options{}, path)
	p := program(t, transport.Options{}, NewClient("", nil, path))
	text := "x=" + strings.Repeat("y", 4<<20) + "; printf %s ${#x}"
	if got := run(t, p, e, text); got != fmt.Sprint(4<<20) {
		t.Errorf("got %q", got)
	}
	const full = 32 << 20
	res, err := p.Conn(e).Run(within(t, 2*time.Minute), transport.Script{Text: fmt.Sprintf("head -c %d /dev/zero; head -c %d /dev/zero >&2", full, full)})
	if err != nil || len(res.Stdout) != full || len(res.Stderr) != full {
		t.Errorf("%d, %d, %v", len(res.Stdout), len(res.Stderr), err)
	}
	_, err = p.Conn(e).Run(within(t, 2*time.Minute), transport.Script{Text: fmt.Sprintf("head -c %d /dev/zero", full+1)})
	if k, _ := transport.KindOf(err); k != transport.KindProtocol {
		t.Errorf("too much: %v", err)
	}
	wantLogins(t, h, 1)
}

// TestUnfit has a server that is of no use left alone, with a word of why.
func TestUnfit(t *testing.T) {
	_, h, e := box(t, rig.HostSpec{})
	path := socket(t)
	s := serving(t, Options{Version: "v1.2.3"}, path)
	var told said
	for i, c := range []struct{ version, says string }{
		{"v1.2.2", "it is version v1.2.3, and this is v1.2.2"},
		{"", "it is version v1.2.3, and this is "},
	} {
		p := program(t, transport.Options{}, NewClient(c.version, told.say, path))
		run(t, p, e, "true")
		run(t, p, e, "true") // told once
		if !strings.Contains(told.all(), c.says) || len(told.lines) != i+1 {
			t.Errorf("said %q", told.all())
		}
		wantLogins(t, h, i+1)
	}
	if i := s.info(); i.Calls != 0 || i.Ending {
		t.Errorf("%+v", i)
	}
	p := program(t, transport.Options{}, NewClient("v1.2.3", told.say, path)) // the negative
	run(t, p, e, "true")
	if i := s.info(); i.Calls != 1 {
		t.Errorf("%+v", i)
	}
	// A newer one ends it.
	run(t, program(t, transport.Options{}, NewClient("v1.10.0", told.say, path)), e, "true")
	rigtest.Eventually(t, 20*time.Second, "the socket is gone", func() (bool, string) {
		_, err := os.Lstat(path)
		return os.IsNotExist(err), ""
	})
	run(t, p, e, "true")
}

// TestSocket has one server at a time, whatever a killed one has left.
func TestSocket(t *testing.T) {
	path := socket(t)
	cmd := child(t, serveEnv+"="+path)
	there(t, path)
	if _, err := Listen(Options{}, path); err == nil || !strings.Contains(err.Error(), ErrRunning.Error()) {
		t.Errorf("a second server: %v", err)
	}
	if _, err := Listen(Options{}, socket(t), path); err == nil || !strings.Contains(err.Error(), ErrRunning.Error()) {
		t.Errorf("a second server elsewhere: %v", err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if _, err := os.Lstat(path); err != nil {
		t.Fatalf("the killed server left no socket: %v", err)
	}
	var told said
	if err := NewClient("", told.say, path).fits(hello{}); err == nil {
		t.Error("an empty greeting fits")
	}
	serving(t, Options{}, path)
	there(t, path)
	st, err := os.Lstat(path)
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st.Mode(), err)
	}

	open := filepath.Join(t.TempDir(), "s")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, says string }{
		{filepath.Join(open, "serve.sock"), "may be entered by others (mode 0755)"},
		{filepath.Join("/tmp", strings.Repeat("x", 100), "serve.sock"), "bytes, and this system lets one have"},
	} {
		if _, err := Listen(Options{}, c.path); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
}

// TestKilled kills the server amid a script: one that may be repeated is then run
// directly, and of another it is told that it may have begun. Nothing is left on
// the host of either.
func TestKilled(t *testing.T) {
	_, h, e := box(t, rig.HostSpec{})
	for _, repeatable := range []bool{true, false} {
		path := socket(t)
		cmd := child(t, serveEnv+"="+path)
		there(t, path)
		p := program(t, transport.Options{}, NewClient("", nil, path))
		began := filepath.Join(t.TempDir(), "began")
		text := fmt.Sprintf("if [ -e %[1]s ]; then echo again; else echo $$ >%[1]s; sleep 300; fi", began)
		done := make(chan error, 1)
		var out string
		go func() {
			res, err := p.Conn(e).Run(within(t, time.Minute), transport.Script{Text: text, Repeatable: repeatable})
			out = string(res.Stdout)
			done <- err
		}()
		pid := readPID(t, began)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		err := <-done
		k, _ := transport.KindOf(err)
		if repeatable && (err != nil || out != "again\n") {
			t.Errorf("repeatable: %q, %v", out, err)
		}
		if !repeatable && (k != transport.KindConnect || !transport.Started(err)) {
			t.Errorf("not repeatable: %v", err)
		}
		wantEnded(t, pid)
	}
	_ = h
}

func readPID(t *testing.T, file string) int {
	t.Helper()
	pid := 0
	rigtest.Eventually(t, 30*time.Second, "the script has begun", func() (bool, string) {
		b, err := os.ReadFile(file)
		if err != nil || !strings.HasSuffix(string(b), "\n") {
			return false, fmt.Sprint(err)
		}
		_, err = fmt.Sscan(string(b), &pid)
		return err == nil, string(b)
	})
	return pid
}

func wantEnded(t *testing.T, pid int) {
	t.Helper()
	rigtest.Eventually(t, 30*time.Second, "the script has ended", func() (bool, string) {
		return syscall.Kill(pid, 0) != nil, ""
	})
}
