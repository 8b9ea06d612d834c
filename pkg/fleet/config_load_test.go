package fleet

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// place makes an empty home and a current directory, so that no test sees the
// user's own files.
func place(t *testing.T, name string) (home, dir string) {
	t.Helper()
	home = t.TempDir()
	dir = filepath.Join(home, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	t.Setenv("HOME", home)
	t.Setenv(ConfigEnv, "")
	t.Setenv("XDG_CONFIG_HOME", "")
	return home, dir
}

func writeFile(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadSearchOrder(t *testing.T) {
	home, dir := place(t, "shop")
	expect := func(step, arg, host, path string) {
		t.Helper()
		table, err := LoadTable(arg)
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		if len(table.Hosts) != 1 || table.Hosts[0].Name != host || table.Path != path {
			t.Errorf("%s: got %+v, want %s from %s", step, table, host, path)
		}
	}
	expect("no file", "", "shop", "")
	dotConfig := writeFile(t, filepath.Join(home, ".config/claude-fleet/fleet.conf"), "[hosts.in-home]")
	expect("home", "", "in-home", dotConfig)
	t.Setenv("XDG_CONFIG_HOME", "relative")
	writeFile(t, filepath.Join(dir, "relative/claude-fleet/fleet.conf"), "[hosts.in-relative]")
	expect("relative XDG_CONFIG_HOME", "", "in-home", dotConfig)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "xdg"))
	expect("XDG_CONFIG_HOME without the file", "", "shop", "")
	xdg := writeFile(t, filepath.Join(home, "xdg/claude-fleet/fleet.conf"), "[hosts.in-xdg]")
	expect("XDG_CONFIG_HOME", "", "in-xdg", xdg)
	named := writeFile(t, filepath.Join(home, "named.conf"), "[hosts.named]")
	t.Setenv(ConfigEnv, named)
	expect(ConfigEnv, "", "named", named)
	writeFile(t, filepath.Join(dir, "given.conf"), "given p /x\n")
	expect("path", "given.conf", "given", "given.conf")
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv(ConfigEnv, "")
	t.Setenv("HOME", "")
	expect("no home", "", "shop", "")
}

func TestLoadBuiltin(t *testing.T) {
	for name, want := range map[string]string{
		"shop":                  "shop",
		"my shop.v2":            "my-shop.v2",
		"-é-":                   TransportLocal,
		"..x":                   "x",
		"a$":                    "a",
		strings.Repeat("x", 90): strings.Repeat("x", maxNameBytes),
	} {
		_, dir := place(t, name)
		table, err := LoadTable("")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		h := table.Hosts[0]
		if len(table.Hosts) != 1 || h.Name != want || h.Workdir != dir || h.Transport != TransportLocal || h.Project != name ||
			h.Session != strings.ReplaceAll(want, ".", "_") || h.SSH != "" || h.Timeout != DefaultTimeout || h.Command != DefaultCommand {
			t.Errorf("%s: %+v", name, h)
		}
		if again, err := ParseTable("f", []byte(table.TOML())); err != nil || again.Hosts[0].Workdir != dir {
			t.Errorf("%s: %v", name, err)
		}
	}
	place(t, "a\nb")
	_, err := LoadTable("")
	if list := errorsOf(t, err); len(list) != 1 || list[0].Error() !=
		"built-in table: workdir: holds the control character U+000A (go to another directory, or write a fleet.conf)" {
		t.Error(err)
	}
	if got := nameFor("/"); got != TransportLocal {
		t.Errorf("/ gives %q", got)
	}
}

func TestLoadErrors(t *testing.T) {
	_, dir := place(t, "d")
	writeFile(t, "empty", "")
	writeFile(t, "loop/file", "[hosts.a]")
	if err := os.Symlink("ring", "ring"); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo("silent", 0o600); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", "sock")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	writeFile(t, "fits", "[hosts.a]\n#"+strings.Repeat("x", maxConfigBytes-11))
	writeFile(t, "long", "[hosts.a]\n#"+strings.Repeat("x", maxConfigBytes-10))
	for path, want := range map[string]string{
		"none":        "none: no such file (make it, or name another file, in the call or by $CLAUDE_FLEET_CONFIG)",
		".":           ".: is a directory (name the file in it)",
		"loop/file/x": "loop/file/x: cannot be looked at: not a directory (check the rights of the file and of its folders)",
		"ring":        "ring: cannot be looked at: too many levels of symbolic links (check the rights of the file and of its folders)",
		"sock":        "sock: is neither a file nor a pipe (name a file)",
		"/dev/null":   "/dev/null: is neither a file nor a pipe (name a file)",
		"silent":      "silent:1: holds no hosts (add a [hosts.NAME] table)",
		"empty":       "empty:1: holds no hosts (add a [hosts.NAME] table)",
		"long":        "long: is over 1 MiB (this is hardly a fleet.conf; check the path)",
		"fits":        "",
		"x\x1b[2J":    `x\u001b[2J: no such file (make it, or name another file, in the call or by $CLAUDE_FLEET_CONFIG)`,
	} {
		_, err := LoadTable(path)
		var e *ConfigError
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", path, err)
		case want != "" && (!errors.As(err, &e) || err.Error() != want):
			t.Errorf("%s:\n got %v\nwant %s", path, err, want)
		case want != "" && e.File != path:
			t.Errorf("%s: file %q", path, e.File)
		}
	}
	// A file that was asked for is never replaced by the built-in table.
	t.Setenv(ConfigEnv, filepath.Join(dir, "none"))
	if _, err := LoadTable(""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing $%s: %v", ConfigEnv, err)
	}
}

// A file that may not be read is not a file that is not there: with the
// built-in table a command would go to another host than meant.
func TestLoadUnreadable(t *testing.T) {
	home, _ := place(t, "d")
	folder := filepath.Join(home, ".config/claude-fleet")
	path := writeFile(t, filepath.Join(folder, "fleet.conf"), "[hosts.a]")
	if os.Geteuid() == 0 {
		// No mode keeps root out; a folder in the file's place is refused to all.
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
	} else if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	table, err := LoadTable("")
	var e *ConfigError
	if !errors.As(err, &e) || e.File != path {
		t.Errorf("got %+v, %v", table, err)
	}
}

func TestLoadPipe(t *testing.T) {
	place(t, "d")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if _, err := w.WriteString("[hosts.a]\n"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := "/dev/fd/" + strconv.Itoa(int(r.Fd()))
	table, err := LoadTable(path)
	if err != nil || len(table.Hosts) != 1 {
		t.Errorf("got %+v, %v", table, err)
	}
}

func TestParseText(t *testing.T) {
	for text, want := range map[string]string{
		"[hosts.a]\nproject = '\xff'\n": "f:2: byte 0xff is not UTF-8 (save the file as UTF-8)",
		"\n\na b /c\xc3\n":              "f:3: byte 0xc3 is not UTF-8 (save the file as UTF-8)",
		"\xff\xfe[\x00":                 "f:1: byte 0xff is not UTF-8 (save the file as UTF-8)",
		"[\x00h\x00":                    "f:1: holds a NUL byte (save the file as UTF-8, not UTF-16)",
		"[hosts.a]\r\n\n# \x1b[2J\n":    "f:3: control character U+001B (take it out)",
		"a b /c\x7f\n":                  "f:1: control character U+007F (take it out)",
		"# \u0085\n":                    "f:1: control character U+0085 (take it out)",
		"[hosts.a]\r[hosts.b]\r":        "f:1: a carriage return that ends no line (save the file with Unix line ends)",
		"a b /c\r":                      "f:1: a carriage return that ends no line (save the file with Unix line ends)",
		"\xef\xbb\xbf[hosts.a]\n\tproject = '\ufffd'": "",
		"\xef\xbb\xbfa b /c\r\n":                      "",
	} {
		_, err := ParseTable("f", []byte(text))
		if got := errorText(err); got != want {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
	if _, err := ParseTable("f", []byte(strings.Repeat("#", maxConfigBytes+1))); errorText(err) != "f: is over 1 MiB (this is hardly a fleet.conf; check the path)" {
		t.Error(err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestResolveSSHConfigPath(t *testing.T) {
	home, dir := place(t, "d")
	for _, test := range []struct{ file, path, want string }{
		{"/etc/f.conf", "/x/../y", "/y"},
		{"/etc/f.conf", "y", "/etc/y"},
		{"/etc/f.conf", "../y", "/y"},
		{"/etc/f.conf", "~/y", filepath.Join(home, "y")},
		{"f.conf", "y", filepath.Join(dir, "y")},
		{"sub/f.conf", "y", filepath.Join(dir, "sub/y")},
		{"", "y", filepath.Join(dir, "y")},
	} {
		table, err := ParseTable(test.file, []byte("[hosts.a]\nssh_config = '"+test.path+"'\n"))
		if err != nil || table.Hosts[0].SSHConfig != test.want {
			t.Errorf("%+v: %+v, %v", test, table, err)
		}
	}
	// What the path becomes has to pass, not just what was written.
	_, err := ParseTable("a\nb/f.conf", []byte("[hosts.a]\nssh_config = 'y'\n"))
	if got := errorText(err); got != `a\u000ab/f.conf:1: hosts.a.ssh_config: holds the control character U+000A (take it out)` {
		t.Error(got)
	}
	// Without HOME, as a service of systemd may be, ~ is what the user database says.
	t.Setenv("HOME", "")
	table, err := ParseTable("f", []byte("[hosts.a]\nssh_config = '~/y'\n"))
	if err != nil || !filepath.IsAbs(table.Hosts[0].SSHConfig) || filepath.Dir(table.Hosts[0].SSHConfig) == home {
		t.Errorf("without HOME: %+v, %v", table, err)
	}
}
