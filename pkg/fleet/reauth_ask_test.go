package fleet

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestClientCall holds which commands call the client itself: no other program is
// called with the client's arguments.
func TestClientCall(t *testing.T) {
	for command, want := range map[string]string{
		"claude": "claude", "claude --dangerously-skip-permissions": "claude", "~/bin/claude -c": "~/bin/claude",
		"IS_SANDBOX=1 CLAUDE_CONFIG_DIR=~/c claude": "IS_SANDBOX=1; export IS_SANDBOX\nCLAUDE_CONFIG_DIR=~/c; export CLAUDE_CONFIG_DIR\nclaude",
		"npx @anthropic-ai/claude-code":             "", "ssh box claude": "", "docker exec -it c claude": "", "exec claude": "", "env A=1 claude": "", "cd x && claude": "", "$CLIENT": "",
		"A='x y' claude": "", "": "", "A=1": "", "1A=1 claude": "", "claude-next": "", "my-claude": "",
	} {
		set, program, ok := clientCall(command)
		if ok != (want != "") || ok && set+program != want {
			t.Errorf("%q: %q, %q, %v", command, set, program, ok)
		}
	}
}

// TestAskClient has the login shell's profile write out what it is given: not the
// token, nor what the caller had for one. The client gets both as they should be.
func TestAskClient(t *testing.T) {
	tok, err := ParseToken("sk-ant-oat01-made-up-good")
	if err != nil {
		t.Fatal(err)
	}
	for _, shell := range []string{"/bin/sh", "/bin/bash", "/bin/zsh", "/usr/bin/fish", "/bin/csh"} {
		if _, err := os.Stat(shell); err != nil {
			t.Fatal(err) // scripts/setup installs it
		}
		home := t.TempDir()
		write := func(name, text string, mode os.FileMode) {
			t.Helper()
			path := filepath.Join(home, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), mode); err != nil {
				t.Fatal(err)
			}
		}
		for _, profile := range []string{".profile", ".bash_profile", ".zprofile", ".cshrc", ".config/fish/config.fish"} {
			write(profile, "env >> $HOME/seen\ncat >> $HOME/input\n", 0o600)
		}
		write("bin/claude", "#!/bin/sh\necho '{\"loggedIn\": true, \"authMethod\": \"'\"$KIND $CLAUDE_CODE_OAUTH_TOKEN $*\"'\", \"result\": \"'\"$CLAUDE_CODE_OAUTH_TOKEN\"'\"}'\n", 0o700)
		ask := func(token Token, environment string, into any) {
			t.Helper()
			cmd := exec.Command("/bin/sh")
			cmd.Stdin = strings.NewReader(askClient(Host{Command: "KIND=kind claude --flag"}, "fleet0", token, environment, "auth status"))
			cmd.Env = []string{"HOME=" + home, "PATH=" + home + "/bin:" + os.Getenv("PATH"), "SHELL=" + shell, "CLAUDE_CODE_OAUTH_TOKEN=callers"}
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%s: %v", shell, err)
			}
			if _, err := clientAnswer(out, "fleet0", into); err != nil {
				t.Fatalf("%s: %v in %q", shell, err, out)
			}
		}
		var a authStatus
		if ask(Token{}, "", &a); a.Method != "kind  auth status" {
			t.Errorf("%s without: %q", shell, a.Method)
		}
		var tr tried
		if ask(tok, askWith, &tr); tr.Result != "sk-ant-oat01-made-up-good" && (shell != "/bin/csh" || !tr.IsError || tr.refused() || tr.works()) {
			t.Errorf("%s with: %+v", shell, tr)
		}
		seen, err := os.ReadFile(filepath.Join(home, "seen"))
		if err != nil || !strings.Contains(string(seen), "FLEET_RUN=") || strings.Contains(string(seen), "callers") {
			t.Errorf("%s: its profile saw %v, %q", shell, err, seen)
		}
		input, _ := os.ReadFile(filepath.Join(home, "input"))
		if both := string(seen) + string(input); strings.Contains(both, "sk-ant-oat01") {
			t.Errorf("%s: its profile has the token: %q", shell, both)
		}
	}
}

// TestWriteEnvFull has no room for the file: what was there stays, and nothing is
// left beside it, nor what was left before.
func TestWriteEnvFull(t *testing.T) {
	tok, err := ParseToken("sk-ant-oat01-" + strings.Repeat("n", 900))
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	f := filepath.Join(home, EnvFile)
	if err := os.MkdirAll(filepath.Dir(f), 0o700); err != nil {
		t.Fatal(err)
	}
	const was = "CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-old-and-valid\n"
	for _, path := range []string{f, f + ".new.77"} {
		if err := os.WriteFile(path, []byte(was), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, room := range []bool{false, true} {
		limit := "ulimit -f 0\n"
		if room {
			limit = ""
		}
		cmd := exec.Command("bash", "-c", "trap '' XFSZ\n"+limit+". /dev/stdin")
		cmd.Stdin, cmd.Env = strings.NewReader(writeEnv(tok, false)), []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		out, err := cmd.Output()
		got, _ := os.ReadFile(f)
		if (err == nil) != room || (string(got) == was) == room || strings.Contains(string(out), "written") != room {
			t.Errorf("room %v: %q, %v, and the file has %d bytes", room, out, err, len(got))
		}
		if rest, _ := filepath.Glob(f + ".new*"); len(rest) > 0 {
			t.Errorf("left %q", rest)
		}
	}
}
