package tmux

import (
	"context"
	"fmt"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// Launch is a command to run in a pane.
type Launch struct {
	Dir     string   // a leading ~ is the machine's home directory
	Command string   // sh text
	Unset   []string // environment variables that it must not inherit from the server
	// EnvFile is a file of NAME=value lines, by its path below the home of the
	// account, which the command alone has in its environment: neither the tmux
	// server nor the shell that is left when the command has ended. A value is what
	// stands behind the first "=", to the letter; other lines are passed over. The
	// file is read when the command starts, and only if it is a regular file of the
	// account's own that nobody else has access to: else the pane says why not. Empty
	// is none, and there need not be one.
	EnvFile string
}

// Words are the words of a command that launches l in a pane, to be followed by
// the directory, with a slash at its end, and the PATH of whoever launches it. A
// ";" that ends a word would be tmux's own.
func (l Launch) Words() []string { return []string{"/bin/sh", "-c", launcher, "sh", l.program()} }

// Size of a new session's window until a client attaches: wide enough that a
// program cuts nothing off its status line.
const (
	Cols = 200
	Rows = 50
)

// launcher runs the user's login shell, interactive so that it reads the same
// start-up files as when a person types the command there, and from it a plain
// sh with the command. The words behind -c are escaped without quotes, which
// bash, dash, zsh, fish and csh read alike. csh takes no -l beside -c. Its
// arguments are the program, its directory and the PATH of the script that
// launches it; the directory is no -c of tmux, which would expand "#(…)" in it.
const launcher = `FLEET_RUN=$1 FLEET_DIR=$2 FLEET_PATH=$PATH:$3; export FLEET_RUN FLEET_DIR FLEET_PATH
shell=${SHELL:-/bin/sh}
case ${shell##*/} in
  csh|tcsh) exec "$shell" -c 'exec /bin/sh -c eval\ \"\$FLEET_RUN\"' ;;
  *) exec "$shell" -l -i -c 'exec /bin/sh -c eval\ \"\$FLEET_RUN\"' ;;
esac`

// terminalReset undoes what a killed full-screen program leaves behind: the
// alternate screen, mouse and focus reports, bracketed paste, a hidden cursor,
// colours, key encodings.
const terminalReset = `printf '\033[?1049l\033[?1000l\033[?1002l\033[?1003l\033[?1006l\033[?1004l\033[?2004l\033[?1l\033>\033[<u\033[>4;0m\033[?25h\033[0m\r\n'; stty sane`

// locale sees to a locale whose characters are UTF-8, where the environment has
// none: what a program draws is made of them. Which ones there are is asked, since
// many programs complain of one that there is not; musl has no list and takes any.
const locale = `case ${LC_ALL:-${LC_CTYPE:-${LANG:-}}} in
  *[Uu][Tt][Ff]8*|*[Uu][Tt][Ff]-8*) ;;
  *) LC_CTYPE=$(locale -a 2>/dev/null | LC_ALL=C grep -i -E '^(C|en_US)\.utf-?8$' | head -n 1)
    unset LC_ALL; LC_CTYPE=${LC_CTYPE:-C.UTF-8}; export LC_CTYPE ;;
esac
`

// program is what the inner sh runs: the command, and after it a login shell,
// so that the session stands when the command ends and a person finds a prompt
// there. The command's exit code is left in endedOption. It runs in a subshell,
// where neither an exit, an exec nor a syntax error of its own ends the session,
// and an interrupt before it has taken the terminal ends it alone; one that comes
// right behind its end does not lose the exit code. A start-up
// file may have gone to another directory, and /etc/profile sets PATH anew on
// Debian: what the login shell lacks is appended.
func (l Launch) program() string {
	unset := strings.Join(append([]string{"FLEET_RUN", "FLEET_DIR", "FLEET_PATH"}, l.Unset...), " ")
	env := ""
	if l.EnvFile != "" {
		env = ReadEnvFile(l.EnvFile)
	}
	return "PATH=$PATH:$FLEET_PATH; fleet_dir=$FLEET_DIR; export PATH; unset CDPATH " + unset + "\n" + locale + "trap : INT QUIT\n" +
		"if cd -- \"$fleet_dir\"; then (unset fleet_dir; " + env + "eval " + transport.Quote(l.Command) + "\n); else (exit 1); fi\n" +
		"fleet_code=$?; (trap '' INT QUIT; exec tmux -u set-option -p -t \"$TMUX_PANE\" " + endedOption + " \"$fleet_code\" 2>/dev/null); unset fleet_code\n" +
		terminalReset + "\nexec \"${SHELL:-/bin/sh}\" -l\n"
}

// script checks the directory, goes there, and sets the variables that the tmux
// command below it uses. The dot keeps trailing newlines of a name, the slash a
// semicolon at its end from tmux, which would take it for its own.
func (l Launch) script(nonce string) string {
	return fmt.Sprintf("command -v tmux >/dev/null 2>&1 || { echo '%[1]s missing'; exit 0; }\n"+
		"unset CDPATH; dir=%[2]s\n[ -d \"$dir\" ] && cd -- \"$dir\" 2>/dev/null || { echo '%[1]s nodir'; exit 0; }\ndir=$(pwd; echo .); dir=${dir%%??}\n",
		nonce, DirWord(l.Dir)) + "dir=${dir%/}/\n" + assign("launcher", launcher) + assign("program", l.program())
}

// Relaunch ends what runs in a pane and launches the command there instead; a
// guard, where one is given, must hold or the error is ErrChanged and nothing
// was done. It holds the pane's lock meanwhile, so that of two callers at once
// the second finds another screen, or ErrLocked. Otherwise as Start, and
// ErrNoSession when the pane is gone.
func Relaunch(ctx context.Context, r Runner, pane string, g *Guard, l Launch) error {
	if !validPane(pane) {
		return ErrNoSession
	}
	n := newNonce()
	check := assign("pane", pane) + lock(n)
	if g != nil {
		check += g.script() + assign("pane", pane) + fmt.Sprintf("same || { echo '%s changed'; exit 0; }\n", n)
	}
	there := fmt.Sprintf("tmux -u list-panes -a -F '#{pane_id}' 2>/dev/null | grep -qxF -e %s || { echo '%s nosession'; exit 0; }\n", transport.Quote(pane), n)
	_, err := launched(answer(ctx, r, n, l.script(n)+there+check+fmt.Sprintf(
		`tmux -u set-option -p -u -q -t "$pane" %[3]s
tmux -u respawn-pane -k -t "$pane" -- /bin/sh -c "$launcher" sh "$program" "$dir" "$PATH" || { echo '%[1]s failed'; exit 0; }
tmux -u set-option -p -t "$pane" %[2]s "$(date +%%s)" 2>/dev/null || { echo '%[1]s vanished'; exit 0; }
echo '%[1]s started' "$pane"
`, n, LaunchedOption, endedOption)))
	return err
}

// Note leaves a note of one word on a pane, for the next look to find in
// Pane.Note.
func Note(ctx context.Context, r Runner, pane, note string) error {
	if !validPane(pane) {
		return ErrNoSession
	}
	n := newNonce()
	_, err := answer(ctx, r, n, fmt.Sprintf("tmux -u set-option -p -t %s %s %s && echo '%s noted' || echo '%s failed'\n",
		transport.Quote(pane), noteOption, transport.Quote(note), n, n))
	return err
}

// launched turns the answer of a launching script into the pane's id.
func launched(words []string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	switch words[0] {
	case "missing":
		return "", ErrNotInstalled
	case "nodir":
		return "", ErrNoDirectory
	case "vanished":
		return "", ErrVanished
	case "unattached":
		return "", ErrUnattached
	case "nosession":
		return "", ErrNoSession
	case "changed":
		return "", ErrChanged
	case "locked":
		return "", ErrLocked
	}
	if len(words) < 2 || !validPane(words[1]) {
		return "", ErrVanished
	}
	return words[1], nil
}

// AttachScript is the script that attaches a terminal to a session. outer is
// the TMUX variable of the terminal that asks, empty outside tmux: within the
// same server the client is switched, since a session attached inside itself
// would draw itself for ever.
func AttachScript(session, outer string) string {
	target := transport.Quote("=" + session)
	script := fmt.Sprintf("unset TMUX\ntmux -u has-session -t %s || exit 1\n", target)
	if socket, _, ok := strings.Cut(outer, ","); ok {
		script += fmt.Sprintf("if [ \"$(tmux -u display-message -p '#{socket_path}')\" = %s ]; then TMUX=%s exec tmux -u switch-client -t %s; fi\n",
			transport.Quote(socket), transport.Quote(outer), target)
	}
	return script + "exec tmux -u attach-session -t " + target + "\n"
}
