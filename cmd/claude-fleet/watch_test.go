package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"go.uber.org/goleak"
	"golang.org/x/term"

	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// screenText is what was written to a terminal so far.
type screenText struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (s *screenText) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Write(p)
}

func (s *screenText) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.all.String(), text)
}

// TestWatchLeavesNothing ends the table in each way, on a terminal and with a machine
// that refuses: no goroutine stays, and the terminal is as it was.
func TestWatchLeavesNothing(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(master io.Writer, cancel func())
	}{
		{"its key", func(m io.Writer, _ func()) { _, _ = m.Write([]byte("q")) }},
		{"ctrl+c in a prompt", func(m io.Writer, _ func()) { _, _ = m.Write([]byte("s\x03")) }},
		{"its context", func(_ io.Writer, cancel func()) { cancel() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			master, slave, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			if err := pty.Setsize(master, &pty.Winsize{Cols: 80, Rows: 24}); err != nil {
				t.Fatal(err)
			}
			before, err := term.GetState(int(slave.Fd()))
			if err != nil {
				t.Fatal(err)
			}
			shown := &screenText{}
			copied := make(chan struct{})
			go func() {
				defer close(copied)
				_, _ = io.Copy(shown, master)
			}()

			host := fleet.Host{Name: "dead", Project: "app", Transport: fleet.TransportSSH, SSH: "nobody@127.0.0.1:1", SSHConfig: os.DevNull, Timeout: time.Minute}
			f := fleet.New(&fleet.Table{Hosts: []fleet.Host{host}})
			a := &app{in: slave, colour: colourAuto}
			a.out, a.err = turnWriter{slave, a}, turnWriter{slave, a}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- a.watch(ctx, f, []fleet.Host{host}, time.Second) }()
			rigtest.Eventually(t, time.Minute, "the host is unreachable", func() (bool, string) { return shown.has("unreachable"), "" })
			c.end(master, cancel)
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("it ended with %v", err)
				}
			case <-time.After(time.Minute):
				t.Fatal("it did not end")
			}
			after, err := term.GetState(int(slave.Fd()))
			if err != nil || !reflect.DeepEqual(before, after) {
				t.Errorf("the terminal was left in another mode (%v):\nbefore %+v\nafter  %+v", err, before, after)
			}
			rigtest.Eventually(t, time.Minute, "the first screen and the cursor are back", func() (bool, string) {
				return shown.has("\x1b[?1049l") && shown.has("\x1b[?25h"), ""
			})
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			_ = slave.Close()
			_ = master.Close()
			<-copied
		})
	}
}

// TestQuietTerminal takes the terminal queries out of what is written, and nothing else.
func TestQuietTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	const wanted = "\x1b[?2026h\x1b[?25lone\x1b[>1utwo?u"
	n, err := quietTerminal{w}.Write([]byte("\x1b[?2026$p\x1b[?2027$p\x1b[?2026h\x1b[?25lone\x1b[?u\x1b[>1utwo?u"))
	if err != nil || n != len(wanted)+len("\x1b[?2026$p\x1b[?2027$p\x1b[?u") {
		t.Errorf("it wrote %d, %v", n, err)
	}
	_ = w.Close()
	got, err := io.ReadAll(r)
	if err != nil || string(got) != wanted {
		t.Errorf("%q, %v", got, err)
	}
	_ = r.Close()
}
