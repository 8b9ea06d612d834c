package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// faults says what a text names that does not exist, and notes the commands that
// it names.
func faults(file, text string, named map[string]bool) (all []string) {
	for _, w := range wordsOf(file, text) {
		complain := func(format string, args ...any) {
			all = append(all, w.where+": "+fmt.Sprintf(format, args...))
		}
		// What stands under one heading may name a flag alone, of a command that is
		// named there; a row, of the command that it is about.
		var here []*cobra.Command
		for _, s := range w.spans {
			if c, err := callOf(s); err != nil {
				complain("`%s`: %v", s, err)
			} else if c != nil {
				here, named[c.Name()] = append(here, c), true
			}
		}
		for _, r := range w.rules {
			if err := ruleFault(r); err != nil {
				complain("`%s`: %v", r, err)
			}
		}
		for _, s := range w.spans {
			if strings.HasPrefix(s, "--") && s != "--" && !slices.ContainsFunc(here, func(c *cobra.Command) bool { return hasFlag(c, s) }) && !hasFlag(newRoot(&app{}), s) {
				complain("no flag `%s` of a command that is named there", s)
			}
			if fieldWord.MatchString(s) && !fields[s] {
				complain("no field `%s` of status --json or send --json", s)
			}
		}
		for _, row := range w.rows {
			for _, s := range rowFaults(row) {
				complain("%s", s)
			}
		}
		for _, s := range tableFaults(w.rows) {
			complain("%s", s)
		}
	}
	for _, m := range codeWord.FindAllStringSubmatch(text, -1) {
		if !slices.ContainsFunc(exitCodes, func(c exitCode) bool { return fmt.Sprint(c.code) == m[1] }) {
			all = append(all, fmt.Sprintf("%s: no exit code %s", file, m[1]))
		}
	}
	return all
}

var (
	codeWord  = regexp.MustCompile(`(?:codes?|with) (\d+)\b`)
	fieldWord = regexp.MustCompile(`^[a-z]+_[a-z]+$|^started$`)
	// placeholders stand for a value of their kind.
	placeholders = map[string]string{"D": "5s", "N": "3"}
)

// callOf is the command that a span calls, nil where it is none. A span that
// begins with claude-fleet is a whole call, one that begins with the name of a
// command and goes on with HOST or a flag a part of one.
func callOf(s string) (*cobra.Command, error) {
	list := strings.Fields(s)
	if len(list) == 0 || strings.HasPrefix(s, "-") {
		return nil, nil
	}
	whole := list[0] == "claude-fleet"
	if whole {
		list = list[1:]
	}
	if len(list) == 0 {
		return nil, nil
	}
	root := newRoot(&app{})
	root.InitDefaultHelpCmd()
	c, rest, err := root.Find(list)
	if err != nil || c == root {
		if whole || (len(list) > 1 && (list[1] == "HOST" || strings.HasPrefix(list[1], "--"))) {
			return nil, fmt.Errorf("no command %s", list[0])
		}
		return nil, nil
	}
	return c, tryCall(c, rest, whole)
}

// ruleFault says why a permission rule of the plugin is too wide. Only what looks
// is let through, and that word for word: with a star, flags come that run programs.
func ruleFault(rule string) error {
	call, isBash := strings.CutPrefix(strings.TrimSuffix(rule, ")"), "Bash(claude-fleet ")
	switch {
	case rule == "Read(/${CLAUDE_PLUGIN_ROOT}/skills/claude-fleet/references/**)", strings.HasPrefix(rule, `Bash("${CLAUDE_PLUGIN_ROOT}/scripts/look" `):
		return nil // TestPluginCommands has the second
	case strings.Contains(rule, "*"):
		return errors.New("a rule with a star lets every flag through")
	case !isBash || !slices.Contains([]string{"map", "status", "version"}, strings.TrimSuffix(call, " --json")):
		return errors.New("the rule does more than look")
	}
	_, err := callOf("claude-fleet " + call)
	return err
}

// tryCall reads the arguments as the command would, but runs nothing.
func tryCall(c *cobra.Command, rest []string, whole bool) error {
	for i, a := range rest {
		if p, ok := placeholders[a]; ok {
			rest[i] = p
		}
	}
	if !whole {
		for _, a := range rest {
			if strings.HasPrefix(a, "--") && !hasFlag(c, a) {
				return fmt.Errorf("unknown flag %s", a)
			}
		}
		return nil
	}
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	if f := c.Flags().Lookup("for"); f != nil && f.Changed {
		if _, err := fleet.ParseStates(strings.Split(strings.Trim(f.Value.String(), "[]"), ",")...); err != nil {
			return err
		}
	}
	given := c.Flags().Args()
	if len(given) == 0 && !strings.Contains(c.Use, "[host") {
		return nil // the name of the command alone
	}
	return c.ValidateArgs(given)
}

// hasFlag tells whether a command, or every one, has the flag that a span begins
// with.
func hasFlag(c *cobra.Command, s string) bool {
	name := strings.TrimPrefix(strings.Fields(s)[0], "--")
	for _, set := range []*pflag.FlagSet{c.Flags(), c.InheritedFlags(), c.PersistentFlags()} {
		if set.Lookup(name) != nil {
			return true
		}
	}
	return false
}

// rowFaults holds the flags of a row to the command that its first cell calls.
func rowFaults(row []string) (all []string) {
	m := span.FindStringSubmatch(row[0])
	if m == nil {
		return nil
	}
	c, err := callOf(m[1])
	if c == nil || err != nil {
		return nil // said of its span
	}
	for _, m := range span.FindAllStringSubmatch(strings.Join(row[1:], " "), -1) {
		if strings.HasPrefix(m[1], "--") && !hasFlag(c, m[1]) {
			all = append(all, fmt.Sprintf("no flag `%s` of %s", m[1], c.Name()))
		}
	}
	return all
}

// tableFaults holds the tables of codes, states and results to the code: each has
// all of them, once and in order.
func tableFaults(rows [][]string) (all []string) {
	if len(rows) < 3 {
		return nil
	}
	var first, second []string
	for _, row := range rows[2:] { // past the head and the line below it
		first, second = append(first, strings.Trim(row[0], "`")), append(second, row[1])
	}
	switch head := rows[0][0]; {
	case head == "code":
		for i, c := range exitCodes {
			meaning, _, _ := strings.Cut(c.meaning, " (")
			if i >= len(first) || len(first) != len(exitCodes) || first[i] != fmt.Sprint(c.code) || !strings.HasPrefix(second[i], meaning) {
				all = append(all, fmt.Sprintf("row %d of the table of exit codes is not `%d %s`", i+1, c.code, meaning))
			}
		}
	case head == "state":
		want := fleet.StateNames()
		if slices.Sort(want); !slices.Equal(slices.Sorted(slices.Values(first)), want) {
			all = append(all, fmt.Sprintf("the table of states has %q, not %q", first, want))
		}
	case strings.HasPrefix(head, "result"):
		var want []string
		for _, r := range []fleet.Result{fleet.Accepted, fleet.Queued, fleet.Refused, fleet.Typed, fleet.Submitted, fleet.Unreachable} {
			want = append(want, string(r))
		}
		if !slices.Equal(first, want) {
			all = append(all, fmt.Sprintf("the table of results has %q, not %q", first, want))
		}
	}
	return all
}

// fields are the names in the JSON of a status and an outcome.
var fields = func() map[string]bool {
	all := map[string]bool{}
	for _, v := range []any{fleet.Status{}, fleet.Outcome{}} {
		raw, _ := json.Marshal(v) // a fault leaves no fields, and the test complains of each
		object := map[string]any{}
		_ = json.Unmarshal(raw, &object)
		for name := range object {
			all[name] = true
		}
	}
	return all
}()
