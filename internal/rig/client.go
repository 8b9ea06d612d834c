package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// ClientVersion is the one place where the client's version is pinned.
const ClientVersion = "2.1.332"

// clientVersions are what a version may look like: it names a folder and an npm
// package.
var clientVersions = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$`)

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
	pinned, npmErr := FindClientVersion(ctx, ClientVersion, log)
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

// FindClientVersion is FindClient for any version, and for that version alone:
// where npm can't serve, it fails. Versions that are scripts need node too.
func FindClientVersion(ctx context.Context, version string, log func(string, ...any)) (Binary, error) {
	if !clientVersions.MatchString(version) {
		return Binary{}, fmt.Errorf("%q is no version of the client: write it as %s", version, ClientVersion)
	}
	cache, err := clientCache()
	if err != nil {
		return Binary{}, err
	}
	found := Binary{filepath.Join(cache, version, "claude"), version}
	if isExecutable(found.Path) {
		return found, nil
	}
	ctx, cancel := context.WithTimeout(ctx, installWait)
	defer cancel()
	if log != nil {
		log("installing client %s into %s (once)", version, cache)
	}
	if err := installClient(ctx, cache, version); err != nil {
		return Binary{}, fmt.Errorf("get client %s: %w", version, err)
	}
	return found, nil
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
