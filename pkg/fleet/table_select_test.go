package fleet

import (
	"errors"
	"strings"
	"testing"
)

func TestSelect(t *testing.T) {
	table := checkParse(t, `
[hosts.box]
tags = ["gpu", "eu"]
[hosts.mac]
transport = "local"
[hosts.gpu]
tags = ["us"]
[hosts.trainer]
tags = ["gpu"]
`)
	for _, test := range []struct {
		args string // apart by commas; "-" for no argument
		want string
		errs []string
	}{
		{"-", "box mac gpu trainer", nil},
		{"mac", "mac", nil},
		{"trainer,box", "box trainer", nil},
		{"box,box,@eu", "box", nil},
		{"@gpu", "box trainer", nil},
		{"gpu", "gpu", nil},
		{"@us,@eu,mac", "box mac gpu", nil},
		{"bxo", "", []string{`no host "bxo" in the table: did you mean box?`}},
		{"Mac", "", []string{`no host "Mac" in the table: did you mean mac?`}},
		{"eu", "", []string{`no host "eu" in the table: did you mean @eu?`}},
		{"@box", "", []string{`no tag "@box" in the table: did you mean box?`}},
		{"train", "", []string{`no host "train" in the table: did you mean trainer?`}},
		{"@gpus", "", []string{`no tag "@gpus" in the table: did you mean @gpu?`}},
		{"trainers", "", []string{`no host "trainers" in the table: did you mean trainer?`}},
		{"zzzz", "", []string{`no host "zzzz" in the table (it has box, mac, gpu, trainer)`}},
		{"@zzzz", "", []string{`no tag "@zzzz" in the table (it has @gpu, @eu, @us)`}},
		{"", "", []string{`no host "" in the table (it has box, mac, gpu, trainer)`}},
		{"@", "", []string{`no tag "@" in the table (it has @gpu, @eu, @us)`}},
		{"mac,bxo,@zzzz", "", []string{
			`no host "bxo" in the table: did you mean box?`,
			`no tag "@zzzz" in the table (it has @gpu, @eu, @us)`,
		}},
		{"\x1b[2J", "", []string{`no host "\x1b[2J" in the table (it has box, mac, gpu, trainer)`}},
	} {
		var args []string
		if test.args != "-" {
			args = strings.Split(test.args, ",")
		}
		hosts, err := table.Select(args...)
		var names []string
		for _, h := range hosts {
			names = append(names, h.Name)
		}
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("%q: got %s, want %s", test.args, got, test.want)
		}
		if got, want := errorText(err), strings.Join(test.errs, "\n"); got != want {
			t.Errorf("%q:\n got %s\nwant %s", test.args, got, want)
		}
		var e *SelectError
		if err != nil && (!errors.As(err, &e) || e.Arg == "mac") {
			t.Errorf("%q: %T", test.args, err)
		}
	}
	// The table stays as it is when a caller changes what it got.
	hosts, _ := table.Select()
	hosts[0].Name = "changed"
	if table.Hosts[0].Name != "box" {
		t.Error("Select gave out the table's own hosts")
	}
	if _, err := checkParse(t, "[hosts.a]").Select("@x"); errorText(err) != `no tag "@x" in the table (it has no tags)` {
		t.Error(err)
	}
	many := checkParse(t, "[hosts]\na1={}\na2={}\na3={}\na4={}\na5={}\na6={}\na7={}\na8={}\na9={}\n")
	if _, err := many.Select("zzzz"); errorText(err) != `no host "zzzz" in the table (it has a1, a2, a3, a4, a5, a6, a7, a8, …)` {
		t.Error(err)
	}
}
