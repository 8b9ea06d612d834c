package transport

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// notedSSH is the ssh of this machine behind a script that notes each call of it,
// and what it is asked; told gives what was noted.
func notedSSH(t *testing.T, more string) (bin string, told func() []string) {
	t.Helper()
	real, err := exec.LookPath("ssh")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	bin, log := filepath.Join(dir, "ssh"), filepath.Join(dir, "log")
	text := fmt.Sprintf("#!/bin/sh\nfor last; do :; done\necho \"$last\" >>'%s'\n'%s' \"$@\"%s\n", log, real, more)
	if err := os.WriteFile(bin, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return bin, func() []string {
		raw, err := os.ReadFile(log)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return strings.Fields(string(raw))
	}
}

func settingsOf(t *testing.T, p *Pool, file, alias string) (settings, string) {
	t.Helper()
	s, err := p.resolve(within(t, time.Minute), routeKey{Endpoint: Endpoint{Destination: alias, ConfigFile: file}})
	if err != nil {
		return settings{}, err.Error()
	}
	plain := *s
	plain.origin = nil
	return plain, ""
}

// TestAlike has hosts of one shape read by one ssh, as ssh would have read each.
func TestAlike(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		dests []string
		asked int
		more  string // behind the call of ssh
	}{
		"a block each":       {"Host a\n Port 1\nHost b\n Port 2\n Host c\nPort 3\nHost *\n User me\n IdentityFile ~/.ssh/%h\n IdentitiesOnly yes\n", []string{"a", "b", "c"}, 1, ""},
		"no block":           {"Host x*\n Port 1\n", []string{"a", "b", "c"}, 1, ""},
		"one more":           {"Host c\n HostName real\nHost *\n User me\n", []string{"a", "b", "c"}, 2, ""},
		"words":              {"Host c\n StrictHostKeyChecking no\nHost *\n StrictHostKeyChecking yes\n", []string{"a", "b", "c"}, 2, ""},
		"none":               {"Host c\n ProxyJump none\nHost *\n ProxyJump hop\n", []string{"a", "b", "c"}, 2, ""},
		"as whom":            {"User me\n", []string{"a", "b", "x@a", "y@b"}, 2, ""},
		"a match":            {"Match host a\n Port 5\n", []string{"a", "b", "c"}, 3, ""},
		"a match of another": {"Host z\n Port 1\nMatch all\n User me\n", []string{"a", "b"}, 2, ""},
		"a command":          {"ProxyCommand nc %h %p\n", []string{"a", "b"}, 2, ""},
		"quotes":             {"User \"me\"\n", []string{"a", "b"}, 2, ""},
		"algorithms":         {"Ciphers +aes128-cbc\n", []string{"a", "b"}, 2, ""},
		"an agent":           {"ForwardAgent $SOCK\n", []string{"a", "b"}, 2, ""},
		"an address":         {"User me\n", []string{"10.0.0.1", "10.0.0.2"}, 2, ""},
		"another default":    {"User me\n", []string{"a", "b", "c"}, 3, " | sed 's/^connectionattempts .*/connectionattempts 3/'"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "config")
			write(t, file, c.text)
			bin, told := notedSSH(t, c.more)
			p := NewPool(Options{SSHBinary: bin})
			defer func() { _ = p.Close() }()
			var got []settings
			for _, d := range c.dests {
				s, err := settingsOf(t, p, file, d)
				if err != "" {
					t.Fatal(err)
				}
				got = append(got, s)
			}
			if asked := told(); len(asked) != c.asked {
				t.Errorf("ssh was asked about %q, want %d of them", asked, c.asked)
			}
			for i, d := range c.dests {
				fresh := NewPool(Options{SSHBinary: bin})
				want, err := settingsOf(t, fresh, file, d)
				_ = fresh.Close()
				if err != "" || !reflect.DeepEqual(got[i], want) {
					t.Errorf("%s: %+v, want %+v (%s)", d, got[i], want, err)
				}
			}
		})
	}
}

// TestAlikeRandom reads random configurations for several hosts by one pool, and by
// a pool each, whose first reading is always ssh's.
func TestAlikeRandom(t *testing.T) {
	t.Setenv("FLEET_TEST_DIR", "/from/environment")
	dests := []string{"box", "web", "db1.example.com", "other", "bob@other2"}
	saved := 0
	for seed := range uint64(50) {
		c := makePlain(seed)
		dir := t.TempDir()
		file := filepath.Join(dir, "config")
		write(t, file, strings.ReplaceAll(c, "DIR", dir))
		bin, told := notedSSH(t, "")
		p := NewPool(Options{SSHBinary: bin})
		for _, d := range dests {
			got, err := settingsOf(t, p, file, d)
			fresh := NewPool(Options{})
			want, wantErr := settingsOf(t, fresh, file, d)
			_ = fresh.Close()
			if (err == "") != (wantErr == "") || err == "" && !reflect.DeepEqual(got, want) {
				t.Errorf("seed %d, %s:\n%s\ngot  %+v %s\nwant %+v %s", seed, d, c, got, err, want, wantErr)
			}
		}
		saved += len(dests) - len(told())
		_ = p.Close()
	}
	if saved < 50 {
		t.Errorf("only %d readings were spared an ssh", saved)
	}
}

// makePlain gives a configuration with a block of the same keywords for each of some
// hosts, and now and then another one.
func makePlain(seed uint64) string {
	m := newConfigMaker(seed)
	values := map[string][]string{
		"User": {"me", "you", "a.b", "u@v"}, "HostName": {"web", "10.0.0.1", "%h.example.com", "Web.Example.Com", "::1"}, "Port": {"22", "77", "ssh"},
		"IdentityFile": {"~/a", "/b", "/k-%r@%h:%p", "none"}, "IdentitiesOnly": {"yes", "no"}, "ProxyJump": {"none", "hop", "a,b", "u@h:22"},
		"StrictHostKeyChecking": {"yes", "accept-new"}, "UserKnownHostsFile": {"/a", "~/b /c", "none"}, "ConnectTimeout": {"5", "1m"}, "SendEnv": {"A", "LC_* B", "-A"},
		"HostKeyAlias": {"x", "y"}, "IdentityAgent": {"none", "~/s"}, "ServerAliveInterval": {"30", "0", "1m"}, "BatchMode": {"yes", "no"}, "LogLevel": {"QUIET", "info"},
		"ForwardAgent": {"yes", "no"}, "ControlMaster": {"auto", "no"}, "Compression": {"yes", "no"}, "PreferredAuthentications": {"publickey", "publickey,password"},
	}
	var names []string
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	block := func(host string, keywords ...string) string {
		text := "Host " + host + "\n"
		for _, k := range keywords {
			text += "\t" + k + " " + m.pick(values[k]...) + "\n"
		}
		return text
	}
	same := []string{m.pick(names...), m.pick(names...)}
	text := ""
	if m.some(3) {
		text = block(m.pattern(), m.pick(names...))
	}
	for _, host := range []string{"box", "web", "db?.example.com", "other*"} {
		text += block(host, same...)
	}
	text += block("*", m.pick(names...))
	if m.some(4) {
		k, v := m.setting()
		text += k + " " + v + "\n"
	}
	return text
}
