package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// columns are those of intended.tsv.
var columns = []string{
	"name", "state", "draft", "missed", "session", "turns", "process",
	"detect", "rule", "detect-draft", "detect-dialog", "disagree",
}

// table is intended.tsv, and missedFolder where the screens of missed scenes are.
const (
	table        = "intended.tsv"
	missedFolder = "missed"
)

// write writes a recording into a folder: each screen with its facts, and the
// table. A whole recording replaces what was there; a part of one joins it.
func write(dir string, conf config, results []result) error {
	var errs []error
	if conf.only == nil {
		for _, pattern := range []string{"*.ansi", "*.meta", missedFolder + "/*.ansi", missedFolder + "/*.meta", table} {
			old, _ := filepath.Glob(filepath.Join(dir, pattern))
			for _, path := range old {
				errs = append(errs, os.Remove(path))
			}
		}
	}
	errs = append(errs, os.MkdirAll(filepath.Join(dir, missedFolder), 0o755))
	rows := readRows(filepath.Join(dir, table))
	for _, r := range results {
		rows.put(conf.row(r))
		if r.view == nil {
			continue
		}
		here, other := dir, filepath.Join(dir, missedFolder)
		if r.missed != "" {
			here, other = other, here
		}
		for ext, text := range map[string]string{".ansi": r.view.raw, ".meta": r.view.facts + "\n"} {
			errs = append(errs, os.WriteFile(filepath.Join(here, r.name+ext), []byte(text), 0o644))
			_ = os.Remove(filepath.Join(other, r.name+ext)) // of an earlier run
		}
	}
	errs = append(errs, os.WriteFile(filepath.Join(dir, table), []byte(rows.text()), 0o644))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("write the recording: %w", err)
	}
	return nil
}

// row is the table's line on one scene.
func (c config) row(r result) []string {
	row := []string{r.name, r.state, r.draft, r.missed}
	if r.view == nil {
		return append(row, make([]string, len(columns)-len(row))...)
	}
	w, verdict := r.view.witnesses, c.judge(r.view)
	seen := ""
	if verdict.Draft != "" {
		seen = fmt.Sprintf("%q", verdict.Draft)
	}
	row = append(row, w.session(), fmt.Sprint(w.turns), w.process,
		string(verdict.State), verdict.Rule, seen, dialogWords(verdict.Dialog))
	if r.missed != "" {
		return append(row, "")
	}
	return append(row, strings.Join(disagreements(r.scene, w, verdict), "; "))
}

// rows is the table in memory, in the order in which scenes first came.
type rows struct {
	names []string
	of    map[string][]string
}

func readRows(path string) *rows {
	all := &rows{of: map[string][]string{}}
	raw, err := os.ReadFile(path)
	if err != nil {
		return all // a new one
	}
	for i, line := range strings.Split(strings.TrimRight(string(raw), "\n"), "\n") {
		if fields := strings.Split(line, "\t"); i > 0 && len(fields) == len(columns) {
			all.put(fields)
		}
	}
	return all
}

func (r *rows) put(fields []string) {
	if r.of[fields[0]] == nil {
		r.names = append(r.names, fields[0])
	}
	r.of[fields[0]] = fields
}

var fieldText = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")

func (r *rows) text() string {
	var b strings.Builder
	fmt.Fprintln(&b, strings.Join(columns, "\t"))
	for _, name := range r.names {
		var fields []string
		for _, field := range r.of[name] {
			fields = append(fields, fieldText.Replace(field))
		}
		fmt.Fprintln(&b, strings.Join(fields, "\t"))
	}
	return b.String()
}
