package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const module = "github.com/claude-fleet/claude-fleet"

// installs does what a user of `go install module/cmd/claude-fleet@version` does,
// with git told that the repository is the clone at src and with the module cache
// as the proxy of all else: the go command makes the zip of the module by its own
// rules of names and sizes. It returns the size of the zip. gopath is left
// writable, so that it can be removed.
func installs(ctx context.Context, src, gopath string, r revision) (int64, error) {
	cache, err := output(ctx, src, nil, "go", "env", "GOMODCACHE")
	if err != nil {
		return 0, err
	}
	commit, err := output(ctx, src, nil, "git", "rev-parse", "HEAD")
	if err != nil {
		return 0, err
	}
	env, err := goEnv(ctx, src, target{})
	if err != nil {
		return 0, err
	}
	env = append(env, "GOPATH="+gopath, "GOMODCACHE="+filepath.Join(gopath, "mod"), "GOBIN="+filepath.Join(gopath, "bin"),
		"GOFLAGS=-modcacherw -trimpath", "GOSUMDB=off", "GOTOOLCHAIN=local",
		"GOPROXY=file://"+filepath.ToSlash(cache)+"/cache/download", "GONOPROXY="+module,
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=url.file://"+mustAbs(src)+".insteadOf", "GIT_CONFIG_VALUE_0=https://"+module,
		"GIT_CONFIG_KEY_1=uploadpack.allowAnySHA1InWant", "GIT_CONFIG_VALUE_1=true")
	if err := os.MkdirAll(gopath, 0o755); err != nil {
		return 0, err
	}
	if _, err := output(ctx, gopath, env, "go", "install", module+"/cmd/claude-fleet@"+commit); err != nil {
		return 0, err
	}
	version, err := output(ctx, gopath, nil, filepath.Join(gopath, "bin", "claude-fleet"), "version")
	if err != nil {
		return 0, err
	}
	// The go command names the commit by itself here, so this holds scripts/version
	// to it as well.
	if !strings.HasPrefix(version, "claude-fleet "+r.version+" (") {
		return 0, fmt.Errorf("go install makes a binary that says %q, not %s", version, r.version)
	}
	zips, err := filepath.Glob(filepath.Join(gopath, "mod/cache/download", module, "@v", "*.zip"))
	if err != nil || len(zips) != 1 {
		return 0, errors.Join(err, fmt.Errorf("%d zips of the module", len(zips)))
	}
	info, err := os.Stat(zips[0])
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
