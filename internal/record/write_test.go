package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func testConfig() config {
	return config{version: "2.1.0", width: 120, height: 40, settingName: "default", log: func(string, ...any) {}}
}

func taking(t *testing.T, name, raw string) result {
	t.Helper()
	return result{scene: scene{name: name, state: ready, draft: empty}, view: look(t, raw)}
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestWrite(t *testing.T) {
	dir, conf := t.TempDir(), testConfig()
	lost := taking(t, "ready-b", "another\tscreen\n")
	lost.missed = "not in time:\nthe box"
	if err := write(dir, conf, []result{taking(t, "ready-a", "a screen\n"), lost, {scene: scene{name: "ready-c"}, missed: "no client"}}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, "ready-a.ansi"); got != "a screen\n" {
		t.Errorf("screen %q", got)
	}
	if got := read(t, dir, "ready-a.meta"); got != facts {
		t.Errorf("facts %q", got)
	}
	if got := read(t, dir, missedFolder, "ready-b.ansi"); got != "another\tscreen\n" {
		t.Errorf("missed screen %q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "ready-b.ansi")); err == nil {
		t.Error("a missed scene is among the others")
	}
	lines := strings.Split(strings.TrimSuffix(read(t, dir, table), "\n"), "\n")
	if len(lines) != 4 {
		t.Fatalf("table %q", lines)
	}
	for i, line := range lines {
		if n := strings.Count(line, "\t") + 1; n != len(columns) {
			t.Errorf("line %d has %d fields: %q", i, n, line)
		}
	}
	if !strings.Contains(lines[2], "not in time: the box") {
		t.Errorf("no reason: %q", lines[2])
	}

	// A part joins: ready-b now comes about, ready-a stays.
	conf.only = regexp.MustCompile("b")
	if err := write(dir, conf, []result{taking(t, "ready-b", "at last\n")}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, "ready-a.ansi") + read(t, dir, "ready-b.ansi"); got != "a screen\nat last\n" {
		t.Errorf("after a part: %q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, missedFolder, "ready-b.ansi")); err == nil {
		t.Error("the missed screen of a scene that came about is left")
	}
	if got := read(t, dir, table); strings.Contains(got, "not in time") || !strings.Contains(got, "ready-a\t") {
		t.Errorf("table %q", got)
	}

	// A whole one replaces.
	conf.only = nil
	if err := write(dir, conf, []result{taking(t, "ready-d", "new\n")}); err != nil {
		t.Fatal(err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*.*"))
	if len(left) != 3 {
		t.Errorf("left: %q", left)
	}
}

func TestRejudge(t *testing.T) {
	folder, conf := t.TempDir(), testConfig()
	dir := filepath.Join(folder, conf.folder())
	lost := taking(t, "ready-b", "x\n")
	lost.missed = "not in time"
	seen := taking(t, "busy-a", "nothing known\n")
	seen.view.witnesses = witnesses{status: "waiting", waitingFor: "input needed", turns: 2, process: "stopped"}
	if err := write(dir, conf, []result{seen, lost}); err != nil {
		t.Fatal(err)
	}
	before := read(t, dir, table)
	results, err := rejudge(conf, folder)
	if err != nil || len(results) != 2 || results[0].view.witnesses != seen.view.witnesses || results[1].missed != lost.missed {
		t.Fatalf("%+v, %v", results, err)
	}
	// An older detect said otherwise.
	if err := os.WriteFile(filepath.Join(dir, table), []byte(strings.Replace(before, "\tunknown\t", "\tready\t", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-judge", "-client", conf.version, "-out", folder}, &out, &out); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, table); got != before {
		t.Errorf("table %q, want %q", got, before)
	}
	if !strings.Contains(out.String(), "1 scenes recorded, 1 missed") || !strings.Contains(out.String(), "the client is stopped") {
		t.Errorf("summary:\n%s", out.String())
	}
}

func TestSummary(t *testing.T) {
	var out bytes.Buffer
	lost := result{scene: scene{name: "busy-b"}, missed: "follows busy-a"}
	wrong := taking(t, "ready-c", "nothing known\n")
	summarize(&out, testConfig(), []result{lost, wrong}, "dir", time.Minute)
	for _, want := range []string{"dir: 1 scenes recorded, 1 missed, in 1m0s", "busy-b  ", "follows busy-a", "meant ready, detect says"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}

func TestCompare(t *testing.T) {
	folder := t.TempDir()
	older, newer := testConfig(), testConfig()
	newer.version = "2.1.1"
	if _, err := readRecording(older, folder); err == nil || !strings.Contains(err.Error(), "make record CLIENT=2.1.0 SIZE=120x40") {
		t.Fatalf("a missing recording: %v", err)
	}
	lost := taking(t, "ready-lost", "x\n")
	lost.missed = "not in time"
	for conf, results := range map[*config][]result{
		&older: {taking(t, "ready-same", "took 3s\n"), taking(t, "ready-other", "\x1b[1mone\x1b[0m\n"), taking(t, "ready-lost", "x\n")},
		&newer: {taking(t, "ready-same", "took 9s\n"), taking(t, "ready-other", "\x1b[2mone\x1b[0m\n"), lost, taking(t, "ready-new", "x\n")},
	} {
		if err := write(filepath.Join(folder, conf.folder()), *conf, results); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	err := run(t.Context(), []string{"-diff", "-client", "2.1.1", "-against", "2.1.0", "-out", folder}, &out, &out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"== ready-other\n-{bold}one\n+{dim}one\n", "== ready-lost\n-only there; in ", ": not in time\n",
		"== ready-new\n+only there; in ", ": not recorded\n", "1 scenes are drawn alike, 1 otherwise, 2 are on one side only",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "ready-same") {
		t.Errorf("equal scenes are named:\n%s", out.String())
	}
}

func TestSessionStatus(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"41.json": `{"pid":41,"status":"busy"}`, "42.json": `{"pid":42,"status":"waiting","waitingFor":"input needed"}`,
		"43.json": `{"pid":43`, "x.json": `{"status":"idle"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for pid, want := range map[int]string{41: "busy", 42: "waiting (input needed)", 43: "", 44: ""} {
		status, waiting := sessionStatus(dir, pid)
		if got := (witnesses{status: status, waitingFor: waiting}).session(); got != want {
			t.Errorf("%d: %q, want %q", pid, got, want)
		}
	}
}

func TestParseSize(t *testing.T) {
	if w, h, err := parseSize("60x20"); err != nil || w != 60 || h != 20 {
		t.Errorf("%d %d %v", w, h, err)
	}
	for _, bad := range []string{"", "60", "60x", "x20", "60x20x", "60x20 ", "6x20", "-60x20"} {
		if _, _, err := parseSize(bad); err == nil {
			t.Errorf("took %q", bad)
		}
	}
}
