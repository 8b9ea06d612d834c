package transport

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	xknownhosts "golang.org/x/crypto/ssh/knownhosts"
)

// server is a real sshd of the test's own, on a loopback port.
type server struct {
	t      testing.TB
	dir    string
	port   int
	config []string // sshd_config lines, which go before the usual ones
	wrap   []string // a command that runs sshd
	cmd    *exec.Cmd
	hosts  []ssh.PublicKey
	client string // private key file that may log in
	// addresses are host:port to listen on; the first is waited for.
	addresses []string
}

// newKey writes a private key file and gives its public half.
func newKey(t testing.TB, file string) ssh.PublicKey {
	t.Helper()
	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(priv, "")
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, string(pem.EncodeToMemory(block)))
	key, err := ssh.NewPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// startServer starts an sshd whose host key is in the known_hosts of its config
// file, and which takes the key that the config file names.
func startServer(t testing.TB, config ...string) *server {
	t.Helper()
	s := &server{t: t, dir: t.TempDir(), port: freePort(t), config: config}
	s.hosts = []ssh.PublicKey{newKey(t, s.path("host_ed25519"))}
	s.client = s.path("id")
	pub := newKey(t, s.client)
	write(t, s.path("authorized_keys"), string(ssh.MarshalAuthorizedKey(pub)))
	s.know(s.hosts[0])
	s.addresses = []string{s.addr()}
	s.start()
	t.Cleanup(s.stop)
	return s
}

func (s *server) path(name string) string { return filepath.Join(s.dir, name) }

// know makes key the only known one.
func (s *server) know(key ssh.PublicKey) {
	s.t.Helper()
	write(s.t, s.path("known_hosts"), xknownhosts.Line([]string{xknownhosts.Normalize(s.addr())}, key)+"\n")
}

func (s *server) addr() string { return net.JoinHostPort("127.0.0.1", fmt.Sprint(s.port)) }

func (s *server) start() {
	s.t.Helper()
	lines := append(slices.Clone(s.config), // the first value of a keyword wins
		"ListenAddress "+strings.Join(s.addresses, "\nListenAddress "),
		"AuthorizedKeysFile "+s.path("authorized_keys"),
		"PidFile none", "UsePAM no", "StrictModes no", "PermitRootLogin yes", "LogLevel VERBOSE",
		// A bash that is not the first takes no ~/.bashrc: the tests do not depend
		// on whose account they run under.
		"SetEnv SHLVL=2",
		"PasswordAuthentication no", "KbdInteractiveAuthentication no",
	)
	keys, err := filepath.Glob(s.path("host_*"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, k := range keys {
		lines = append(lines, "HostKey "+k)
	}
	write(s.t, s.path("sshd_config"), strings.Join(lines, "\n")+"\n")
	if os.Getuid() == 0 {
		// Debian's sshd wants it; a system's own start script makes it there.
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			s.t.Fatal(err)
		}
	}
	// A group of its own: what it forks for a connection ends with it.
	args := append(slices.Clone(s.wrap), "/usr/sbin/sshd", "-D", "-f", s.path("sshd_config"), "-E", s.path("log"))
	s.cmd = exec.Command(args[0], args[1:]...)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	eventually(s.t, "sshd listens", func() bool {
		c, err := net.DialTimeout("tcp", s.addresses[0], time.Second)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
}

// stop kills sshd with all of its connections.
func (s *server) stop() {
	if s.cmd == nil {
		return
	}
	pid := s.cmd.Process.Pid
	for _, p := range append(s.forks(pid), pid) {
		_ = syscall.Kill(p, syscall.SIGKILL)
	}
	_ = s.cmd.Wait()
	s.cmd = nil
	if s.t.Failed() {
		log, _ := os.ReadFile(s.path("log"))
		s.t.Logf("sshd %d:\n%s", s.port, log)
	}
}

// forks lists sshd's own processes for the connections it has, which leave its
// process group.
func (s *server) forks(parent int) []int {
	out, _ := exec.Command("ps", "-eo", "pid=,ppid=,args=").Output()
	var pids []int
	for line := range bytes.Lines(out) {
		var pid, ppid int
		var name string
		if n, _ := fmt.Sscan(string(line), &pid, &ppid, &name); n == 3 && ppid == parent && strings.HasPrefix(name, "sshd") {
			pids = append(append(pids, s.forks(pid)...), pid)
		}
	}
	return pids
}

// signal sends sig to sshd and its connections.
func (s *server) signal(sig syscall.Signal) {
	pid := s.cmd.Process.Pid
	for _, p := range append(s.forks(pid), pid) {
		_ = syscall.Kill(p, sig)
	}
}

// endpoint is the server by the alias "box" of a config file with lines in it.
func (s *server) endpoint(lines ...string) Endpoint {
	return Endpoint{Destination: "box", ConfigFile: s.configFile(s.block("box", lines...))}
}

// block is a Host block for the server. The first value of a keyword wins, so
// lines go first.
func (s *server) block(alias string, lines ...string) string {
	lines = append(lines,
		"HostName 127.0.0.1", fmt.Sprintf("Port %d", s.port), "User "+userName(s.t), "IdentityFile "+s.client,
		"UserKnownHostsFile "+s.path("known_hosts"), "GlobalKnownHostsFile /dev/null", "IdentityAgent none")
	return "Host " + alias + "\n  " + strings.Join(lines, "\n  ") + "\n"
}

func (s *server) configFile(blocks ...string) string {
	s.t.Helper()
	f, err := os.CreateTemp(s.dir, "ssh_config")
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.WriteString(strings.Join(blocks, "")); err != nil {
		s.t.Fatal(err)
	}
	return f.Name()
}

func userName(t testing.TB) string {
	t.Helper()
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	return u.Username
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

// newPool gives a pool that the test closes.
func newPool(t testing.TB, o Options) *Pool {
	t.Helper()
	p := NewPool(o)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// eventually polls until ok, for ten seconds at most.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); <-tick.C {
		if ok() {
			return
		}
	}
	t.Fatalf("not within ten seconds: %s", what)
}

// alive is whether a process exists and is not merely unreaped.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}
