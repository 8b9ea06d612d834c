package transport

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// namespaceEnv marks the test binary that runs in a mount namespace of its own.
const namespaceEnv = "TRANSPORT_TEST_NAMESPACE"

// TestUsualFiles compares the resolvers on the files that ssh reads by itself.
// They are put into place in a mount namespace, of which nothing comes out.
func TestUsualFiles(t *testing.T) {
	if os.Getenv(namespaceEnv) == "" {
		args := []string{"-m"}
		if os.Getuid() != 0 {
			args = []string{"-m", "-r"}
		}
		cmd := exec.CommandContext(within(t, time.Minute), "unshare", append(args, os.Args[0], "-test.run=^TestUsualFiles$", "-test.v")...)
		cmd.Env = append(os.Environ(), namespaceEnv+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestUsualFiles") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	home := homeDir()
	mount := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("mount", args...).CombinedOutput(); err != nil {
			t.Fatalf("mount %q: %v\n%s", args, err, out)
		}
	}
	for _, dir := range []string{home, filepath.Dir(systemConfig)} {
		mount("-t", "tmpfs", "none", dir)
	}
	if err := os.MkdirAll(filepath.Join(home, ".ssh", "conf.d"), 0o700); err != nil {
		t.Fatal(err)
	}
	user, system := filepath.Join(home, ".ssh", "config"), systemConfig
	included := filepath.Join(home, ".ssh", "conf.d", "a")
	bySSH, byFile := newPool(t, Options{}), newPool(t, Options{SSHBinary: NoSSHBinary})
	step := func(what string, files []string, check func(s *settings) bool) {
		t.Helper()
		for _, f := range []string{user, system, included} {
			if _, err := os.Stat(f); err == nil {
				age(t, f, filepath.Dir(f))
			}
		}
		for range 2 { // read, and kept
			var got []*settings
			for _, p := range []*Pool{bySSH, byFile} {
				s, err := p.resolve(within(t, 20*time.Second), routeKey{Endpoint: Endpoint{Destination: "box"}})
				if (err != nil) != (check == nil) {
					t.Fatalf("%s, with %q: %+v, %v", what, p.opts.SSHBinary, s, err)
				}
				if err != nil {
					continue
				}
				if !check(s) || !slices.Equal(s.origin.files, files) {
					t.Errorf("%s, with %q: %+v of %q", what, p.opts.SSHBinary, s, s.origin.files)
				}
				got = append(got, s)
			}
			if len(got) == 2 {
				if d := differences(got[0], got[1]); len(d) > 0 {
					t.Errorf("%s: %s", what, d)
				}
			}
		}
	}
	step("no file", nil, func(s *settings) bool { return s.port == 22 && !s.identityIsSet })
	write(t, system, "Host *\n Port 2\n User system\n IdentityFile /system\n IdentityFile /both\n SendEnv A\n")
	step("the system's appears", []string{system}, func(s *settings) bool { return s.port == 2 && s.user == "system" })
	write(t, user, "Include conf.d/*\nHost box\n Port 1\n IdentityFile /user\n IdentityFile /both\n IdentityFile /both\n SendEnv A\n")
	step("the user's appears", []string{user, system}, func(s *settings) bool {
		return s.port == 1 && s.user == "system" && slices.Equal(s.identities, []string{"/user", "/both", "/system", "/both"})
	})
	write(t, included, "User included\nHost inc\n")
	step("an included one appears", []string{user, included, system}, func(s *settings) bool { return s.user == "included" })
	got, err := Aliases("")
	if want := []Alias{{"inc", included, 2}, {"box", user, 2}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("aliases: %v, %v", got, err)
	}
	write(t, system, "Port frog\n")
	step("a mistake in the system's", nil, nil)
	if err := os.Remove(system); err != nil {
		t.Fatal(err)
	}
	step("the system's is gone", []string{user, included}, func(s *settings) bool { return s.port == 1 && len(s.identities) == 2 })
	if err := os.Chmod(user, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(user, time.Time{}, time.Now().Add(-time.Minute)); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*Pool{newPool(t, Options{}), newPool(t, Options{SSHBinary: NoSSHBinary})} {
		if _, err := p.resolve(within(t, 20*time.Second), routeKey{Endpoint: Endpoint{Destination: "box"}}); err == nil {
			t.Errorf("with %q: a file that others may write was taken", p.opts.SSHBinary)
		}
	}
}
