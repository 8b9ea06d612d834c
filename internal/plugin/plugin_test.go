package plugin

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlugin goes the way of a person: validate, add the marketplace, install,
// look; and then the ways of those who want more to run than that. One fleet and
// one home serve all of it, since each start of the client is dear.
func TestPlugin(t *testing.T) {
	d := newDesk(t)
	t.Run("valid", d.testValid)
	if !t.Run("install", d.testInstall) {
		return
	}
	t.Run("status", d.testStatus)
	t.Run("map", d.testMap)
	t.Run("skill", d.testSkill)
	t.Run("hostile", d.testHostile)
	t.Run("without its bars", d.testLoose)
	t.Run("no binary", d.testNoBinary)
	d.untouched(t)
}

func (d *desk) testValid(t *testing.T) {
	d.must(t, "plugin", "validate", "--profile", "directory", filepath.Join(d.root, "plugin"))
	d.must(t, "plugin", "validate", "--strict", d.root)
	// The twin: names that begin with claude- are the vendor's.
	bad := d.market(t, func(_, text string) string {
		return strings.ReplaceAll(text, `"name": "fleet"`, `"name": "claude-fleet"`)
	})
	for _, path := range []string{filepath.Join(bad, "plugin"), bad} {
		if out, err := d.run(t, nil, "plugin", "validate", path); err == nil || !strings.Contains(out, "reserved") {
			t.Errorf("a reserved name is taken: %v\n%s", err, out)
		}
	}
}

func (d *desk) testInstall(t *testing.T) {
	d.must(t, "plugin", "marketplace", "add", d.mine)
	d.must(t, "plugin", "install", "fleet@claude-fleet")
	var plugins []struct {
		ID      string
		Enabled bool
		Errors  []any
	}
	if err := json.Unmarshal([]byte(d.must(t, "plugin", "list", "--json")), &plugins); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, p := range plugins {
		if p.ID == "fleet@claude-fleet" {
			found = p.Enabled && len(p.Errors) == 0
		}
	}
	if !found {
		t.Errorf("the plugin is not listed as it should be: %+v", plugins)
	}
}
