package fleet_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// ail is one fault: how it is planted, what is found, and what is found once the
// remedy has been run as it was printed.
type ail struct {
	name, host, id string
	plant          func(*testing.T)
	severity       fleet.Severity
	what           string // a part of what is told
	remedy         string // a part of the remedy
}

// cure proves an ail: it is not found before, found once planted, and gone once
// the remedy was run.
func (w ward) cure(t *testing.T, a ail) {
	t.Helper()
	if f := w.finding(t, a.host, a.id); f.Severity != fleet.SeverityOK || f.Remedy != "" {
		t.Fatalf("before it was planted: %+v", f)
	}
	a.plant(t)
	f := w.finding(t, a.host, a.id)
	if f.Severity != a.severity || !strings.Contains(f.What, a.what) || f.Why == "" || f.Remedy == "" || !strings.Contains(f.Remedy, a.remedy) {
		t.Fatalf("planted: %+v", f)
	}
	out := w.run(t, f.Remedy)
	if after := w.finding(t, a.host, a.id); after.Severity != fleet.SeverityOK {
		t.Fatalf("after %s: %+v; it said %s", f.Remedy, after, out)
	}
}

// TestDoctorHost plants each fault of a host and runs what is printed against it.
func TestDoctorHost(t *testing.T) {
	fish, err := exec.LookPath("fish")
	if err != nil {
		t.Fatal("fish is missing: install it")
	}
	csh, err := exec.LookPath("csh")
	if err != nil {
		t.Fatal("csh is missing: install it")
	}
	bare := tools(t, "tmux", "git", "claude", "npm", "timedatectl", "systemctl", "loginctl", "sudo", "curl", "brew", "dnf", "yum", "zypper", "pacman", "apk", "apt-get")
	w := openWard(t, rig.HostSpec{Name: "alpha"}, rig.HostSpec{Name: "here", Local: true}, rig.HostSpec{Name: "bare", Env: []string{"PATH=" + bare}}, rig.HostSpec{Name: "fish", LoginShell: fish, Env: []string{"XDG_RUNTIME_DIR"}}, rig.HostSpec{Name: "csh", LoginShell: csh})
	alpha, home := w.rig.Host("alpha"), "home/"
	app := home + "alpha-app"
	tmuxPath, err := exec.LookPath("tmux")
	if err != nil {
		t.Fatal(err)
	}
	gitPath, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	aptGet := func(link string) string {
		return fmt.Sprintf("[ \"$1 $2\" = 'install -y' ] || exit 1\nln -sf \"/usr/bin/$3\" '%s'/\"$3\"\n", link)
	}
	bareBin := func(t *testing.T, name, text string) {
		if err := os.WriteFile(filepath.Join(bare, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	bareBin(t, "apt-get", aptGet(bare))
	bareBin(t, "sudo", "exec \"$@\"\n")
	for name, path := range map[string]string{"tmux": tmuxPath, "git": gitPath} {
		if err := os.Symlink(path, filepath.Join(bare, name)); err != nil {
			t.Fatal(err)
		}
	}
	bareBin(t, "claude", clientSaying("2.1.332"))
	unplug := func(name string) func(*testing.T) {
		return func(t *testing.T) {
			if err := os.Remove(filepath.Join(bare, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	systemd := func(t *testing.T, host, runtime string) {
		w.write(t, host, "state/linger", "yes", 0o600)
		w.write(t, host, "state/file", "enabled", 0o600)
		w.write(t, host, "state/active", "active", 0o600)
		dir := w.path(host, "state")
		w.script(t, host, "loginctl", fmt.Sprintf(`case $1 in
show-user) [ "$3" = --property=Linger ] && echo "Linger=$(cat '%[1]s/linger')" ;;
enable-linger) echo yes >'%[1]s/linger' ;;
*) exit 1 ;;
esac
`, dir))
		w.script(t, host, "systemctl", fmt.Sprintf(`[ "$1" = --user ] && [ "$XDG_RUNTIME_DIR" = '%[2]s' ] || exit 1
case $2 in
show) echo LoadState=loaded; echo "UnitFileState=$(cat '%[1]s/file')"; echo "ActiveState=$(cat '%[1]s/active')" ;;
enable) echo enabled >'%[1]s/file' ;;
start|restart) echo active >'%[1]s/active' ;;
*) exit 1 ;;
esac
`, dir, runtime))
	}
	systemd(t, "alpha", w.path("alpha", "tmp"))
	systemd(t, "fish", fmt.Sprintf("/run/user/%d", os.Getuid())) // of which nothing there tells
	state := func(host, name, value string) func(*testing.T) {
		return func(t *testing.T) { w.write(t, host, "state/"+name, value, 0o600) }
	}
	linked := func(host string) func(*testing.T) {
		return func(t *testing.T) {
			env := w.path(host, home+".config/claude-fleet/env")
			w.write(t, host, home+".config/claude-fleet/env.own", "CLAUDE_CODE_OAUTH_TOKEN=made-up\n", 0o600)
			if err := os.Remove(env); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			if err := os.Symlink("env.own", env); err != nil {
				t.Fatal(err)
			}
		}
	}
	ahead := func(seconds int) func(*testing.T) {
		return func(t *testing.T) {
			w.write(t, "alpha", "state/ahead", fmt.Sprint(seconds), 0o600)
			w.script(t, "alpha", "date", fmt.Sprintf("n=$(cat '%s' 2>/dev/null)\nif [ \"$1\" = +%%s ]; then echo $(($(/bin/date +%%s) + ${n:-0})); else exec /bin/date \"$@\"; fi\n", w.path("alpha", "state/ahead")))
			w.script(t, "alpha", "timedatectl", fmt.Sprintf("[ \"$*\" = 'set-ntp true' ] && rm -f '%s'\n", w.path("alpha", "state/ahead")))
		}
	}
	ails := []ail{
		{"no workdir", "alpha", "workdir", func(t *testing.T) { w.remove(t, "alpha", app) }, fleet.SeverityFault, "~/alpha-app is not there", "mkdir -p ~/alpha-app"},
		{"no workdir here", "here", "workdir", func(t *testing.T) { w.remove(t, "here", "home/here-app") }, fleet.SeverityFault, "is not there", "mkdir -p ~/here-app"},
		{"no repository", "bare", "git", func(t *testing.T) { w.remove(t, "bare", "home/bare-app/.git") }, fleet.SeverityWarning, "no git work tree", "git init"},
		{"no git", "bare", "git", unplug("git"), fleet.SeverityWarning, "not installed", "apt-get install -y git"},
		{"no tmux", "bare", "tmux", unplug("tmux"), fleet.SeverityFault, "not installed", "apt-get install -y tmux"},
		{"an old tmux", "bare", "tmux", func(t *testing.T) {
			unplug("tmux")(t)
			bareBin(t, "tmux", "[ \"$1\" = -V ] && { echo 'tmux 2.9a'; exit; }\nexec "+tmuxPath+" \"$@\"\n")
		}, fleet.SeverityFault, "too old", "apt-get install -y tmux"},
		{"a clock that only we can set", "bare", "clock", func(t *testing.T) {
			// timedatectl is not there: the host is told the time.
			unplug("date")(t)
			bareBin(t, "date", fmt.Sprintf("f='%s/ahead'\n[ \"$1 $2\" = '-u -s' ] && { echo \"${3#@}\" >$f; exit; }\n[ -f $f ] && exec /bin/date \"$@\"\necho $(($(/bin/date +%%s) - 7200))\n", bare))
		}, fleet.SeverityFault, "behind", "date -u -s @$(date +%s)"},
		{"no client", "alpha", "client", func(t *testing.T) {
			w.remove(t, "alpha", "bin/claude")
			w.script(t, "alpha", "npm", fmt.Sprintf("[ \"$*\" = 'install -g @anthropic-ai/claude-code' ] || exit 1\nprintf '#!/bin/sh\\necho 2.1.332\\n' >'%[1]s' && chmod 755 '%[1]s'\n", w.path("alpha", "bin/claude")))
		}, fleet.SeverityFault, "claude is not there", "npm install -g"},
		{"a newer client", "alpha", "client-version", func(t *testing.T) { w.script(t, "alpha", "claude", clientSaying("9.9.9")) }, fleet.SeverityWarning, "9.9.9 is newer than 2.1.332", "claude install 2.1.332"},
		{"an older client", "alpha", "client-version", func(t *testing.T) { w.script(t, "alpha", "claude", clientSaying("0.2.9")) }, fleet.SeverityWarning, "0.2.9 is older", "claude install 2.1.332"},
		{"a client that nobody finds", "alpha", "path", func(t *testing.T) {
			w.remove(t, "alpha", "bin/claude")
			w.write(t, "alpha", home+".local/bin/claude", "#!/bin/sh\n"+clientSaying("2.1.332"), 0o755)
		}, fleet.SeverityNote, ".local/bin is on no PATH", ".profile"},
		{"an older client that only we find", "alpha", "client-version", func(t *testing.T) {
			w.write(t, "alpha", home+".local/bin/claude", "#!/bin/sh\n"+clientSaying("0.2.9"), 0o755)
		}, fleet.SeverityWarning, "0.2.9 is older", ".local/bin claude install 2.1.332"},
		{"a newer client that only we find, and fish", "fish", "client-version", func(t *testing.T) {
			w.remove(t, "fish", "bin/claude")
			w.write(t, "fish", home+".local/bin/claude", "#!/bin/sh\n"+clientSaying("9.9.9"), 0o755)
		}, fleet.SeverityWarning, "9.9.9 is newer", ".local/bin claude install 2.1.332"},
		{"a latin locale", "alpha", "locale", func(t *testing.T) {
			profile, err := os.ReadFile(w.path("alpha", home+".profile"))
			if err != nil {
				t.Fatal(err)
			}
			w.write(t, "alpha", home+".profile", string(profile)+"LANG=C; export LANG\n", 0o600)
		}, fleet.SeverityWarning, "(C) is not UTF-8", "LANG=C."},
		{"a locale that LC_ALL overrides", "alpha", "locale", func(t *testing.T) {
			profile, err := os.ReadFile(w.path("alpha", home+".profile"))
			if err != nil {
				t.Fatal(err)
			}
			w.write(t, "alpha", home+".profile", string(profile)+"LC_ALL=POSIX; export LC_ALL\n", 0o600)
		}, fleet.SeverityWarning, "is not UTF-8", "LC_ALL=C."},
		{"a latin locale of fish", "fish", "locale", func(t *testing.T) { w.write(t, "fish", home+".config/fish/config.fish", "set -gx LC_CTYPE C\n", 0o600) }, fleet.SeverityWarning, "(C) is not UTF-8", "config.fish"},
		{"a latin locale of csh", "csh", "locale", func(t *testing.T) { w.write(t, "csh", home+".cshrc", "setenv LANG C\n", 0o600) }, fleet.SeverityWarning, "(C) is not UTF-8", ".cshrc"},
		{"no linger", "alpha", "linger", state("alpha", "linger", "no"), fleet.SeverityWarning, "does not linger", "loginctl enable-linger"},
		{"a unit that is not enabled", "alpha", "unit", state("alpha", "file", "disabled"), fleet.SeverityWarning, "not enabled", "systemctl --user enable claude-tmux.service"},
		{"a unit that is not enabled, and no way to the manager", "fish", "unit", state("fish", "file", "disabled"), fleet.SeverityWarning, "not enabled", "XDG_RUNTIME_DIR=/run/user/$(id -u) systemctl --user enable"},
		{"a unit that failed", "alpha", "unit", state("alpha", "active", "failed"), fleet.SeverityWarning, "failed", "systemctl --user restart"},
		{"a unit that does not run", "alpha", "unit", state("alpha", "active", "inactive"), fleet.SeverityNote, "not active", "systemctl --user start"},
		{"a unit that does not run, and no way to the manager", "fish", "unit", state("fish", "active", "inactive"), fleet.SeverityNote, "not active", "XDG_RUNTIME_DIR=/run/user/$(id -u) systemctl --user start"},
		{"a clock that is minutes off", "alpha", "clock", ahead(120), fleet.SeverityWarning, "ahead of", "timedatectl set-ntp true"},
		{"a clock that is far off", "alpha", "clock", ahead(900), fleet.SeverityFault, "ahead of", "timedatectl set-ntp true"},
		{"a token for others to read", "alpha", "token", func(t *testing.T) {
			w.write(t, "alpha", home+".config/claude-fleet/env", "CLAUDE_CODE_OAUTH_TOKEN=made-up\n", 0o640)
		}, fleet.SeverityFault, "-rw-r-----", "chmod 600 ~/.config/claude-fleet/env"},
		{"a token in an open folder", "alpha", "token", func(t *testing.T) {
			if err := os.Chmod(w.path("alpha", home+".config/claude-fleet"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, fleet.SeverityFault, "its folder is drwxr-xr-x", "chmod 700 ~/.config/claude-fleet"},
		{"a token behind a link", "alpha", "token", linked("alpha"), fleet.SeverityFault, "is a link", "mv -f"},
		{"a token behind a link, and fish", "fish", "token", linked("fish"), fleet.SeverityFault, "is a link", "mv -f"},
		{"another workdir pushed", "alpha", "fleet-workdir", func(t *testing.T) { w.write(t, "alpha", home+".fleet-workdir", "/srv/elsewhere\n", 0o644) }, fleet.SeverityWarning, "/srv/elsewhere", ".fleet-workdir"},
		{"a file in the way of the journal", "alpha", "journal", func(t *testing.T) {
			w.remove(t, "alpha", home+".local/state")
			w.write(t, "alpha", home+".local/state", "", 0o600)
		}, fleet.SeverityFault, "in the way", ".local/state.old"},
		{"no tmux, and a brew that only we find", "bare", "tmux", func(t *testing.T) {
			unplug("tmux")(t)
			w.write(t, "bare", home+".local/bin/brew", fmt.Sprintf("#!/bin/sh\n[ \"$*\" = 'install tmux' ] && ln -sf %s '%s'/tmux\n", tmuxPath, bare), 0o755)
		}, fleet.SeverityFault, "not installed", ".local/bin brew install tmux"},
	}
	if os.Getuid() == 0 { // nobody else can give a file away
		ails = append(ails, ail{"a token of another's", "alpha", "token", func(t *testing.T) {
			if err := os.Chown(w.path("alpha", home+".config/claude-fleet/env"), 65534, 65534); err != nil {
				t.Fatal(err)
			}
		}, fleet.SeverityFault, "belongs to user 65534", "chown root"})
	}

	type part struct {
		name string
		do   func(*testing.T)
	}
	parts := map[string][]part{} // by their hosts, which know nothing of each other
	behind := func(host, name string, do func(*testing.T)) {
		parts[host] = append(parts[host], part{name, do})
	}
	for _, a := range ails {
		behind(a.host, a.name, func(t *testing.T) { w.cure(t, a) })
	}
	behind("alpha", "a server of another version", func(t *testing.T) {
		// The real server stands, and the program refuses it while its socket is there.
		socket := filepath.Join(alpha.TmuxTmpdir, fmt.Sprintf("tmux-%d", os.Getuid()), "default")
		w.cure(t, ail{host: "alpha", id: "tmux-server", plant: func(t *testing.T) {
			if _, err := alpha.Tmux(t.Context(), "new-session", "-d", "-s", "old", "sleep 300"); err != nil {
				t.Fatal(err)
			}
			w.script(t, "alpha", "tmux", fmt.Sprintf("if [ \"$1\" != -V ] && [ -S '%s' ]; then echo 'protocol version mismatch (client 8, server 7)' >&2; exit 1; fi\nexec %s \"$@\"\n", socket, tmuxPath))
		}, severity: fleet.SeverityFault, what: "protocol version mismatch", remedy: "default.old"})
		w.remove(t, "alpha", "bin/tmux")
		if out, err := alpha.Tmux(t.Context(), "-L", "default.old", "list-sessions", "-F", "#{session_name}"); err != nil || strings.TrimSpace(out) != "old" {
			t.Errorf("the old session is gone: %q, %v", out, err)
		}
	})
	behind("alpha", "a unit beside a tmux server", func(t *testing.T) {
		// Without that server there is a command: see the row of a unit that does not run.
		if _, err := alpha.Tmux(t.Context(), "new-session", "-d", "-s", "beside", "sleep 300"); err != nil {
			t.Fatal(err)
		}
		state("alpha", "active", "inactive")(t)
		if f := w.finding(t, "alpha", "unit"); f.Severity != fleet.SeverityNote || f.Remedy != "" || !strings.HasSuffix(f.Hint, " up alpha") {
			t.Errorf("%+v", f)
		}
		state("alpha", "active", "active")(t)
		if f := w.finding(t, "alpha", "unit"); f.Severity != fleet.SeverityOK || f.Hint != "" {
			t.Errorf("active: %+v", f)
		}
	})
	behind("alpha", "a full disk", func(t *testing.T) {
		if f := w.finding(t, "alpha", "disk"); f.Severity == fleet.SeverityFault {
			t.Fatalf("before: %+v", f)
		}
		for _, c := range []struct {
			free, used string
			want       fleet.Severity
		}{
			{"90000000", "10%", fleet.SeverityOK}, {"90000000", "95%", fleet.SeverityWarning},
			{"1000000", "50%", fleet.SeverityWarning}, {"0", "100%", fleet.SeverityFault},
		} {
			w.script(t, "alpha", "df", fmt.Sprintf("echo 'Filesystem 1024-blocks Used Available Capacity Mounted on'\necho '/dev/x 100000000 1 %s %s /'\n", c.free, c.used))
			if f := w.finding(t, "alpha", "disk"); f.Severity != c.want || f.Remedy != "" || (c.want != fleet.SeverityOK) != (f.Hint != "") {
				t.Errorf("%s free: %+v", c.free, f)
			}
		}
		w.remove(t, "alpha", "bin/df")
	})
	behind("bare", "a workdir that git refuses", func(t *testing.T) {
		w.cure(t, ail{host: "bare", id: "git", plant: func(t *testing.T) {
			unplug("git")(t)
			bareBin(t, "git", "GIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec "+gitPath+" \"$@\"\n")
		}, severity: fleet.SeverityWarning, what: "another account owns it", remedy: "safe.directory"})
	})
	behind("here", "a client on its own", func(t *testing.T) {
		if f := w.finding(t, "here", "sessions"); f.Severity != fleet.SeverityOK {
			t.Fatalf("before: %+v", f)
		}
		if _, err := w.rig.Host("here").Tmux(t.Context(), "new-session", "-d", "-s", "stray", "claude"); err != nil {
			t.Fatal(err)
		}
		var f fleet.Finding
		rigtest.Eventually(t, 20*time.Second, "the stray to be seen", func() (bool, string) {
			f = w.finding(t, "here", "sessions")
			return f.Severity == fleet.SeverityNote && strings.Contains(f.What, `"stray"`), fmt.Sprintf("%+v", f)
		})
		w.run(t, f.Remedy)
		if after := w.finding(t, "here", "sessions"); after.Severity != fleet.SeverityOK {
			t.Fatalf("after %s: %+v", f.Remedy, after)
		}
	})
	for host, all := range parts {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			for _, p := range all {
				t.Run(p.name, p.do)
			}
		})
	}
}
