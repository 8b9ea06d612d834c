package tmux

import (
	"fmt"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// Journal is a file on the machine in which a Paste writes down what it is about
// to do before it does it, so that whoever asks later can tell how far it came,
// whatever became of the sender or of the script itself. It is made with mode
// 0600. A text whose journal says that it may have been typed is not pasted
// again.
type Journal struct {
	// Dir is a folder; a leading ~ is the home directory there. The file is in a
	// folder of it that is the machine's own: several may share a home.
	Dir  string
	Name string // of the file; letters, digits, "-", "_" and "."
	// Head is what the caller wants to find in it: lines "key value". It must
	// begin no line with the name of a Stage.
	Head string
	// Days is how long the folder's other files are kept; they are removed when
	// a new one is made. Zero keeps them.
	Days int
}

// Stage begins a line of a journal: what was done, or about to be. Behind it
// stands when, in milliseconds since 1970, which end in 000 where the machine's
// date knows whole seconds only.
type Stage string

// The stages, in the order in which they come about.
const (
	StageTyping    Stage = "typing"    // what follows may have been typed
	StageEnter     Stage = "enter"     // Enter may have been pressed
	StageSubmitted Stage = "submitted" // the text left the input line after Enter
	StageStuck     Stage = "stuck"     // it did not
	StageTyped     Stage = "typed"     // it was never seen whole, and Enter was not pressed
	StageErased    Stage = "erased"    // as typed, and it was taken out again: as if nothing had been
)

// script defines "claim", which makes the journal, and "note", which adds a
// stage. A file that ends in "erased", or that holds no stage since its writer
// died over the first line, stands for nothing typed, and is made anew, as another
// file: the old one may be known by another name; "unclaim"
// removes that of a writer who found the screen changed.
func (j *Journal) script(nonce string) string {
	if j == nil {
		return "claim() { :; }\nnote() { :; }\nunclaim() { :; }\n"
	}
	old := ""
	if j.Days > 0 {
		old = fmt.Sprintf("  find \"$journals\" -type f -mtime +%d -exec rm -f {} + 2>/dev/null\n", j.Days)
	}
	return j.path() + assign("journal_head", strings.TrimRight(j.Head, "\n")) + fmt.Sprintf(`claim() {
  umask 077
  mkdir -p -- "$journals" 2>/dev/null
%[2]s  if [ -L "$journal" ] || { [ -e "$journal" ] && [ ! -f "$journal" ]; }; then drop; echo '%[1]s unwritten'; exit 0; fi
  if [ -e "$journal" ]; then
    last=$(sed -n '$s/ .*//p' "$journal" 2>/dev/null)
    if grep -q '^%[3]s ' "$journal" && [ "$last" != %[4]s ]; then drop; echo '%[1]s claimed'; exit 0; fi
  fi
  rm -f -- "$journal"
  (set -C; printf '%%s\nsender %%s\n%[3]s %%s\n' "$journal_head" "$self" "$(clock)" >"$journal") || { rm -f "$journal"; drop; echo '%[1]s unwritten'; exit 0; }
}
note() { printf '%%s %%s\n' "$1" "$(clock)" >>"$journal"; }
clock() {
  ms=$(date +%%s%%3N 2>/dev/null)
  case $ms in ''|*[!0-9]*) ms=$(date +%%s)000 ;; esac
  echo "$ms"
}
unclaim() { rm -f "$journal"; }
`, nonce, old, StageTyping, StageErased)
}

// machineScript sets the variable machine to what tells one machine from another
// for as long as it lasts: systemd's id, that of FreeBSD, that of macOS. The
// machine's name is the last resort, since a network may change it.
const machineScript = `machine=$(cat /etc/machine-id 2>/dev/null)
[ -n "$machine" ] || machine=$(sysctl -n kern.hostuuid 2>/dev/null)
[ -n "$machine" ] || machine=$(ioreg -rd1 -c IOPlatformExpertDevice 2>/dev/null | sed -n 's/.*"IOPlatformUUID" = "\(.*\)".*/\1/p')
[ -n "$machine" ] || machine=$(uname -n)
machine=$(printf '%s' "$machine" | LC_ALL=C tr -cd '0-9A-Za-z._-')
`

// path sets the variables journals, the folder, and journal, the file.
func (j *Journal) path() string {
	return machineScript + "journals=" + DirWord(strings.TrimRight(j.Dir, "/")) + "/$machine\n" +
		"journal=$journals/" + transport.Quote(j.Name) + "\n"
}

// Fragment is the sh text that prints the journal, then "alive" if the script
// that writes it still runs. It prints nothing when there is none. The paste
// buffer of a script that was killed is taken away.
func (j *Journal) Fragment() string {
	return holderScript + j.path() + `
[ -f "$journal" ] && {
  head -c 4096 "$journal"
  sender=$(sed -n 's/^sender \([0-9A-Za-z-]*\)$/\1/p' "$journal" | head -n 1)
  if [ -z "$sender" ]; then :
  elif alive "$sender"; then echo alive
  else tmux -u delete-buffer -b ` + bufferPrefix + `"$sender" 2>/dev/null
  fi
}
:
`
}
