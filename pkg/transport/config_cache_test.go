package transport

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// countedSSH is the real ssh behind a script that counts its runs. With hold, a
// run waits until go exists in its folder.
type countedSSH struct {
	t   *testing.T
	dir string
}

func newCountedSSH(t *testing.T, hold bool) *countedSSH {
	t.Helper()
	c := &countedSSH{t, t.TempDir()}
	script := "#!/bin/sh\ncd " + Quote(c.dir) + "\n: >run.$$\necho $(ls | grep -c '^run') >>counts\necho $$ >>pids\n"
	if hold {
		script += "while [ ! -e go ]; do sleep 0.02; done\n"
	}
	script += "rm run.$$\nexec ssh \"$@\"\n"
	write(t, c.path("ssh"), script)
	if err := os.Chmod(c.path("ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *countedSSH) path(name string) string { return filepath.Join(c.dir, name) }

// numbers reads a file of one number a line.
func (c *countedSSH) numbers(name string) []int {
	text, err := os.ReadFile(c.path(name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		c.t.Fatal(err)
	}
	var out []int
	for f := range strings.FieldsSeq(string(text)) {
		n, err := strconv.Atoi(f)
		if err != nil {
			c.t.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

func (c *countedSSH) runs() int { return len(c.numbers("counts")) }

// age makes files look as if nobody had touched them for a while.
func age(t *testing.T, files ...string) {
	t.Helper()
	for _, f := range files {
		then := time.Now().Add(-time.Hour)
		if err := os.Chtimes(f, then, then); err != nil {
			t.Fatal(err)
		}
	}
}

func TestConfigIsReadOnce(t *testing.T) {
	ssh := newCountedSSH(t, false)
	p := newPool(t, Options{SSHBinary: ssh.path("ssh")})
	dir := t.TempDir()
	main, sub := filepath.Join(dir, "config"), filepath.Join(dir, "sub")
	inc := filepath.Join(sub, "a.conf")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, main, fmt.Sprintf("Include %s/*.conf %s/later/*\nHost box\n User main\nMatch originalhost run exec true\n User run\n", sub, dir))
	write(t, inc, "Port 1\n")
	settle := func() { age(t, main, inc, sub, dir) }
	settle()
	resolve := func(dest string) *settings {
		s, err := p.resolve(within(t, 20*time.Second), routeKey{Endpoint: Endpoint{Destination: dest, ConfigFile: main}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	// step resolves dest twice and wants that many runs of it.
	step := func(what, dest string, want int, ok func(*settings) bool) {
		t.Helper()
		before := ssh.runs()
		for range 2 {
			if s := resolve(dest); !ok(s) {
				t.Errorf("%s: got %+v", what, s)
			}
		}
		if got := ssh.runs() - before; got != want {
			t.Errorf("%s: ssh ran %d times, want %d", what, got, want)
		}
	}
	step("first", "box", 1, func(s *settings) bool { return s.user == "main" && s.port == 1 })
	step("again", "box", 0, func(s *settings) bool { return s.user == "main" })
	step("another user", "me@box", 1, func(s *settings) bool { return s.user == "me" })
	step("another port", "box:7", 1, func(s *settings) bool { return s.port == 7 })
	step("another host", "web", 1, func(s *settings) bool { return s.port == 1 })
	step("a command", "run", 2, func(s *settings) bool { return s.user == "run" })
	write(t, inc, "Port 22\n")
	settle()
	step("an included file of another size", "box", 1, func(s *settings) bool { return s.port == 22 })
	write(t, inc, "Port 33\n")
	age(t, sub)
	if err := os.Chtimes(inc, time.Time{}, time.Now().Add(-time.Minute)); err != nil {
		t.Fatal(err)
	}
	step("an included file of another time", "box", 1, func(s *settings) bool { return s.port == 33 })
	write(t, filepath.Join(sub, "0.conf"), "Port 44\n")
	age(t, filepath.Join(sub, "0.conf"))
	if err := os.Chtimes(sub, time.Time{}, time.Now().Add(-time.Minute)); err != nil {
		t.Fatal(err)
	}
	step("one more included file", "box", 1, func(s *settings) bool { return s.port == 44 })
	later := filepath.Join(dir, "later")
	if err := os.Mkdir(later, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(later, "x"), "BindAddress ::1\n")
	age(t, later, filepath.Join(later, "x"))
	step("a folder that was not there", "box", 1, func(s *settings) bool { return s.bind == "::1" })
	p.configs.mu.Lock()
	for k, kept := range p.configs.kept {
		kept.until = time.Now()
		p.configs.kept[k] = kept
	}
	p.configs.mu.Unlock()
	step("a minute later", "box", 1, func(s *settings) bool { return s.port == 44 })
	if err := os.Chtimes(main, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	step("a file that is being written", "box", 2, func(s *settings) bool { return s.port == 44 })
}

// TestForkIsAskedAboutTwice runs ssh -G again for a ForkAfterAuthentication, and
// only for that.
func TestForkIsAskedAboutTwice(t *testing.T) {
	for text, want := range map[string]int{
		"Host *\n ForkAfterAuthentication yes\n":                   2,
		"Host *\n ForkAfterAuthentication no\n":                    1,
		"Host *\n NoSuchKeyword yes\n":                             1,
		"Host *\n ForkAfterAuthentication yes\n NoSuchKeyword y\n": 1,
	} {
		c := newCountedSSH(t, false)
		_, err := resolved(t, newPool(t, Options{SSHBinary: c.path("ssh")}), text, "box")
		if bad := strings.Contains(text, "NoSuchKeyword"); (err != nil) != bad || c.runs() != want {
			t.Errorf("%q: ran ssh %d times, want %d: %v", text, c.runs(), want, err)
		}
	}
}

// TestTraceChangesNothing has the same settings with and without the -v that
// tells which files are read.
func TestTraceChangesNothing(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "ssh")
	write(t, bin, "#!/bin/sh\n[ \"$1\" = -v ] || exit 9\nshift\nexec ssh \"$@\"\n")
	if err := os.Chmod(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	text := "Host box\n User u\n SendEnv A\n LogLevel QUIET\n IdentityFile /a\n"
	want, err := resolved(t, newPool(t, Options{SSHBinary: bin}), text, "box")
	if err != nil {
		t.Fatal(err)
	}
	got, err := resolved(t, newPool(t, Options{}), text, "box")
	if err != nil {
		t.Fatal(err)
	}
	if d := differences(want, got); len(d) > 0 {
		t.Error(d)
	}
}

func TestConfigIsReadTogether(t *testing.T) {
	ssh := newCountedSSH(t, true)
	p := newPool(t, Options{SSHBinary: ssh.path("ssh")})
	e := Endpoint{Destination: "box", ConfigFile: "/dev/null"}
	short, cancel := context.WithCancel(within(t, 30*time.Second))
	var wg sync.WaitGroup
	for i := range 20 {
		ctx := within(t, 30*time.Second)
		if i == 0 {
			ctx = short
		}
		wg.Go(func() {
			_, err := p.Resolve(ctx, e)
			if kind, _ := KindOf(err); (i == 0) != (kind == KindCanceled) || i > 0 && err != nil {
				t.Errorf("caller %d: %v", i, err)
			}
		})
	}
	waiting := func(n int) func() bool {
		return func() bool {
			p.configs.mu.Lock()
			defer p.configs.mu.Unlock()
			for _, f := range p.configs.flights {
				if f.waiters == n {
					return true
				}
			}
			return false
		}
	}
	eventually(t, "all wait for one run", waiting(20))
	cancel()
	eventually(t, "one has left", waiting(19))
	write(t, ssh.path("go"), "")
	wg.Wait()
	if n := ssh.runs(); n != 1 {
		t.Errorf("ssh ran %d times", n)
	}
}

// TestConfigReadingEnds has a run whose last caller leaves end, with what it
// started, and the next caller begin anew.
func TestConfigReadingEnds(t *testing.T) {
	ssh := newCountedSSH(t, true)
	p := newPool(t, Options{SSHBinary: ssh.path("ssh")})
	e := Endpoint{Destination: "box", ConfigFile: "/dev/null"}
	ctx, cancel := context.WithCancel(within(t, 30*time.Second))
	done := make(chan error, 1)
	go func() { _, err := p.Resolve(ctx, e); done <- err }()
	eventually(t, "ssh runs", func() bool { return len(ssh.numbers("pids")) == 1 })
	cancel()
	if kind, _ := KindOf(<-done); kind != KindCanceled {
		t.Errorf("got %v", kind)
	}
	eventually(t, "it is gone", func() bool { return !alive(ssh.numbers("pids")[0]) })
	write(t, ssh.path("go"), "")
	if _, err := p.Resolve(within(t, 30*time.Second), e); err != nil {
		t.Errorf("the next: %v", err)
	}
	_ = p.Close()
	if _, err := p.Resolve(within(t, 30*time.Second), e); !errors.Is(err, ErrPoolClosed) {
		t.Errorf("a closed pool: %v", err)
	}
}

func TestConfigReadingIsBounded(t *testing.T) {
	ssh := newCountedSSH(t, true)
	p := newPool(t, Options{SSHBinary: ssh.path("ssh")})
	file := filepath.Join(t.TempDir(), "config")
	write(t, file, "Match all\n") // only ssh is asked about it, for each host
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Go(func() {
			if _, err := p.Resolve(within(t, 60*time.Second), Endpoint{Destination: fmt.Sprint("box", i), ConfigFile: file}); err != nil {
				t.Error(err)
			}
		})
	}
	limit := max(4, 2*runtime.GOMAXPROCS(0))
	eventually(t, "all places are taken", func() bool { return ssh.runs() == limit })
	write(t, ssh.path("go"), "")
	wg.Wait()
	for _, n := range ssh.numbers("counts") {
		if n > limit {
			t.Errorf("%d ran at once, more than %d", n, limit)
		}
	}
	if n := ssh.runs(); n != 30 {
		t.Errorf("ssh ran %d times", n)
	}
}
