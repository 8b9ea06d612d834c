package fleet

import (
	"reflect"
	"testing"
	"time"
)

func TestParseColumns(t *testing.T) {
	const text = "\xef\xbb\xbf# the fleet\r\n" +
		"\r\n" +
		"box\tshop   ~/src/shop\r\n" +
		"  gpu.1 rank#2 /srv/rank ssh train # not #this\r\n" +
		"mac site ~/site local\r\n" +
		"old.mac site ~/old local"
	table := checkParse(t, text)
	const second = time.Second
	want := []Host{
		{"box", "shop", "~/src/shop", "ssh", "box", "claude", DefaultCommand, nil, 10 * second, ""},
		{"gpu.1", "rank#2", "/srv/rank", "ssh", "gpu.1", "train", DefaultCommand, nil, 10 * second, ""},
		{"mac", "site", "~/site", "local", "", "mac", DefaultCommand, nil, 10 * second, ""},
		{"old.mac", "site", "~/old", "local", "", "old_mac", DefaultCommand, nil, 10 * second, ""},
	}
	if table == nil || !reflect.DeepEqual(table.Hosts, want) {
		t.Errorf("\n got %+v\nwant %+v", table, want)
	}
}

func TestParseColumnsErrors(t *testing.T) {
	tests := []struct {
		bad  string
		want []string
		good string
	}{
		{
			"box shop\n",
			[]string{"fleet.conf:1: hosts.box: has 2 of the columns host project workdir [transport] [session] (a value with blanks in it needs the TOML form)"},
			"box shop /x\n",
		},
		{
			"# c\nbox shop /x ssh s t\n",
			[]string{"fleet.conf:2: hosts.box: has 6 of the columns host project workdir [transport] [session] (a value with blanks in it needs the TOML form)"},
			"# c\nbox shop /x ssh s # t\n",
		},
		{
			"box shop /x\nbox shop /y\n",
			[]string{"fleet.conf:2: hosts.box: is on line 1 already (give one of them another name)"},
			"box shop /x\nbox2 shop /y\n",
		},
		{
			"box shop x carrier a:b\n-f p /x\n",
			[]string{
				`fleet.conf:1: hosts.box.workdir: "x" is not an absolute path (begin it with / or ~/)`,
				`fleet.conf:1: hosts.box.transport: unknown transport "carrier" (use "ssh" or "local")`,
				`fleet.conf:1: hosts.box.session: "a:b" is not a session name that tmux keeps as it is (use letters, digits, '_' and '-')`,
				`fleet.conf:2: hosts.-f: "-f" is not a name (begin it with a letter, a digit or '_')`,
			},
			"box shop /x local a_b\nf p /x\n",
		},
		{
			"a p /x local\nb p /y local a\n",
			[]string{`fleet.conf:2: hosts.b.session: session "a" on this machine is that of host a on line 1 already (give one of them a session of its own)`},
			"a p /x local\nb p /y local\n",
		},
		{
			"\nbox shop /x\n[hosts.b]\nworkdir = '/x'\n",
			[]string{
				"fleet.conf:3: TOML in a file that was taken for the old column form (line 2 decided that; write all hosts in one form)",
				"fleet.conf:4: TOML in a file that was taken for the old column form (line 2 decided that; write all hosts in one form)",
			},
			"\nbox shop /x\n#[hosts.b]\n#workdir = '/x'\n",
		},
	}
	for _, test := range tests {
		checkParse(t, test.bad, test.want...)
		checkParse(t, test.good)
	}
}

func TestFormOf(t *testing.T) {
	for text, want := range map[string]fileForm{
		"":                             {true, 1},
		"# only\n\n":                   {true, 1},
		"# c\n\n  [hosts.a]\n":         {true, 3},
		"a=1":                          {true, 1},
		"hosts . \"a b\".'c'\t= 1":     {true, 1},
		"\"a\\\"b\" = 1":               {true, 1},
		"= 1":                          {true, 1},
		"box shop /x\n":                {false, 1},
		"\t \r\n#[x]\r\nbox p /x\n[x]": {false, 3},
		"box p /x a=b":                 {false, 1},
		"box":                          {false, 1},
		"a.b p /x":                     {false, 1},
	} {
		if got := formOf(text); got != want {
			t.Errorf("%q: got %+v, want %+v", text, got, want)
		}
	}
}
