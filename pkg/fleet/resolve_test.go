package fleet

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// writeSSHConfig writes an ssh_config, and gives its path.
func writeSSHConfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ssh_config")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestResolve(t *testing.T) {
	config := writeSSHConfig(t, "Host web\n  HostName 10.1.2.3\n  User me\n  Port 2222\n  ProxyJump hop\n  Compression yes\nHost bad\n  CertificateFile /%Z\n")
	f := New(&Table{Hosts: []Host{
		{Name: "a", Transport: TransportSSH, SSH: "web", SSHConfig: config, Timeout: time.Minute},
		{Name: "b", Transport: TransportSSH, SSH: "bad", SSHConfig: config, Timeout: time.Minute},
		{Name: "c", Transport: TransportLocal, Timeout: time.Minute},
	}})
	defer func() { _ = f.Close() }()
	got := map[string]map[string]any{}
	for r := range f.Resolve(t.Context()) {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var row map[string]any
		if err := json.Unmarshal(text, &row); err != nil {
			t.Fatal(err)
		}
		got[r.Host.Name] = row
		if wrong := r.Host.Name == "b"; (r.Err != nil) != wrong || wrong && ClassOf(r.Err) != ClassUsage {
			t.Errorf("%s: %v", r.Host.Name, r.Err)
		}
	}
	ssh := func(name string) map[string]any { m, _ := got[name]["ssh"].(map[string]any); return m }
	for key, want := range map[string]any{"hostname": "10.1.2.3", "user": "me", "port": 2222.0, "proxyjump": "hop", "source": "ssh -G"} {
		if ssh("a")[key] != want {
			t.Errorf("%s is %v, want %v", key, ssh("a")[key], want)
		}
	}
	for _, key := range []string{"identity_files", "known_hosts_files", "unhonoured"} {
		if list, _ := ssh("a")[key].([]any); len(list) == 0 {
			t.Errorf("%s is %v", key, ssh("a")[key])
		}
	}
	if text, _ := ssh("b")["error"].(string); !strings.Contains(text, "%Z") || ssh("b")["hint"] == "" {
		t.Errorf("b: %v", got["b"])
	}
	if v, there := got["c"]["ssh"]; !there || v != nil || got["c"]["host"] != "c" {
		t.Errorf("c: %v", got["c"])
	}
}

func TestImport(t *testing.T) {
	config := writeSSHConfig(t, `Host *.example.org !x
  User all
Host web web-alias
  HostName 10.1.2.3
Host forge
  User git
Host a/b
Host -oProxyCommand=x
Match all
  Port 2200
`)
	f := New(&Table{})
	defer func() { _ = f.Close() }()
	imports, err := f.ImportSSH(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	var names, kept []string
	for _, i := range imports {
		names = append(names, i.Host.Name)
		if i.Skip == "" {
			kept = append(kept, i.Host.SSH)
		}
	}
	if want := []string{"web", "web-alias", "forge", "a-b"}; !slices.Equal(names, want) {
		t.Errorf("hosts %q, want %q", names, want)
	}
	if want := []string{"web", "a/b"}; !slices.Equal(kept, want) {
		t.Errorf("kept %q, want %q", kept, want)
	}
	if i := imports[0]; !strings.HasSuffix(i.Address, "@10.1.2.3:2200") || i.Where != config+":3" {
		t.Errorf("%+v", i)
	}
	// What it prints reads back, with those left out as comments.
	text := ImportTOML(imports)
	table, err := ParseTable("printed", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var read []string
	for _, h := range table.Hosts {
		read = append(read, h.SSH)
		if h.SSHConfig != config || h.Workdir != DefaultWorkdir {
			t.Errorf("%+v", h)
		}
	}
	if !slices.Equal(read, kept) {
		t.Errorf("read back %q, want %q\n%s", read, kept, text)
	}
	for _, want := range []string{"the same machine as web", "a git server", "# [hosts.web-alias]"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if _, err := f.ImportSSH(t.Context(), "/nonexistent"); ClassOf(err) != ClassUsage {
		t.Errorf("an absent file: %v", err)
	}
}

// TestLabels holds that aliases which no name could hold, or that come to the same, get
// names of their own.
func TestLabels(t *testing.T) {
	var all []Import
	long := strings.Repeat("x", 100)
	for alias, want := range map[string]string{"plain": "plain", "ünï": "n", "a b": "a-b", "..": "local", long: long[:60]} {
		if got := labelFor(alias, nil); got != want || checkName(got) != nil {
			t.Errorf("%q: %q, want %q", alias, got, want)
		}
	}
	for range 3 {
		all = append(all, Import{Host: Host{Name: labelFor("a:b", all)}})
	}
	if all[0].Host.Name != "a-b" || all[1].Host.Name != "a-b-2" || all[2].Host.Name != "a-b-3" {
		t.Errorf("%v", all)
	}
}
