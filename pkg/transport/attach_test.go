package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// screen collects what a terminal is sent.
type screen struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// attach runs text on a terminal without input.
func attach(t *testing.T, conn Conn, text string) (int, string) {
	t.Helper()
	var out screen
	code, err := conn.Attach(within(t, 20*time.Second), Script{Text: text}, Terminal{Out: &out})
	if err != nil {
		t.Fatalf("%v; screen %q", err, out.String())
	}
	return code, out.String()
}

// conformAttach is the part of conform that is about terminals.
func conformAttach(t *testing.T, e Endpoint) {
	conn := newPool(t, Options{}).Conn(e)

	t.Run("exit codes", func(t *testing.T) {
		for _, want := range []int{0, 1, 77, 255} {
			if got, s := attach(t, conn, "exit "+strconv.Itoa(want)); got != want {
				t.Errorf("got %d, want %d; screen %q", got, want, s)
			}
		}
	})

	t.Run("environment", func(t *testing.T) {
		for _, tc := range []struct{ term, want string }{
			{"", "xterm-256color"}, {"vt100", "vt100"}, {"xterm-no-such-thing", "xterm-256color"},
		} {
			var out screen
			_, err := conn.Attach(within(t, 20*time.Second), Script{Text: `echo "<$TERM>"; case $PATH in */opt/homebrew/bin*) echo path;; esac; tty >/dev/null && echo tty`},
				Terminal{Out: &out, Term: tc.term})
			if err != nil || out.String() != "<"+tc.want+">\r\npath\r\ntty\r\n" {
				t.Errorf("TERM %q: %q, %v", tc.term, out.String(), err)
			}
		}
	})

	t.Run("typing and resizing", func(t *testing.T) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.Close() }()
		defer func() { _ = w.Close() }()
		var out screen
		resize := make(chan Size)
		got := make(chan int, 1)
		go func() {
			code, err := conn.Attach(within(t, 20*time.Second),
				Script{Text: `trap 'stty size' WINCH; stty -echo; stty size; for i in 1 2 3 4 5 6 7 8 9; do read x; case $x in "") ;; bye) exit 5;; *) echo "got $x";; esac; done`},
				Terminal{In: r, Out: &out, Size: Size{Cols: 100, Rows: 30}, Resize: resize})
			if err != nil {
				t.Error(err)
			}
			got <- code
		}()
		shows := func(text string) {
			t.Helper()
			eventually(t, "the screen shows "+text, func() bool { return strings.Contains(out.String(), text) })
		}
		shows("30 100")
		_, _ = io.WriteString(w, "hello é\r")
		shows("got hello é")
		resize <- Size{Cols: 132, Rows: 50}
		_, _ = io.WriteString(w, "\r") // some shells run a trap only when their read is over, which others call off
		shows("50 132")
		_, _ = io.WriteString(w, "bye\r")
		if code := <-got; code != 5 {
			t.Errorf("exit code %d; screen %q", code, out.String())
		}
		// What is typed after the end is for the next reader.
		_, _ = io.WriteString(w, "next")
		buf := make([]byte, 10)
		if n, err := r.Read(buf); string(buf[:n]) != "next" {
			t.Errorf("the next reader got %q, %v", buf[:n], err)
		}
	})

	t.Run("end of input", func(t *testing.T) {
		var out screen
		code, err := conn.Attach(within(t, 20*time.Second), Script{Text: `stty -echo; echo ready; cat; echo over`},
			Terminal{In: &afterReady{out: &out, text: "a\n"}, Out: &out})
		if err != nil || code != 129 || !strings.Contains(out.String(), "a\r\n") || strings.Contains(out.String(), "over") {
			t.Errorf("exit code %d, %v; screen %q", code, err, out.String())
		}
	})

	t.Run("cancel", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "pid")
		ctx, cancel := context.WithCancel(within(t, 20*time.Second))
		got := make(chan error, 1)
		r, w := io.Pipe()
		defer func() { _ = w.Close() }()
		go func() {
			_, err := conn.Attach(ctx, Script{Text: "echo $$ >" + file + ".new; mv " + file + ".new " + file + "; while :; do sleep 1; done"},
				Terminal{In: r, Out: io.Discard})
			got <- err
		}()
		var pid int
		eventually(t, "the script runs", func() bool {
			text, _ := os.ReadFile(file)
			pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
			return pid > 0
		})
		cancel()
		if k, _ := KindOf(<-got); k != KindCanceled {
			t.Errorf("got %v", k)
		}
		eventually(t, "the process is gone", func() bool { return !alive(pid) })
	})

	t.Run("refused", func(t *testing.T) {
		for name, text := range map[string]string{"NUL": "a\x00b", "length": strings.Repeat("#", maxAttachScript+1)} {
			_, err := conn.Attach(within(t, 20*time.Second), Script{Text: text}, Terminal{Out: io.Discard})
			if k, _ := KindOf(err); k != KindConfig || Started(err) {
				t.Errorf("%s: got %v", name, err)
			}
		}
	})
}

// afterReady types text once the screen shows that somebody reads, and ends
// once it shows the answer.
type afterReady struct {
	out  *screen
	text string
}

func (a *afterReady) Read(p []byte) (int, error) {
	want := "ready"
	if a.text == "" {
		want = "a\r\n" // it was read
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); !strings.Contains(a.out.String(), want) && time.Now().Before(end); <-tick.C {
	}
	if a.text == "" {
		return 0, io.EOF
	}
	n := copy(p, a.text)
	a.text = a.text[n:]
	return n, nil
}

func TestAttachLinkDrops(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	conn := newPool(t, Options{}).Conn(s.endpoint())
	var out screen
	got := make(chan error, 1)
	go func() {
		_, err := conn.Attach(within(t, 20*time.Second), Script{Text: "echo ready; sleep 5"}, Terminal{Out: &out})
		got <- err
	}()
	eventually(t, "it is attached", func() bool { return strings.Contains(out.String(), "ready") })
	for _, pid := range s.forks(s.cmd.Process.Pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	err := <-got
	if k, _ := KindOf(err); k != KindConnect || !Started(err) {
		t.Errorf("got %v", err)
	}
}

func TestAttachNoTTY(t *testing.T) {
	t.Parallel()
	s := startServer(t, "PermitTTY no")
	p := newPool(t, Options{})
	_, err := p.Conn(s.endpoint()).Attach(within(t, 20*time.Second), Script{Text: ":"}, Terminal{Out: io.Discard})
	if k, _ := KindOf(err); k != KindSession || Started(err) {
		t.Errorf("got %v", err)
	}
	succeed(t, p, s.endpoint())
}

// TestAttachLocalFile hands a real terminal over.
func TestAttachLocalFile(t *testing.T) {
	t.Parallel()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = master.Close() }()
	defer func() { _ = tty.Close() }()
	if err := pty.Setsize(master, &pty.Winsize{Rows: 33, Cols: 99}); err != nil {
		t.Fatal(err)
	}
	var out screen
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(&out, master)
	}()
	got := make(chan error, 1)
	go func() {
		code, err := newPool(t, Options{}).Conn(Endpoint{Local: true}).Attach(within(t, 20*time.Second),
			Script{Text: "stty size; read x; echo \"got $x\"; exit 4"}, Terminal{In: tty, Out: tty, File: tty})
		if err == nil && code != 4 {
			err = errors.New("exit code " + strconv.Itoa(code))
		}
		got <- err
	}()
	eventually(t, "the command has the terminal", func() bool { return strings.Contains(out.String(), "33 99") })
	_, _ = io.WriteString(master, "typed\r")
	if err := <-got; err != nil {
		t.Error(err)
	}
	eventually(t, "its answer is shown", func() bool { return strings.Contains(out.String(), "got typed") })
	_ = tty.Close()
	_ = master.Close()
	<-done
}
