package main

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestRecord goes the whole way with the pinned client: two tracks, a scene that
// is still, one that moves and one that is a dialog.
func TestRecord(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	folder := t.TempDir()
	var out, log bytes.Buffer
	args := []string{"-out", folder, "-size", "100x30", "-only", "^(ready-fresh|busy-early|gate-trust)$"}
	if err := run(ctx, args, &out, &log); err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	dirs, _ := filepath.Glob(filepath.Join(folder, "*-100x30"))
	if len(dirs) != 1 {
		t.Fatalf("folders %q\n%s", dirs, log.String())
	}
	dir := dirs[0]
	// The session file may lag behind the screen of a turn that has just begun.
	for name, want := range map[string]struct{ screen, row string }{
		"ready-fresh": {"❯\u00a0", `ready\tno\t\tidle\t0\trunning\tready\t`},
		"busy-early":  {"WAIT first word", `busy\tno\t\t(busy|idle)\t1\trunning\tbusy\t`},
		"gate-trust":  {"trust this folder", `gate\t-\t\t`},
	} {
		raw := read(t, dir, name+".ansi")
		if !strings.Contains(strings.Join(look(t, raw).rows, "\n"), want.screen) {
			t.Errorf("%s does not show %q:\n%s", name, want.screen, raw)
		}
		if n := strings.Count(raw, "\n"); n != 30 {
			t.Errorf("%s has %d rows", name, n)
		}
		if got := read(t, dir, name+".meta"); !metaLine.MatchString(strings.TrimSuffix(got, "\n")) {
			t.Errorf("%s: facts %q", name, got)
		}
		if rows := read(t, dir, table); !regexp.MustCompile(`(?m)^` + name + `\t` + want.row).MatchString(rows) {
			t.Errorf("%s: no %q in\n%s", name, want.row, rows)
		}
	}
	if !strings.Contains(out.String(), "3 scenes recorded, 0 missed") {
		t.Errorf("summary:\n%s", out.String())
	}
}
