package transport

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(proxyEnv) != "" {
		os.Exit(proxy(os.Args[1], os.Args[2]))
	}
	if os.Getenv(operatorEnv) != "" {
		os.Exit(operator(os.Args[1], os.Args[2]))
	}
	useTestNames()
	goleak.VerifyTestMain(m)
}

// proxyEnv makes the test binary a ProxyCommand: what nc would be if every
// machine had it.
const proxyEnv = "TRANSPORT_TEST_PROXY"

func proxy(host, port string) int {
	conn, err := net.Dial("tcp", net.JoinHostPort(host, port))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	go func() {
		_, _ = io.Copy(conn, os.Stdin)
		_ = conn.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(os.Stdout, conn)
	return 0
}

// TestConformance holds every way to an endpoint to the contract of Conn.
func TestConformance(t *testing.T) {
	t.Parallel()
	t.Run("local", func(t *testing.T) {
		t.Parallel()
		conform(t, Endpoint{Local: true})
	})
	t.Run("ssh", func(t *testing.T) {
		t.Parallel()
		conform(t, startServer(t).endpoint())
	})
	t.Run("jump", func(t *testing.T) {
		t.Parallel()
		box, near, far := startServer(t), startServer(t), startServer(t)
		// Two hops, of which the second is given and the first its own.
		conform(t, Endpoint{Destination: "box", ConfigFile: box.configFile(
			box.block("box", "ProxyJump near"), near.block("near", "ProxyJump far"), far.block("far"))})
	})
	t.Run("proxy command", func(t *testing.T) {
		t.Parallel()
		s := startServer(t)
		conform(t, s.endpoint("ProxyCommand env "+proxyEnv+"=1 "+os.Args[0]+" %h %p"))
	})
}

func conform(t *testing.T, e Endpoint) {
	conn := newPool(t, Options{}).Conn(e)
	conformRun(t, conn)
	conformClose(t, e)
	conformOperator(t, e)
	conformAttach(t, e)
}

// conformRun holds conn to the contract of Run.
func conformRun(t *testing.T, conn Conn) {
	run := func(t *testing.T, text string) Result {
		t.Helper()
		res, err := conn.Run(within(t, 30*time.Second), Script{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}

	conformOutput(t, conn)

	t.Run("path is appended to", func(t *testing.T) {
		// The first command that is found keeps its place before our additions.
		got := strings.TrimSpace(string(run(t, `echo "$PATH"`).Stdout))
		before, _, ok := strings.Cut(got, ":/opt/homebrew/bin:")
		if !ok || !strings.Contains(before, "/bin") {
			t.Errorf("PATH is %q", got)
		}
	})

	t.Run("a megabyte each way", func(t *testing.T) {
		// A script cannot hold NUL; every other byte it can.
		src := rand.NewChaCha8([32]byte{1})
		big := make([]byte, 1<<20)
		_, _ = src.Read(big)
		for i, c := range big {
			if c == 0 {
				big[i] = '\n'
			}
		}
		res := run(t, "printf %s "+Quote(string(big))+" | cat")
		if sha256.Sum256(res.Stdout) != sha256.Sum256(big) {
			t.Errorf("%d bytes came back changed; %d were sent", len(res.Stdout), len(big))
		}
	})

	t.Run("eight megabytes of answer", func(t *testing.T) {
		// Each stream has its own, and neither waits for the other to be read.
		res := run(t, "yes out | head -c 8388608; yes err | head -c 8388608 >&2; exit 3")
		if len(res.Stdout) != 8<<20 || len(res.Stderr) != 8<<20 || res.ExitCode != 3 ||
			!bytes.Equal(res.Stdout, bytes.Repeat([]byte("out\n"), 2<<20)) || !bytes.Equal(res.Stderr, bytes.Repeat([]byte("err\n"), 2<<20)) {
			t.Errorf("got %d and %d bytes, code %d", len(res.Stdout), len(res.Stderr), res.ExitCode)
		}
	})

	t.Run("a secret in a script shows in no process list", func(t *testing.T) {
		const list = "ps -ww -eo args= | sort -u\n"
		secret, shown := newNonce(), newNonce()
		res := run(t, ": "+Quote(secret)+"\nprintf %s "+Quote(secret)+" | cat >/dev/null\n"+list)
		if strings.Contains(string(res.Stdout), secret) {
			t.Error("it shows")
		}
		// What is put into an argument list does, so the list is worth reading.
		if res := run(t, "sh -c "+Quote(": "+shown+"\n"+list)); !strings.Contains(string(res.Stdout), shown) {
			t.Error("the list lacks what is in it")
		}
	})

	t.Run("a background process does not hold it up", func(t *testing.T) {
		begin := time.Now()
		res := run(t, "sleep 20 & echo $!")
		if d := time.Since(begin); d > 10*time.Second {
			t.Errorf("took %v", d)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(res.Stdout)))
		if err != nil {
			t.Fatal(err)
		}
		if !alive(pid) {
			t.Error("the background process was ended")
		}
		run(t, fmt.Sprintf("kill %d", pid))
	})

	t.Run("refused text", func(t *testing.T) {
		_, err := conn.Run(within(t, time.Minute), Script{Text: "echo \x00"})
		if k, _ := KindOf(err); k != KindConfig || Started(err) {
			t.Errorf("a NUL: got %v", err)
		}
		// All of a script is read before any of it runs.
		mark := filepath.Join(t.TempDir(), "ran")
		_, err = conn.Run(within(t, time.Minute), Script{Text: "touch " + mark + "\nif true; then"})
		if k, _ := KindOf(err); k != KindProtocol || !strings.Contains(err.Error(), "yntax") {
			t.Errorf("a syntax error: got %v", err)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Error("the part before the syntax error ran")
		}
	})

	for _, tc := range []struct{ name, prefix string }{
		{"cancel", ""},
		{"cancel of what ignores TERM", "trap '' TERM; "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			ctx, cancel := context.WithCancel(within(t, time.Minute))
			got := make(chan error, 1)
			go func() {
				_, err := conn.Run(ctx, Script{Text: tc.prefix + "sh -c 'echo $$ >" + file + ".new; mv " + file + ".new " + file + "; while :; do sleep 1; done'; echo survived"})
				got <- err
			}()
			var pid int
			eventually(t, "the script runs", func() bool {
				text, _ := os.ReadFile(file)
				pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
				return pid > 0
			})
			begin := time.Now()
			cancel()
			err := <-got
			if d := time.Since(begin); d > 2*time.Second {
				t.Errorf("the call took %v to end", d)
			}
			if k, _ := KindOf(err); k != KindCanceled || !errors.Is(err, context.Canceled) || !Started(err) {
				t.Errorf("got %v, started %t", err, Started(err))
			}
			eventually(t, "the process is gone", func() bool { return !alive(pid) })
			run(t, ":") // and the endpoint is as usable as before
		})
	}

	t.Run("deadline", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		defer cancel()
		_, err := conn.Run(ctx, Script{Text: "sleep 30"})
		if k, _ := KindOf(err); k != KindTimeout || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})

	t.Run("a context that is over", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := conn.Run(ctx, Script{Text: ":"})
		if k, _ := KindOf(err); k != KindCanceled || Started(err) {
			t.Errorf("got %v, started %t", err, Started(err))
		}
	})

	t.Run("parallel", func(t *testing.T) {
		errs := make(chan error)
		for i := range 34 {
			go func() {
				want := fmt.Appendf(nil, "%d\n", i)
				res, err := conn.Run(within(t, time.Minute), Script{Text: fmt.Sprintf("sleep 0.05; echo %d", i)})
				if err == nil && !bytes.Equal(res.Stdout, want) {
					err = fmt.Errorf("got %q, want %q", res.Stdout, want)
				}
				errs <- err
			}()
		}
		for range 34 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
	})

}

func conformClose(t *testing.T, e Endpoint) {
	t.Run("closed pool", func(t *testing.T) {
		p := NewPool(Options{})
		c := p.Conn(e)
		got := make(chan error, 1)
		file := filepath.Join(t.TempDir(), "up")
		go func() {
			_, err := c.Run(within(t, time.Minute), Script{Text: "touch " + file + "; sleep 30"})
			got <- err
		}()
		eventually(t, "the script runs", func() bool { _, err := os.Stat(file); return err == nil })
		_ = p.Close()
		if err := <-got; !errors.Is(err, ErrPoolClosed) {
			t.Errorf("the call under way: %v", err)
		}
		if _, err := c.Run(within(t, time.Minute), Script{Text: ":"}); !errors.Is(err, ErrPoolClosed) || Started(err) {
			t.Errorf("a call after Close: %v", err)
		}
	})
}

// everyByte is each byte that sh can hold, at the start of a line too.
func everyByte() string {
	var b strings.Builder
	for i := 1; i < 256; i++ {
		b.WriteByte(byte(i))
	}
	for i := 1; i < 256; i++ {
		b.Write([]byte{'\n', byte(i), 0xff, '\n', '_', byte(i)})
	}
	return b.String()
}

// conformOutput holds what a script's output and exit code must be.
func conformOutput(t *testing.T, conn Conn) {
	t.Helper()
	for _, tc := range []struct {
		name, text, out, err string
		code                 int
	}{
		{"nothing", "", "", "", 0},
		{"newline kept", "echo a", "a\n", "", 0},
		{"no newline added", "printf a", "a", "", 0},
		{"binary", `printf '\000\001\377\r\n\033'`, "\x00\x01\xff\r\n\x1b", "", 0},
		{"not UTF-8", `printf 'a\377\300\257\355\240\200\000z'; printf '\200\000' >&2; exit 1`, "a\xff\xc0\xaf\xed\xa0\x80\x00z", "\x80\x00", 1},
		{"streams apart", "echo out; echo err >&2", "out\n", "err\n", 0},
		{"exit code", "exit 7", "", "", 7},
		{"last command's code", "echo x; false", "x\n", "", 1},
		{"code 255", "exit 255", "", "", 255},
		{"signal", "kill -KILL $(sh -c 'echo $PPID')", "", "*", 137},
		{"stdin is empty", "cat; echo end", "end\n", "", 0},
		{"a command does not eat the script", "read x; echo $?; cat >/dev/null; echo end", "1\nend\n", "", 0},
		{"here-document", "cat <<'E'\n$x `y` \\\nE", "$x `y` \\\n", "", 0},
		{"quoting", "printf %s " + Quote("it's\n\"$HOME\" \\ ` é"), "it's\n\"$HOME\" \\ ` é", "", 0},
		{"word of every byte", "printf %s " + Quote(everyByte()), everyByte(), "", 0},
		{"comment at the end", "echo a # b", "a\n", "", 0},
		{"a sh, not the login shell", `x="a b"; set -- $x; echo $#`, "2\n", "", 0},
		{"home directory", `[ "$(pwd -P)" = "$(cd && pwd -P)" ] && echo yes`, "yes\n", "", 0},
		{"no tmux of the operator's", `echo "${TMUX-unset} ${TMUX_PANE-unset}"`, "unset unset\n", "", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res, err := conn.Run(within(t, 30*time.Second), Script{Text: tc.text})
			if err != nil {
				t.Fatal(err)
			}
			if tc.err == "*" { // the shell's own words
				res.Stderr = []byte("*")
			}
			if string(res.Stdout) != tc.out || string(res.Stderr) != tc.err || res.ExitCode != tc.code {
				t.Errorf("got %q, %q, %d; want %q, %q, %d", res.Stdout, res.Stderr, res.ExitCode, tc.out, tc.err, tc.code)
			}
		})
	}
}

func TestOutputLimit(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]Endpoint{"local": {Local: true}, "ssh": startServer(t).endpoint()} {
		t.Run(name, func(t *testing.T) {
			conn := newPool(t, Options{}).Conn(e)
			_, err := conn.Run(within(t, 60*time.Second), Script{Text: "yes | head -c 40000000"})
			if k, _ := KindOf(err); k != KindProtocol || !Started(err) {
				t.Errorf("got %v, started %t; want a protocol error, started", err, Started(err))
			}
			res, err := conn.Run(within(t, 60*time.Second), Script{Text: "head -c 33000000 /dev/zero"})
			if err != nil || len(res.Stdout) != 33000000 {
				t.Errorf("33 MB came back as %d, %v", len(res.Stdout), err)
			}
		})
	}
}
