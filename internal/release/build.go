package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// target is a system that a release is for.
type target struct{ os, arch string }

var targets = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

// revision is what is released: a commit, whose time is that of every file.
type revision struct {
	version string
	time    time.Time
}

// name is that of a target's archive and of the folder in it.
func (r revision) name(t target) string {
	return "claude-fleet_" + r.version + "_" + t.os + "_" + t.arch
}

// revisionOf asks git about the clone at src. It refuses one with changes, which
// no commit could be rebuilt from.
func revisionOf(ctx context.Context, src string) (revision, error) {
	version, err := output(ctx, src, nil, "sh", "scripts/version")
	switch {
	case err != nil:
		return revision{}, err
	case version == "":
		return revision{}, errors.New("this is no git clone: release from one, where the commit and its tag are known")
	case strings.HasSuffix(version, "+dirty"):
		return revision{}, errors.New("files were changed since the commit: commit or stash them first (git status)")
	}
	stamp, err := output(ctx, src, nil, "git", "-c", "log.showSignature=false", "log", "-1", "--format=%cI")
	if err != nil {
		return revision{}, err
	}
	at, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return revision{}, fmt.Errorf("git gives the commit's time as %q: %w", stamp, err)
	}
	return revision{version, at.UTC()}, nil
}

// build compiles the command for a target. Whatever the machine's own settings
// are, these hold.
func build(ctx context.Context, src string, t target, r revision, file string) error {
	env, err := goEnv(ctx, src, t)
	if err != nil {
		return err
	}
	_, err = output(ctx, src, env, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.version="+r.version, "-o", file, "./cmd/claude-fleet")
	return err
}

// passedOn are the machine's own settings that say where modules come from and
// where they are kept, and nothing of what is built of them.
var passedOn = []string{"GOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GONOPROXY", "GOMODCACHE", "GOCACHE"}

// goEnv is the environment of the go command for a target; the empty one is this
// machine. The file that `go env -w` writes has no part in it but by passedOn.
func goEnv(ctx context.Context, src string, t target) ([]string, error) {
	text, err := output(ctx, src, nil, "go", append([]string{"env", "-json"}, passedOn...)...)
	if err != nil {
		return nil, err
	}
	var own map[string]string
	if err := json.Unmarshal([]byte(text), &own); err != nil {
		return nil, fmt.Errorf("read what go env -json says: %w", err)
	}
	env := []string{"CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off", "GOENV=off", "GOFIPS140=off"}
	if t != (target{}) {
		env = append(env, "GOOS="+t.os, "GOARCH="+t.arch)
	}
	for _, name := range passedOn {
		env = append(env, name+"="+own[name])
	}
	return env, nil
}

// manual writes the manual pages into dir.
func manual(ctx context.Context, src string, r revision, dir string) error {
	// For this machine, but otherwise as the release is built: most of it is in
	// the build cache by then.
	host, err := goEnv(ctx, src, target{})
	if err != nil {
		return err
	}
	_, err = output(ctx, src, host, "go", "run", "-trimpath", "-buildvcs=false", "-tags", "dist", "./cmd/claude-fleet", dir, r.version, r.time.Format(time.DateOnly))
	return err
}

// output runs a program in dir, with env added, and returns what it prints.
func output(ctx context.Context, dir string, env []string, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return strings.TrimSpace(out.String()), nil
}
