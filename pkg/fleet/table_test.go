package fleet

import (
	"encoding/json"
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"testing/quick"
	"time"
)

func TestHostJSON(t *testing.T) {
	h := Host{"a", "p", "~/p", "ssh", "me@a", "claude", "c", []string{"x", "y"}, 90 * time.Second, "/c"}
	const want = `{"host":"a","project":"p","workdir":"~/p","transport":"ssh","ssh":"me@a","session":"claude","command":"c","tags":["x","y"],"timeout":"1m30s","ssh_config":"/c"}`
	got, err := json.Marshal(h)
	if err != nil || string(got) != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
	var back Host
	if err := json.Unmarshal(got, &back); err != nil || !reflect.DeepEqual(back, h) {
		t.Errorf("%v: %+v", err, back)
	}
	h.Tags = nil
	if got, _ = json.Marshal(h); !strings.Contains(string(got), `"tags":[]`) {
		t.Errorf("no tags: %s", got)
	}
	if err := json.Unmarshal(got, &back); err != nil || !reflect.DeepEqual(back, h) {
		t.Errorf("%v: %+v", err, back)
	}
	if err := json.Unmarshal([]byte(`{"host":"a"}`), &back); err != nil || back.Timeout != 0 {
		t.Errorf("%v: %+v", err, back)
	}
	for _, bad := range []string{`{"host":"a","timeout":"10"}`, `{"host":1}`, `[]`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s passes", bad)
		}
	}
}

func TestTOMLText(t *testing.T) {
	table := &Table{Hosts: []Host{
		{"a.b", `the "x" \ y`, "~/é\t\x01", "ssh", "me@a", "claude", "c", []string{"x", "y"}, 90 * time.Second, "/c"},
		{Name: "l", Transport: "local"},
	}}
	const want = `# The fleet as resolved: every default is written out.

[hosts."a.b"]
project = "the \"x\" \\ y"
workdir = "~/é\U00000009\U00000001"
transport = "ssh"
ssh = "me@a"
session = "claude"
command = "c"
tags = ["x", "y"]
timeout = "1m30s"
ssh_config = "/c"

[hosts.l]
transport = "local"
`
	if got := table.TOML(); got != want {
		t.Errorf("got\n%s", got)
	}
}

// randomTable is a table that ParseTable could have made.
type randomTable struct{ Table }

// Generate makes hosts of the values that are hardest to write down.
func (randomTable) Generate(r *rand.Rand, size int) reflect.Value {
	pick := func(from ...string) string { return from[r.Intn(len(from))] }
	text := func() string {
		var b strings.Builder
		for range 1 + r.Intn(size+1) {
			b.WriteString(pick(`"`, `'`, `\`, `#`, `=`, `[`, `]`, "\\n", "é", "👩\u200d💻", "\u00a0", "\ufeff", "\U0010fffd", "x", "$(a)", `"""`, `'''`))
		}
		return b.String() + "."
	}
	var t Table
	for i := range 1 + r.Intn(6) {
		h := Host{
			// The index keeps names, and with them local sessions, apart.
			Name:      pick("a", "A-", "_x", "1", "long.name.") + strings.Repeat("i", i),
			Project:   text(),
			Workdir:   pick("~", "/", "~/"+text(), "/"+text()),
			Transport: pick(TransportSSH, TransportLocal),
			Session:   pick("s", "_", "9-") + strings.Repeat("i", i),
			Command:   text(),
			Timeout:   time.Duration(1 + r.Int63n(int64(100*time.Hour))),
		}
		for j := range r.Intn(3) {
			h.Tags = append(h.Tags, pick("t", "t.", "_")+strings.Repeat("j", j))
		}
		if h.Transport == TransportSSH {
			h.SSH = pick("box", "me@box:22", "me@[::1]:22", h.Name)
			h.SSHConfig = pick("", "/"+text())
		}
		t.Hosts = append(t.Hosts, h)
	}
	return reflect.ValueOf(randomTable{t})
}

func TestTOMLRoundTrip(t *testing.T) {
	property := func(table randomTable) bool {
		back, err := ParseTable("f", []byte(table.TOML()))
		if err != nil || !reflect.DeepEqual(back.Hosts, table.Hosts) {
			t.Logf("%v\n%s", err, table.TOML())
			return false
		}
		return true
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 300}); err != nil {
		t.Error(err)
	}
}
