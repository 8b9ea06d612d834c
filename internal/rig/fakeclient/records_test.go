package fakeclient_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/fakeclient"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
)

// conversation is the only conversation of a home: its bytes, and its records of
// the kinds that say what happened.
func (b *bench) conversation() (raw string, records []map[string]any) {
	b.Helper()
	files, err := filepath.Glob(filepath.Join(b.host.Home, ".claude", "projects", "*", "*.jsonl"))
	if err != nil || len(files) > 1 {
		b.Fatalf("conversations %q, %v", files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		raw = string(text)
	}
	for line := range strings.Lines(raw) {
		var r map[string]any
		if json.Unmarshal([]byte(line), &r) != nil {
			continue
		}
		switch r["type"] {
		case "user", "assistant", "queue-operation":
			records = append(records, r)
		case "system":
			if r["subtype"] == "turn_duration" {
				records = append(records, r)
			}
		}
	}
	return raw, records
}

// kind says what a record is, in one word and what is in it.
func kind(r map[string]any) string {
	k := fmt.Sprint(r["type"], " ", r["subtype"], r["operation"], " ", r["promptSource"])
	message, _ := r["message"].(map[string]any)
	switch content := message["content"].(type) {
	case string:
		k += " " + content
	case []any:
		for _, block := range content {
			k += fmt.Sprint(" ", block.(map[string]any)["type"])
		}
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(k, "<nil>", "")), " ")
}

// ends waits until so many turns have ended, or more.
func (b *bench) ends(n int) {
	b.Helper()
	rigtest.Eventually(b, within, fmt.Sprintf("%d turns to end", n), func() (bool, string) {
		ended, all := 0, ""
		_, records := b.conversation()
		for _, r := range records {
			if r["type"] == "system" {
				ended++
			}
			all += kind(r) + "\n"
		}
		return ended >= n, all + b.screen()
	})
}

// tale is the same for a real client and a fake one: what is typed, until the
// records of it are compared. end ends the turn that runs, ask asks the question
// of the turn that runs.
func (b *bench) tale(end func(hold string), ask func()) {
	b.Helper()
	enter := func(shows string, pieces ...string) {
		b.Helper()
		b.shows("❯\u00a0\n")
		for _, p := range pieces {
			b.paste(p)
		}
		b.shows(shows)
		b.keys("Enter")
	}
	enter("three", "one\ntwo\n", "three")
	end("")
	b.ends(1)
	enter("[Pasted text #1", lines(5))
	end("")
	b.ends(2)
	enter("HOLD a", "HOLD a")
	b.shows("● ", "esc to interrupt")
	b.paste("queued one")
	b.shows("❯\u00a0queued one")
	b.keys("Enter")
	b.shows("Queued", "Press up")
	end("a")
	b.ends(3)
	end("")
	b.ends(4)
	enter("HOLD b", "HOLD b")
	b.shows("esc to interrupt")
	rigtest.Eventually(b, within, "the answer to begin", func() (bool, string) {
		s := b.screen()
		_, answer, _ := strings.Cut(s, "❯ HOLD b")
		return strings.Contains(answer, "● "), s
	})
	b.keys("Escape")
	b.shows("Interrupted", "❯\u00a0\n")
	enter("ASK", "ASK")
	ask()
	b.shows("2. Postgres")
	// The real client may miss a key right after it has drawn a dialog.
	rigtest.Eventually(b, within, "the question to be answered", func() (bool, string) {
		s := b.screen()
		if strings.Contains(s, "2. Postgres") {
			b.keys("2")
		}
		return strings.Contains(s, "Answered Claude's"), s
	})
	end("")
	b.ends(5)
}

// TestRecords holds that the same tale leaves the same records with the real
// client and with the fake one, and session files of the same kind.
func TestRecords(t *testing.T) {
	// First, since the other's home becomes this process's.
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Local: true, Trusted: true, BypassAccepted: true})
	real := &bench{T: t, host: r.Host("alpha"), pane: "=alpha:"}
	fake := start(t, fakeclient.Script{Turn: time.Hour, FirstToken: time.Millisecond, Faults: []fakeclient.Fault{
		{On: fakeclient.OnFile, File: "end", EndTurn: true}, {On: fakeclient.OnFile, File: "ask", Dialog: fakeclient.DialogQuestion},
	}})
	began := func() { fake.shows("esc to interrupt") }
	fake.tale(func(string) {
		fake.Helper()
		began()
		if err := fake.host.BringFault(t.Context(), "end"); err != nil {
			t.Fatal(err)
		}
	}, func() { began(); fake.ask() })

	real.must("new-session", "-d", "-s", "alpha", "-x", "120", "-y", "40", command)
	real.tale(func(hold string) {
		if hold != "" {
			r.API().Release(hold)
		}
	}, func() {})

	_, got := fake.conversation()
	_, want := real.conversation()
	// The real client writes down that it takes a queued prompt beside what it
	// writes of the turn that ends, in either order.
	got, want = queueFirst(got), queueFirst(want)
	kinds := func(records []map[string]any) string {
		var all []string
		for _, r := range records {
			all = append(all, kind(r))
		}
		return strings.Join(all, "\n")
	}
	id := func(text string) string { // of the frame of a paste
		_, rest, _ := strings.Cut(text, `pasted_content id="`)
		id, _, _ := strings.Cut(rest, `"`)
		return id
	}
	g, w := kinds(got), kinds(want)
	if g = strings.ReplaceAll(g, id(g), id(w)); g != w {
		t.Fatalf("records of the fake client\n%s\n\nof the real one\n%s", g, w)
	}
	if len(got) < 15 {
		t.Errorf("the tale left %d records:\n%s", len(got), g)
	}
	for i, r := range got {
		sameKeys(t, kind(r), r, want[i])
	}
	sameKeys(t, "the session file", sessionFile(t, fake), sessionFile(t, real))
}

// queueFirst orders the records of the queue before all others.
func queueFirst(records []map[string]any) []map[string]any {
	return slices.SortedStableFunc(slices.Values(records), func(a, b map[string]any) int {
		rank := func(r map[string]any) int {
			if r["type"] == "queue-operation" {
				return 0
			}
			return 1
		}
		return rank(a) - rank(b)
	})
}

// sameKeys holds that what the fake client writes is there in the real one's
// too, and of the same kind.
func sameKeys(t *testing.T, what string, fake, real map[string]any) {
	t.Helper()
	for key, value := range fake {
		other, ok := real[key]
		if !ok || fmt.Sprintf("%T", value) != fmt.Sprintf("%T", other) {
			t.Errorf("%s: %s is %v, of the real client %v", what, key, value, other)
		}
		if slices.Contains([]string{"version", "kind", "status", "tmux", "gitBranch", "entrypoint", "userType", "permissionMode"}, key) && value != other {
			t.Errorf("%s: %s is %v, of the real client %v", what, key, value, other)
		}
	}
}

func sessionFile(t *testing.T, b *bench) map[string]any {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(b.host.Home, ".claude", "sessions", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("session files %q, %v", files, err)
	}
	var f map[string]any
	rigtest.Eventually(t, within, "an idle client's session file", func() (bool, string) {
		raw, err := os.ReadFile(files[0])
		return err == nil && json.Unmarshal(raw, &f) == nil && f["status"] == "idle", string(raw)
	})
	return f
}

// clockTick is how far a file's time may be behind the clock.
const clockTick = 50 * time.Millisecond

// TestLateRecords holds how the script delays what is written. An hour stands
// for a moment that the test can be sure to come before.
func TestLateRecords(t *testing.T) {
	b := start(t, fakeclient.Script{})
	half := func(raw string) bool {
		return strings.HasPrefix(raw, "{") && !strings.Contains(raw, "\n") && !json.Valid([]byte(raw))
	}
	empty := func(raw string) bool { return raw == "" }
	whole := func(raw string) bool {
		return strings.Count(raw, "\n") == 3 && strings.Contains(raw, "turn_duration")
	}
	for _, c := range []struct {
		name   string
		record fakeclient.Record
		end    func(raw string) bool // what the conversation comes to
		after  time.Duration         // the prompt at the soonest
	}{
		{"at once", fakeclient.Record{}, whole, 0},
		{"late", fakeclient.Record{After: time.Second}, whole, time.Second},
		{"very late", fakeclient.Record{After: time.Hour}, empty, 0},
		{"torn", fakeclient.Record{Torn: time.Second}, whole, time.Second},
		{"torn for long", fakeclient.Record{Torn: time.Hour}, half, 0},
		{"never", fakeclient.Record{Never: true}, empty, 0},
	} {
		if err := os.RemoveAll(filepath.Join(b.host.Home, ".claude", "projects")); err != nil {
			t.Fatal(err)
		}
		b.relaunch(fakeclient.Script{Turn: 20 * time.Millisecond, Record: c.record})
		b.paste("hello")
		b.keys("Enter")
		b.eventually("the turn to end", func() bool { return len(b.events(fakeclient.Ended)) == 1 })
		rigtest.Eventually(t, within, "the conversation, "+c.name, func() (bool, string) {
			raw, _ := b.conversation()
			return c.end(raw), raw
		})
		if c.after == 0 {
			continue
		}
		files, err := filepath.Glob(filepath.Join(b.host.Home, ".claude", "projects", "*", "*.jsonl"))
		if err != nil || len(files) != 1 {
			t.Fatalf("conversations %q, %v", files, err)
		}
		info, err := os.Stat(files[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range b.ofClient() {
			if took := info.ModTime().Sub(e.At); e.What == fakeclient.Submitted && took < c.after-clockTick {
				t.Errorf("%s: written whole after %s", c.name, took)
			}
		}
	}
}
