package transport

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestResolve has the public face of the settings, by both resolvers.
func TestResolve(t *testing.T) {
	dir := t.TempDir()
	config, extra := filepath.Join(dir, "config"), filepath.Join(dir, "extra")
	write(t, extra, "Host box\n User me\n ProxyJump hop,[::1]:7\n Compression yes\n ForwardAgent yes\n IdentityAgent /agent\n")
	write(t, config, "Include "+extra+"\nHost box\n HostName example.org\n Port 2222\n IdentityFile /id\n CertificateFile /cert\n HostKeyAlias other\n"+
		" UserKnownHostsFile /k1 /k2\n GlobalKnownHostsFile /g\n StrictHostKeyChecking accept-new\nHost command\n ProxyCommand nc %h %p\n IdentityAgent none\n")
	for bin, source := range map[string]string{"": "ssh -G", NoSSHBinary: "ssh_config"} {
		p := newPool(t, Options{SSHBinary: bin})
		got, err := p.Resolve(within(t, 20*time.Second), Endpoint{Destination: "box", ConfigFile: config})
		if err != nil {
			t.Fatal(err)
		}
		want := SSHConfig{
			HostName: "example.org", User: "me", Port: 2222, IdentityFiles: []string{"/id"}, CertificateFiles: []string{"/cert"},
			ProxyJump: "hop,[::1]:7", HostKeyAlias: "other", KnownHostsFiles: []string{"/k1", "/k2", "/g"}, StrictHostKeyChecking: "accept-new",
			IdentityAgent: "/agent", ForwardAgent: true, Source: source, ConfigFiles: []string{config, extra}, Unhonoured: []string{"Compression"},
			Warnings: []string{},
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", source, got, want)
		}
		// What a caller does with its copy is not another's.
		got.IdentityFiles[0] = "changed"
		again, err := p.Resolve(within(t, 20*time.Second), Endpoint{Destination: "box", ConfigFile: config})
		if err != nil || again.IdentityFiles[0] != "/id" {
			t.Errorf("%s: the next caller has %q, %v", source, again.IdentityFiles, err)
		}
		got, err = p.Resolve(within(t, 20*time.Second), Endpoint{Destination: "u@command:9", ConfigFile: config})
		if err != nil || got.ProxyCommand != "nc %h %p" || got.User != "u" || got.Port != 9 || got.ForwardAgent {
			t.Errorf("%s: %+v, %v", source, got, err)
		}
	}
}

func TestResolveJSON(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config")
	write(t, config, "IdentityFile none\nUserKnownHostsFile none\nGlobalKnownHostsFile none\nIdentityAgent none\nUser u\n")
	got, err := newPool(t, Options{}).Resolve(within(t, 20*time.Second), Endpoint{Destination: "box", ConfigFile: config})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"hostname":"box","user":"u","port":22,"identity_files":[],"proxyjump":"","known_hosts_files":[],"strict_host_key_checking":"ask","forward_agent":false,"source":"ssh -G","config_files":["` + config + `"]}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func TestResolveRefuses(t *testing.T) {
	p := newPool(t, Options{SSHBinary: NoSSHBinary})
	for _, e := range []Endpoint{{Local: true}, {Destination: "-x"}, {Destination: "box", ConfigFile: "/nonexistent/config"}} {
		_, err := p.Resolve(within(t, 20*time.Second), e)
		var typed *Error
		if !errors.As(err, &typed) || typed.Kind != KindConfig || typed.Hint == "" {
			t.Errorf("%v: got %v", e, err)
		}
	}
	if _, err := p.Resolve(within(t, 20*time.Second), Endpoint{Destination: "box", ConfigFile: "none"}); err != nil {
		t.Errorf("no file by name: %v", err)
	}
}

// TestNoConfigFile has what is no file refused and not waited for, and an empty
// device taken.
func TestNoConfigFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	p := newPool(t, Options{SSHBinary: NoSSHBinary})
	for file, refused := range map[string]bool{pipe: true, "/dev/zero": true, t.TempDir(): true, "/dev/null": false} {
		_, err := p.Resolve(within(t, 20*time.Second), Endpoint{Destination: "box", ConfigFile: file})
		if k, _ := KindOf(err); (err != nil) != refused || refused && k != KindConfig {
			t.Errorf("%s: got %v", file, err)
		}
	}
}

// TestWarnsOnce has a block that can't be evaluated told to Options.Warn, once.
func TestWarnsOnce(t *testing.T) {
	s := startServer(t)
	told := make(chan string, 8)
	p := newPool(t, Options{SSHBinary: NoSSHBinary, Warn: func(_ Endpoint, text string) { told <- text }})
	e := Endpoint{Destination: "box", ConfigFile: s.configFile(s.block("box"), "Match version OpenSSH_99*\n  Compression yes\n")}
	succeed(t, p, e)
	succeed(t, p, e)
	close(told)
	var all []string
	for text := range told {
		all = append(all, text)
	}
	if len(all) != 1 || !strings.Contains(all[0], e.ConfigFile+":9: this Match block is left out: version ") {
		t.Errorf("told %q", all)
	}
}

func TestAliases(t *testing.T) {
	dir := t.TempDir()
	config, sub := filepath.Join(dir, "config"), filepath.Join(dir, "sub")
	write(t, config, "User x\nHost web db # no\n Port 1\nInclude "+sub+"\nHost * !bad *.example.com w?b web\nHost=\"quoted\"\tlast $x -y\nMatch host none\n")
	write(t, sub, "Host inc db\nMatch exec false\nHost deep\n")
	got, err := Aliases(config)
	want := []Alias{
		{"web", config, 2}, {"db", config, 2}, {"inc", sub, 1}, {"deep", sub, 3}, {"quoted", config, 6}, {"last", config, 6},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got  %v, %v\nwant %v", got, err, want)
	}
	if got, err := Aliases("none"); err != nil || len(got) != 0 {
		t.Errorf("no file: %v, %v", got, err)
	}
	if _, err := os.Stat(homeDir() + "/.ssh/config"); errors.Is(err, os.ErrNotExist) {
		if got, err := Aliases(""); err != nil || len(got) != 0 {
			t.Errorf("no file of the user: %v, %v", got, err)
		}
	}
	write(t, sub, "Port frog\n")
	for _, file := range []string{config, filepath.Join(dir, "missing")} {
		_, err := Aliases(file)
		var typed *Error
		if !errors.As(err, &typed) || typed.Kind != KindConfig || typed.Hint == "" {
			t.Errorf("%s: got %v", file, err)
		}
	}
}
