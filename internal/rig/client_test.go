package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// fakeClient is a program that answers --version as the client does.
func fakeClient(version string) string {
	return "#!/bin/sh\necho '" + version + " (Claude Code)'\n"
}

// fakeNPM is a program that installs such a client below --prefix, and notes
// each run. It prints a registry's address, as npm does.
func fakeNPM(t *testing.T, notes, version string) string {
	native, err := nativePackage()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`#!/bin/sh
echo "$*" >> '%s'
echo "fetch https://registry.example.invalid/"
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/node_modules/%[2]s"
cat > "$2/node_modules/%[2]s/claude" <<'END'
%sEND
chmod +x "$2/node_modules/%[2]s/claude"
`, notes, native, fakeClient(version))
}

// fakeScriptNPM installs a package of the older kind: a script for node, which
// is a shell here. With no script it installs an empty package.
func fakeScriptNPM(version string, script bool) string {
	name := scriptName
	if !script {
		name = "other.js"
	}
	return fmt.Sprintf(`#!/bin/sh
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/node_modules/%[1]s"
echo "echo '%[2]s (Claude Code)'" > "$2/node_modules/%[1]s/%[3]s"
`, clientPackage, version, name)
}

const failingNPM = `#!/bin/sh
echo "npm error code E404"
echo "npm error 404 Not Found - GET https://registry.example.invalid/claude-code"
exit 1
`

func TestFindClient(t *testing.T) {
	for _, c := range []struct {
		name        string
		npm, claude string // programs on PATH, none where empty
		want        string // the version that is found
		logs        string // what the log has
		fails       string // what the error says
	}{
		{name: "npm installs", npm: "works", want: ClientVersion},
		{name: "npm before an installed one", npm: "works", claude: fakeClient("1.2.3"), want: ClientVersion},
		{name: "npm installs another", npm: "other", fails: "npm installed client 9.9.9"},
		{name: "npm fails", npm: failingNPM, fails: "(E404)"},
		{name: "npm fails, an installed one serves", npm: failingNPM, claude: fakeClient("1.2.3"), want: "1.2.3", logs: "version 1.2.3, serves"},
		{name: "no npm, an installed one serves", claude: fakeClient("1.2.3"), want: "1.2.3", logs: "npm is not installed"},
		{name: "no npm, a broken one", claude: "#!/bin/sh\nexit 3\n", fails: "for its version"},
		{name: "nothing", fails: "install npm, or claude itself"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bin, cache := t.TempDir(), filepath.Join(t.TempDir(), "cache")
			t.Setenv("CLAUDE_FLEET_CLIENT_CACHE", cache)
			t.Setenv("PATH", bin+":"+toolDirs(t))
			switch c.npm {
			case "works":
				c.npm = fakeNPM(t, filepath.Join(bin, "notes"), ClientVersion)
			case "other":
				c.npm = fakeNPM(t, filepath.Join(bin, "notes"), "9.9.9")
			}
			for name, script := range map[string]string{"npm": c.npm, "claude": c.claude} {
				if script != "" {
					if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
						t.Fatal(err)
					}
				}
			}
			var log strings.Builder
			got, err := FindClient(context.Background(), func(format string, args ...any) { fmt.Fprintf(&log, format+"\n", args...) })
			if got.Version != c.want || (err == nil) != (c.fails == "") || (err != nil && !strings.Contains(err.Error(), c.fails)) {
				t.Errorf("found %+v, %v; want version %q, error %q", got, err, c.want, c.fails)
			}
			if !strings.Contains(log.String(), c.logs) {
				t.Errorf("log %q, want %q in it", log.String(), c.logs)
			}
			if said := log.String() + fmt.Sprint(err); strings.Contains(said, "registry") {
				t.Errorf("a registry is named: %s", said)
			}
			// Only a whole version may stand in the cache.
			left, _ := filepath.Glob(filepath.Join(cache, "*"))
			for _, path := range left {
				if name := filepath.Base(path); name != "lock" && (name != ClientVersion || c.want != ClientVersion) {
					t.Errorf("left in the cache: %s", name)
				}
			}
		})
	}
}

// toolDirs makes a folder with the few tools that the fake programs need, so
// that a real npm or claude of this machine is not on PATH.
func toolDirs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"sh", "mkdir", "cat", "chmod", "dirname", "readlink"} {
		path, err := lookTool(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFindClientVersion(t *testing.T) {
	const other = "1.2.3"
	for _, c := range []struct {
		name    string
		version string
		npm     string // "works" for a native package
		node    bool
		fails   string
	}{
		{name: "pinned", version: ClientVersion, npm: "works"},
		{name: "native", version: other, npm: "works"},
		{name: "a script", version: other, npm: fakeScriptNPM(other, true), node: true},
		{name: "a script, no node", version: other, npm: fakeScriptNPM(other, true), fails: "runs under node"},
		{name: "a script of another version", version: other, npm: fakeScriptNPM("9.9.9", true), node: true, fails: "installed client 9.9.9"},
		{name: "neither", version: other, npm: fakeScriptNPM(other, false), node: true, fails: "neither a program"},
		{name: "npm fails, and no other serves", version: other, npm: failingNPM, fails: "(E404)"},
		{name: "no version", version: "latest", npm: "works", fails: "no version of the client"},
		{name: "a path", version: "../1.2.3", npm: "works", fails: "no version of the client"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bin, cache := t.TempDir(), filepath.Join(t.TempDir(), "cache")
			t.Setenv("CLAUDE_FLEET_CLIENT_CACHE", cache)
			t.Setenv("PATH", bin+":"+toolDirs(t))
			programs := map[string]string{"npm": c.npm, "claude": fakeClient("7.7.7")}
			if c.npm == "works" {
				programs["npm"] = fakeNPM(t, filepath.Join(bin, "notes"), c.version)
			}
			if c.node {
				programs["node"] = "#!/bin/sh\nexec /bin/sh \"$@\"\n"
			}
			for name, script := range programs {
				if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			got, err := FindClientVersion(context.Background(), c.version, nil)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("found %+v, %v; want error %q", got, err, c.fails)
				}
				if left, _ := filepath.Glob(filepath.Join(cache, "[0-9]*")); left != nil {
					t.Errorf("left in the cache: %q", left)
				}
				return
			}
			if err != nil || got.Version != c.version || got.Path != filepath.Join(cache, c.version, "claude") {
				t.Fatalf("found %+v, %v", got, err)
			}
			// A host calls it by a link.
			link := filepath.Join(bin, "linked")
			if err := os.Symlink(got.Path, link); err != nil {
				t.Fatal(err)
			}
			if version, err := clientVersion(context.Background(), link); err != nil || version != c.version {
				t.Errorf("by a link: version %q, %v", version, err)
			}
			// The second time nothing is installed.
			if err := os.Remove(filepath.Join(bin, "npm")); err != nil {
				t.Fatal(err)
			}
			if again, err := FindClientVersion(context.Background(), c.version, nil); err != nil || again != got {
				t.Errorf("from the cache: %+v, %v", again, err)
			}
		})
	}
}

func TestFindClientInstallsOnce(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("CLAUDE_FLEET_CLIENT_CACHE", t.TempDir())
	t.Setenv("PATH", bin+":"+toolDirs(t))
	notes := filepath.Join(bin, "notes")
	if err := os.WriteFile(filepath.Join(bin, "npm"), []byte(fakeNPM(t, notes, ClientVersion)), 0o755); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			path, err := Client(context.Background())
			if err != nil || !isExecutable(path) {
				t.Errorf("%q, %v", path, err)
			}
		})
	}
	wait.Wait()
	raw, err := os.ReadFile(notes)
	if err != nil {
		t.Fatal(err)
	}
	if runs := strings.Count(string(raw), "\n"); runs != 1 {
		t.Errorf("npm ran %d times:\n%s", runs, raw)
	}
	for _, want := range []string{"--ignore-scripts", "--no-save", clientPackage + "@" + ClientVersion} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("npm was called without %s: %s", want, raw)
		}
	}
}

func TestLockFileWaitsNoLongerThanItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lockFile(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := lockFile(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("a held lock: %v", err)
	}
	unlock()
	again, err := lockFile(context.Background(), path)
	if err != nil {
		t.Fatalf("a lock let go: %v", err)
	}
	again()
}
