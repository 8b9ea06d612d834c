package tmux

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestLoginShells launches through each login shell that an account may have:
// its start-up files are read, the command arrives to the letter, and no signal
// is left ignored.
func TestLoginShells(t *testing.T) {
	for shell, rc := range map[string]string{"bash": ".bash_profile", "dash": ".profile", "zsh": ".zprofile", "fish": ".config/fish/config.fish", "csh": ".cshrc"} {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Fatalf("%v: scripts/setup test installs it", err)
			}
			m := newMachine(t, "", "SHELL="+path)
			switch shell {
			case "fish":
				m.write(rc, "set -gx FROM_RC 'yes indeed'\n")
			case "csh":
				m.write(rc, "setenv FROM_RC 'yes indeed'\n")
			default:
				m.write(rc, "export FROM_RC='yes indeed'\n")
			}
			m.start("work", Launch{Dir: "~", Unset: []string{"GONE"}, Command: `set -- 'a  b' "it's" \! '!!' '%' '*' "\$x" 'ü
two'
{ echo "$FROM_RC"; printf '<%s>' "$@"; echo; grep SigIgn /proc/self/status; tty; } ` + m.into("out") + "; exit 6"})
			got := m.wrote("out")
			said, rest, _ := strings.Cut(got, "\nSigIgn:\t")
			if want := "yes indeed\n<a  b><it's><!><!!><%><*><$x><ü\ntwo>"; said != want {
				t.Errorf("it saw %q, want %q", said, want)
			}
			mask, tty, _ := strings.Cut(rest, "\n")
			ignored, err := strconv.ParseUint(mask, 16, 64)
			if err != nil || !strings.HasPrefix(tty, "/dev/") {
				t.Fatalf("it saw %q", got)
			}
			// dash and csh leave the two of terminal output ignored, which no sh can undo.
			for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGPIPE, syscall.SIGTERM, syscall.SIGCHLD, syscall.SIGTSTP} {
				if ignored&(1<<(s-1)) != 0 {
					t.Errorf("%s is ignored", s)
				}
			}
			m.eventually("the session stands", func() (bool, string) {
				p := m.only("work")
				return p.Ended && p.ExitCode == 6, string(p.Screen)
			})
		})
	}
}
