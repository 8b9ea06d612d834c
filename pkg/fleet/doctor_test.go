package fleet

import (
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

func TestProgramOf(t *testing.T) {
	for command, want := range map[string]string{
		"claude --dangerously-skip-permissions": "claude",
		"/opt/claude/bin/claude -c":             "/opt/claude/bin/claude",
		"~/bin/claude":                          "~/bin/claude",
		"FOO=1 BAR=x wrap claude":               "wrap",
		"cd /x && claude":                       "claude",
		"exec claude":                           "claude",
		"$CLAUDE":                               "claude",
		"'my client'":                           "claude",
		"-x":                                    "claude",
		"":                                      "claude",
		"a=b":                                   "claude",
		"./a=b":                                 "./a=b",
	} {
		if got := programOf(command); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}

func TestDoctorRemote(t *testing.T) {
	ssh := func(target, config string) Host {
		return Host{Transport: TransportSSH, SSH: target, SSHConfig: config}
	}
	for _, c := range []struct {
		host Host
		root bool
		want string
	}{
		{ssh("web", ""), true, "ssh web 'rm -f ~/x'"},
		{ssh("web", ""), false, "ssh -t web 'sudo rm -f ~/x'"},
		{ssh("me@web:2222", "/etc/my config"), true, "ssh -F '/etc/my config' -p 2222 -l me web 'rm -f ~/x'"},
		{ssh("[::1]:22", ""), true, "ssh -p 22 ::1 'rm -f ~/x'"},
		{Host{Transport: TransportLocal}, true, "rm -f ~/x"},
		{Host{Transport: TransportLocal}, false, "sudo rm -f ~/x"},
	} {
		if got := c.host.thereAsRoot(c.root, "rm -f ~/x"); got != c.want {
			t.Errorf("%+v: %s, want %s", c.host, got, c.want)
		}
	}
	for dir, want := range map[string]string{"~": "~", "~/a b": "~/'a b'", "/a'b": `'/a'\''b'`, "~x": "'~x'", "/srv/app": "/srv/app", "/ü": "'/ü'", "": "''"} {
		if got := homeWord(dir); got != want {
			t.Errorf("%q: %s, want %s", dir, got, want)
		}
	}
}

// TestDoctorBeyond has programs on the host's PATH and beyond it, where a shell of
// the host finds none.
func TestDoctorBeyond(t *testing.T) {
	h := Host{Name: "web", Transport: TransportSSH, SSH: "web", Workdir: "~/app"}
	x := func(tool, at string) examined {
		account := facts{"uid": {"1000"}, "tool": {tool}}
		if at != "" {
			account["beyond"] = []string{"/x/other", at}
		}
		return examined{account: account}
	}
	client := func(version, plain string) examined {
		return examined{clients: map[string]facts{clientName: {"at": {"/home/ann/.local/bin/claude"}, "plain": {plain}, "version": {version}}}}
	}
	for name, c := range map[string]struct{ got, want string }{
		"brew":                {x("brew", "").install(h, "tmux"), `ssh web 'brew install tmux'`},
		"brew, beyond":        {x("brew", "/opt/homebrew/bin/brew").install(h, "tmux"), `ssh web 'sh -c '\''PATH=$PATH:/opt/homebrew/bin brew install tmux'\'''`},
		"npm":                 {only(t, x("npm", "").aboutClient(h), "client").Remedy, `ssh -t web 'sudo npm install -g @anthropic-ai/claude-code'`},
		"npm, beyond":         {only(t, x("npm", "/usr/local/bin/npm").aboutClient(h), "client").Remedy, `ssh -t web 'sudo sh -c '\''PATH=$PATH:/usr/local/bin npm install -g @anthropic-ai/claude-code'\'''`},
		"git":                 {only(t, x("git", "").aboutFolder(h, facts{"path": {"/app"}, "tree": {"false"}}), "git").Remedy, `ssh web 'git init -q ~/app'`},
		"git, beyond":         {only(t, x("git", "/opt/bin/git").aboutFolder(h, facts{"path": {"/app"}, "tree": {"false"}}), "git").Remedy, `ssh web 'sh -c '\''PATH=$PATH:/opt/bin git init -q ~/app'\'''`},
		"the client":          {only(t, client("0.2.9", "/usr/bin/claude").aboutClient(h), "client-version").Remedy, `ssh web 'claude install 2.1.332'`},
		"the client, beyond":  {only(t, client("0.2.9", "").aboutClient(h), "client-version").Remedy, `ssh web 'sh -c '\''PATH=$PATH:/home/ann/.local/bin claude install 2.1.332'\'''`},
		"what it says":        {only(t, client("?", "/usr/bin/claude").aboutClient(h), "client-version").Hint, `see what it says there by: ssh web 'claude --version'`},
		"what it says beyond": {only(t, client("?", "").aboutClient(h), "client-version").Hint, `see what it says there by: ssh web 'sh -c '\''PATH=$PATH:/home/ann/.local/bin claude --version'\'''`},
		"a folder in quotes":  {onPath("/it's $(x)/brew"), `PATH=$PATH:'/it'\''s $(x)' `},
		"no folder":           {onPath("brew"), ""},
		"two lines":           {onPath("/x\ntouch y/brew"), ""},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", name, c.got, c.want)
		}
	}
}

// TestClockRemedy has its $(date) read here and its sudo there.
func TestClockRemedy(t *testing.T) {
	for uid, want := range map[string]string{"0": `ssh web "date -u -s @$(date +%s)"`, "1000": `ssh -t web "sudo date -u -s @$(date +%s)"`} {
		x := examined{account: facts{"uid": {uid}}, skew: span{least: time.Hour, most: time.Hour}}
		if f := x.aboutClock(Host{Transport: TransportSSH, SSH: "web"}); f.Remedy != want || f.Severity != SeverityFault {
			t.Errorf("%+v", f)
		}
	}
}

func TestDoctorSkew(t *testing.T) {
	began := time.Unix(1000, 500e6)
	parts := func(first, last string) map[string]transport.Section {
		return map[string]transport.Section{"began": {Out: []byte(first + "\n")}, "ended": {Out: []byte(last + "\n")}}
	}
	for _, c := range []struct {
		name        string
		first, last string
		took        time.Duration
		least, most time.Duration // what off may be
	}{
		{"the same clock", "1000", "1002", 2 * time.Second, 0, 0},
		{"the same clock, asked late", "1008", "1009", 9 * time.Second, 0, 0},
		{"ahead", "1100", "1102", 2 * time.Second, 98 * time.Second, 100 * time.Second},
		{"behind", "900", "902", 2 * time.Second, -100 * time.Second, -98 * time.Second},
		{"ahead, and a minute in the script", "1100", "1160", time.Minute, 98 * time.Second, 100 * time.Second},
		{"no clock", "x", "", time.Second, 0, 0},
	} {
		if off := skewOf(parts(c.first, c.last), began, began.Add(c.took)).off(); off < c.least || off > c.most {
			t.Errorf("%s: %s", c.name, off)
		}
	}
}

func TestDoctorLinger(t *testing.T) {
	for said, want := range map[string][2]bool{
		"Linger=yes": {true, true}, "Linger=no": {false, true},
		"Failed to get user: User ID 0 is not logged in or lingering":                    {false, true},
		"System has not been booted with systemd as init system (PID 1). Can't operate.": {false, false},
		"Failed to connect to bus: No such file or directory":                            {false, false},
		"": {false, false},
	} {
		if lingers, told := lingerState(said); [2]bool{lingers, told} != want {
			t.Errorf("%q: %v %v", said, lingers, told)
		}
	}
}

func TestDoctorUnit(t *testing.T) {
	h := Host{Name: "web", Transport: TransportSSH, SSH: "web"}
	for said, want := range map[string]struct {
		severity Severity
		remedy   string
	}{
		"LoadState=loaded\nActiveState=active\nUnitFileState=enabled":   {SeverityOK, ""},
		"LoadState=loaded\nActiveState=active\nUnitFileState=disabled":  {SeverityWarning, "enable"},
		"LoadState=loaded\nActiveState=failed\nUnitFileState=enabled":   {SeverityWarning, "restart"},
		"LoadState=loaded\nActiveState=inactive\nUnitFileState=enabled": {SeverityNote, "start"},
		"LoadState=not-found\nActiveState=inactive\nUnitFileState=":     {SeverityNote, "claude-fleet init --unit web"},
		"LoadState=bad-setting\nActiveState=inactive\nUnitFileState=":   {SeverityWarning, "claude-fleet init --unit web"},
		"Failed to connect to bus: No medium found":                     {SeverityNote, ""},
	} {
		x := examined{self: ownName, systemd: facts{"linger": {"Linger=yes"}, "unit": {said}}}
		f := only(t, x.aboutSystemd(h), "unit")
		if f.Severity != want.severity || !strings.Contains(f.Remedy, want.remedy) || want.remedy == "" && f.Remedy != "" {
			t.Errorf("%q: %+v", said, f)
		}
	}
	// Beside a tmux server of another's a start cures nothing; a unit that failed is
	// told of as ever.
	for state, want := range map[string][2]string{
		"inactive": {"", "once that server has ended, by: claude-fleet up web"},
		"failed":   {"ssh web 'systemctl --user restart claude-tmux.service'", "see why by: ssh web 'systemctl --user status claude-tmux.service'"},
		"active":   {"", ""},
	} {
		x := examined{self: ownName, snap: tmux.Snapshot{Running: true}, systemd: facts{"linger": {"Linger=yes"}, "unit": {"LoadState=loaded\nUnitFileState=enabled\nActiveState=" + state}}}
		if f := only(t, x.aboutSystemd(h), "unit"); f.Remedy != want[0] || !strings.HasSuffix(f.Hint, want[1]) || (want[1] == "") != (f.Hint == "") {
			t.Errorf("%s, beside a server: %+v", state, f)
		}
	}
	// A login that does not tell where the manager is gets told.
	for runtime, want := range map[string]string{"": "ssh web 'systemctl --user start claude-tmux.service'", "unset": `ssh web 'sh -c '\''XDG_RUNTIME_DIR=/run/user/$(id -u) systemctl --user start claude-tmux.service'\'''`} {
		x := examined{systemd: facts{"runtime": {runtime}}}
		if f := x.aboutUnit(h, userUnit{load: "loaded", file: "enabled", active: "inactive"}); f.Remedy != want {
			t.Errorf("runtime %q: %+v", runtime, f)
		}
	}
	// Where there is no systemd nothing is wrong.
	for _, f := range (examined{systemd: facts{}}).aboutSystemd(h) {
		if f.Severity != SeverityOK && f.Severity != SeverityNote {
			t.Errorf("%+v", f)
		}
	}
}

// TestToken reads the listings of several systems.
func TestDoctorToken(t *testing.T) {
	h := Host{Name: "web", Transport: TransportSSH, SSH: "web"}
	for _, c := range []struct {
		folder, file string
		want         Severity
		remedy       string
	}{
		{"", "", SeverityOK, ""},
		{"drwx------ 2 1000 1000 4096 Nov 1 10:00 d", "-rw------- 1 1000 1000 90 Nov 1 10:00 f", SeverityOK, ""},
		{"drwx------. 2 1000 1000 4096 Nov 1 10:00 d", "-rw-------@ 1 1000 1000 90 Nov 1 10:00 f", SeverityOK, ""},
		{"drwx------ 2 1000 1000 4096 Nov 1 10:00 d", "-rw-r--r-- 1 1000 1000 90 Nov 1 10:00 f", SeverityFault, "chmod 600"},
		{"drwxrwx--- 2 1000 1000 4096 Nov 1 10:00 d", "-rw------- 1 1000 1000 90 Nov 1 10:00 f", SeverityFault, "chmod 700"},
		{"drwx------ 2 1000 1000 4096 Nov 1 10:00 d", "-rw------- 1 0 0 90 Nov 1 10:00 f", SeverityFault, "sudo chown ann ~/.config/claude-fleet"},
		{"drwx------ 2 1000 1000 4096 Nov 1 10:00 d", "drwx------ 1 1000 1000 90 Nov 1 10:00 f", SeverityFault, ""},
		{"drwx------ 2 1000 1000 4096 Nov 1 10:00 d", "lrwxrwxrwx 1 1000 1000 9 Nov 1 10:00 f -> g", SeverityFault, "mv -f ~/.config/claude-fleet/env.new ~/.config/claude-fleet/env"},
		{"drwx------ 2 1000 1000 4096 Nov 1 10:00 d", "ls: f: No such file or directory", SeverityFault, ""},
	} {
		x := examined{account: facts{"uid": {"1000"}, "user": {"ann"}}, files: facts{"folder": {c.folder}, "token": {c.file}}}
		f := x.aboutToken(h)
		if f.Severity != c.want || !strings.Contains(f.Remedy, c.remedy) || c.remedy == "" && f.Remedy != "" {
			t.Errorf("%q: %+v", c.file, f)
		}
	}
}

// TestTokenOwner has hosts that tell of the account what is no word for a root's
// command.
func TestTokenOwner(t *testing.T) {
	h := Host{Name: "web", Transport: TransportSSH, SSH: "web"}
	for _, c := range []struct{ user, uid, chown string }{
		{"ann", "1000", "sudo chown ann ~"},
		{`CORP\ann`, "1000", "sudo chown 1000 ~"},
		{"ann; x", "1000", "sudo chown 1000 ~"},
		{"ann; x", "0; x #", ""},
		{"ann; x", "1000\nx", ""},
		{"", "", ""},
	} {
		x := examined{account: facts{"uid": {c.uid}, "user": {c.user}}, files: facts{"folder": {"drwx------ 2 7 7"}, "token": {"-rw------- 1 7 7"}}}
		f := x.aboutToken(h)
		if f.Severity != SeverityFault || !strings.Contains(f.Remedy, c.chown) || (c.chown == "") != (f.Remedy == "") || (f.Hint == "") != (f.Remedy != "") {
			t.Errorf("%+v: %+v", c, f)
		}
	}
}

func TestJournalFolder(t *testing.T) {
	h := Host{Name: "web", Transport: TransportSSH, SSH: "web"}
	for _, c := range []struct {
		files  facts
		want   Severity
		remedy string
	}{
		{facts{}, SeverityOK, ""},
		{facts{"readonly": {"/home/ann/.local"}}, SeverityFault, "ssh web 'chmod u+rwx /home/ann/.local'"},
		{facts{"nofolder": {"/home/ann/.local"}}, SeverityFault, "ssh web 'mv /home/ann/.local /home/ann/.local.old'"},
		{facts{"nofolder": {"relative"}}, SeverityFault, ""},
	} {
		if f := (examined{files: c.files}).aboutJournal(h); f.Severity != c.want || f.Remedy != c.remedy {
			t.Errorf("%v: %+v", c.files, f)
		}
	}
}

// TestHostsOwnWords has no text of a host in a remedy that could be more than a
// word of it.
func TestHostsOwnWords(t *testing.T) {
	h := Host{Name: "web", Transport: TransportSSH, SSH: "web", Session: DefaultSession, Workdir: "~"}
	evil := "/x'; touch /tmp/evil; '\x1b[31m\n$(touch y)"
	x := examined{
		account: facts{"uid": {"1000"}, "user": {evil}, "shell": {evil}, "utf8": {evil}, "tool": {"git", "npm"}, "beyond": {evil + "/git", evil + "/npm"}}, login: facts{"lang": {evil}},
		files:   facts{"folder": {"drwx------ 1 7 7"}, "token": {"-rw------- 1 7 7"}, "pushed": {evil}, "nofolder": {evil}},
		clients: map[string]facts{clientName: {"at": {evil + "/claude"}, "version": {evil}}}, self: ownName,
	}
	folder := facts{"path": {evil}, "logical": {evil}, "tree": {evil}}
	for _, list := range [][]Finding{x.aboutAccount(h), x.aboutClient(h), x.aboutSystemd(h), x.aboutFolder(h, folder), x.aboutFiles(h, folder)} {
		for _, f := range list {
			if strings.Contains(f.Remedy, "touch") || strings.ContainsAny(f.What+f.Why+f.Remedy+f.Hint, "\x1b\n") {
				t.Errorf("%s: %q", f.ID, f)
			}
		}
	}
}

func FuzzFacts(f *testing.F) {
	f.Add("uid 0\nshell /bin/sh\n\nx")
	f.Fuzz(func(t *testing.T, out string) {
		got := parseFacts([]byte(out))
		n := 0
		for _, values := range got {
			n += len(values)
		}
		if want := strings.Count(strings.TrimSuffix(out, "\n"), "\n") + 1; out != "" && n != want {
			t.Errorf("%d facts of %q", n, out)
		}
		x := examined{account: got, login: got, systemd: got, files: got, clients: map[string]facts{clientName: got}}
		h := Host{Name: "web", Transport: TransportSSH, SSH: "web", Session: DefaultSession, Workdir: "~"}
		for _, list := range [][]Finding{x.aboutAccount(h), x.aboutClient(h), x.aboutSystemd(h), x.aboutFolder(h, got), x.aboutFiles(h, got)} {
			for _, found := range list {
				if text := found.What + found.Why + found.Remedy + found.Hint; text != neutral(text) {
					t.Errorf("%s is not neutral: %q", found.ID, text)
				}
			}
		}
	})
}
