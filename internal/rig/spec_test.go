package rig

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestCheckSpecs(t *testing.T) {
	for _, c := range []struct {
		name  string
		specs []HostSpec
		fails string
	}{
		{"none", nil, ""},
		{"two and a local one", []HostSpec{{Name: "a"}, {Name: "b-2", Proxy: true}, {Name: "home", Local: true}}, ""},
		{"no name", []HostSpec{{}}, "host name"},
		{"a path", []HostSpec{{Name: "../a"}}, "host name"},
		{"upper case", []HostSpec{{Name: "Alpha"}}, "host name"},
		{"too long", []HostSpec{{Name: strings.Repeat("a", 17)}}, "host name"},
		{"twice", []HostSpec{{Name: "a"}, {Name: "a"}}, "is taken"},
		{"the operator's", []HostSpec{{Name: operatorName}}, "is taken"},
		{"two local ones", []HostSpec{{Name: "a", Local: true}, {Name: "b", Local: true}}, "one local host"},
		{"local with a proxy", []HostSpec{{Name: "a", Local: true, Proxy: true}}, "no sshd"},
		{"local with sshd lines", []HostSpec{{Name: "a", Local: true, SSHDConfig: []string{"x"}}}, "no sshd"},
	} {
		err := checkSpecs(c.specs)
		if (err == nil) != (c.fails == "") || (err != nil && !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.fails)
		}
	}
}

func TestStartNamesWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Start(context.Background(), Options{})
	// sshd is looked for outside PATH too, and found on machines that have one.
	if err == nil || !strings.Contains(err.Error(), "is missing: install openssh-") {
		t.Errorf("error %v", err)
	}
}

func TestOnlySSHHostsNeedSSHD(t *testing.T) {
	for _, c := range []struct {
		specs []HostSpec
		want  bool
	}{
		{nil, true},
		{[]HostSpec{{Name: "a"}}, true},
		{[]HostSpec{{Name: "a", Local: true}}, false},
		{[]HostSpec{{Name: "a", Local: true}, {Name: "b"}}, true},
	} {
		if got := needsSSHD(c.specs); got != c.want {
			t.Errorf("%+v: %v", c.specs, got)
		}
	}
}

func TestOverlay(t *testing.T) {
	object := map[string]any{"kept": 1, "changed": 1, "removed": 1}
	overlay(object, map[string]any{"changed": 2, "removed": nil, "absent": nil, "new": 3})
	if want := (map[string]any{"kept": 1, "changed": 2, "new": 3}); !maps.Equal(object, want) {
		t.Errorf("%v, want %v", object, want)
	}
}

func TestStartRefusesALongDir(t *testing.T) {
	dir := t.TempDir() + "/" + strings.Repeat("long/", 20)
	_, err := Start(context.Background(), Options{Dir: dir, Client: "/bin/true"})
	if err == nil || !strings.Contains(err.Error(), "choose a shorter Options.Dir") {
		t.Errorf("error %v", err)
	}
}

func TestSetEnv(t *testing.T) {
	for _, c := range []struct {
		entry string
		want  []string
	}{
		{"C=3", []string{"A=1", "AB=2", "C=3"}},
		{"A=9", []string{"AB=2", "A=9"}},
		{"A=", []string{"AB=2", "A="}},
		{"A", []string{"AB=2"}},
		{"D", []string{"A=1", "AB=2"}},
	} {
		if got := setEnv([]string{"A=1", "AB=2"}, c.entry); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.entry, got, c.want)
		}
	}
}

func TestNPMCode(t *testing.T) {
	for out, want := range map[string]string{
		"npm error code E404\nnpm error 404 at https://x": " (E404)",
		"npm ERR! code ENOTFOUND\n":                       " (ENOTFOUND)",
		"npm error code https://x":                        "",
		"said: npm error code E404":                       "",
		"":                                                "",
	} {
		if got := npmCode([]byte(out)); got != want {
			t.Errorf("npmCode(%q) = %q, want %q", out, got, want)
		}
	}
}
