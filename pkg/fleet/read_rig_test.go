package fleet_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transcript"
)

// TestReadLong reads a conversation of a session that is gone, over SSH. It is
// long, and a record of 30 MB stands between its turns.
func TestReadLong(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha"})
	f := over(t, r, fleet.WithTimeout(time.Minute))
	h := r.Host("alpha")
	path := filepath.Join(h.Home, ".claude", "projects", transcript.Slug(h.Workdir), "0a-1.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(file)
	dir, _ := json.Marshal(h.Workdir) // no string fails to marshal
	const turns, noise = 400, 20 << 10
	for i := 1; i <= turns; i++ {
		fmt.Fprintf(w, `{"type":"user","message":{"role":"user","content":"prompt %d"},"uuid":"u-%d","cwd":%s}`+"\n", i, i, dir)
		fmt.Fprintf(w, `{"type":"attachment","x":%q}`+"\n", strings.Repeat("y", noise))
		if i == turns-5 {
			fmt.Fprintf(w, `{"message":{"content":[{"id":"t","input":{"file_path":"/a.png"},"name":"Read","type":"tool_use"}]},"type":"assistant","uuid":"call"}`+"\n")
			fmt.Fprintf(w, `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","data":%q}]}]},"uuid":"image"}`+"\n", strings.Repeat("QUJD", 8<<20))
		}
		fmt.Fprintf(w, `{"message":{"content":[{"text":"answer %d","type":"text"}]},"type":"assistant","uuid":"a-%d"}`+"\n", i, i)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}

	for _, n := range []int{1, 5, 6, 7, 300, turns, turns + 1} {
		got, err := f.Read(t.Context(), "alpha", fleet.ReadOptions{Turns: n})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for i := max(1, turns-n+1); i <= turns; i++ {
			want = append(want, fmt.Sprintf("user: prompt %d", i))
			if i == turns-5 {
				want = append(want, "tool: Read: /a.png", "tool: Read: its result … (cut; the record has 32 MB)")
			}
			want = append(want, fmt.Sprintf("assistant: answer %d", i))
		}
		if lines := strings.Join(got.Lines, "\n"); lines != strings.Join(want, "\n") {
			t.Errorf("%d turns: %d lines, want %d:\n%.400s", n, len(got.Lines), len(want), lines)
		}
		if first := got.Turns[0]; first.Turn != min(n, turns) || got.Conversation != "0a-1" || got.Source != "transcript" {
			t.Errorf("%d turns: %+v", n, first)
		}
		seen := map[string]bool{}
		for _, turn := range got.Turns {
			if key := turn.ID + turn.Who; seen[key] {
				t.Errorf("%d turns: %s comes twice", n, key)
			}
			seen[turn.ID+turn.Who] = true
		}
	}
	// By lines, with an odd number that cuts a turn.
	got, err := f.Read(t.Context(), "alpha", fleet.ReadOptions{Lines: 15})
	if err != nil || len(got.Lines) != 15 || got.Lines[0] != fmt.Sprintf("assistant: answer %d", turns-6) || got.Turns[0].Turn != 7 {
		t.Errorf("%q, %v", got.Lines, err)
	}
	if got, err := f.Read(t.Context(), "alpha", fleet.ReadOptions{}); err != nil || len(got.Lines) != fleet.DefaultReadLines {
		t.Errorf("%d lines, %v", len(got.Lines), err)
	}
	for _, o := range []fleet.ReadOptions{{Lines: 1, Turns: 1}, {Turns: 1, Screen: true}} {
		if _, err := f.Read(t.Context(), "alpha", o); fleet.ClassOf(err) != fleet.ClassUsage {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := f.Read(t.Context(), "alpha", fleet.ReadOptions{Screen: true}); fleet.ClassOf(err) != fleet.ClassRefused {
		t.Errorf("the screen of a session that is down: %v", err)
	}
}
