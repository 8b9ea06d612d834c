package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// built is the program itself: the tests' own binary starts with more in it.
func built(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "claude-fleet")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v: %s", err, out)
	}
	return bin
}

// The most that the packages of the program may allocate before main begins, all of
// them and any one of ours: what keeps its start short. An expression that is compiled
// or a table that is made there costs a hundred allocations and more.
const (
	startAllocs, startBytes = 1600, 256 << 10
	ownAllocs               = 350
)

// TestStartIsLight holds what is done before main begins to a bound that does not
// hang on the machine's load.
func TestStartIsLight(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), built(t), "--version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	packages, ours, allocs, bytes := 0, 0, 0, 0
	for line := range strings.Lines(string(out)) {
		// init internal/bytealg @0.008 ms, 0 ms clock, 0 bytes, 0 allocs
		words := strings.Fields(line)
		if len(words) != 11 || words[0] != "init" || words[10] != "allocs" {
			continue
		}
		size, err1 := strconv.Atoi(words[7])
		count, err2 := strconv.Atoi(words[9])
		if err := errors.Join(err1, err2); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		packages, allocs, bytes = packages+1, allocs+count, bytes+size
		if strings.HasPrefix(words[1], "github.com/claude-fleet/") {
			ours++
			if count > ownAllocs {
				t.Errorf("%s allocates %d times before main begins; %d are enough: make it when it is first asked for", words[1], count, ownAllocs)
			}
		}
	}
	if packages < 20 || ours < 3 {
		t.Fatalf("the trace names %d packages, %d of them ours:\n%s", packages, ours, out)
	}
	if allocs > startAllocs || bytes > startBytes {
		t.Errorf("before main begins, %d allocations are made of %d bytes; at most %d and %d:\n%s", allocs, bytes, startAllocs, startBytes, out)
	}
}

// TestStartAsksNobody holds that what is said of this machine alone runs no program
// and connects to nothing, and that what looks at a host would have been seen.
func TestStartAsksNobody(t *testing.T) {
	bin, dir := built(t), t.TempDir()
	var calls atomic.Int32
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			calls.Add(1)
			_ = conn.Close()
		}
	}()
	defer func() { _ = listener.Close(); <-over }()

	// All programs that could be asked leave a mark in place of an answer.
	mark, programs := filepath.Join(dir, "mark"), filepath.Join(dir, "bin")
	if err := os.Mkdir(programs, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ssh", "sh", "bash", "tmux", "git", "getent", "stty", "tput", "ssh-agent", "proxy"} {
		if err := os.WriteFile(filepath.Join(programs, name), fmt.Appendf(nil, "#!/bin/sh\necho %s >>'%s'\nexit 1\n", name, mark), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	ssh, table := filepath.Join(dir, "ssh_config"), filepath.Join(dir, "fleet.conf")
	text := fmt.Sprintf("[defaults]\nssh_config = %q\n[hosts.a]\nssh = %q\n[hosts.b]\n", ssh, listener.Addr())
	for path, text := range map[string]string{table: text, ssh: "Host b\n\tProxyCommand " + filepath.Join(programs, "proxy") + "\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	call := func(path string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), bin, append([]string{"--config", table, "--timeout", "20s"}, args...)...)
		cmd.Env = []string{"PATH=" + path, "HOME=" + dir}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	asked := func() string {
		raw, err := os.ReadFile(mark)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(string(raw)), " ")
	}
	for args, want := range map[string]string{
		"map": "b     b", "map --json": `"host": "b"`, "map --toml": "[hosts.b]", "--version": "claude-fleet ", "version": "claude-fleet ", "help map": "Usage:", "status --help": "Usage:",
	} {
		out, err := call(programs, strings.Fields(args)...)
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("claude-fleet %s: %v: %s", args, err, out)
		}
		if by := asked(); by != "" || calls.Load() != 0 {
			t.Fatalf("claude-fleet %s ran %q and connected %d times", args, by, calls.Load())
		}
	}
	// The same traps, for what is to fall into them.
	if out, err := call(programs, "map", "--ssh"); err == nil || !strings.Contains(asked(), "ssh") {
		t.Errorf("map --ssh ran %q: %v: %s", asked(), err, out)
	}
	if out, err := call(filepath.Join(dir, "none"), "status"); err != nil || calls.Load() == 0 || !strings.Contains(asked(), "proxy") {
		t.Errorf("status connected %d times and ran %q: %v: %s", calls.Load(), asked(), err, out)
	}
}
