package fleet

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// errorsOf takes the *ConfigErrors out of what ParseTable returns, and fails on
// anything else.
func errorsOf(t *testing.T, err error) []*ConfigError {
	t.Helper()
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("not joined errors: %T %v", err, err)
	}
	var list []*ConfigError
	for _, e := range joined.Unwrap() {
		var ce *ConfigError
		if !errors.As(e, &ce) {
			t.Fatalf("not a ConfigError: %T %v", e, e)
		}
		list = append(list, ce)
	}
	return list
}

// checkParse holds what ParseTable says of text against want: the lines of its
// error, or none for a good text.
func checkParse(t *testing.T, text string, want ...string) *Table {
	t.Helper()
	table, err := ParseTable("fleet.conf", []byte(text))
	var got []string
	for _, e := range errorsOf(t, err) {
		got = append(got, e.Error())
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("%q\n got %s\nwant %s", text, g, w)
	}
	if (table == nil) != (err != nil) {
		t.Errorf("%q: table %v with error %v", text, table, err)
	}
	return table
}

func TestParseResolves(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	const text = `
[hosts.plain]
[hosts.full]
project = "the shop"
workdir = "/srv/shop/"
transport = "ssh"
ssh = "me@[2001:db8::1]:2222"
session = "shop-1"
command = "claude --model 'opus'"
tags = ["eu", "gpu.a"]
timeout = "1m30s"
ssh_config = "/etc/ssh/other"
[hosts."a.b"]
transport = "local"
workdir = "~/src/app"
[hosts.bare]
workdir = "/"
tags = []
ssh_config = "~/x/../conf"
[defaults] # may come last
workdir = "~/proj"
command = "cc"
tags = ["all"]
timeout = "3s"
session = "main"
ssh_config = "sub/conf"
`
	table, err := ParseTable("/etc/fleet/fleet.conf", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []Host{
		{"plain", "proj", "~/proj", "ssh", "plain", "main", "cc", []string{"all"}, 3 * time.Second, "/etc/fleet/sub/conf"},
		{"full", "the shop", "/srv/shop/", "ssh", "me@[2001:db8::1]:2222", "shop-1", "claude --model 'opus'", []string{"eu", "gpu.a"}, 90 * time.Second, "/etc/ssh/other"},
		{"a.b", "app", "~/src/app", "local", "", "a_b", "cc", []string{"all"}, 3 * time.Second, ""},
		{"bare", "bare", "/", "ssh", "bare", "main", "cc", nil, 3 * time.Second, "/home/me/conf"},
	}
	if !reflect.DeepEqual(table.Hosts, want) {
		t.Errorf("\n got %+v\nwant %+v", table.Hosts, want)
	}
	if table.Path != "/etc/fleet/fleet.conf" {
		t.Errorf("path %q", table.Path)
	}
	// Hosts must not share one list of tags: who appends to one would write
	// into another.
	if &table.Hosts[0].Tags[0] == &table.Hosts[2].Tags[0] {
		t.Error("two hosts share their tags")
	}
}

func TestParseBuiltinDefaults(t *testing.T) {
	table := checkParse(t, "[hosts.box]\n[hosts.here]\ntransport = 'local'\n")
	want := []Host{
		{"box", "box", "~", "ssh", "box", "claude", "claude --dangerously-skip-permissions", nil, 10 * time.Second, ""},
		{"here", "here", "~", "local", "", "here", "claude --dangerously-skip-permissions", nil, 10 * time.Second, ""},
	}
	if !reflect.DeepEqual(table.Hosts, want) {
		t.Errorf("\n got %+v\nwant %+v", table.Hosts, want)
	}
}

// Every shape that TOML has for the same table gives the same hosts.
func TestParseShapes(t *testing.T) {
	for _, text := range []string{
		"[hosts.b]\nworkdir = '/x'\n[hosts.a]\nproject = 'p'\n",
		"hosts.b.workdir = '/x'\nhosts.a.project = 'p'\n",
		"hosts = {b = {workdir = '/x'}, a = {project = 'p'}}\n",
		"[hosts]\nb = {workdir = '/x'}\na.project = 'p'\n",
		"[hosts.\"b\"]\n'workdir' = '''\n/x'''\n[ hosts . a ]\nproject = \"\\u0070\"\n",
		"\xef\xbb\xbf[hosts.b]\r\nworkdir = '/x'\r\n\r\n[hosts.a]\r\nproject = 'p'\r\n",
		"\n# c\n[hosts.b] # c\nworkdir = '/x' # = c\n[hosts.a]\nproject = 'p'",
	} {
		table := checkParse(t, text)
		if table == nil {
			continue
		}
		if h := table.Hosts; len(h) != 2 || h[0].Name != "b" || h[0].Workdir != "/x" || h[1].Name != "a" || h[1].Project != "p" {
			t.Errorf("%q: %+v", text, h)
		}
	}
}

func TestParseErrors(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	tests := []struct {
		bad  string
		want []string
		good string // the nearest text that is right
	}{
		{ // unknown keys
			"[hosts.a]\nworkdri = '/x'\n",
			[]string{"fleet.conf:2: hosts.a.workdri: unknown key: did you mean workdir?"},
			"[hosts.a]\nworkdir = '/x'\n",
		},
		{
			"[hosts.a]\nzzz = 1\n",
			[]string{"fleet.conf:2: hosts.a.zzz: unknown key (known are project, workdir, transport, ssh, session, command, tags, timeout, ssh_config)"},
			"[hosts.a]\n",
		},
		{
			"[hosts.a]\n[host.b]\nworkdir = '/x'\n[default]\n",
			[]string{"fleet.conf:2: host: unknown key: did you mean hosts?", "fleet.conf:4: default: unknown key: did you mean defaults?"},
			"[hosts.a]\n[hosts.b]\nworkdir = '/x'\n[defaults]\n",
		},
		{
			"timeout = '5s'\n[hosts.a]\n",
			[]string{"fleet.conf:1: timeout: a key of no host (put timeout into [defaults] or [hosts.NAME])"},
			"defaults.timeout = '5s'\n[hosts.a]\n",
		},
		{
			"[hosts.build.eu]\nworkdir = '/x'\n",
			[]string{`fleet.conf:1: hosts.build.eu: unknown key (a name with a dot is quoted: [hosts."build.eu"])`},
			"[hosts.\"build.eu\"]\nworkdir = '/x'\n",
		},
		{
			"[defaults]\nproject = 'p'\nssh = 'box'\ntimeuot = '1s'\n[hosts.a]\n",
			[]string{
				"fleet.conf:2: defaults.project: not a default (it follows from each host's workdir; state it in the host's own table)",
				"fleet.conf:3: defaults.ssh: not a default (it would send every host to one machine; state it in the host's own table)",
				"fleet.conf:4: defaults.timeuot: unknown key: did you mean timeout?",
			},
			"[defaults]\ntimeout = '1s'\n[hosts.a]\nproject = 'p'\nssh = 'box'\n",
		},
		{ // wrong types
			"[hosts.a]\ntimeout = 10\nworkdir = true\nsession = 1.5\nproject = 2020-01-01\ncommand = ['x']\nssh = {}\ntags = 'gpu'\n",
			[]string{
				`fleet.conf:2: hosts.a.timeout: is an integer, not a string (write timeout = "10s")`,
				`fleet.conf:3: hosts.a.workdir: is a boolean, not a string (write workdir = "~/shop")`,
				`fleet.conf:4: hosts.a.session: is a number, not a string (write session = "claude")`,
				`fleet.conf:5: hosts.a.project: is a date or time, not a string (write project = "shop")`,
				`fleet.conf:6: hosts.a.command: is a list, not a string (write command = "claude")`,
				`fleet.conf:7: hosts.a.ssh: is a table, not a string (write ssh = "user@box:22")`,
				`fleet.conf:8: hosts.a.tags: is a string, not a list of strings (write tags = ["gpu", "eu"])`,
			},
			"[hosts.a]\ntimeout = '10s'\nworkdir = '/true'\nsession = '1'\nproject = '2020-01-01'\ncommand = 'x'\nssh = 'b'\ntags = ['gpu']\n",
		},
		{
			"[hosts.a]\ntags = ['x', 1]\n[hosts.a.workdir]\nx = 1\n",
			[]string{
				`fleet.conf:2: hosts.a.tags: is a list that holds an integer, not a list of strings (write tags = ["gpu", "eu"])`,
				`fleet.conf:3: hosts.a.workdir: is a table, not a string (write workdir = "~/shop")`,
			},
			"[hosts.a]\ntags = [\n 'x', # c\n '1',\n]\nworkdir = '/x'\n",
		},
		{
			"hosts = 'a'\n[[defaults]]\ntimeout = '1s'\n",
			[]string{
				"fleet.conf:1: hosts: is a string, not a table (write [hosts.NAME])",
				"fleet.conf:2: defaults: is a list of tables, not a table (write [defaults])",
			},
			"hosts.a = {}\n[defaults]\ntimeout = '1s'\n",
		},
		{
			"[[hosts.a]]\nworkdir = '/x'\n[[hosts.a]]\n[hosts]\nb = 'me@box'\n",
			[]string{
				"fleet.conf:1: hosts.a: is a list of tables, not a table (write [hosts.NAME])",
				"fleet.conf:5: hosts.b: is a string, not a table (write [hosts.NAME])",
			},
			"[hosts.a]\nworkdir = '/x'\n[hosts]\nb.ssh = 'me@box'\n",
		},
		{ // duplicates
			"[hosts.a]\nworkdir = '/x'\n[hosts.b]\n[hosts.a]\n",
			[]string{"fleet.conf:4: hosts.a: is stated already (state each host and each key once)"},
			"[hosts.a]\nworkdir = '/x'\n[hosts.b]\n[hosts.A]\nssh = 'c'\n",
		},
		{
			"[hosts.a]\nworkdir = '/x'\nproject = 'p'\nworkdir = '/y'\n",
			[]string{"fleet.conf:4: hosts.a.workdir: is stated already (state each host and each key once)"},
			"[hosts.a]\nworkdir = '/x'\nproject = 'p'\n[hosts.b]\nworkdir = '/x'\n",
		},
		{ // syntax
			"[hosts.a]\n\nworkdir = ~/x\n",
			[]string{"fleet.conf:3: hosts.a.workdir: expected value but found '~' instead (put text in quotes)"},
			"[hosts.a]\n\nworkdir = '~/x'\n",
		},
		{
			"[hosts.a]\n[hosts.b\nworkdir = '/x'\n",
			[]string{`fleet.conf:2: hosts.a: expected '.' or ']' to end table name, but got '\n' instead`},
			"[hosts.a]\n[hosts.b]\nworkdir = '/x'\n",
		},
		{
			"[hosts.a]\nworkdir = '/x'\nb shop /srv/shop\n",
			[]string{"fleet.conf:3: hosts.a: expected '.' or '=', but got 's' instead (line 1 made this file TOML; a host in columns cannot be mixed in)"},
			"[hosts.a]\nworkdir = '/x'\n# b shop /srv/shop\n",
		},
		{ // what only shows when defaults are in
			"[defaults]\ntransport = 'local'\nsession = 's'\nssh_config = 'c'\n[hosts.a]\nssh = 'box'\nssh_config = 'd'\n",
			[]string{
				`fleet.conf:6: hosts.a.ssh: means nothing on a local host (take it out, or set transport = "ssh")`,
				`fleet.conf:7: hosts.a.ssh_config: means nothing on a local host (take it out, or set transport = "ssh")`,
			},
			"[defaults]\ntransport = 'local'\nsession = 's'\nssh_config = 'c'\n[hosts.a]\n[hosts.b]\n",
		},
		{ // a bad value is told where it stands, not at each host that inherits it
			"[defaults]\ntimeout = '10'\n[hosts.a]\n[hosts.b]\n",
			[]string{`fleet.conf:2: defaults.timeout: "10" is not a duration (write a number and its unit, such as "10s" or "1m30s")`},
			"[defaults]\ntimeout = '10ms'\n[hosts.a]\n[hosts.b]\n",
		},
		{ // all of them, in the order of lines
			"[hosts.'b!']\ntags = ['a', 'a']\n[hosts.a]\nssh = 'x'\ntransport = 'local'\ncommand = ''\n[zork]\n",
			[]string{
				`fleet.conf:1: hosts."b!": "b!" is not a name (use letters, digits, '.', '_' and '-')`,
				`fleet.conf:2: hosts."b!".tags: item 2: "a" is there twice (state it once)`,
				`fleet.conf:4: hosts.a.ssh: means nothing on a local host (take it out, or set transport = "ssh")`,
				`fleet.conf:6: hosts.a.command: is empty (leave the key out to get its default)`,
				"fleet.conf:7: zork: unknown key (known are defaults, hosts)",
			},
			"[hosts.'b']\ntags = ['a', 'b']\n[hosts.a]\nssh = 'x'\ntransport = 'ssh'\ncommand = 'c'\n",
		},
		{ // no hosts
			"[defaults]\n[hosts]\n# [hosts.a]\n",
			[]string{"fleet.conf:1: holds no hosts (add a [hosts.NAME] table)"},
			"[defaults]\n[hosts]\n[hosts.a]\n",
		},
		{"", []string{"fleet.conf:1: holds no hosts (add a [hosts.NAME] table)"}, "[hosts.a]"},
		{ // what the parser would recurse into
			"[hosts.a]\n# [[[[[[[[[\nworkdir = '[[[[[[[[['\ntags = [[[[[[[[[",
			[]string{"fleet.conf:4: brackets nested more than 8 deep (no key takes more than one list)"},
			"[hosts.a]\n# [[[[[[[[[\nworkdir = '/[[[[[[[[['\ntags = []",
		},
		{
			"[hosts.a]\na.b.c.d.e.f.g.h.i = 1\n",
			[]string{"fleet.conf:2: a key of more than 8 parts (the longest that means anything is hosts.NAME.KEY)"},
			"[hosts.\"a.b.c.d.e.f.g.h.i\"]\n",
		},
		{ // a terminal must not be steered
			"[hosts.a]\n\"x\\u001b[31m\\u202e\" = 1\nworkdir = \"/\\u001b]0;x\\u0007\"\n",
			[]string{
				`fleet.conf:2: hosts.a."x\U0000001B[31m\U0000202E": unknown key (known are project, workdir, transport, ssh, session, command, tags, timeout, ssh_config)`,
				"fleet.conf:3: hosts.a.workdir: holds the control character U+001B (take it out)",
			},
			"[hosts.a]\nworkdir = \"/\\u00e9\"\n",
		},
	}
	for _, test := range tests {
		checkParse(t, test.bad, test.want...)
		checkParse(t, test.good)
	}
}

// Two hosts on one session of one machine are an error; what differs in any
// part is not.
func TestParseSameSession(t *testing.T) {
	tests := []struct {
		name, a, b string
		clash      string // the start of the message; empty for none
	}{
		{"alias twice", "ssh='box'", "ssh='box'", `fleet.conf:3: hosts.b.session: session "claude" on box is that of host a on line 1 already`},
		{"case of the host", "ssh='me@Box.net:2'", "ssh='me@bOX.net:2'", `fleet.conf:3: hosts.b.session: session "claude" on me@bOX.net:2 is that`},
		{"brackets", "ssh='[::1]'", "ssh='::1'", "fleet.conf:3: hosts.b.session: "},
		{"line of the session", "ssh='box'\nsession='x'", "ssh='box'\ntags=[]\nsession='x'", `fleet.conf:7: hosts.b.session: session "x" on box is that of host a`},
		{"local", "transport='local'\nsession='b'", "transport='local'", `fleet.conf:4: hosts.b.session: session "b" on this machine is that`},
		{"other session", "ssh='box'", "ssh='box'\nsession='two'", ""},
		{"case of the session", "ssh='box'\nsession='x'", "ssh='box'\nsession='X'", ""},
		{"other user", "ssh='me@box'", "ssh='you@box'", ""},
		{"case of the user", "ssh='me@box'", "ssh='Me@box'", ""},
		{"other port", "ssh='box:22'", "ssh='box:23'", ""},
		{"other ssh_config", "ssh='box'\nssh_config='/a'", "ssh='box'\nssh_config='/b'", ""},
		{"local and ssh", "transport='local'\nsession='claude'", "ssh='local'", ""},
		{"two locals", "transport='local'", "transport='local'", ""},
		{"session in doubt", "ssh='box'", "ssh='box'\nsession=1", "fleet.conf:5: hosts.b.session: is an integer"},
		{"machine in doubt", "ssh='box'", "ssh='box'\ntransport='carrier'", `fleet.conf:5: hosts.b.transport: unknown transport "carrier" (use`},
	}
	for _, test := range tests {
		_, err := ParseTable("fleet.conf", []byte("[hosts.a]\n"+test.a+"\n[hosts.b]\n"+test.b+"\n"))
		got := errorsOf(t, err)
		switch {
		case test.clash == "" && err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.clash != "" && (len(got) != 1 || !strings.HasPrefix(got[0].Error(), test.clash)):
			t.Errorf("%s:\n got %v\nwant %s", test.name, err, test.clash)
		}
	}
	// tmux itself would make one session of these two.
	checkParse(t, "[hosts.'app.v2']\ntransport='local'\n[hosts.app_v2]\ntransport='local'\n",
		`fleet.conf:3: hosts.app_v2.session: session "app_v2" on this machine is that of host app.v2 on line 1 already (give one of them a session of its own)`)
}

func TestParseCountsManyProblems(t *testing.T) {
	for extra, last := range map[int]string{
		0:   "f:51: hosts.a.k51: unknown key",
		150: "f: and 150 more problems (mend these first)",
	} {
		text := "[hosts.a]\n"
		for i := range maxProblems + extra {
			text += fmt.Sprintf("k%d = 1\n", i+2)
		}
		_, err := ParseTable("f", []byte(text))
		list := errorsOf(t, err)
		if got := list[len(list)-1].Error(); !strings.HasPrefix(got, last) {
			t.Errorf("%d: last of %d is %s", extra, len(list), got)
		}
	}
}
