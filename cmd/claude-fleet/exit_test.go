package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// TestExitCodesInReadme holds the README's table to the one in the code, row by
// row and in order.
func TestExitCodesInReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| (\d+) \| (.+) \|$`).FindAllStringSubmatch(string(readme), -1)
	if len(rows) != len(exitCodes) {
		t.Fatalf("the README has %d exit codes, the code %d", len(rows), len(exitCodes))
	}
	for i, c := range exitCodes {
		if rows[i][1] != fmt.Sprint(c.code) || rows[i][2] != c.meaning {
			t.Errorf("the README says %s %q, the code %d %q", rows[i][1], rows[i][2], c.code, c.meaning)
		}
	}
}

func TestCodeOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("a stranger"), 1},
		{usagef("wrong"), 2},
		{&fleet.ConfigError{Msg: "wrong"}, 2},
		{errors.Join(&fleet.ConfigError{Msg: "one"}, &fleet.ConfigError{Msg: "two"}), 2},
		{&fleet.Error{Class: fleet.ClassUsage}, 2},
		{&fleet.Error{Class: fleet.ClassRefused}, 3},
		{&fleet.Error{Class: fleet.ClassTyped}, 4},
		{&fleet.Error{Class: fleet.ClassUnproven}, 5},
		{&fleet.Error{Class: fleet.ClassUnreachable}, 6},
		{shown(errNeedsPerson), 7},
		{shown(&fleet.Error{Class: fleet.ClassRefused}), 3},
		{fmt.Errorf("wrapped: %w", &fleet.Error{Class: fleet.ClassTyped}), 4},
	} {
		if got := codeOf(c.err); got != c.want {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.want)
		}
	}
	if shown(nil) != nil {
		t.Error("no error became one")
	}
	refused, failed := &fleet.Error{Class: fleet.ClassRefused}, errors.New("x")
	if got := codeOf(worst([]error{nil, failed, refused, nil})); got != 3 {
		t.Errorf("worst: %d", got)
	}
	if worst([]error{nil, nil}) != nil {
		t.Error("the worst of nothing is something")
	}
}

// TestEscapeJSON holds that JSON on a terminal is as harmless as text, and the
// same to whoever reads it as JSON.
func TestEscapeJSON(t *testing.T) {
	for _, s := range []string{"plain ü 漢字 👍", "c1 \u009b31m", "del \x7f", "bidi \u202egnp.exe", "tag \U000e0041", "line \u2028", "joiner 👩\u200d💻"} {
		raw, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		escaped := transport.EscapeJSON(string(raw))
		for _, r := range escaped {
			if r >= 0x7f && r <= 0x9f || r == 0x202e || r == 0x2028 || r == 0xe0041 {
				t.Errorf("%q still holds %U", escaped, r)
			}
		}
		var back string
		if err := json.Unmarshal([]byte(escaped), &back); err != nil || back != s {
			t.Errorf("%q reads back as %q, %v", s, back, err)
		}
	}
}
