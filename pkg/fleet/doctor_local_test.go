package fleet

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pasted runs a remedy as it was printed.
func pasted(t *testing.T, remedy string, env ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", remedy)
	cmd.Env, cmd.Dir = append(os.Environ(), env...), t.TempDir()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", remedy, err, out)
	}
	return string(out)
}

// only gives the finding of a check.
func only(t *testing.T, found []Finding, id string) Finding {
	t.Helper()
	i := slices.IndexFunc(found, func(f Finding) bool { return f.ID == id })
	if i < 0 {
		t.Fatalf("there is no finding %q in %+v", id, found)
	}
	return found[i]
}

func put(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// TestCheckConfig plants each fault of a table and runs what is printed against it.
func TestCheckConfig(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "it's here") // in need of quotes
	path := filepath.Join(dir, "fleet.conf")
	good := "[hosts.a]\nworkdir = \"~/x\"\n"
	// An editor that mends the line that it is called at.
	editor := filepath.Join(t.TempDir(), "editor")
	put(t, editor, "#!/bin/sh\nsed \"${1#+}s/.*/workdir = '~\\/x'/\" \"$2\" >\"$2.new\" && mv \"$2.new\" \"$2\"\n", 0o700)
	for _, c := range []struct {
		name  string
		plant func()
		id    string
		what  string
	}{
		{"a wrong value", func() { put(t, path, "[hosts.a]\nworkdir = \"relative\"\n", 0o600) }, "config", "fleet.conf:2: hosts.a.workdir:"},
		{"a slip of TOML", func() { put(t, path, "[hosts.a]\nworkdir = ~/x\n", 0o600) }, "config", "fleet.conf:2: "},
		{"no such file", func() { _ = os.RemoveAll(dir) }, "config", "no such file"},
		{"for others to write", func() { put(t, path, good, 0o666) }, "config-mode", "can be written by others (mode 0666)"},
		{"in a folder for others to write", func() {
			if err := os.Chmod(dir, 0o777); err != nil {
				t.Fatal(err)
			}
		}, "config-mode", "can be written by others (mode 0777)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			put(t, path, good, 0o600)
			table, found := CheckConfig(path)
			if table == nil || len(found) != 2 || found[0].Severity != SeverityOK || found[1].Severity != SeverityOK {
				t.Fatalf("before: %+v", found)
			}
			c.plant()
			table, found = CheckConfig(path)
			f := only(t, found, c.id)
			if f.Severity != SeverityFault || !strings.Contains(f.What, c.what) || f.Why == "" || f.Remedy == "" || (c.id == "config") != (table == nil) {
				t.Fatalf("planted: %+v", f)
			}
			pasted(t, f.Remedy, "EDITOR="+editor)
			table, found = CheckConfig(path)
			if table == nil || slices.ContainsFunc(found, func(f Finding) bool { return f.Severity != SeverityOK }) {
				t.Errorf("after %s: %+v", f.Remedy, found)
			}
		})
	}

	t.Run("two faults", func(t *testing.T) {
		put(t, path, "[hosts.a]\nworkdir = \"x\"\ntimeout = \"no\"\n", 0o600)
		if _, found := CheckConfig(path); len(found) != 2 || found[0].Remedy == found[1].Remedy {
			t.Errorf("%+v", found)
		}
	})
	t.Run("none at all", func(t *testing.T) {
		t.Setenv(ConfigEnv, "")
		t.Setenv("XDG_CONFIG_HOME", filepath.Join(t.TempDir(), "none"))
		table, found := CheckConfig("")
		if f := only(t, found, "config"); table == nil || f.Severity != SeverityNote || f.Remedy == "" {
			t.Fatalf("%+v", f)
		}
		pasted(t, found[0].Remedy)
		if table, found = CheckConfig(""); only(t, found, "config").Severity != SeverityOK || table.Path == "" {
			t.Errorf("after: %+v", found)
		}
	})
}

func TestSSHFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".ssh")
	for _, c := range []struct {
		name string
		mode os.FileMode // of the folder
		file os.FileMode
		want Severity
	}{
		{"mine alone", 0o700, 0o600, SeverityOK},
		{"for all to read", 0o755, 0o644, SeverityOK},
		{"a folder for the group to write", 0o770, 0o600, SeverityWarning},
		{"a config for the group to write", 0o700, 0o660, SeverityFault},
		{"a config for others to write", 0o700, 0o602, SeverityFault},
	} {
		put(t, filepath.Join(dir, "config"), "", c.file)
		if err := os.Chmod(dir, c.mode); err != nil {
			t.Fatal(err)
		}
		f := aboutSSHFolder(dir, true)
		if elsewhere := aboutSSHFolder(dir, false); elsewhere.Severity == SeverityFault {
			t.Errorf("%s, with no host that goes by it: %+v", c.name, elsewhere)
		}
		if f.Severity != c.want || (f.Remedy == "") != (c.want == SeverityOK) {
			t.Errorf("%s: %+v", c.name, f)
		}
		if f.Remedy == "" {
			continue
		}
		pasted(t, f.Remedy)
		if f := aboutSSHFolder(dir, true); f.Severity != SeverityOK {
			t.Errorf("%s: after the remedy: %+v", c.name, f)
		}
	}
}

// local examines this machine for one host that ssh_config has at an address where
// nobody is.
func local(t *testing.T, config string) []Finding {
	t.Helper()
	f := New(&Table{Hosts: []Host{{Name: "a", Transport: TransportSSH, SSH: "a", SSHConfig: config, Timeout: DefaultTimeout, Session: "claude"}}})
	defer func() { _ = f.Close() }()
	return f.DoctorLocal(t.Context()).Findings
}

func TestDoctorLocal(t *testing.T) {
	dir := t.TempDir()
	config, key := filepath.Join(dir, "ssh_config"), filepath.Join(dir, "key")
	sane := "Host a\nHostName 127.0.0.1\nIdentityFile " + key + "\n"
	put(t, config, sane, 0o600)
	pasted(t, "ssh-keygen -q -t ed25519 -N '' -f "+key)
	t.Setenv("SSH_AUTH_SOCK", "")

	t.Run("a key for others to read", func(t *testing.T) {
		if f := only(t, local(t, config), "key-mode"); f.Severity != SeverityOK {
			t.Fatalf("before: %+v", f)
		}
		if err := os.Chmod(key, 0o644); err != nil {
			t.Fatal(err)
		}
		f := only(t, local(t, config), "key-mode")
		if f.Severity != SeverityFault || !strings.Contains(f.What, key) {
			t.Fatalf("planted: %+v", f)
		}
		pasted(t, f.Remedy)
		if f := only(t, local(t, config), "key-mode"); f.Severity != SeverityOK {
			t.Errorf("after: %+v", f)
		}
	})
	t.Run("an ssh_config that can't be read", func(t *testing.T) {
		if f := only(t, local(t, config), "ssh-config"); f.Severity != SeverityOK || f.What != "ssh_config is valid" {
			t.Fatalf("before: %+v", f)
		}
		put(t, config, sane+"NoSuchKeyword yes\n", 0o600)
		if f := only(t, local(t, config), "ssh-config"); f.Severity != SeverityFault || f.Hint == "" || !strings.Contains(strings.ToLower(f.What), "nosuchkeyword") {
			t.Errorf("planted: %+v", f)
		}
		put(t, config, sane, 0o600)
	})
	t.Run("the agent", func(t *testing.T) {
		f := only(t, local(t, config), "agent")
		if f.Severity != SeverityNote || f.Remedy != startAgent {
			t.Fatalf("unset: %+v", f)
		}
		t.Setenv("SSH_AUTH_SOCK", filepath.Join(dir, "gone"))
		f = only(t, local(t, config), "agent")
		if f.Severity != SeverityWarning || !strings.Contains(f.What, "does not answer") {
			t.Fatalf("stale: %+v", f)
		}
		// What it sets holds in the shell that it is pasted into.
		out := pasted(t, "{ "+f.Remedy+"; } >/dev/null 2>&1 </dev/null; echo \"$SSH_AUTH_SOCK $SSH_AGENT_PID\"")
		socket, pid, _ := strings.Cut(strings.TrimSpace(out), " ")
		defer pasted(t, "kill "+pid)
		t.Setenv("SSH_AUTH_SOCK", socket)
		if f = only(t, local(t, config), "agent"); f.Severity == SeverityWarning || !strings.Contains(f.What, "answers") {
			t.Errorf("after: %+v", f)
		}
		pasted(t, "ssh-add -q "+key)
		if f = only(t, local(t, config), "agent"); f.Severity != SeverityOK || !strings.Contains(f.What, "key") {
			t.Errorf("with a key: %+v", f)
		}
	})
	t.Run("no ssh", func(t *testing.T) {
		if f := only(t, local(t, config), "ssh"); f.Severity != SeverityOK || !strings.Contains(f.What, "OpenSSH") {
			t.Fatalf("before: %+v", f)
		}
		bin := t.TempDir()
		for _, name := range []string{"sh", "id", "uname", "tr", "head", "date", "ln", "wc", "dd", "cat", "ps", "sleep"} {
			path, err := exec.LookPath(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
				t.Fatal(err)
			}
		}
		ssh, err := exec.LookPath("ssh")
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(bin, "apt-get"), "#!/bin/sh\n[ \"$*\" = 'install -y openssh-client' ] && ln -s "+ssh+" "+bin+"/ssh\n", 0o755)
		put(t, filepath.Join(bin, "sudo"), "#!/bin/sh\nexec \"$@\"\n", 0o755)
		t.Setenv("PATH", bin)
		f := only(t, local(t, config), "ssh")
		if f.Severity != SeverityWarning {
			t.Fatalf("planted: %+v", f)
		}
		pasted(t, f.Remedy)
		if f := only(t, local(t, config), "ssh"); f.Severity != SeverityOK {
			t.Errorf("after %s: %+v", f.Remedy, f)
		}
	})
	t.Run("no host needs it", func(t *testing.T) {
		f := New(&Table{Hosts: []Host{{Name: "a", Transport: TransportLocal, Timeout: DefaultTimeout, Session: "a"}}})
		defer func() { _ = f.Close() }()
		if r := f.DoctorLocal(t.Context()); r.Worst() != SeverityOK || len(r.Findings) != 2 {
			t.Errorf("%+v", r)
		}
	})
}
