package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// exitCode is one row of the table of exit codes, the same for every command.
type exitCode struct {
	code    int
	class   fleet.Class // 0 where no class leads to it
	meaning string
}

// exitCodes is the table that the code, each command's help and the README
// share; a test holds the README to it.
var exitCodes = []exitCode{
	{0, 0, "done"},
	{1, fleet.ClassFailed, "failed"},
	{2, fleet.ClassUsage, "usage or configuration"},
	{3, fleet.ClassRefused, "refused, nothing typed"},
	{4, fleet.ClassTyped, "typed but not submitted"},
	{5, fleet.ClassUnproven, "submitted, not proven"},
	{6, fleet.ClassUnreachable, "unreachable"},
	{7, fleet.ClassNeedsPerson, "a session needs a person (`status --check`, `wait`, `send --wait`, `answer`, `reauth`)"},
}

// errNeedsPerson is what status --check ends with when a session needs a person.
var errNeedsPerson = errors.New("a session needs a person")

// usageError is a call that the command line does not allow.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// codeOf is the exit code for an error of any command.
func codeOf(err error) int {
	if err == nil {
		return 0
	}
	if ue := (usageError{}); errors.As(err, &ue) {
		return 2
	}
	if errors.Is(err, errNeedsPerson) {
		return 7
	}
	class := fleet.ClassOf(err)
	for _, c := range exitCodes {
		if c.class == class {
			return c.code
		}
	}
	return 1
}

// exitStatus is the section of a command's help that lists the codes it gives.
func exitStatus(codes ...int) string {
	var b strings.Builder
	b.WriteString("\n\nExit status:\n")
	for _, c := range exitCodes {
		if slices.Contains(codes, c.code) {
			fmt.Fprintf(&b, "  %d  %s\n", c.code, strings.ReplaceAll(c.meaning, "`", ""))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// worst is the error that decides the exit code of a command over many hosts.
// Codes rise with how much a person has to look into, save that an error of the
// program itself (1) counts least.
func worst(errs []error) error {
	var w error
	for _, err := range errs {
		if codeOf(err) > codeOf(w) {
			w = err
		}
	}
	return w
}
