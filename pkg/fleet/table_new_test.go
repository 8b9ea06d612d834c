package fleet

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestNewTable holds hosts that a program made to what a fleet.conf would make of
// them: the same defaults, and the same refusals.
func TestNewTable(t *testing.T) {
	for _, c := range []struct {
		name  string
		hosts []Host
		want  []Host // of a good table
		wrong string // parts of the error, "|" between them
	}{
		{name: "none"},
		{name: "a name alone", hosts: []Host{{Name: "box"}},
			want: []Host{{Name: "box", Project: "box", Workdir: "~", Transport: "ssh", SSH: "box", Session: "claude", Command: DefaultCommand, Timeout: DefaultTimeout}}},
		{name: "this machine", hosts: []Host{{Name: "a.b", Transport: "local", Workdir: "~/shop"}},
			want: []Host{{Name: "a.b", Project: "shop", Workdir: "~/shop", Transport: "local", Session: "a_b", Command: DefaultCommand, Timeout: DefaultTimeout}}},
		{name: "all of it", hosts: []Host{{"a", "p", "~/p", "ssh", "me@a", "s", "c", []string{"x"}, time.Minute, "/c"}},
			want: []Host{{"a", "p", "~/p", "ssh", "me@a", "s", "c", []string{"x"}, time.Minute, "/c"}}},
		{name: "two sessions of one machine", hosts: []Host{{Name: "a", SSH: "m"}, {Name: "b", SSH: "m", Session: "two"}},
			want: []Host{
				{Name: "a", Project: "a", Workdir: "~", Transport: "ssh", SSH: "m", Session: "claude", Command: DefaultCommand, Timeout: DefaultTimeout},
				{Name: "b", Project: "b", Workdir: "~", Transport: "ssh", SSH: "m", Session: "two", Command: DefaultCommand, Timeout: DefaultTimeout},
			}},
		{name: "one session twice", hosts: []Host{{Name: "a", SSH: "m"}, {Name: "b", SSH: "m"}}, wrong: `table: hosts.b.session: session "claude" on m is that of host a already`},
		{name: "one name twice", hosts: []Host{{Name: "a"}, {Name: "a", SSH: "m"}}, wrong: "hosts.a: is there twice"},
		{name: "no name", hosts: []Host{{SSH: "m"}}, wrong: "is empty"},
		{name: "a session that would be sh", hosts: []Host{{Name: "a", Session: "$(id)"}}, wrong: "hosts.a.session"},
		{name: "a target that would be a flag", hosts: []Host{{Name: "a", SSH: "-oProxyCommand=id"}}, wrong: "hosts.a.ssh"},
		{name: "no time at all", hosts: []Host{{Name: "a", Timeout: -1}}, wrong: "hosts.a.timeout"},
		{name: "a tag twice", hosts: []Host{{Name: "a", Tags: []string{"x", "x"}}}, wrong: "hosts.a.tags"},
		{name: "local with ssh", hosts: []Host{{Name: "a", Transport: "local", SSH: "m"}}, wrong: "hosts.a.ssh: means nothing on a local host"},
		{name: "all that is wrong", hosts: []Host{{Name: "a", Workdir: "shop"}, {Name: "-b"}}, wrong: "hosts.a.workdir|hosts.-b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, err := NewTable(c.hosts...)
			if c.wrong == "" {
				if err != nil || len(table.Hosts) != len(c.want) || len(c.want) > 0 && !reflect.DeepEqual(table.Hosts, c.want) {
					t.Fatalf("%v\n got %+v\nwant %+v", err, table, c.want)
				}
				return
			}
			if table != nil || ClassOf(err) != ClassUsage {
				t.Fatalf("%+v, %v", table, err)
			}
			for part := range strings.SplitSeq(c.wrong, "|") {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v\nlacks %s", err, part)
				}
			}
			if strings.Contains(err.Error(), "line") {
				t.Errorf("a line is named: %v", err)
			}
		})
	}
}

// TestNewTableParsed holds that a table which was read is taken as it is, and that
// the program's hosts and the table's share nothing.
func TestNewTableParsed(t *testing.T) {
	read, err := ParseTable("x/fleet.conf", []byte("[defaults]\ntags = [\"eu\"]\nssh_config = \"/c\"\n[hosts.a]\nworkdir = \"~/shop\"\n[hosts.b]\ntransport = \"local\"\ntimeout = \"1m\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	made, err := NewTable(read.Hosts...)
	if err != nil || !reflect.DeepEqual(made.Hosts, read.Hosts) {
		t.Fatalf("%v\n got %+v\nwant %+v", err, made, read.Hosts)
	}
	made.Hosts[0].Tags[0] = "us"
	if read.Hosts[0].Tags[0] != "eu" {
		t.Error("a tag of the one changed with the other's")
	}
}

// TestErrorFromOutside holds that a program which makes errors itself, as a fake of
// a Fleet does, gets them classified.
func TestErrorFromOutside(t *testing.T) {
	cause := errors.New("cause")
	for _, c := range []struct {
		err  error
		want Class
		hint string
	}{
		{nil, 0, ""},
		{cause, ClassFailed, ""},
		{&Error{}, ClassFailed, ""}, // never 0: that is success
		{&Error{Class: ClassRefused, Hint: "wait"}, ClassRefused, "wait"},
		{errors.Join(cause, &Error{Class: ClassTyped, Err: cause}), ClassTyped, ""},
		{errors.Join(&Error{Class: ClassTyped}, &Error{Class: ClassRefused}), ClassTyped, ""},
		{&ConfigError{File: "f", Msg: "m", Hint: "h"}, ClassUsage, ""},
	} {
		if got, hint := ClassOf(c.err), HintOf(c.err); got != c.want || hint != c.hint {
			t.Errorf("%v is %v (%q), want %v (%q)", c.err, got, hint, c.want, c.hint)
		}
	}
}
