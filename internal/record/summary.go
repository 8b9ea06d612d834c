package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// summarize says what was recorded, what was not, and where intent, witnesses
// and detect disagree.
func summarize(out io.Writer, conf config, results []result, dir string, took time.Duration) {
	var lost, differ []string
	for _, r := range results {
		if r.missed != "" {
			lost = append(lost, fmt.Sprintf("  %-28s %s", r.name, fieldText.Replace(r.missed)))
			continue
		}
		for _, d := range disagreements(r.scene, r.view.witnesses, conf.judge(r.view)) {
			differ = append(differ, fmt.Sprintf("  %-28s %s", r.name, d))
		}
	}
	fmt.Fprintf(out, "%s: %d scenes recorded, %d missed, in %v\n", dir, len(results)-len(lost), len(lost), took.Round(time.Second))
	for _, list := range []struct {
		head  string
		lines []string
	}{{"missed", lost}, {"disagreements of intent, witnesses and detect", differ}} {
		if len(list.lines) > 0 {
			fmt.Fprintf(out, "\n%s\n%s\n", list.head, strings.Join(list.lines, "\n"))
		}
	}
}
