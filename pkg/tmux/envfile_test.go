package tmux

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// envShells are the shells that sh is somewhere; a machine has some of them.
func envShells(t *testing.T) map[string][]string {
	t.Helper()
	shells := map[string][]string{}
	for name, args := range map[string][]string{"sh": nil, "dash": nil, "bash": {"--posix"}, "busybox": {"sh"}, "mksh": nil, "ksh": nil, "zsh": {"--emulate", "sh"}} {
		if path, err := exec.LookPath(name); err == nil {
			shells[name] = append([]string{path}, args...)
		}
	}
	if len(shells["dash"]) == 0 || len(shells["bash"]) == 0 {
		t.Fatal("scripts/setup test installs dash and bash")
	}
	return shells
}

// TestReadEnvFile reads files of all kinds in every shell that is there.
func TestReadEnvFile(t *testing.T) {
	const text = "# a remark\nexport NO=1\nTOKEN=sk-1 'x' \"$HOME\" \\n `id` = *\n\nNO\n=NO\n1NO=1\nN-O=1\nNÖ=1\nPPID=7\nEMPTY=\nTOKEN_2=  two \nLAST=no line end"
	plain := func(path string) error { return os.WriteFile(path, []byte(text), 0o600) }
	for shell, words := range envShells(t) {
		for name, tt := range map[string]struct {
			make func(path string) error
			why  string // why it is not read; "-" where there is no file
		}{
			"a file": {plain, ""},
			"none":   {func(string) error { return nil }, "-"},
			"for the group": {func(p string) error { return os.WriteFile(p, []byte(text), 0o640) },
				"others may read"},
			"for others to write": {func(p string) error {
				if err := plain(p); err != nil {
					return err
				}
				return os.Chmod(p, 0o602)
			}, "others may read"},
			"a link": {func(p string) error {
				if err := plain(p + ".real"); err != nil {
					return err
				}
				return os.Symlink(p+".real", p)
			}, "it is a link"},
			"a link to nothing": {func(p string) error { return os.Symlink(p+".none", p) }, "it is a link"},
			"a directory":       {func(p string) error { return os.Mkdir(p, 0o700) }, "it is no regular file"},
			"a pipe":            {func(p string) error { return syscall.Mkfifo(p, 0o600) }, "it is no regular file"},
			"another account's": {func(p string) error {
				if err := plain(p); err != nil || os.Getuid() != 0 {
					return err
				}
				return os.Chown(p, 65534, 65534)
			}, map[bool]string{true: "it belongs to another account"}[os.Getuid() == 0]},
		} {
			home := filepath.Join(t.TempDir(), "h o m e")
			if err := os.MkdirAll(filepath.Join(home, "it's"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := tt.make(filepath.Join(home, "it's", "env")); err != nil {
				t.Fatal(err)
			}
			script := "set -- a\n" + ReadEnvFile("it's/env") + `printf '<%s>' "$TOKEN" "${EMPTY-unset}" "$TOKEN_2" "$LAST" "${NO-unset}" "$#" "${fleet_line-unset}"
env | grep -c -E '^(TOKEN|LAST)='`
			cmd := exec.Command(words[0], append(words[1:], "-c", script)...)
			cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8"}
			var said strings.Builder
			cmd.Stderr = &said
			out, err := cmd.Output()
			want := "<sk-1 'x' \"$HOME\" \\n `id` = *><><  two ><no line end><unset><1><unset>2\n"
			if tt.why != "" {
				want = "<><unset><><><unset><1><unset>0\n"
			}
			if string(out) != want { // grep -c of none exits 1
				t.Errorf("%s, %s: it saw %q (%v, %s), want %q", shell, name, out, err, said.String(), want)
			}
			if tells := strings.Contains(said.String(), "was not read: "+tt.why); tells != (len(tt.why) > 1) || strings.Contains(said.String(), "sk-1") {
				t.Errorf("%s, %s: it said %q", shell, name, said.String())
			}
		}
	}
}

// TestStartEnvFile holds that the command alone has what the file says: no other
// process of the session, and no line of tmux.
func TestStartEnvFile(t *testing.T) {
	m := newMachine(t, "")
	m.write("etc/env", "TOKEN=sk-planted-7\n")
	if err := os.Chmod(filepath.Join(m.home, "etc/env"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := Launch{Dir: "~", EnvFile: "etc/env", Command: `echo "$TOKEN" ` + m.into("out") + "; exit 4"}
	pane := m.start("work", l)
	if got := m.wrote("out"); got != "sk-planted-7" {
		t.Errorf("the command saw %q", got)
	}
	m.eventually("it has ended", func() (bool, string) { p := m.only("work"); return p.Ended, string(p.Screen) })
	m.tmux("send-keys", "-t", "=work:", "env "+m.into("after"), "Enter")
	if got := m.wrote("after"); strings.Contains(got, "sk-planted-7") || strings.Contains(got, "fleet_") || !strings.Contains(got, "HOME=") {
		t.Errorf("the shell behind it has %s", got)
	}
	for _, where := range [][]string{{"show-environment", "-g"}, {"show-environment", "-t", "=work"}, {"capture-pane", "-p", "-S", "-", "-t", pane}} {
		if got := m.tmux(where...); strings.Contains(got, "sk-planted-7") {
			t.Errorf("tmux %s has it:\n%s", where[0], got)
		}
	}
	// A launch that names no file has nothing of it; one for others' eyes is said
	// on the screen, and the command runs.
	if err := os.Chmod(filepath.Join(m.home, "etc/env"), 0o604); err != nil {
		t.Fatal(err)
	}
	l.Command = `echo "${TOKEN-unset}" ` + m.into("out2") + "; exec sleep 1000"
	m.start("open", l)
	if got := m.wrote("out2"); got != "unset" {
		t.Errorf("the command saw %q", got)
	}
	if screen := m.tmux("capture-pane", "-p", "-t", "=open:"); !strings.Contains(screen, "~/etc/env was not read: others may read or write it") {
		t.Errorf("the screen shows %s", screen)
	}
}
