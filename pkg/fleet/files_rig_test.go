package fleet_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

// clientFile is the session file of the one client that a host has.
func (p person) clientFile() string {
	p.t.Helper()
	pids, err := p.h.ClientPIDs()
	if err != nil || len(pids) == 0 {
		p.t.Fatalf("clients %v, %v", pids, err)
	}
	return filepath.Join(p.h.Home, ".claude", "sessions", strconv.Itoa(pids[0])+".json")
}

// TestStatusBesideFiles has the files that clients leave lie about in every way:
// only that of the client in the pane, whole and of its own process, bears on the
// verdict.
func TestStatusBesideFiles(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true})
	f := over(t, r)
	up(t, f)
	p := person{t, r, r.Host("alpha")}
	p.submits("SAY a first turn")
	p.shows("● a first turn")
	waitReady(t, f)

	own := p.clientFile()
	text, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	busy := bytes.Replace(text, []byte(`"status":"idle"`), []byte(`"status":"busy"`), 1)
	if bytes.Equal(busy, text) {
		t.Fatalf("no status to change in %s", text)
	}
	write := func(path string, text []byte) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// of is the busy file of another process, that started when nothing did.
	start := regexp.MustCompile(`"procStart":"[0-9]+"`)
	if !start.Match(busy) {
		t.Fatalf("no start time to change in %s", busy)
	}
	of := func(pid int) {
		t.Helper()
		busy := start.ReplaceAll(busy, []byte(`"procStart":"1"`))
		name := strconv.Itoa(pid) + ".json"
		mine := strings.TrimSuffix(filepath.Base(own), ".json")
		write(filepath.Join(filepath.Dir(own), name), bytes.Replace(busy, []byte(`"pid":`+mine), []byte(`"pid":`+strconv.Itoa(pid)), 1))
	}
	for _, c := range []struct {
		name string
		do   func()
		want detect.State
	}{
		{"nothing yet", func() {}, detect.Ready},
		{"the client's own word", func() { write(own, busy) }, detect.Busy},
		{"its own file half written", func() { write(own, busy[:len(busy)/2]) }, detect.Ready},
		{"its own file whole again", func() { write(own, text) }, detect.Ready},
		{"a process that ended", func() {
			ended := exec.Command("true")
			if err := ended.Run(); err != nil {
				t.Fatal(err)
			}
			of(ended.Process.Pid)
		}, detect.Ready},
		// The pane's own shell lives, but it started at another time than the file says. Its
		// own time will not do: the client may have started within the same tick.
		{"a process id used anew", func() {
			pid, err := strconv.Atoi(strings.TrimSpace(p.tmux("display-message", "-p", "-t", "=claude:", "#{pane_pid}")))
			if err != nil {
				t.Fatal(err)
			}
			of(pid)
		}, detect.Ready},
		{"another client in a turn", func() {
			other := p
			other.opens("other", 80, 24, "claude --dangerously-skip-permissions")
			rigtest.Eventually(t, drawn, "the other client's box", func() (bool, string) {
				s, err := p.h.Screen(t.Context(), "other")
				return strings.Contains(s, "❯\u00a0"), fmt.Sprint(s, err)
			})
			p.tmux("send-keys", "-t", "=other:", "-l", "--", "WAIT other")
			p.tmux("send-keys", "-t", "=other:", "Enter")
			p.holding("other")
		}, detect.Ready},
		{"a conversation of 200 MB", func() { p.lengthen(200 << 20) }, detect.Ready},
	} {
		c.do()
		rigtest.Eventually(t, drawn, c.name, func() (bool, string) {
			begin := time.Now()
			s := state(t, f, "alpha")
			t.Logf("%s: %s by %s, looked for %v", c.name, s.State, s.Rule, time.Since(begin).Round(time.Millisecond))
			return s.State == c.want, describe(s)
		})
	}
}

// lengthen puts so many bytes of records before those that a conversation has.
func (p person) lengthen(size int) {
	p.t.Helper()
	files, err := filepath.Glob(filepath.Join(p.h.Home, ".claude", "projects", "*", "*.jsonl"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, name := range files {
		have, err := os.ReadFile(name)
		must(p, err)
		if !bytes.Contains(have, []byte("a first turn")) {
			continue
		}
		file, err := os.Create(name)
		must(p, err)
		record := []byte(`{"type":"assistant","message":{"content":"` + strings.Repeat("x", 1<<20) + `"}}` + "\n")
		for n := 0; n < size; n += len(record) {
			_, err := file.Write(record)
			must(p, err)
		}
		_, err = file.Write(have)
		must(p, err)
		must(p, file.Close())
		return
	}
	p.t.Fatal("no conversation holds the turn")
}
