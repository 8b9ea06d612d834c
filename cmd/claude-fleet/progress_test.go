package main

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

func TestProgressText(t *testing.T) {
	many := strings.Split("web db alpha beta gamma delta", " ")
	tests := []struct {
		name    string
		total   int
		waiting []string
		since   time.Duration
		width   int
		want    string
	}{
		{"several", 12, []string{"web", "db"}, 4 * time.Second, 79, "10 of 12 hosts; waiting for web, db (4s)"},
		{"as many as fit", 12, many, 4 * time.Second, 45, "6 of 12 hosts; waiting for web, db… (4s)"},
		{"one alone", 1, []string{"web"}, 500 * time.Millisecond, 79, "waiting for web (1s)"},
		{"the last of several", 3, []string{"web"}, 65 * time.Second, 79, "2 of 3 hosts; waiting for web (1m5s)"},
		{"all are there", 3, nil, time.Second, 79, "3 of 3 hosts (1s)"},
		{"not counted", 0, []string{"web", "db"}, time.Second, 79, "waiting for web, db (1s)"},
		{"who before how long", 12, many, time.Second, 22, "waiting for web, db, …"},
		{"hardly any room", 12, many, time.Second, 3, "wa…"},
		{"none", 12, many, time.Second, 0, ""},
	}
	for _, tt := range tests {
		if got := progressText(tt.total, tt.waiting, tt.since, tt.width); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	for width := range 120 {
		if n := ansi.StringWidth(progressText(12, many, time.Hour, width)); n > width {
			t.Errorf("%d cells of %d", n, width)
		}
	}
}
