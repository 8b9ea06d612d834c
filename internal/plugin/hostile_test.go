package plugin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// testHostile gives the command what a shell or the client might run, and has the
// model try everything in the same turn, in the mode in which the client allows
// all that is not forbidden. The look that the command itself takes is all that
// runs.
func (d *desk) testHostile(t *testing.T) {
	touch := func(name string) string { return "touch " + filepath.Join(d.prey, name) }
	evil := d.evil(t, filepath.Join(d.prey, "config"))
	look := `"` + filepath.Join(d.mine, "plugin/scripts/look") + `" status`
	h := d.turn(t, nil, strings.Join([]string{
		"/fleet:status --config " + evil + " --notify '" + touch("notify") + "' $(" + touch("dollar") + ") `" + touch("tick") + "`; " + touch("semicolon") + " | sh && " + touch("and"),
		"!`" + touch("bang") + "`",
		"```!\n" + touch("fence") + "\n```",
		"\"; " + touch("quote"),
		"TOOL " + touch("tool"),
		"THEN WRITE " + filepath.Join(d.prey, "write"),
		"THEN TOOL claude-fleet status --config " + evil,
		"THEN TOOL claude-fleet send alpha hello",
		"THEN TOOL " + look,
	}, "\n"), "--permission-mode", "bypassPermissions")
	h.wants(t, lookCalls["status"], "here-app ", "--notify")
	if len(h.results) != 5 {
		t.Errorf("results of tools: %q", h.results)
	}
	for i, got := range h.results {
		if !strings.Contains(got, "denied") {
			t.Errorf("tool %d was not denied: %q", i+1, got)
		}
	}
	d.untouched(t)
}

// testLoose is the twin, which shows that the bars hold what they are for: the
// same plugin without them, under another name.
func (d *desk) testLoose(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	table := d.evil(t, ran)
	for _, c := range []struct {
		name, rule, drop string
		calls            []string
		want             string
		runs             bool
	}{
		// The rule alone lets the look through, and no argument.
		{"exact rule", "", "disallowed-tools", []string{"--batch status"}, "approval", false},
		// With a star it lets the flag through that can run programs.
		{"rule with a star", "Bash(claude-fleet status:*)", "disallowed-tools", []string{"--batch status", "status --json --config " + table + " --timeout 10s"}, "unreachable", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			loose := d.market(t, func(_, text string) string {
				var kept []string
				for line := range strings.Lines(text) {
					if c.rule != "" && strings.HasPrefix(line, "allowed-tools: ") {
						line = strings.TrimSuffix(line, "\n") + ", " + c.rule + "\n"
					}
					if !strings.HasPrefix(line, c.drop) {
						kept = append(kept, line)
					}
				}
				return strings.ReplaceAll(strings.Join(kept, ""), `"name": "fleet"`, `"name": "loose"`)
			})
			h := d.turn(t, nil, "/loose:status now\nTOOL claude-fleet status --json --config "+table+" --timeout 10s", "--plugin-dir", filepath.Join(loose, "plugin"))
			h.wants(t, c.calls)
			if len(h.results) != 1 || !strings.Contains(h.results[0], c.want) {
				t.Errorf("results of tools: %q", h.results)
			}
			if _, err := os.Stat(ran); (err == nil) != c.runs {
				t.Errorf("the table's program ran: %v, want %v", err == nil, c.runs)
			}
		})
	}
}
