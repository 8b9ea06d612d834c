package fleet

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transcript"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// facts are the lines "key value" that a fragment printed. A key may be there
// several times.
type facts map[string][]string

// parseFacts reads them. Values come with their line ends as \x01.
func parseFacts(out []byte) facts {
	f := facts{}
	for line := range strings.Lines(string(out)) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		f[key] = append(f[key], strings.TrimSpace(strings.ReplaceAll(value, "\x01", "\n")))
	}
	return f
}

// get is the first value of a key, or empty.
func (f facts) get(key string) string {
	if len(f[key]) == 0 {
		return ""
	}
	return f[key][0]
}

func (f facts) has(key, value string) bool { return slices.Contains(f[key], value) }

// saying defines say, which prints a fact on one line whatever is in it, and
// limit, which bounds a command where the host can.
const saying = `say() { printf '%s %s\n' "$1" "$(printf '%s' "$2" | tr '\n\r' '\001\001')"; }
limit() { fleet_n=$1; shift; if command -v timeout >/dev/null 2>&1; then timeout "$fleet_n" "$@"; else "$@"; fi; }
`

// accountFragment says who we are there, and which programs a remedy may call: a
// tool that the host's own PATH lacks is beyond it, and told with its path.
var accountFragment = saying + transport.PlainPath() + `say uid "$(id -u)"
say user "$(id -un)"
say shell "${SHELL:-/bin/sh}"
say system "$(uname -s)"
say lang "${LC_ALL:-${LC_CTYPE:-$LANG}}"
say all "$LC_ALL"
say ctype "$LC_CTYPE"
command -v locale >/dev/null 2>&1 && say charmap "$(locale charmap 2>/dev/null)"
say utf8 "$(locale -a 2>/dev/null | LC_ALL=C grep -i -E '^(c|en_us)\.utf-?8$' | head -n 1)"
for t in git ssh tmux npm curl timedatectl sudo brew apt-get dnf yum zypper pacman apk; do
  command -v "$t" >/dev/null 2>&1 || continue
  say tool "$t"
  (PATH=$fleet_plain; command -v "$t" >/dev/null 2>&1) || say beyond "$(command -v "$t")"
done
[ -f "$HOME/.bash_profile" ] && say profile .bash_profile
[ -f "$HOME/.bash_login" ] && say profile .bash_login
:`

// loginFragment asks a login shell what it makes of PATH and locale, as a person
// gets them. It is not interactive: without a terminal of its own such a shell
// may stop at once. Shells that read no sh text are not asked.
func loginFragment(words []string) string {
	ask := `printf '\nfleet-login lang %s\n' "${LC_ALL:-${LC_CTYPE:-$LANG}}"; printf 'fleet-login all %s\nfleet-login ctype %s\n' "$LC_ALL" "$LC_CTYPE"; ` +
		`command -v locale >/dev/null 2>&1 && printf 'fleet-login charmap %s\n' "$(locale charmap 2>/dev/null)"; `
	for i, w := range words {
		ask += fmt.Sprintf("command -v %s >/dev/null 2>&1 && printf 'fleet-login has %d\\n'; ", tmux.DirWord(w), i)
	}
	return saying + transport.PlainPath() + `case ${SHELL##*/} in sh|bash|dash|zsh|ksh|mksh|ash) ;; *) exit 0 ;; esac
PATH=$fleet_plain limit 5 "$SHELL" -l -c ` + transport.Quote(ask+":") + ` </dev/null 2>/dev/null | LC_ALL=C sed -n 's/^fleet-login //p'`
}

// clientFragment looks for a program as a host's command names it. The client's
// --version writes nothing and reads no conversation (2.1.332, 0.3 s).
func clientFragment(word string) string {
	version := ""
	if path.Base(word) == clientName {
		version = `say version "$(limit 5 %[1]s --version </dev/null 2>/dev/null | head -n 1)"`
	}
	return saying + transport.PlainPath() + fmt.Sprintf(`at=$(command -v %[1]s 2>/dev/null) || exit 0
say at "$at"
say plain "$(PATH=$fleet_plain; command -v %[1]s 2>/dev/null)"
`+version, tmux.DirWord(word))
}

// unitName is the systemd user unit that starts a host's session.
const unitName = "claude-tmux.service"

// systemdFragment asks the login manager and the user manager. Behind SSH without
// PAM nothing says where the latter's bus is.
const systemdFragment = saying + `command -v systemctl >/dev/null 2>&1 && command -v loginctl >/dev/null 2>&1 || exit 0
[ -n "$XDG_RUNTIME_DIR" ] || { say runtime unset; XDG_RUNTIME_DIR=/run/user/$(id -u); export XDG_RUNTIME_DIR; }
say linger "$(limit 5 loginctl show-user "$(id -un)" --property=Linger </dev/null 2>&1)"
say unit "$(limit 5 systemctl --user show ` + unitName + ` --property=LoadState --property=UnitFileState --property=ActiveState </dev/null 2>&1)"`

// filesFragment looks at what the fleet keeps in the home: the token, the pushed
// workdir, the journals.
const filesFragment = saying + `d=$HOME/.config/claude-fleet
if [ -e "$d/env" ] || [ -L "$d/env" ]; then
  say folder "$(LC_ALL=C ls -ldnL "$d" 2>&1)"
  say token "$(LC_ALL=C ls -ldn "$d/env" 2>&1)"
fi
[ -f "$HOME/.fleet-workdir" ] && say pushed "$(head -c 4096 "$HOME/.fleet-workdir" 2>/dev/null)"
p=$HOME/.local/state/claude-fleet
while [ ! -e "$p" ] && [ ! -L "$p" ] && [ -n "$p" ]; do p=${p%/*}; done
for f in "${p:-/}" "$HOME"/.local/state/claude-fleet/*; do
  [ -e "$f" ] || [ -L "$f" ] || continue
  if [ ! -d "$f" ]; then say nofolder "$f"; elif [ ! -w "$f" ] || [ ! -x "$f" ]; then say readonly "$f"; fi
done
:`

func folderSection(i int) string { return "folder" + strconv.Itoa(i) }

// treeFragment looks at a workdir: whether it is there, its git and its disk.
func treeFragment(h Host) string {
	return saying + fmt.Sprintf(`unset CDPATH
cd -- %s 2>/dev/null || exit 0
say path "$(pwd -P)"
say logical "$(pwd -L)"
say disk "$(df -Pk . 2>/dev/null | awk 'NR == 2 { for (i = 3; i <= NF; i++) if ($i ~ /^[0-9]+%%$/) { print $(i-1), substr($i, 1, length($i) - 1); exit } }')"
command -v git >/dev/null 2>&1 || exit 0
say tree "$(GIT_OPTIONAL_LOCKS=0 LC_ALL=C limit 3 git -c core.fsmonitor=false rev-parse --is-inside-work-tree 2>&1 | head -n 1)"`, tmux.DirWord(h.Workdir))
}

// doctorScript is the one script that a machine is examined by.
type doctorScript struct {
	group    group
	sections *transport.Sections
	panes    tmux.Query
	clients  transcript.Query
	words    []string // of the hosts' commands, each once
}

func newDoctorScript(g group) doctorScript {
	s := doctorScript{group: g, sections: transport.NewSections(), panes: tmux.NewQueryAll(), clients: transcript.NewQuery()}
	for _, h := range g.hosts {
		if w := programOf(h.Command); !slices.Contains(s.words, w) {
			s.words = append(s.words, w)
		}
	}
	s.sections.Add("began", "date +%s")
	s.sections.Add("account", accountFragment)
	s.sections.Add("login", loginFragment(s.words))
	for i, w := range s.words {
		s.sections.Add("client"+strconv.Itoa(i), clientFragment(w))
	}
	s.sections.Add("tmux", s.panes.Fragment())
	s.sections.Add("processes", processFragment)
	s.sections.Add("sessions", s.clients.Fragment())
	s.sections.Add("systemd", systemdFragment)
	s.sections.Add("files", filesFragment)
	for i, h := range g.hosts {
		s.sections.Add(folderSection(i), treeFragment(h))
	}
	s.sections.Add("ended", "date +%s")
	return s
}

func (s doctorScript) read(parts map[string]transport.Section) examined {
	of := func(name string) facts { return parseFacts(parts[name].Out) }
	x := examined{
		account: of("account"), login: of("login"), systemd: of("systemd"), files: of("files"), clients: map[string]facts{},
		table: parseProcesses(parts["processes"]), sessions: s.clients.Parse(parts["sessions"].Out),
	}
	for i, w := range s.words {
		c := of("client" + strconv.Itoa(i))
		if x.login.has("has", strconv.Itoa(i)) {
			c["login"] = []string{"yes"}
		}
		x.clients[w] = c
	}
	x.snap, x.tmuxErr = tmuxAnswer(s.panes.Parse(parts["tmux"].Out))
	for i := range s.group.hosts {
		x.folders = append(x.folders, of(folderSection(i)))
	}
	return x
}

// programOf is the program that a host's command starts; the client's name where
// the command is more than a program and its arguments.
func programOf(command string) string {
	for word := range strings.FieldsSeq(command) {
		name, _, assigns := strings.Cut(word, "=")
		if assigns && name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 || !isBareKeyByte(byte(r)) }) {
			continue
		}
		if word[0] == '-' || strings.ContainsAny(word, "'\"`$\\;&<>|(){}*?[]!#") || slices.Contains(shellVerbs, word) {
			break
		}
		return word
	}
	return clientName
}

// shellVerbs begin a command whose program stands further on.
var shellVerbs = []string{"exec", "cd", "env", "export", "exit", "if", "while", "for", ".", "source", "nice", "nohup", "sudo", "test", "["}

// span is what a difference of clocks lies within, host minus ours.
type span struct{ least, most time.Duration }

// skewOf reads the two clocks that the script printed, at its beginning and at its
// end. The host's first reading was taken after began here, its last before ended:
// that bounds the difference to the round trip, however long the script ran. Its
// clock tells whole seconds.
func skewOf(parts map[string]transport.Section, began, ended time.Time) span {
	at := func(name string) (time.Time, bool) {
		n, err := strconv.ParseInt(strings.TrimSpace(string(parts[name].Out)), 10, 64)
		return time.Unix(n, 0), err == nil
	}
	first, ok1 := at("began")
	last, ok2 := at("ended")
	if !ok1 || !ok2 {
		return span{}
	}
	// Without the monotonic clock: it does not go by the wall.
	return span{least: last.Sub(ended.Round(0)), most: first.Add(time.Second).Sub(began.Round(0))}
}

// off is how far the clock is off at the least, ahead or behind.
func (s span) off() time.Duration {
	switch {
	case s.least > 0:
		return s.least
	case s.most < 0:
		return s.most
	}
	return 0
}
