package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// report prints rows as they come: a table that reads on a terminal, and is one in
// Markdown too.
type report struct {
	out    io.Writer
	headed bool
}

// begin says what is measured on.
func (r *report) begin(o options) {
	load := "unknown"
	if raw, err := os.ReadFile("/proc/loadavg"); err == nil {
		load, _, _ = strings.Cut(string(raw), " ")
	}
	ssh, _ := exec.Command("ssh", "-V").CombinedOutput() // it prints on standard error
	name, _, _ := strings.Cut(string(ssh), ",")
	tmux, _ := exec.Command("tmux", "-V").Output()
	fmt.Fprintf(r.out, "%s, %s/%s with %d CPUs, load %s before it began; %s, %s, %s.\nMedians of %d, all ways in turns.\n",
		time.Now().UTC().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), load, runtime.Version(),
		strings.TrimSpace(name), strings.TrimSpace(string(tmux)), o.times)
}

func (r *report) section(name, about string) {
	fmt.Fprintf(r.out, "\n%s: %s\n\n", name, about)
	r.headed = false
}

func (r *report) row(name, ours, theirs, ratio, limit, verdict string) {
	const form = "| %-44s | %12s | %12s | %7s | %8s | %-6s |\n"
	if !r.headed {
		fmt.Fprintf(r.out, form, "what", "claude-fleet", "against", "ratio", "limit", "")
		fmt.Fprintf(r.out, "|%s|%s:|%s:|%s:|%s:|%s|\n", dashes(46), dashes(13), dashes(13), dashes(8), dashes(9), dashes(8))
		r.headed = true
	}
	fmt.Fprintf(r.out, form, name, ours, theirs, ratio, limit, verdict)
}

func dashes(n int) string { return strings.Repeat("-", n) }

// against is a row of two times; limit is of their ratio, and 0 where there is none.
func (r *report) against(name string, ours, theirs time.Duration, limit float64) {
	ratio := float64(ours) / float64(theirs)
	bound, verdict := judged(ratio, limit, "")
	r.row(name, millis(ours), millis(theirs), fmt.Sprintf("%.3f", ratio), bound, verdict)
}

// bound is a row of one figure with a limit of its own.
func (r *report) bound(name string, value, limit float64, unit string) {
	bound, verdict := judged(value, limit, unit)
	r.row(name, amount(value, unit), "", "", bound, verdict)
}

// tell is a row of one figure.
func (r *report) tell(name, value string) { r.row(name, value, "", "", "", "") }

func judged(value, limit float64, unit string) (bound, verdict string) {
	switch {
	case limit == 0:
		return "", ""
	case value <= limit:
		return amount(limit, unit), "met"
	}
	return amount(limit, unit), "MISSED"
}

func amount(value float64, unit string) string {
	if unit == "" {
		return fmt.Sprintf("%g", value)
	}
	return fmt.Sprintf("%.4g %s", value, unit)
}

func millis(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}
