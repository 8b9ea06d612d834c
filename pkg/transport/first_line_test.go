package transport

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestFirstLine(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, tc := range []struct{ in, want string }{
		{"", ""},
		{"SSH-2.0-x\r\n", ""},
		{"SSH-2.0-x\r\nbinary\nmore", ""},
		{"SSH-2.0-a version that is not whole yet", ""},
		{"SS", "SS"}, // and then it hung up
		{"HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n", "HTTP/1.1 400 Bad Request"},
		{"220 mail", "220 mail"},
		{"\r\n\n  hello \nagain\n", "hello"},
		{"welcome\nSSH-2.0-x\r\n", ""},
		{"welcome\nSSH-", "welcome"},
		{" SSH-2.0-x\n", "SSH-2.0-x"}, // not at the beginning, so no greeting
		{long + "\n", long[:256]},
		{long + "\nSSH-2.0-x\n", ""},
	} {
		var f firstLine
		f.add([]byte(tc.in))
		if got := f.stray(); got != tc.want {
			t.Errorf("%q: got %q, want %q", tc.in, got, tc.want)
		}
	}
}

func FuzzFirstLine(f *testing.F) {
	for _, s := range []string{"a\nSSH-2.0-x\n", "SSH-", "\n\n", "HTTP/1.1 400 Bad Request\r\n"} {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, in []byte, n int) {
		var whole, parts firstLine
		whole.add(in)
		for b := in; len(b) > 0; {
			k := 1 + max(0, n)%len(b)
			parts.add(b[:k])
			b = b[k:]
		}
		got := whole.stray()
		if parts.stray() != got || len(got) > 256 || strings.Contains(got, "\n") {
			t.Fatalf("%q: %q at once, %q in pieces", in, got, parts.stray())
		}
	})
}

// saying is a listener that says text to everybody and then hangs up, or waits
// for the client to. No sshd can be had to do so. count is how many came.
func saying(t *testing.T, text string, hangsUp bool) (port int, count *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	count = &atomic.Int32{}
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			count.Add(1)
			wg.Go(func() {
				defer func() { _ = c.Close() }()
				_, _ = c.Write([]byte(text))
				buf := make([]byte, 1024)
				for n := 0; n == 0 || !hangsUp; {
					var err error
					if n, err = c.Read(buf); err != nil {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	return l.Addr().(*net.TCPAddr).Port, count
}

// TestNotSSH has what a server says in the place of its greeting told, and no
// retry where sshd has not dropped a login.
func TestNotSSH(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	for _, tc := range []struct {
		name    string
		says    string
		hangsUp bool
		kind    Kind
		text    string
		tries   int32
	}{
		{"another protocol", "220 mail.example ESMTP\r\n", true, KindProtocol, `sent "220 mail.example ESMTP", which is no SSH greeting`, 1},
		{"another protocol, which waits", "220 mail.example ESMTP\r\n", false, KindTimeout, `sent "220 mail.example ESMTP", which is no SSH greeting, and nothing more in time`, 1},
		{"half a line", "go away", true, KindProtocol, `sent "go away"`, 1},
		{"a hostile one", evil, true, KindProtocol, "owned", 1},
		{"a line that never ends", strings.Repeat("x", 5000), true, KindProtocol, "which is no SSH greeting", 1},
		{"no room", "Exceeded MaxStartups\r\n", true, KindConnect, "closed the connection before login: Exceeded MaxStartups", 1 + int32(dropPolicy.alone)},
		{"no room, in newer words", "Not allowed at this time\r\n", true, KindConnect, "closed the connection before login: Not allowed at this time", 1 + int32(dropPolicy.alone)},
		{"nothing", "", true, KindConnect, "closed the connection before login", 1 + int32(dropPolicy.alone)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			port, count := saying(t, tc.says, tc.hangsUp)
			e := s.endpoint(fmt.Sprintf("Port %d", port), "ConnectTimeout 2")
			_, err := newPool(t, Options{}).Conn(e).Run(within(t, time.Minute), Script{Text: ":"})
			wantError(t, err, tc.kind, false, tc.text, "")
			if n := count.Load(); n != tc.tries {
				t.Errorf("tried %d times, want %d", n, tc.tries)
			}
		})
	}
	t.Run("a real web server", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		web := &http.Server{ReadHeaderTimeout: time.Minute}
		done := make(chan struct{})
		go func() { defer close(done); _ = web.Serve(l) }()
		defer func() { _ = web.Close(); <-done }()
		rerr := refusal(t, newPool(t, Options{}), s.endpoint(fmt.Sprintf("Port %d", l.Addr().(*net.TCPAddr).Port)), KindProtocol)
		wantText(t, rerr.Error(), `sent "HTTP/1.1 400 Bad Request", which is no SSH greeting`)
		wantText(t, rerr.Hint, "another service", "Port")
	})
	t.Run("a command that is no SSH server", func(t *testing.T) {
		rerr := refusal(t, newPool(t, Options{}), s.endpoint("ProxyCommand sh -c 'echo no such tunnel; read version'"), KindProxy)
		wantText(t, rerr.Error(), "no such tunnel")
	})
	t.Run("lines before the greeting", func(t *testing.T) {
		through := fmt.Sprintf("env %s=1 %s 127.0.0.1 %d", proxyEnv, os.Args[0], s.port)
		succeed(t, newPool(t, Options{}), s.endpoint("ProxyCommand sh -c 'echo welcome; exec "+through+"'"))
	})
}

// TestTimeoutHint speaks of the machine only where it was asked.
func TestTimeoutHint(t *testing.T) {
	for doing, want := range map[string]string{
		readingConfig:                            "Match exec",
		readingConfig + " for the jump host hop": "Match exec",
		awaitingGreeting + "box:22":              "SSH server",
		awaitingLogins + "box:22":                "logins",
		awaitingRoom + "box:22":                  "MaxStartups",
		loggingIn + "box:22 as me":               "agent",
		awaitingChannel:                          "leaves no room",
		"connecting to box:22":                   "whether it is up",
		"running the script":                     "whether it is up",
	} {
		got := timeoutHint(doing)
		wantText(t, got, want, "allow more time")
		if strings.Contains(got, "whether it is up") != (want == "whether it is up") {
			t.Errorf("%s: %q", doing, got)
		}
	}
}
