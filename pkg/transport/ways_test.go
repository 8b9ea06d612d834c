package transport

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// listen makes the server listen on addresses, without ports, instead of
// 127.0.0.1; its known_hosts then has both.test and all of them.
func (s *server) listen(addresses ...string) {
	s.t.Helper()
	s.stop()
	names := []string{fmt.Sprintf("[both.test]:%d", s.port)}
	s.addresses = nil
	for _, a := range addresses {
		s.addresses = append(s.addresses, net.JoinHostPort(a, strconv.Itoa(s.port)))
		names = append(names, fmt.Sprintf("[%s]:%d", a, s.port))
	}
	write(s.t, s.path("known_hosts"), strings.Join(names, ",")+" "+string(ssh.MarshalAuthorizedKey(s.hosts[0])))
	s.start()
}

// logins counts the logins that the server took.
func (s *server) logins() int {
	log, err := os.ReadFile(s.path("log"))
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.Count(string(log), "Accepted publickey")
}

func TestSharedBastion(t *testing.T) {
	t.Parallel()
	hop := startServer(t)
	p := newPool(t, Options{})
	var wg sync.WaitGroup
	var servers []*server
	blocks := []string{hop.block("hop")}
	for i := range 5 {
		s := startServer(t)
		servers = append(servers, s)
		blocks = append(blocks, s.block(fmt.Sprintf("box%d", i), "ProxyJump hop"))
	}
	file := hop.configFile(blocks...)
	for i := range servers {
		for range 2 {
			wg.Go(func() { succeed(t, p, Endpoint{Destination: fmt.Sprintf("box%d", i), ConfigFile: file}) })
		}
	}
	wg.Wait()
	succeed(t, p, Endpoint{Destination: "hop", ConfigFile: file}) // the bastion is an endpoint too
	if n := hop.logins(); n != 1 {
		t.Errorf("%d logins to the bastion", n)
	}
	for i, s := range servers {
		if n := s.logins(); n != 1 {
			t.Errorf("%d logins to box%d", n, i)
		}
	}
}

// TestHops is a chain whose hops are named in every way there is, each with a
// user, a key and a known_hosts file of its own.
func TestHops(t *testing.T) {
	t.Parallel()
	a, b, c, box := startServer(t), startServer(t), startServer(t), startServer(t)
	b.listen("127.0.0.1", "::1")
	user := userName(t)
	// What concerns a hop that is given by its address stands under that.
	byPort := func(s *server, host string) string {
		return fmt.Sprintf("Match originalhost %s exec \"[ %%p = %d ]\"\n", host, s.port) +
			strings.SplitN(s.block("x", "HostName "+host), "\n", 2)[1]
	}
	for _, tc := range []struct {
		name, jump string
		hops       []*server
		blocks     []string
	}{
		{"three aliases", "a,b,c", []*server{a, b, c}, []string{a.block("a"), b.block("b"), c.block("c")}},
		{"a user", user + "@a,c", []*server{a, c}, []string{a.block("a"), c.block("c")}},
		{"user@host:port", fmt.Sprintf("%s@127.0.0.1:%d", user, a.port), []*server{a}, []string{byPort(a, "127.0.0.1")}},
		{"as a URI", fmt.Sprintf("ssh://%s@127.0.0.1:%d", user, a.port), []*server{a}, []string{byPort(a, "127.0.0.1")}},
		{"IPv6 with a port", fmt.Sprintf("%s@[::1]:%d", user, b.port), []*server{b}, []string{byPort(b, "::1")}},
		{"two addresses", fmt.Sprintf("127.0.0.1:%d,[::1]:%d", a.port, b.port), []*server{a, b}, []string{byPort(a, "127.0.0.1"), byPort(b, "::1")}},
		{"each its own", "c", []*server{a, b, c}, []string{a.block("a"), b.block("b", "ProxyJump a"), c.block("c", "ProxyJump b")}},
		{"none", "none", nil, []string{"Host *\n  ProxyJump a\n", a.block("a")}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := map[*server]int{}
			for _, s := range []*server{a, b, c} {
				before[s] = s.logins()
			}
			file := box.configFile(append([]string{box.block("box", "ProxyJump "+tc.jump)}, tc.blocks...)...)
			succeed(t, newPool(t, Options{}), Endpoint{Destination: "box", ConfigFile: file})
			for _, s := range tc.hops {
				before[s]++
			}
			for s, want := range before {
				if got := s.logins(); got != want {
					t.Errorf("%d logins to the hop on port %d, want %d", got, s.port, want)
				}
			}
		})
	}
}

func TestProxyCommand(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	said, pid := s.path("said"), s.path("pid")
	command := fmt.Sprintf(`ProxyCommand sh -c 'echo "%%h %%p %%r %%n %%%%" >%s; echo $$ >%s; exec env %s=1 %s %%h %%p'`, said, pid, proxyEnv, os.Args[0])
	running := func() int {
		text, _ := os.ReadFile(pid)
		n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		return n
	}

	t.Run("tokens", func(t *testing.T) {
		p := newPool(t, Options{})
		succeed(t, p, s.endpoint(command))
		got, _ := os.ReadFile(said)
		if want := fmt.Sprintf("127.0.0.1 %d %s box %%\n", s.port, userName(t)); string(got) != want {
			t.Errorf("the command got %q, want %q", got, want)
		}
		if !alive(running()) {
			t.Fatal("the command has gone under its connection")
		}
		_ = p.Close()
		if alive(running()) {
			t.Error("the command outlives its pool")
		}
	})
	t.Run("variables are the shell's", func(t *testing.T) {
		succeed(t, newPool(t, Options{}), s.endpoint(fmt.Sprintf(`ProxyCommand sh -c 'h=%%h; exec env %s=1 %s ${h} ${FLEET_TEST_NONE:-%%p}'`, proxyEnv, os.Args[0])))
	})
	t.Run("a user name that a shell would act on", func(t *testing.T) {
		for user, ok := range map[string]bool{`CORP\alice`: false, "a$b": false, "alice": true} {
			e := s.endpoint(command, `User "`+strings.ReplaceAll(user, `\`, `\\`)+`"`)
			_, err := newPool(t, Options{}).Conn(e).Run(within(t, 20*time.Second), Script{Text: ":"})
			if k, _ := KindOf(err); (k != KindConfig) != ok {
				t.Errorf("%s: %v", user, err)
			}
		}
	})
	t.Run("ends with an idle connection", func(t *testing.T) {
		p := newPool(t, Options{IdleTimeout: 100 * time.Millisecond})
		succeed(t, p, s.endpoint(command))
		was := running()
		eventually(t, "the command is gone", func() bool { return !alive(was) })
	})
	t.Run("that ignores all signals, and has children", func(t *testing.T) {
		p := newPool(t, Options{})
		stubborn := fmt.Sprintf(`ProxyCommand sh -c 'trap "" TERM HUP INT; echo $$ >%s; env %s=1 %s %%h %%p; sleep 600'`, pid, proxyEnv, os.Args[0])
		succeed(t, p, s.endpoint(stubborn))
		was := running()
		_ = p.Close()
		wantGroupGone(t, was)
	})
	t.Run("none", func(t *testing.T) {
		for _, keyword := range []string{"ProxyCommand", "ProxyJump"} {
			general := "Host *\n  " + keyword + " false\n"
			e := Endpoint{Destination: "box", ConfigFile: s.configFile(s.block("box", keyword+" none"), general)}
			succeed(t, newPool(t, Options{}), e)
			e.ConfigFile = s.configFile(s.block("box"), general)
			refusal(t, newPool(t, Options{}), e, KindProxy)
		}
	})
	t.Run("with a jump, the first wins", func(t *testing.T) {
		succeed(t, newPool(t, Options{}), s.endpoint(command, "ProxyJump nowhere.invalid"))
		refusal(t, newPool(t, Options{}), s.endpoint("ProxyJump nowhere.invalid", command), KindProxy)
	})
}

func TestAddressFamily(t *testing.T) {
	t.Parallel()
	four, six := startServer(t), startServer(t)
	four.listen("127.0.0.1")
	six.listen("::1")
	for _, tc := range []struct {
		name   string
		s      *server
		config []string
		kind   Kind // 0: it connects
	}{
		{"IPv6 address", six, []string{"HostName ::1"}, 0},
		{"IPv6 address, nobody there", four, []string{"HostName ::1"}, KindConnect},
		{"a name, either will do", six, []string{"HostName both.test"}, 0},
		{"a name, the other will do", four, []string{"HostName both.test"}, 0},
		{"inet", four, []string{"HostName both.test", "AddressFamily inet"}, 0},
		{"inet, but it is on the other", six, []string{"HostName both.test", "AddressFamily inet"}, KindConnect},
		{"inet6", six, []string{"HostName both.test", "AddressFamily inet6"}, 0},
		{"inet6, but it is on the other", four, []string{"HostName both.test", "AddressFamily inet6"}, KindConnect},
		{"inet and an IPv6 address", six, []string{"HostName ::1", "AddressFamily inet"}, KindResolve},
		{"inet6 and a name of the other", four, []string{"HostName four.test", "AddressFamily inet6"}, KindResolve},
		{"bound", four, []string{"BindAddress 127.0.0.3"}, 0},
		{"bound to what is not ours", four, []string{"BindAddress 192.0.2.1"}, KindConnect},
		{"bound to nonsense", four, []string{"BindAddress no-such-host.invalid"}, KindConfig},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newPool(t, Options{})
			if tc.kind != 0 {
				refusal(t, p, tc.s.endpoint(tc.config...), tc.kind)
				return
			}
			succeed(t, p, tc.s.endpoint(tc.config...))
		})
	}
	res, err := newPool(t, Options{}).Conn(four.endpoint("BindAddress 127.0.0.3")).Run(within(t, 20*time.Second), Script{Text: `echo "${SSH_CLIENT%% *}"`})
	if err != nil || string(res.Stdout) != "127.0.0.3\n" {
		t.Errorf("the server sees %q, %v", res.Stdout, err)
	}
}

// fullListener is a port whose queue of connections is full, so that the kernel
// drops every further one as a firewall would.
func fullListener(t *testing.T) (port int) {
	t.Helper()
	syscall.ForkLock.RLock() // not every system makes one that is closed on exec
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	port = name.(*syscall.SockaddrInet4).Port
	for range 64 {
		c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), 300*time.Millisecond)
		if err != nil {
			return port
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	t.Fatal("the queue does not fill")
	return 0
}

func TestConnectTimeout(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	for name, port := range map[string]int{"nothing answers": fullListener(t), "nothing speaks": silentListener(t)} {
		t.Run(name, func(t *testing.T) {
			err := refusal(t, newPool(t, Options{DialTimeout: time.Minute}), s.endpoint(fmt.Sprintf("Port %d", port), "ConnectTimeout 1"), KindTimeout)
			if err.Hint == "" {
				t.Error("no hint")
			}
			// Without ConnectTimeout, the pool's own limit holds.
			refusal(t, newPool(t, Options{DialTimeout: time.Second}), s.endpoint(fmt.Sprintf("Port %d", port)), KindTimeout)
		})
	}
	t.Run("is no limit for a login", func(t *testing.T) {
		// The server dawdles over the command, long after its greeting.
		slow := startServer(t, `ForceCommand sleep 2; exec sh -c "$SSH_ORIGINAL_COMMAND"`)
		succeed(t, newPool(t, Options{}), slow.endpoint("ConnectTimeout 1"))
	})
}

// silentListener is a port that takes connections and never says a word.
func silentListener(t *testing.T) (port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}

func TestConnectionAttempts(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.knowAlias()
	once, link := proxied(t, s)
	if err := link.Refuse(true); err != nil {
		t.Fatal(err)
	}
	refusal(t, newPool(t, Options{}), once, KindConnect)
	p := newPool(t, Options{})
	e := once
	e.ConfigFile = s.configFile(s.block("box", "ConnectionAttempts 30", "Port "+port(link), "HostKeyAlias "+s.alias()))
	got := make(chan error, 1)
	go func() {
		_, err := p.Conn(e).Run(within(t, time.Minute), Script{Text: ":"})
		got <- err
	}()
	r := p.route(routeKey{Endpoint: e})
	eventually(t, "the second attempt", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return strings.HasPrefix(r.dial.what(), "trying again")
	})
	if err := link.Refuse(false); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestServerAliveInterval(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	p := newPool(t, Options{KeepAlive: time.Hour})
	file := filepath.Join(t.TempDir(), "pid")
	e := s.endpoint("ServerAliveInterval 1", "ServerAliveCountMax 1")
	got := startScript(within(t, time.Minute), t, p.Conn(e), Script{Text: idsText(file) + "sleep 600"}, file)
	pid := idFrom(t, file)
	s.stopForks()
	if err := <-got; !Started(err) {
		t.Errorf("got %v", err)
	} else if k, _ := KindOf(err); k != KindConnect {
		t.Errorf("got %v", err)
	}
	wantGroupGone(t, pid)
}
