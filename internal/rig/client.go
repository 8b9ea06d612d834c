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
	"syscall"
	"time"
)

// ClientVersion is the one place where the client's version is pinned.
const ClientVersion = "2.1.332"

const clientPackage = "@anthropic-ai/claude-code"

// installWait bounds one installation, the wait for another process's included.
// The package is about 400 MB unpacked.
const installWait = 10 * time.Minute

// Binary is a client that can be run.
type Binary struct {
	Path    string
	Version string // ClientVersion, unless an installed client has to serve
}

// Client returns the path of the client to run; see FindClient.
func Client(ctx context.Context) (path string, err error) {
	b, err := FindClient(ctx, nil)
	return b.Path, err
}

// FindClient returns the pinned client from the cache, putting it there with
// npm first where it is missing. The cache is $CLAUDE_FLEET_CLIENT_CACHE, else
// claude-fleet/client in the user's cache folder; a version is a folder of it
// that appears whole or not at all, so that several processes may ask at once.
// Where npm can't serve, a `claude` on PATH does, and log says so with its
// version. log may be nil.
func FindClient(ctx context.Context, log func(string, ...any)) (Binary, error) {
	if log == nil {
		log = func(string, ...any) {}
	}
	cache, err := clientCache()
	if err != nil {
		return Binary{}, err
	}
	pinned := Binary{filepath.Join(cache, ClientVersion, "claude"), ClientVersion}
	if isExecutable(pinned.Path) {
		return pinned, nil
	}
	ctx, cancel := context.WithTimeout(ctx, installWait)
	defer cancel()
	log("installing client %s into %s (once)", ClientVersion, cache)
	npmErr := installClient(ctx, cache)
	if npmErr == nil {
		return pinned, nil
	}
	path, err := exec.LookPath("claude")
	if err != nil {
		return Binary{}, fmt.Errorf("no client: %w; and no claude is on PATH: install npm, or claude itself", npmErr)
	}
	version, err := clientVersion(ctx, path)
	if err != nil {
		return Binary{}, errors.Join(npmErr, err)
	}
	log("client %s can't be had (%v): the installed %s, version %s, serves", ClientVersion, npmErr, path, version)
	return Binary{path, version}, nil
}

func clientCache() (string, error) {
	if dir := os.Getenv("CLAUDE_FLEET_CLIENT_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder for the client: %w; set CLAUDE_FLEET_CLIENT_CACHE", err)
	}
	return filepath.Join(dir, "claude-fleet", "client"), nil
}

// nativePackage is the folder under node_modules that holds the binary.
func nativePackage() (string, error) {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	if arch == "" || (runtime.GOOS != "linux" && runtime.GOOS != "darwin") {
		return "", fmt.Errorf("client %s has no build for %s/%s", ClientVersion, runtime.GOOS, runtime.GOARCH)
	}
	return clientPackage + "-" + runtime.GOOS + "-" + arch, nil
}

func installClient(ctx context.Context, cache string) error {
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
	final := filepath.Join(cache, ClientVersion)
	if isExecutable(filepath.Join(final, "claude")) {
		return nil // another process was first
	}
	tmp, err := os.MkdirTemp(cache, "install-")
	if err != nil {
		return fmt.Errorf("make a folder to install into: %w", err)
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	cmd := exec.CommandContext(ctx, npm, "install", "--prefix", tmp, "--no-save", "--ignore-scripts",
		"--no-audit", "--no-fund", "--loglevel=error", clientPackage+"@"+ClientVersion)
	cmd.Dir = tmp
	cmd.WaitDelay = 5 * time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm install %s@%s: %w%s", clientPackage, ClientVersion, err, npmCode(out))
	}
	unpacked := filepath.Join(tmp, "node_modules", filepath.FromSlash(native))
	got, err := clientVersion(ctx, filepath.Join(unpacked, "claude"))
	if err != nil {
		return err
	}
	if got != ClientVersion {
		return fmt.Errorf("npm installed client %s where %s was asked for", got, ClientVersion)
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

var npmCodeLine = regexp.MustCompile(`(?m)^npm (?:error|ERR!) code (E[A-Z0-9_]+)\s*$`)

// npmCode is npm's own code for what went wrong. The rest of what it prints
// names the user's registry, which is nobody's business.
func npmCode(out []byte) string {
	if m := npmCodeLine.FindSubmatch(out); m != nil {
		return " (" + string(m[1]) + ")"
	}
	return ""
}

// clientVersion asks a client for its version, in a home that is not the user's.
func clientVersion(ctx context.Context, path string) (string, error) {
	home, err := os.MkdirTemp("", "claude-version-")
	if err != nil {
		return "", fmt.Errorf("make a home for the client: %w", err)
	}
	defer func() { _ = os.RemoveAll(home) }()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "DISABLE_AUTOUPDATER=1"}
	cmd.Dir, cmd.WaitDelay = home, 5*time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", path, err)
	}
	version, _, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	return version, nil
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// lockFile waits for the lock until ctx ends. The lock falls with its process.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the client cache: %w", err)
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(fmt.Errorf("lock the client cache: %w", err), f.Close())
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("wait for another installation of the client: %w", ctx.Err()), f.Close())
		}
	}
}
