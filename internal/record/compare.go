package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

// corpus is where the screens are that were reviewed by eye, in the same form.
const corpus = "pkg/detect/testdata/screens"

// recording is one that was read back.
type recording struct {
	conf   config
	dir    string
	scenes map[string]taken
	missed map[string]string // why, by scene
}

// taken is one screen of a recording.
type taken struct{ raw, facts string }

// readRecording finds a recording among the folders given, the first that has
// it, and says how to make one that none has.
func readRecording(conf config, folders ...string) (*recording, error) {
	for _, folder := range folders {
		dir := filepath.Join(folder, conf.folder())
		screens, _ := filepath.Glob(filepath.Join(dir, "*.ansi"))
		if len(screens) == 0 {
			continue
		}
		r := &recording{conf: conf, dir: dir, scenes: map[string]taken{}, missed: map[string]string{}}
		for _, path := range screens {
			raw, err := os.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("read the recording: %w", err)
			}
			facts, err := os.ReadFile(strings.TrimSuffix(path, ".ansi") + ".meta")
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("read the recording: %w", err)
			}
			name := strings.TrimSuffix(filepath.Base(path), ".ansi")
			r.scenes[name] = taken{string(raw), strings.TrimRight(string(facts), "\n")}
		}
		for name, fields := range readRows(filepath.Join(dir, table)).of {
			if fields[3] != "" {
				r.missed[name] = fields[3]
			}
		}
		return r, nil
	}
	setting := ""
	if conf.settingName != "default" {
		setting = " SETTING=" + conf.settingName
	}
	return nil, fmt.Errorf("there is no recording %s: make it with: make record CLIENT=%s SIZE=%s%s", conf.folder(), conf.version, conf.size(), setting)
}

// judge asks detect about a screen of the recording.
func (r *recording) judge(t taken) detect.Verdict {
	v, err := parseView(t.facts + "\n" + t.raw)
	if err != nil {
		v = &view{raw: t.raw, x: -1, y: -1}
	}
	return r.conf.judge(v)
}

// compare says what the new recording shows otherwise than the old.
func compare(out io.Writer, old, new *recording) {
	names := map[string]bool{}
	for _, r := range []*recording{old, new} {
		for name := range r.scenes {
			names[name] = true
		}
	}
	var sorted []string
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	fmt.Fprintf(out, "--- %s\n+++ %s\n", old.dir, new.dir)
	same, differ, lone := 0, 0, 0
	for _, name := range sorted {
		before, inOld := old.scenes[name]
		after, inNew := new.scenes[name]
		if !inOld || !inNew {
			lone++
			fmt.Fprintf(out, "\n== %s\n%s\n", name, loneWords(name, old, new, inOld))
			continue
		}
		lines := verdictDiff(old.judge(before), new.judge(after))
		if a, b := normalFacts(before.facts), normalFacts(after.facts); a != b {
			lines = append(lines, "-facts: "+a, "+facts: "+b)
		}
		lines = append(lines, unified(normal(before.raw), normal(after.raw))...)
		if len(lines) == 0 {
			same++
			continue
		}
		differ++
		fmt.Fprintf(out, "\n== %s\n%s\n", name, strings.Join(lines, "\n"))
	}
	fmt.Fprintf(out, "\n%d scenes are drawn alike, %d otherwise, %d are on one side only\n", same, differ, lone)
}

// loneWords says where a scene that only one recording has is missing.
func loneWords(name string, old, new *recording, inOld bool) string {
	from, mark := old, "+"
	if inOld {
		from, mark = new, "-"
	}
	why := from.missed[name]
	if why == "" {
		why = "not recorded"
	}
	return fmt.Sprintf("%sonly there; in %s: %s", mark, from.dir, why)
}

// verdictDiff is what detect says otherwise.
func verdictDiff(old, new detect.Verdict) []string {
	words := func(v detect.Verdict) string {
		var row []cell
		for _, r := range dialogWords(v.Dialog) {
			row = append(row, cell{r: r})
		}
		return fmt.Sprintf("state %s, rule %s, draft %s, dialog %s", v.State, v.Rule, draftWord(v.Draft), marked(steadied(row)))
	}
	if a, b := words(old), words(new); a != b {
		return []string{"-detect: " + a, "+detect: " + b}
	}
	return nil
}
