package transport

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// runHint runs, in a shell, the command that a hint ends with. Whatever ssh asks
// is answered with yes, by a program, since a test has no terminal.
func runHint(t *testing.T, hint string) {
	t.Helper()
	yes := filepath.Join(t.TempDir(), "yes")
	write(t, yes, "#!/bin/sh\necho yes\n")
	if err := os.Chmod(yes, 0o700); err != nil {
		t.Fatal(err)
	}
	_, command, ok := strings.Cut(hint, "connect once with: ")
	if !ok {
		t.Fatalf("%q has no command", hint)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", command+" true")
	cmd.Env = append(os.Environ(), "SSH_ASKPASS="+yes, "SSH_ASKPASS_REQUIRE=force")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v: %s", command, err, out)
	}
}

// TestUnknownHostHint does what the hint about an unknown host says, and the
// host is known.
func TestUnknownHostHint(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	at := fmt.Sprintf("%s@box:%d", userName(t), s.port)
	const strict, batch = "StrictHostKeyChecking yes", "BatchMode yes"
	for _, tc := range []struct {
		name        string
		destination string
		config      []string
		command     bool // the hint is a command, else a line for known_hosts
	}{
		{"by ssh", "box", nil, true},
		{"by ssh, with user and port", at, []string{"Port 1", "User nobody"}, true},
		{"strict", "box", []string{strict}, false},
		{"strict, with user and port", at, []string{strict, "Port 1", "User nobody"}, false},
		{"strict, by alias", "box", []string{strict, "HostKeyAlias TheBox"}, false},
		{"in batch", "box", []string{batch}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := s.path("known_hosts")
			_ = os.Remove(file)
			e := s.endpoint(tc.config...)
			e.Destination = tc.destination
			hint := refusal(t, newPool(t, Options{}), e, KindHostKeyUnknown).Hint
			said, line, ok := strings.Cut(hint, ":\n")
			if ok == tc.command {
				t.Fatalf("got %q", hint)
			}
			if tc.command {
				runHint(t, hint)
			} else {
				wantText(t, said, file)
				write(t, file, line+"\n")
			}
			succeed(t, newPool(t, Options{}), e)
		})
	}
	t.Run("no file to keep it in", func(t *testing.T) {
		for _, none := range []string{"none", "/dev/null"} {
			hint := refusal(t, newPool(t, Options{}), s.endpoint("UserKnownHostsFile "+none), KindHostKeyUnknown).Hint
			wantText(t, hint, "name in ssh_config a UserKnownHostsFile", keyLine(fmt.Sprintf("[127.0.0.1]:%d", s.port), s.hosts[0]))
		}
	})
}

// TestConfigHint names a command that shows the same mistake, or the file that
// is missing.
func TestConfigHint(t *testing.T) {
	p := newPool(t, Options{})
	bad := fileOf(t, "Host *", " NoSuchKeyword yes")
	_, err := resolved(t, p, "Host *\n NoSuchKeyword yes\n", "me@box:7")
	if err == nil {
		t.Fatal("taken")
	}
	wantText(t, err.Hint, "ssh -F ", " -G -p 7 -l 'me' 'box'")
	for _, file := range []string{bad, ""} {
		hint := Endpoint{Destination: "box", ConfigFile: file}.configHint()
		_, command, _ := strings.Cut(hint, "see what this says: ")
		out, rerr := exec.CommandContext(t.Context(), "sh", "-c", command).CombinedOutput()
		if (rerr != nil) != (file == bad) || strings.Contains(string(out), "nosuchkeyword") != (file == bad) {
			t.Errorf("%q: %v: %s", command, rerr, out)
		}
	}
	_, rerr := p.Resolve(t.Context(), Endpoint{Destination: "box", ConfigFile: bad + "-not"})
	te, ok := errors.AsType[*Error](rerr)
	if !ok || !strings.Contains(te.Hint, "there is no file "+bad+"-not") || strings.Contains(te.Hint, "ssh -") {
		t.Errorf("got %+v", rerr)
	}
}
