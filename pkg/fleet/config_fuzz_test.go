package fleet

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode"
)

// FuzzParseTable: whatever the file, no panic; a table that is taken can be
// written and read back; a table that is not says where and why, in words that
// are safe to show.
func FuzzParseTable(f *testing.F) {
	for _, seed := range []string{
		"[defaults]\ntags = ['x']\n[hosts.\"a.b\"]\nworkdir = '~/é'\nssh = 'me@[::1]:22'\nssh_config = 'c'\n",
		"[hosts.a]\ntransport = 'local'\ntimeout = \"1m\"\nsession = '''s'''\ncommand = \"\"\"\\\n c\"\"\"\n",
		"hosts = {a = {tags = ['x', {y = 1}]}, b.project = \"\\u001b\"}\n",
		"box shop ~/x\nmac shop /x local s # c\n", "a p /x\n[hosts.b]\n", "\xef\xbb\xbf# c\r\n\r\n=\n[", "[[hosts]]\n[hosts.a.b]\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := ParseTable("dir/f", data)
		if err != nil {
			if table != nil {
				t.Error("a table beside an error")
			}
			last := 0
			for _, e := range errorsOf(t, err) {
				if e.File != "dir/f" || e.Msg == "" || e.Line > 1+strings.Count(string(data), "\n") {
					t.Errorf("%#v", e)
				}
				if e.Line < last && e.Line > 0 {
					t.Errorf("line %d after %d", e.Line, last)
				}
				last = e.Line
				if strings.IndexFunc(e.Error(), unicode.IsControl) >= 0 {
					t.Errorf("steers a terminal: %q", e.Error())
				}
			}
			return
		}
		back, err := ParseTable("elsewhere/f", []byte(table.TOML()))
		if err != nil {
			t.Fatalf("%v\n%s", err, table.TOML())
		}
		if !reflect.DeepEqual(back.Hosts, table.Hosts) {
			t.Errorf("\n got %+v\nwant %+v", back.Hosts, table.Hosts)
		}
		for _, h := range table.Hosts {
			picked, err := table.Select(h.Name)
			if err != nil || len(picked) != 1 || !reflect.DeepEqual(picked[0], h) {
				t.Errorf("%s is not found: %v", h.Name, err)
			}
		}
		var e *SelectError
		if _, err := table.Select("\x00"); !errors.As(err, &e) {
			t.Errorf("no error for a host that is none: %v", err)
		}
	})
}
