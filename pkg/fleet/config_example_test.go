package fleet

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
)

// shownDefault is a line of fleet.conf.example that is commented out but for its
// key, and by that shows a default.
var shownDefault = regexp.MustCompile(`(?m)^# ([a-z_]+ = .*)$`)

// exampleColumn is a host of the old form, as the example shows it in a comment.
var exampleColumn = regexp.MustCompile(`(?m)^#   (.*)$`)

func readExample(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../fleet.conf.example")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The example parses, and its hosts are what its comments say.
func TestExampleParses(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	const ssh, config = "ml@trainer.example.net:2222", "/home/me/.ssh/trainer_config"
	table := checkParse(t, readExample(t))
	want := []Host{
		{"box", "box", "~", "ssh", "box", "claude", DefaultCommand, nil, 10 * time.Second, ""},
		{"trainer", "ranking model", "/srv/ranking", "ssh", ssh, "claude", DefaultCommand, []string{"gpu", "eu"}, 30 * time.Second, config},
		{"trainer-docs", "ranking-docs", "/srv/ranking-docs", "ssh", ssh, "docs", DefaultCommand, []string{"eu"}, 10 * time.Second, config},
		{"laptop", "shop", "~/src/shop", "local", "", "laptop", DefaultCommand, nil, 10 * time.Second, ""},
	}
	if table == nil || !slices.EqualFunc(table.Hosts, want, sameHost) {
		t.Errorf("\n got %+v\nwant %+v", table, want)
	}
}

// What it shows as defaults are the defaults: stating them changes nothing.
func TestExampleDefaultsAreTrue(t *testing.T) {
	text := readExample(t)
	stated := shownDefault.ReplaceAllString(text, "$1")
	if n := len(shownDefault.FindAllString(text, -1)); n != 4 {
		t.Fatalf("%d defaults found", n)
	}
	a, b := checkParse(t, text), checkParse(t, stated)
	if a == nil || b == nil || !slices.EqualFunc(a.Hosts, b.Hosts, sameHost) {
		t.Errorf("\n got %+v\nwant %+v", b, a)
	}
	// The two defaults that it states openly.
	silent := strings.NewReplacer("\ntimeout = \"10s\"", "", "\ncommand = \"claude --dangerously-skip-permissions\"", "").Replace(text)
	if c := checkParse(t, silent); len(silent) == len(text) || !slices.EqualFunc(a.Hosts, c.Hosts, sameHost) {
		t.Errorf("\n got %+v\nwant %+v", c, a)
	}
}

// Every key is in it, and no other.
func TestExampleIsComplete(t *testing.T) {
	var tree struct {
		Defaults map[string]any
		Hosts    map[string]map[string]any
	}
	if _, err := toml.Decode(shownDefault.ReplaceAllString(readExample(t), "$1"), &tree); err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for key := range tree.Defaults {
		shown[key] = true
		if !slices.Contains(defaultKeys(), key) {
			t.Errorf("defaults.%s is not a key", key)
		}
	}
	for name, host := range tree.Hosts {
		for key := range host {
			shown[key] = true
			if !slices.Contains(hostKeys(), key) {
				t.Errorf("hosts.%s.%s is not a key", name, key)
			}
		}
	}
	for _, key := range hostKeys() {
		if !shown[key] {
			t.Errorf("%s is not shown", key)
		}
	}
}

// The columns that it shows are columns.
func TestExampleColumns(t *testing.T) {
	var text strings.Builder
	for i, m := range exampleColumn.FindAllStringSubmatch(readExample(t), -1) {
		if i > 0 { // the first is the heading
			text.WriteString(m[1] + "\n")
		} else if strings.Join(strings.Fields(m[1]), " ") != columnsUsage {
			t.Errorf("the heading is %q", m[1])
		}
	}
	table := checkParse(t, text.String())
	if table == nil || len(table.Hosts) != 2 || table.Hosts[1].Session != "shop" {
		t.Errorf("%+v", table)
	}
}

func sameHost(a, b Host) bool {
	tags := slices.Equal(a.Tags, b.Tags)
	a.Tags, b.Tags = nil, nil
	return tags && hostJSONOf(a) == hostJSONOf(b)
}

func hostJSONOf(h Host) string {
	data, err := h.MarshalJSON()
	if err != nil {
		return err.Error()
	}
	return string(data)
}
