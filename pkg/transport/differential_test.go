package transport

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// configCase is an ssh_config and a destination, which both resolvers must read
// alike. DIR in its texts is the folder of its files.
type configCase struct {
	name, text string
	dest       string            // "box" if empty
	files      map[string]string // more files of the folder
	// unclear is a case in which the second resolver may say that it could not
	// evaluate a block, and must.
	unclear bool
}

// outcome is what a resolver makes of a case.
type outcome struct {
	s   *settings
	err *Error
}

// resolveBoth asks both resolvers.
func resolveBoth(t testing.TB, c configCase) (ssh, file outcome) {
	t.Helper()
	dir := t.TempDir()
	if c.dest == "" {
		c.dest = "box"
	}
	for name, text := range c.files {
		write(t, filepath.Join(dir, name), strings.ReplaceAll(text, "DIR", dir))
	}
	write(t, filepath.Join(dir, "config"), strings.ReplaceAll(c.text, "DIR", dir))
	e := Endpoint{Destination: c.dest, ConfigFile: filepath.Join(dir, "config")}
	ask := func(bin string) outcome {
		p := NewPool(Options{SSHBinary: bin})
		defer func() { _ = p.Close() }()
		s, err := p.resolve(within(t, 30*time.Second), routeKey{Endpoint: e})
		return outcome{s, err}
	}
	return ask(""), ask(NoSSHBinary)
}

// differences names the settings in which two readings differ.
func differences(ssh, file *settings) []string {
	var out []string
	a, b := reflect.ValueOf(*ssh), reflect.ValueOf(*file)
	for i := range a.NumField() {
		f := a.Type().Field(i)
		x, y := fmt.Sprintf("%q", fmt.Sprint(a.Field(i))), fmt.Sprintf("%q", fmt.Sprint(b.Field(i)))
		switch f.Name {
		case "origin":
			continue // the source is another, and ssh -G tells no warnings
		case "kex":
			// The installed ssh may be older than this key exchange.
			y = strings.Replace(y, "mlkem768x25519-sha256 ", "", 1)
			x = strings.Replace(x, "mlkem768x25519-sha256 ", "", 1)
		}
		// Debian's ssh asks every five minutes where BatchMode is on.
		if f.Name == "aliveEvery" && ssh.batch && ssh.aliveEvery == 5*time.Minute && file.aliveEvery == 0 {
			continue
		}
		if x != y {
			out = append(out, fmt.Sprintf("%s: ssh -G has %s, the files %s", f.Name, x, y))
		}
	}
	return out
}

// cannot is what the second resolver says where it can't evaluate a block.
const cannot = "cannot be evaluated without an ssh binary"

// disagreement is empty if the two outcomes are allowed beside each other.
func (c configCase) disagreement(ssh, file outcome) string {
	excused := file.err != nil && strings.Contains(file.err.Error(), cannot) ||
		file.s != nil && slices.ContainsFunc(file.s.origin.warnings, func(w string) bool { return strings.Contains(w, cannot) })
	switch {
	case excused != c.unclear:
		return fmt.Sprintf("excused by name: %t, want %t (%v, %v)", excused, c.unclear, file.err, file.s)
	case excused:
		return ""
	case (ssh.err == nil) != (file.err == nil):
		return fmt.Sprintf("ssh -G: %v; the files: %v", ssh.err, file.err)
	case ssh.err != nil:
		if ssh.err.Kind != file.err.Kind {
			return fmt.Sprintf("ssh -G: %v; the files: %v", ssh.err.Kind, file.err.Kind)
		}
		return ""
	}
	return strings.Join(differences(ssh.s, file.s), "\n")
}

// TestDifferential holds the second resolver to the first, whose ssh -G is
// OpenSSH itself, in every setting.
func TestDifferential(t *testing.T) {
	t.Setenv("FLEET_TEST_DIR", "/from/environment")
	t.Setenv("SSH_AUTH_SOCK", "/agent/of/environment")
	refused := 0
	for _, c := range slices.Concat(lineCases, keywordCases, hostCases, matchCases, includeCases, fileCases) {
		t.Run(c.name, func(t *testing.T) {
			ssh, file := resolveBoth(t, c)
			if d := c.disagreement(ssh, file); d != "" {
				t.Errorf("%q for %q:\n%s", c.text, c.dest, d)
			}
			if ssh.err != nil {
				refused++
			}
		})
	}
	// The oracle itself must work: a broken one would refuse everything.
	if n := len(lineCases) + len(keywordCases) + len(hostCases) + len(matchCases); refused > n/2 || refused == 0 {
		t.Errorf("ssh -G refused %d of %d cases", refused, n)
	}
}

// TestSystemFile has both files of the usual place count as OpenSSH has them:
// the user's first, identities from both, each with its own errors.
func TestSystemFile(t *testing.T) {
	dir := t.TempDir()
	user, system := filepath.Join(dir, "user"), filepath.Join(dir, "system")
	sources := []configSource{{path: user, user: true, optional: true, checked: true}, {path: system, optional: true}}
	read := func() (*reading, error) {
		return resolveByFile(within(t, 20*time.Second), sources, configKey{target: target{host: "box"}})
	}
	if r, err := read(); err != nil || len(r.files) != 0 || r.dump.first("hostname", "") != "box" {
		t.Fatalf("no file at all: %+v, %v", r, err)
	}
	write(t, user, "Host box\n Port 1\n IdentityFile /user\n")
	write(t, system, "Host *\n Port 2\n User system\n IdentityFile /system\n")
	r, err := read()
	if err != nil || r.dump.first("port", "") != "1" || r.dump.first("user", "") != "system" ||
		!slices.Equal(r.dump["identityfile"], []string{"/user", "/system"}) || !slices.Equal(r.files, []string{user, system}) {
		t.Errorf("got %+v, %v", r, err)
	}
	write(t, system, "Host *\n Port frog\n")
	if _, err := read(); err == nil || !strings.Contains(err.Error(), system+":2: Port: ") {
		t.Errorf("a mistake in the system's file: %v", err)
	}
	write(t, system, "Include ~/x\n")
	if _, err := read(); err == nil || !strings.Contains(err.Error(), system+":1: Include: ") {
		t.Errorf("a home in the system's file: %v", err)
	}
	write(t, system, "")
	if err := os.Chmod(user, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := read(); err == nil || !strings.Contains(err.Error(), "bad owner or permissions") {
		t.Errorf("a file that others may write: %v", err)
	}
	if err := os.Chmod(user, 0o600); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if err := os.Chown(user, 12345, -1); err != nil {
			t.Fatal(err)
		}
		if _, err := read(); err == nil || !strings.Contains(err.Error(), "bad owner or permissions") {
			t.Errorf("another's file: %v", err)
		}
	}
}
