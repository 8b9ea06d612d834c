package rigtest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// fakeTB takes what a test would say when it fails.
type fakeTB struct {
	testing.TB
	failure string
}

func (f *fakeTB) Helper() {}

func (f *fakeTB) Fatalf(format string, args ...any) {
	f.failure = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestEventually(t *testing.T) {
	for _, c := range []struct {
		name  string
		after int // how many times it is asked before it says yes
		fails string
	}{
		{"at once", 1, ""},
		{"in the end", 4, ""},
		{"never", 1 << 30, "the thing: not within 500ms; last seen:\nasked "},
	} {
		fake, asked, done := &fakeTB{TB: t}, 0, make(chan struct{})
		go func() {
			defer close(done)
			Eventually(fake, 500*time.Millisecond, "the thing", func() (bool, string) {
				asked++
				return asked >= c.after, fmt.Sprintf("asked %d times", asked)
			})
		}()
		<-done
		if (fake.failure == "") != (c.fails == "") || !strings.HasPrefix(fake.failure, c.fails) {
			t.Errorf("%s: %q, want %q", c.name, fake.failure, c.fails)
		}
		if c.fails == "" && asked != c.after {
			t.Errorf("%s: asked %d times, want %d", c.name, asked, c.after)
		}
	}
}

func TestLastLines(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"a\nb\nc\n", 2, "b\nc\n"},
		{"a\nb\n", 5, "a\nb\n"},
		{"", 2, ""},
	} {
		if got := lastLines(c.text, c.n); got != c.want {
			t.Errorf("lastLines(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
}
