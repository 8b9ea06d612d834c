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
	switch how {
	case "lie", "lie and ask":
		lie(path, how)
		return
	case "build":
		tellBuild()
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
		other(how, os.Args[len(os.Args)-1])
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
