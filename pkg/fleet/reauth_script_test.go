package fleet

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/tmux"
)

// TestEnvFile writes the file and takes the token out again, whatever was there.
func TestEnvFile(t *testing.T) {
	const have = "CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-good\n"
	tok, err := ParseToken("sk-ant-oat01-good")
	if err != nil {
		t.Fatal(err)
	}
	file := func(text string, mode os.FileMode) func(d, f string) error {
		return func(d, f string) error {
			if err := os.MkdirAll(d, 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(f, []byte(text), 0o600); err != nil {
				return err
			}
			return os.Chmod(f, mode)
		}
	}
	place := func(make func(f string) error) func(d, f string) error {
		return func(d, f string) error {
			if err := os.MkdirAll(d, 0o700); err != nil {
				return err
			}
			return make(f)
		}
	}
	for name, tt := range map[string]struct {
		prepare       func(d, f string) error
		written, text string // what writing says, and the file then
		removed, left string // what removing says then, and what is left
	}{
		"nothing":            {func(string, string) error { return nil }, "written", have, "removed", ""},
		"there already":      {file(have, 0o600), "same", have, "removed", ""},
		"for others to read": {file(have, 0o644), "written", have, "removed", ""},
		"no access at all":   {file("A=1\n", 0), "written", have + "A=1\n", "removed", "A=1\n"},
		"twice":              {file(have+have, 0o600), "written", have, "removed", ""},
		"another token":      {file("A=1\nCLAUDE_CODE_OAUTH_TOKEN=x\n\nB=\\n $(id) 'x'", 0o600), "written", have + "A=1\n\nB=\\n $(id) 'x'", "removed", "A=1\n\nB=\\n $(id) 'x'"},
		"a name like it":     {file("CLAUDE_CODE_OAUTH_TOKENS=x\nXCLAUDE_CODE_OAUTH_TOKEN=y\n", 0o600), "written", have + "CLAUDE_CODE_OAUTH_TOKENS=x\nXCLAUDE_CODE_OAUTH_TOKEN=y\n", "removed", "CLAUDE_CODE_OAUTH_TOKENS=x\nXCLAUDE_CODE_OAUTH_TOKEN=y\n"},
		"a link": {place(func(f string) error {
			if err := os.WriteFile(f+".real", []byte("A=1\n"), 0o600); err != nil {
				return err
			}
			return os.Symlink(f+".real", f)
		}), "bad ~/.config/claude-fleet/env is a link", "A=1\n", "bad ~/.config/claude-fleet/env is a link", "A=1\n"},
		"a pipe":      {place(func(f string) error { return syscall.Mkfifo(f, 0o600) }), "bad ~/.config/claude-fleet/env is no regular file", "", "bad ~/.config/claude-fleet/env is no regular file", ""},
		"a directory": {place(func(f string) error { return os.Mkdir(f, 0o700) }), "bad ~/.config/claude-fleet/env is no regular file", "", "bad ~/.config/claude-fleet/env is no regular file", ""},
		"a linked folder": {func(d, _ string) error {
			if err := os.MkdirAll(d+".real", 0o700); err != nil {
				return err
			}
			return os.Symlink(d+".real", d)
		}, "bad ~/.config/claude-fleet is a link", "", "bad ~/.config/claude-fleet is a link", ""},
		"a file for a folder": {func(d, _ string) error {
			if err := os.MkdirAll(filepath.Dir(d), 0o700); err != nil {
				return err
			}
			return os.WriteFile(d, nil, 0o600)
		}, "bad ~/.config/claude-fleet is no directory", "", "bad ~/.config/claude-fleet is no directory", ""},
	} {
		for _, shell := range []string{"sh", "bash", "zsh"} {
			home := filepath.Join(t.TempDir(), "h o'm")
			if err := os.Mkdir(home, 0o700); err != nil {
				t.Fatal(err)
			}
			f := filepath.Join(home, EnvFile)
			if err := tt.prepare(filepath.Dir(f), f); err != nil {
				t.Fatal(err)
			}
			run := func(script string) string {
				args := map[string][]string{"zsh": {"--emulate", "sh"}, "bash": {"--posix"}}[shell]
				cmd := exec.Command(shell, args...)
				cmd.Stdin, cmd.Env = strings.NewReader(script), []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Errorf("%s in %s: %v: %s", name, shell, err, out)
				}
				return strings.TrimSpace(string(out))
			}
			good := func(when, said, wantSaid, wantText string) {
				raw := ""
				if info, err := os.Stat(f); err == nil && info.Mode().IsRegular() {
					b, _ := os.ReadFile(f)
					raw = string(b)
					if info.Mode() != 0o600 {
						t.Errorf("%s in %s: %s behind %s", name, shell, info.Mode(), when)
					}
				}
				if said != wantSaid || raw != wantText {
					t.Errorf("%s in %s: %s said %q, not %q, and left %q, not %q", name, shell, when, said, wantSaid, raw, wantText)
				}
			}
			good("writing", run(writeEnv(tok, false)), tt.written, tt.text)
			again := tt.written
			if again == "written" {
				again = "same"
			}
			good("writing again", run(writeEnv(tok, true)), again, tt.text)
			good("removing", run(removeEnv), tt.removed, tt.left)
			if tt.removed == "removed" {
				good("removing again", run(removeEnv), "none", tt.left)
				if _, err := os.Lstat(filepath.Dir(f)); os.IsNotExist(err) != (tt.left == "") {
					t.Errorf("%s in %s: its folder: %v", name, shell, err)
				}
			}
			if rest, _ := filepath.Glob(f + ".new*"); len(rest) > 0 {
				t.Errorf("%s in %s: left %q", name, shell, rest)
			}
		}
	}
}

func TestClientAnswer(t *testing.T) {
	const n = "fleet0"
	for out, want := range map[string]string{
		"profile {\n\n" + n + "\n{\"loggedIn\": true, \"authMethod\": \"oauth_token\"}\n\n" + n + " 0\n": "oauth_token",
		"\n" + n + "\nwarning\n{\"authMethod\": \"none\"}\n\n" + n + " 1\n":                              "none",
		"\n" + n + "\n{\"authMethod\": 7}\n\n" + n + " 1\n":                                              "is no JSON",
		"\n" + n + "\n\n\n" + n + " 127\n":                                                               "exit code 127",
		"\n" + n + "\n{}":                                                                                "its login shell gave no answer",
		"":                                                                                               "its login shell gave no answer",
		"\n" + n + "\n{}\n\n" + n + " x":                                                                 "its login shell gave no answer",
	} {
		var a authStatus
		_, err := clientAnswer([]byte(out), n, &a)
		got := a.Method
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", out, got, want)
		}
	}
}

func FuzzClientAnswer(f *testing.F) {
	f.Add([]byte("\nn\n{\"authMethod\":\"none\"}\n\nn 0\n"))
	f.Add([]byte("\nn\n{\n\nn 1"))
	f.Fuzz(func(t *testing.T, out []byte) {
		var a authStatus
		var b tried
		_, _ = clientAnswer(out, "n", &a)
		if _, err := clientAnswer(out, "n", &b); err != nil && strings.ContainsAny(err.Error(), "\x1b\n") {
			t.Errorf("%q", err)
		}
	})
}

// TestOutdated holds which refusals are of a login before the present one.
func TestOutdated(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(1000+s, 0) }
	for name, tt := range map[string]struct {
		refused, login, launched time.Time
		want                     bool
	}{
		"launched with a newer login": {at(1), at(5), at(9), true},
		"in the same second":          {at(1), at(5), at(5), true},
		"refused with that login":     {at(6), at(5), at(5), false},
		"before it by a bit":          {at(5).Add(2e8), at(5).Add(7e8), at(5), true},
		"behind it by a bit":          {at(5).Add(8e8), at(5).Add(7e8), at(5), false},
		"not launched since":          {at(1), at(5), at(3), false},
		"no login of ours":            {at(1), time.Time{}, at(9), false},
		"not launched by us":          {at(1), at(5), time.Time{}, false},
		"refused nobody knows when":   {time.Time{}, at(5), at(9), false},
	} {
		if got := outdated(tmux.Pane{Launched: tt.launched}, tt.refused, tt.login); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	sys := newSite(nil).parse([]byte("tz UTC\nblock e\n7 1 77.000000001 78.5\nend\nclock 1 +0000\n"))
	vim := newSite(nil).parse([]byte("tz UTC\nblock e\n7 1 x 78.5\nend\nblock s\nend\n\"editorMode\": \"vim\"\nclock 1 +0000\n"))
	if !sys.login.Equal(time.Unix(77, 1)) || sys.vim || !vim.login.IsZero() || !vim.vim {
		t.Errorf("%+v, %+v", sys, vim)
	}
}

// TestTried holds which answers of the service are a refusal of the token.
func TestTried(t *testing.T) {
	for _, tt := range []struct {
		t              tried
		refused, works bool
	}{
		{tried{}, false, true}, {tried{IsError: true, APIStatus: 401}, true, false}, {tried{IsError: true, APIStatus: 403}, true, false},
		{tried{IsError: true, APIStatus: 429}, false, true}, {tried{IsError: true, APIStatus: 529}, false, false}, {tried{IsError: true}, false, false},
	} {
		if tt.t.refused() != tt.refused || tt.t.works() != tt.works {
			t.Errorf("%+v", tt.t)
		}
	}
}
