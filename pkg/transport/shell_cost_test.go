package transport

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestShellRoundTrips counts what a script takes of the network, by how often the
// bytes on it turn.
func TestShellRoundTrips(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.knowAlias()
	e, network := proxied(t, s)
	p := polled(t, Options{}, e)
	network.SetDelay(30 * time.Millisecond)
	const scripts = 10
	for _, tc := range []struct {
		name string
		s    Script
		// least and most are round trips a script.
		least, most float64
	}{
		{"persistent", Script{Text: "echo ok; echo err >&2", Repeatable: true}, 1, 1},
		{"persistent, long", Script{Text: "#" + strings.Repeat(" long", 2000) + "\nseq 2000", Repeatable: true}, 1, 1},
		{"a channel each", Script{Text: "echo ok; echo err >&2"}, 3, 5},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := p.Conn(e).Run(within(t, time.Minute), tc.s); err != nil {
				t.Fatal(err)
			}
			wantSlots(t, p, e) // what ends a channel is on its way behind the answer
			before := network.Traffic()
			for range scripts {
				if _, err := p.Conn(e).Run(within(t, time.Minute), tc.s); err != nil {
					t.Fatal(err)
				}
			}
			wantSlots(t, p, e)
			after := network.Traffic()
			if got := float64(after.Turns-before.Turns) / 2 / scripts; got < tc.least || got > tc.most {
				t.Errorf("%v round trips a script", got)
			}
			if after.Connections != before.Connections {
				t.Error("there is another connection")
			}
		})
	}
}

// TestShellForks counts the processes of a script in the persistent shell.
func TestShellForks(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	e := s.endpoint()
	p := polled(t, Options{}, e)
	made := func(text string) (forks, execs int) {
		traced := filepath.Join(t.TempDir(), "trace")
		trace := exec.Command("strace", "-f", "-qq", "-o", traced, "-p", strconv.Itoa(shellID(t, p, e)), "-e", "trace=fork,vfork,clone,clone3,execve")
		if err := trace.Start(); err != nil {
			t.Fatal(err)
		}
		// A mark of its own says that the tracer has come, and another that it has
		// seen all.
		shown := func() string { b, _ := os.ReadFile(traced); return string(b) }
		mark := func(name string) {
			eventually(t, "the tracer sees a script", func() bool {
				_, _ = p.Conn(e).Run(within(t, time.Minute), Script{Text: "exec /bin/echo " + name, Repeatable: true})
				return strings.Contains(shown(), `"`+name+`"`)
			})
		}
		mark("before")
		for range 10 {
			if _, err := p.Conn(e).Run(within(t, time.Minute), Script{Text: text, Repeatable: true}); err != nil {
				t.Fatal(err)
			}
		}
		mark("after")
		_ = trace.Process.Signal(os.Interrupt)
		_ = trace.Wait()
		text = shown()
		text = text[strings.LastIndex(text, `"before"`):strings.Index(text, `"after"`)]
		calls := func(re string) int { return len(regexp.MustCompile(`(?m)^\d+ +`+re+`\(`).FindAllString(text, -1)) }
		return calls("(clone3?|v?fork)"), calls("execve")
	}
	// The last mark has two forks of its own before its exec, which is one more.
	if forks, execs := made(":"); forks != 2*10+2 || execs != 1 {
		t.Errorf("ten short scripts: %d forks, %d execs", forks, execs)
	}
	if forks, execs := made("#" + strings.Repeat(" long", 2000)); forks != 3*10+2 || execs != 10+1 {
		t.Errorf("ten long scripts: %d forks, %d execs", forks, execs)
	}
}

// TestShellLongRun holds that nothing is left of a thousand scripts at either end.
// No other test runs beside it.
func TestShellLongRun(t *testing.T) {
	for name, e := range map[string]Endpoint{"local": {Local: true}, "ssh": startServer(t).endpoint()} {
		t.Run(name, func(t *testing.T) { longRun(t, e) })
	}
}

func longRun(t *testing.T, e Endpoint) {
	p := polled(t, Options{}, e)
	shell := shellID(t, p, e)
	// What the shell has: children, zombies among them, descriptors, memory in KiB.
	has := func() (children, descriptors, memory int) {
		shown, _ := exec.Command("ps", "--ppid", strconv.Itoa(shell), "-o", "pid=").Output()
		files, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", shell))
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", shell))
		_, rss, _ := strings.Cut(string(status), "VmRSS:")
		_, _ = fmt.Sscan(rss, &memory)
		return len(strings.Fields(string(shown))), len(files), memory
	}
	long := "#" + strings.Repeat(" long", 2000) + "\n"
	ctx := within(t, 2*time.Minute)
	run := func(n int) {
		for i := range n {
			text := fmt.Sprint("echo ", i)
			if i%2 == 0 {
				text = long + text
			}
			res, err := p.Conn(e).Run(ctx, Script{Text: text, Repeatable: true})
			if err != nil || string(res.Stdout) != fmt.Sprintln(i) {
				t.Fatalf("%d: got %q, %v", i, res.Stdout, err)
			}
		}
	}
	run(100)
	children, descriptors, memory := has()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	goroutines := runtime.NumGoroutine()
	run(1000)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if c, d, m := has(); c != children || c != 0 || d != descriptors || m > memory+256 {
		t.Errorf("the shell has %d children, %d descriptors and %d KiB; before: %d, %d and %d", c, d, m, children, descriptors, memory)
	}
	if got := shellID(t, p, e); got != shell {
		t.Error("the shell was replaced")
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 256<<10 {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
	eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= goroutines })
}
