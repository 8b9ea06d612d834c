package main

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdCode runs claude-fleet, which must end with that exit code.
func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	only(ts, neg, len(args) > 1, "code N ARGS…")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec("claude-fleet", args[1:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("claude-fleet %s: %v", strings.Join(args[1:], " "), err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("claude-fleet %s: exit code %d, not %d\n%s%s", strings.Join(args[1:], " "), got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}
