package main

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// TestRight holds that a wrong answer is not taken for a fast one.
func TestRight(t *testing.T) {
	good := func() fleet.Status {
		return fleet.Status{
			Verdict: detect.Verdict{State: detect.Ready},
			Git:     &fleet.Git{Branch: "main", LastCommit: &fleet.Commit{Hash: "a"}},
			Disk:    &fleet.Disk{FreeBytes: 1},
		}
	}
	if err := right(good()); err != nil {
		t.Errorf("the truth: %v", err)
	}
	for name, spoil := range map[string]func(*fleet.Status){
		"no answer":   func(s *fleet.Status) { s.Err = errors.New("no") },
		"busy":        func(s *fleet.Status) { s.State = detect.Busy },
		"unknown":     func(s *fleet.Status) { s.State = detect.Unknown },
		"no git":      func(s *fleet.Status) { s.Git = nil },
		"no branch":   func(s *fleet.Status) { s.Git.Branch = "" },
		"not counted": func(s *fleet.Status) { s.Git.Dirty = -1 },
		"no commit":   func(s *fleet.Status) { s.Git.LastCommit = nil },
		"no disk":     func(s *fleet.Status) { s.Disk = nil },
	} {
		s := good()
		if spoil(&s); right(s) == nil {
			t.Errorf("%s is taken for right", name)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		of   []time.Duration
		want time.Duration
	}{{[]time.Duration{9, 1, 5}, 5}, {[]time.Duration{4, 2, 100, 1}, 3}, {[]time.Duration{7}, 7}} {
		if got := median(c.of); got != c.want {
			t.Errorf("the median of %v is %v, want %v", c.of, got, c.want)
		}
	}
}

// TestReport holds the tables to Markdown, and the verdicts to the limits.
func TestReport(t *testing.T) {
	var b bytes.Buffer
	r := &report{out: &b}
	r.section("one", "of two")
	r.against("below", time.Second, 2*time.Second, 0.5)
	r.against("above", 3*time.Second, 2*time.Second, 0.5)
	r.against("free", 3*time.Second, 2*time.Second, 0)
	r.bound("least", 10, 10, "ms")
	r.bound("most", 10.5, 10, "ms")
	want := []string{
		"", "one: of two", "",
		"| what | claude-fleet | against | ratio | limit | |", "|-|-:|-:|-:|-:|-|",
		"| below | 1000.0 ms | 2000.0 ms | 0.500 | 0.5 | met |",
		"| above | 3000.0 ms | 2000.0 ms | 1.500 | 0.5 | MISSED |",
		"| free | 3000.0 ms | 2000.0 ms | 1.500 | | |",
		"| least | 10 ms | | | 10 ms | met |",
		"| most | 10.5 ms | | | 10 ms | MISSED |", "",
	}
	got := regexp.MustCompile(` +`).ReplaceAllString(regexp.MustCompile(`-{2,}`).ReplaceAllString(b.String(), "-"), " ")
	if got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}
