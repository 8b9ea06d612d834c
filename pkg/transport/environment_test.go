package transport

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAnyLogin leaves of a login what tells where it is from, and of all else everything.
func TestAnyLogin(t *testing.T) {
	for in, want := range map[string]string{
		"SSH_CONNECTION=192.0.2.1 1234 192.0.2.2 22": "SSH_CONNECTION=192.0.2.1 0 192.0.2.2 22",
		"SSH_CLIENT=fe80::1%eth0 1234 22":            "SSH_CLIENT=fe80::1%eth0 0 22",
		"SSH_TTY=/dev/pts/7":                         "SSH_TTY=/dev/tty",
		"SSH_TTY=":                                   "SSH_TTY=",
		"SSH_TTY":                                    "SSH_TTY",
		"SSH_CLIENT=made up":                         "SSH_CLIENT=made up",
		"SSH_CONNECTION=":                            "SSH_CONNECTION=",
		"SSH_AUTH_SOCK=/a b c":                       "SSH_AUTH_SOCK=/a b c",
		"OTHER=a b c d":                              "OTHER=a b c d",
	} {
		if got := AnyLogin(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

// TestEnvironmentGiven starts a command in the environment and the folder of whom the
// Pool works for, and where that can't be, not in this process's.
func TestEnvironmentGiven(t *testing.T) {
	t.Setenv("FLEET_WHERE", "here")
	dir := t.TempDir()
	file, program, closed := filepath.Join(dir, "file"), filepath.Join(dir, "program"), filepath.Join(dir, "closed")
	write(t, file, "")
	write(t, program, "")
	if err := errors.Join(os.Chmod(program, 0o700), os.Mkdir(closed, 0)); err != nil {
		t.Fatal(err)
	}
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	inClosed := "/"
	if os.Getuid() == 0 { // whom no mode keeps out
		inClosed = closed
	}
	for _, tc := range []struct {
		o    Options
		want string
	}{
		{Options{}, "here in " + wd},
		{Options{Env: []string{"FLEET_WHERE=one", "FLEET_WHERE=two"}, Dir: dir}, "two in " + dir},
		{Options{Env: []string{}, Dir: dir}, " in " + dir},
		{Options{Env: []string{}}, " in " + wd},
		{Options{Env: []string{}, Dir: filepath.Join(dir, "gone")}, " in /"},
		{Options{Env: []string{}, Dir: file}, " in /"},
		{Options{Env: []string{}, Dir: program}, " in /"},
		{Options{Env: []string{}, Dir: closed}, " in " + inClosed},
	} {
		cmd := exec.Command("/bin/sh", "-c", `echo "$FLEET_WHERE in $(pwd)"`)
		environmentOf(tc.o).give(cmd)
		out, err := cmd.Output()
		if got := strings.TrimSuffix(string(out), "\n"); err != nil || got != tc.want {
			t.Errorf("%q, %q: %q, %v, want %q", tc.o.Env, tc.o.Dir, got, err, tc.want)
		}
	}
	for _, v := range []*environment{nil, {vars: []string{"FLEET_WHERE=one", "FLEET_WHERE=here", "FLEET_WHERE"}}} {
		if got, ok := v.lookup("FLEET_WHERE"); got != "here" || !ok || v.get("FLEET_NOWHERE") != "" {
			t.Errorf("%+v: %q, %t", v, got, ok)
		}
	}
}

// TestLookPath finds what runs, in folders with absolute names alone.
func TestLookPath(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"a/ssh", "b/ssh/x"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, name, "")
		if err := os.Chmod(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"a": "", ":a": "", dir + "/b": "", dir + "/b:" + dir + "/a": dir + "/a/ssh", "/nowhere:" + dir + "/a": dir + "/a/ssh", "": "",
	} {
		got, err := LookPath([]string{"PATH=/usr/bin:/bin", "PATH=" + path}, "ssh")
		if got != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, exec.ErrNotFound) {
			t.Errorf("%q: %q, %v", path, got, err)
		}
	}
}

// TestLookFiles tells of a file without its folder, whichever it is, and of what is
// left out for the host at the end alone.
func TestLookFiles(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{SSHBinary: NoSSHBinary})
	look := func(text, host string) Look {
		t.Helper()
		file := filepath.Join(t.TempDir(), "config")
		write(t, file, text)
		ctx := within(t, 20*time.Second)
		l, err := p.Look(ctx, Endpoint{Destination: host, ConfigFile: file})
		if err = errors.Join(err, ctx.Err()); err != nil {
			t.Fatal(err)
		}
		return l
	}
	for _, word := range []string{"UserKnownHostsFile", "GlobalKnownHostsFile", "IdentityFile", "CertificateFile", "RevokedHostKeys", "IdentityAgent", "ForwardAgent"} {
		for value, relative := range map[string]bool{"here/file": true, "/there/file": false, "~/file": false} {
			if word == "GlobalKnownHostsFile" && value[0] == '~' {
				relative = true // as ssh has it
			}
			if got := look("Host *\n "+word+" "+value+"\n", "a"); got.Relative != relative {
				t.Errorf("%s %s: %+v", word, value, got)
			}
		}
	}
	const hop = "Host a\n ProxyJump b\nHost b\n Compression yes\n CertificateFile x\nMatch originalhost b version x\n ConnectTimeout 3\n"
	if at := look(hop, "b"); len(at.Unhonoured) != 1 || len(at.Warnings) != 1 || !at.Relative {
		t.Errorf("at it: %+v", at)
	}
	if behind := look(hop, "a"); len(behind.Unhonoured) != 0 || len(behind.Warnings) != 0 || !behind.Relative {
		t.Errorf("behind it: %+v", behind)
	}
	// A command goes before a hop, which is then none; and hops in a circle end.
	if got := look("Host a\n ProxyCommand true\n ProxyJump b\nHost b\n SendEnv X\n", "a"); len(got.Patterns) != 0 || !got.Command {
		t.Errorf("a command and a hop: %+v", got)
	}
	if got := look("Host a\n ProxyJump b\nHost b\n ProxyJump a\n SendEnv X\n", "a"); len(got.Patterns) != 1 {
		t.Errorf("a circle: %+v", got)
	}
}
