package fleet

import (
	"strings"
	"testing"
)

// Each check takes what is listed as good and refuses each of the bad values.
func TestChecks(t *testing.T) {
	long := strings.Repeat("x", maxNameBytes)
	lines := []string{"", " ", "\t", "a\nb", "a\tb", "a\rb", "\x1b[0m", "\x7f", "a\u0085", "a\u2028", "a\u202eb", "\u2066"}
	tests := []struct {
		name      string
		check     func(string) *fault
		good, bad []string
	}{
		{"line", checkLine, []string{"x", " x ", "a b", "é😀👩‍💻", "-", "~", long + long}, nil},
		{
			"name", checkName,
			[]string{"a", "A-b_c.9", "_x", "1", "a.", "a-", long},
			[]string{"-a", "@a", ".", "..", ".a", "a b", "a/b", "a:b", "é", "a@b", "a$", "a\"", long + "x"},
		},
		{
			"session", checkSession,
			[]string{"a", "A-b_9", "_x", "1", "a-", long},
			[]string{"a.b", "a:b", "-a", "=a", "@a", "$a", "%1", "a*", "a?", "[a]", "é", "a b", "a#{x}", long + "x"},
		},
		{
			"workdir", checkWorkdir,
			[]string{"~", "~/", "~/a b", "/", "/a", "/é"},
			[]string{"a", "./a", "~a", "~a/b", " /a", "$HOME"},
		},
		{"path", checkPath, []string{"a", "../a", "/a", "~/a", "~", "a~"}, []string{"~a", "~a/b"}},
		{"transport", checkTransport, []string{"ssh", "local"}, []string{"SSH", "Local", "ssh ", "mosh", "docker"}},
		{
			"timeout", checkTimeout,
			[]string{"10s", "1m30s", "250ms", "0.5s", "1h"},
			[]string{"10", "0", "0s", "-1s", "10 s", "1d", "s", "ten", "1e3s", "9999999h"},
		},
		{
			"ssh", checkTarget,
			[]string{
				"box", "me@box", "me@box:22", "box:65535", "me@10.0.0.1:1", "[::1]", "me@[fe80::1%eth0]:22",
				"2001:db8::1", "me@::1", "me@corp@box", "a_b-c.d", "ünï.example",
			},
			[]string{
				"-oProxyCommand=x", "me@-box", "-me@box", "@box", "me@", "me@:22", ":22", "box:", "box:0", "box:65536",
				"box:ssh", "box:-1", "box:+1", "a:b:c", "[::1", "[]", "[]:22", "[::1]22", "[::1]:", "[-x]:1", "ssh://box", "box name",
				"box;x", "box`x`", "$(x)@box", "b'x", "b\"x", "b\\x", "b|x", "b&x", "b<x", "b>x", "{a}@b",
			},
		},
	}
	for _, test := range tests {
		for _, s := range test.good {
			if f := test.check(s); f != nil {
				t.Errorf("%s refuses %q: %s", test.name, s, f.msg)
			}
		}
		for _, s := range append(test.bad, lines...) {
			f := test.check(s)
			if f == nil {
				t.Errorf("%s takes %q", test.name, s)
			} else if f.msg == "" || f.hint == "" {
				t.Errorf("%s refuses %q without a word: %+v", test.name, s, f)
			}
		}
	}
}

func TestParseTarget(t *testing.T) {
	for s, want := range map[string]sshTarget{
		"box":              {"", "box", ""},
		"me@box":           {"me", "box", ""},
		"me@corp@box:22":   {"me@corp", "box", "22"},
		"me@[::1]:22":      {"me", "::1", "22"},
		"[2001:db8::1]":    {"", "2001:db8::1", ""},
		"2001:db8::1":      {"", "2001:db8::1", ""},
		"me@10.0.0.1:2222": {"me", "10.0.0.1", "2222"},
	} {
		if got, f := parseTarget(s); f != nil || got != want {
			t.Errorf("%q: got %+v %v, want %+v", s, got, f, want)
		}
	}
}

func TestProjectOf(t *testing.T) {
	for workdir, want := range map[string]string{
		"/srv/shop": "shop", "/srv/shop/": "shop", "~/a b": "a b", "~/.x": ".x",
		"~": "NAME", "~/": "NAME", "/": "NAME", "//": "NAME", "~/..": "NAME", "/a/.": "NAME", "/a/ ": "NAME",
	} {
		if got := projectOf(workdir, "NAME"); got != want {
			t.Errorf("%q: got %q, want %q", workdir, got, want)
		}
	}
}

func TestNear(t *testing.T) {
	keys := hostKeys()
	for word, want := range map[string]string{
		"workdri": "workdir", "Workdir": "workdir", "sesion": "session", "work": "workdir", "dir": "workdir",
		"tag": "tags", "timeouts": "timeout", "transprot": "transport", "sshconfig": "ssh_config",
		"command_line": "command", "shs": "ssh", "port": "transport",
		"zzz": "", "x": "", "": "", "user": "", "host": "",
	} {
		got := near(word, keys)
		if want == "" && len(got) > 0 || want != "" && (len(got) == 0 || got[0] != want) {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
	if got := near("box", []string{"box1", "box2", "box3", "box4"}); len(got) != 3 {
		t.Errorf("not three: %q", got)
	}
}

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "abd", 1},
		{"abc", "bc", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3}, {"abcd", "badc", 2},
	} {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("%q %q: got %d, want %d", test.a, test.b, got, test.want)
		}
		if got := distance(test.b, test.a); got != test.want {
			t.Errorf("%q %q: got %d, want %d", test.b, test.a, got, test.want)
		}
	}
}
