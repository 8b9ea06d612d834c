package fleet

import "testing"

// TestConfigSlips holds the messages for slips that people come with from other
// formats, each beside the file that they meant.
func TestConfigSlips(t *testing.T) {
	const hint = ` (write it as TOML: [hosts.NAME], and below it a line each, such as workdir = "~/src")`
	for _, test := range []struct {
		bad  string
		want []string
		good string
	}{
		{"{\"hosts\": {\"a\": {}}}\n", []string{"fleet.conf:1: looks like JSON" + hint}, "[hosts]\na = {}\n"},
		{"# c\n{\n", []string{"fleet.conf:2: looks like JSON" + hint}, "# c\na {p /x\n"},
		{"hosts:\n  a:\n    ssh: b\n", []string{"fleet.conf:1: looks like YAML" + hint}, "hosts p /x\n"},
		{"---\na p /x\n", []string{"fleet.conf:1: looks like YAML" + hint}, "a p /x\n"},
		{"\na: b\n", []string{"fleet.conf:2: looks like YAML" + hint}, "\na b: /x\n"},
		{
			"[hosts.a]\nworkdir = “/x”\n",
			[]string{`fleet.conf:2: hosts.a.workdir: expected value but found '“' instead (put text in plain quotes, as in "text")`},
			"[hosts.a]\nworkdir = \"/x\"\n",
		},
		{
			"[hosts.a]\nssh: b\n",
			[]string{`fleet.conf:2: hosts.a: expected '.' or '=', but got ':' instead (write KEY = "text")`},
			"[hosts.a]\nssh = 'b'\n",
		},
		{ // all that is wrong with a list, not the first of it
			"[hosts.a]\ntags = ['b c', 'd', 'e/f']\n[defaults]\ntags = ['', 'g', 'g']\n",
			[]string{
				`fleet.conf:2: hosts.a.tags: item 1: "b c" is not a name (use letters, digits, '.', '_' and '-')`,
				`fleet.conf:2: hosts.a.tags: item 3: "e/f" is not a name (use letters, digits, '.', '_' and '-')`,
				`fleet.conf:4: defaults.tags: item 1: is empty (leave the key out to get its default)`,
				`fleet.conf:4: defaults.tags: item 3: "g" is there twice (state it once)`,
			},
			"[hosts.a]\ntags = ['b', 'd', 'e']\n[defaults]\ntags = ['g']\n",
		},
	} {
		checkParse(t, test.bad, test.want...)
		checkParse(t, test.good)
	}
}
