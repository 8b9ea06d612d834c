package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

const clientPackage = "@anthropic-ai/claude-code"

// installWait bounds one installation, the wait for another process's included.
// The package is about 400 MB unpacked.
const installWait = 10 * time.Minute

// scriptName is the program of the versions that are no native binary but a
// script for Node: 1.0.128 to 2.1.85 are (measured), 2.1.202 is not. Both kinds
// come from one npm package, and neither needs its install scripts.
const scriptName = "cli.js"

// scriptFolder is where such a version keeps the whole of its package, which
// the script reads more files of.
const scriptFolder = "package"

// nativePackage is the folder under node_modules that holds the binary.
func nativePackage() (string, error) {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	if arch == "" || (runtime.GOOS != "linux" && runtime.GOOS != "darwin") {
		return "", fmt.Errorf("the client has no build for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	return clientPackage + "-" + runtime.GOOS + "-" + arch, nil
}

func installClient(ctx context.Context, cache, version string) error {
	native, err := nativePackage()
	if err != nil {
		return err
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return errors.New("npm is not installed")
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return fmt.Errorf("make the client cache: %w", err)
	}
	unlock, err := lockFile(ctx, filepath.Join(cache, "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	final := filepath.Join(cache, version)
	if isExecutable(filepath.Join(final, "claude")) {
		return nil // another process was first
	}
	tmp, err := os.MkdirTemp(cache, "install-")
	if err != nil {
		return fmt.Errorf("make a folder to install into: %w", err)
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	cmd := exec.CommandContext(ctx, npm, "install", "--prefix", tmp, "--no-save", "--ignore-scripts",
		"--no-audit", "--no-fund", "--loglevel=error", clientPackage+"@"+version)
	cmd.Dir = tmp
	cmd.WaitDelay = 5 * time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm install %s@%s: %w%s", clientPackage, version, err, npmCode(out))
	}
	modules := filepath.Join(tmp, "node_modules")
	unpacked := filepath.Join(modules, filepath.FromSlash(native))
	if !isExecutable(filepath.Join(unpacked, "claude")) {
		unpacked, err = wrapScript(tmp, filepath.Join(modules, filepath.FromSlash(clientPackage)))
		if err != nil {
			return err
		}
	}
	got, err := clientVersion(ctx, filepath.Join(unpacked, "claude"))
	if err != nil {
		return err
	}
	if got != version {
		return fmt.Errorf("npm installed client %s where %s was asked for", got, version)
	}
	// What stands there is broken, or isExecutable would have taken it.
	if err := os.RemoveAll(final); err != nil {
		return fmt.Errorf("clear the client cache: %w", err)
	}
	if err := os.Rename(unpacked, final); err != nil {
		return fmt.Errorf("put the client into the cache: %w", err)
	}
	return nil
}

// wrapScript makes a folder with the package and a program `claude` that runs
// its script. A host calls the program by a symbolic link, hence readlink; and
// the hosts' PATH may be without node, hence its whole path.
func wrapScript(tmp, pkg string) (folder string, err error) {
	if _, err := os.Stat(filepath.Join(pkg, scriptName)); err != nil {
		return "", fmt.Errorf("the client's package has neither a program for %s/%s nor %s", runtime.GOOS, runtime.GOARCH, scriptName)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return "", errors.New("this version of the client runs under node, which is not installed")
	}
	if node, err = filepath.Abs(node); err != nil {
		return "", err
	}
	folder = filepath.Join(tmp, "client")
	if err := os.Mkdir(folder, 0o755); err != nil {
		return "", fmt.Errorf("make a folder for the client: %w", err)
	}
	if err := os.Rename(pkg, filepath.Join(folder, scriptFolder)); err != nil {
		return "", fmt.Errorf("move the client's package: %w", err)
	}
	wrapper := fmt.Sprintf("#!/bin/sh\nexec '%s' \"$(dirname \"$(readlink -f \"$0\")\")/%s/%s\" \"$@\"\n",
		strings.ReplaceAll(node, "'", `'\''`), scriptFolder, scriptName)
	if err := os.WriteFile(filepath.Join(folder, "claude"), []byte(wrapper), 0o755); err != nil {
		return "", fmt.Errorf("write the client's wrapper: %w", err)
	}
	return folder, nil
}

var npmCodeLine = regexp.MustCompile(`(?m)^npm (?:error|ERR!) code (E[A-Z0-9_]+)\s*$`)

// npmCode is npm's own code for what went wrong. The rest of what it prints
// names the user's registry, which is nobody's business.
func npmCode(out []byte) string {
	if m := npmCodeLine.FindSubmatch(out); m != nil {
		return " (" + string(m[1]) + ")"
	}
	return ""
}
