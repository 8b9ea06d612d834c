package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// checkAll releases the commit of the clone at src from two clones of it, and
// says of each thing that it has seen that it holds.
func checkAll(ctx context.Context, src string, said io.Writer) error {
	tmp, err := os.MkdirTemp("", "claude-fleet-check-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	var r revision
	var clones [2]string
	for i, name := range []string{"one", "another folder"} {
		clones[i] = filepath.Join(tmp, name)
		// file:// copies a shallow clone too, as CI has it. The second is made of the
		// first: a commit may come in between.
		if _, err := output(ctx, tmp, nil, "git", "clone", "--quiet", "file://"+mustAbs(src), clones[i]); err != nil {
			return err
		}
		src = clones[0]
		if r, err = release(ctx, clones[i], filepath.Join(clones[i], "dist")); err != nil {
			return err
		}
	}
	dist := filepath.Join(clones[0], "dist")
	if err := same(dist, filepath.Join(clones[1], "dist")); err != nil {
		return err
	}
	fmt.Fprintf(said, "%s: two folders, the same bytes\n", r.version)
	if err := verify(dist, r); err != nil {
		return err
	}
	fmt.Fprintf(said, "%s: sums, archives, SBOMs and %d binaries are what they say\n", r.version, len(targets))
	if err := runs(ctx, dist, r); err != nil {
		return err
	}
	fmt.Fprintf(said, "%s: the binary for this machine runs\n", r.version)
	size, err := installs(ctx, clones[0], filepath.Join(tmp, "go"), r)
	if err != nil {
		return err
	}
	fmt.Fprintf(said, "%s: go install takes the module (a zip of %.1f MB) and the binary says its version\n", r.version, float64(size)/1e6)
	return nil
}

func mustAbs(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return abs
}

// same holds that two folders hold the same files, to the byte.
func same(a, b string) error {
	entries, err := os.ReadDir(a)
	if err != nil {
		return err
	}
	others, err := os.ReadDir(b)
	if err == nil && len(others) != len(entries) {
		err = fmt.Errorf("%d files in one folder, %d in the other", len(entries), len(others))
	}
	errs := []error{err}
	for _, e := range entries {
		one, err := os.ReadFile(filepath.Join(a, e.Name()))
		errs = append(errs, err)
		other, err := os.ReadFile(filepath.Join(b, e.Name()))
		errs = append(errs, err)
		if !bytes.Equal(one, other) {
			errs = append(errs, fmt.Errorf("%s differs between two builds of one commit", e.Name()))
		}
	}
	return errors.Join(errs...)
}

// runs unpacks the archive for this machine as a user would and calls the binary:
// for its version, and for the state of a host, which takes a script on this
// machine and its answer.
func runs(ctx context.Context, dist string, r revision) error {
	t := target{runtime.GOOS, runtime.GOARCH}
	if _, err := output(ctx, dist, nil, "tar", "xzf", r.name(t)+".tar.gz"); err != nil {
		return err
	}
	home := filepath.Join(mustAbs(dist), r.name(t))
	defer func() { _ = os.RemoveAll(home) }()
	binary := filepath.Join(home, "claude-fleet")
	version, err := output(ctx, home, nil, binary, "version")
	if err != nil {
		return err
	}
	if !strings.HasPrefix(version, "claude-fleet "+r.version+" (") {
		return fmt.Errorf("the binary of %s says %q", r.version, version)
	}
	if err := os.WriteFile(filepath.Join(home, "fleet.conf"), []byte("[hosts.here]\ntransport = \"local\"\ntimeout = \"2m\"\n"), 0o600); err != nil {
		return err
	}
	// A folder of its own, with a short name: the path of a socket has some 100 bytes.
	sockets, err := os.MkdirTemp("", "cf-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(sockets) }()
	text, err := output(ctx, home, []string{"HOME=" + home, "TMUX_TMPDIR=" + sockets, "TMUX="}, binary, "--config", "fleet.conf", "status", "--json")
	if err != nil {
		return err
	}
	var states []struct{ Host, State string }
	if err := json.Unmarshal([]byte(text), &states); err != nil || len(states) != 1 || states[0].State != "down" {
		return fmt.Errorf("the state of a host without a session is told as %s, not as down", text)
	}
	return nil
}
