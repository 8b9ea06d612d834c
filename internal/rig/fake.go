package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig/fakeclient"
)

// fakePackage is the program that hosts with a script run as `claude`.
const fakePackage = "github.com/claude-fleet/claude-fleet/internal/rig/fakeclient/claude"

// fakeWait bounds the building of it, on a loaded machine with nothing cached.
const fakeWait = 5 * time.Minute

// builder is what this process began with: tests that play the operator of a
// rig take its home, PATH and more for their own before they start another.
var builder = func() (b struct {
	env       []string
	dir, tool string
	err       error
}) {
	b.env = os.Environ()
	if b.dir, b.err = os.Getwd(); b.err == nil {
		b.tool, b.err = exec.LookPath("go")
	}
	return b
}()

// fakeBinary is the fake client, built once in a process.
var fakeBinary = sync.OnceValues(buildFake)

// buildFake builds the fake client and returns its bytes, which outlive the
// folder of any rig.
func buildFake() ([]byte, error) {
	if builder.err != nil {
		return nil, fmt.Errorf("build the fake client: %w", builder.err)
	}
	dir, err := os.MkdirTemp("", "fakeclient-")
	if err != nil {
		return nil, fmt.Errorf("make a folder to build the fake client in: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx, cancel := context.WithTimeout(context.Background(), fakeWait)
	defer cancel()
	path := filepath.Join(dir, "claude")
	cmd := exec.CommandContext(ctx, builder.tool, "build", "-buildvcs=false", "-o", path, fakePackage)
	cmd.Dir, cmd.Env, cmd.WaitDelay = builder.dir, builder.env, 5*time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the fake client (it is built from where this program was started, which has to be within the module): %w: %s", err, out)
	}
	return os.ReadFile(path)
}

// installFake puts the fake client, by the real one's name, and its script where
// the host finds them.
func (h *Host) installFake() error {
	binary, err := fakeBinary()
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(h.dir, "bin", "claude"), binary, 0o700),
		h.spec.Fake.Write(h.Home),
	)
}

// FakeLog is what the fake clients of the host have received and done so far,
// oldest first.
func (h *Host) FakeLog() ([]fakeclient.Event, error) { return fakeclient.ReadLog(h.Home) }

// SetFake gives the host another script, for the fake clients that start from
// now on.
func (h *Host) SetFake(s fakeclient.Script) error { return s.Write(h.Home) }

// FakeFile is the path of the file that a fault On OnFile of that name waits
// for, for a program on the host that is to make it.
func (h *Host) FakeFile(name string) string { return fakeclient.File(h.Home, name) }

// BringFault brings about the faults On OnFile of that name, and returns when
// they show. It fails when no fake client takes the file before ctx ends.
func (h *Host) BringFault(ctx context.Context, name string) error {
	path := h.FakeFile(name)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return fmt.Errorf("host %s: ask for the fault %s: %w", h.Name, name, err)
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("host %s: no fake client brings the fault %s about: %w", h.Name, name, ctx.Err())
		}
	}
}

// faultTries bounds the wait of FaultBefore's script, in hundredths of a second.
const faultTries = 3000

// FaultBefore makes each tmux command on the host that has a word among its
// arguments, such as "paste-buffer", wait until the faults On OnFile of that name
// were brought about and show. What goes past the host's PATH, as Tmux does, is
// let through. Calling it again replaces word and name.
func (h *Host) FaultBefore(word, name string) error {
	script := fmt.Sprintf(`#!/bin/sh
for a; do
  [ "$a" = '%[1]s' ] || continue
  : > '%[2]s'
  n=0
  while [ -e '%[2]s' ] && [ $n -lt %[3]d ]; do sleep 0.01; n=$((n + 1)); done
  break
done
exec '%[4]s' "$@"
`, word, h.FakeFile(name), faultTries, h.rig.tools.tmux)
	path := filepath.Join(h.dir, "bin", "tmux")
	fresh := path + ".new"
	if err := os.WriteFile(fresh, []byte(script), 0o700); err != nil {
		return fmt.Errorf("host %s: put a fault before tmux %s: %w", h.Name, word, err)
	}
	return os.Rename(fresh, path)
}
