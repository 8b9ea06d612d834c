package tmux

import "fmt"

// LockOption is the pane option that holds a pane for one sender: the process
// id of its script on that machine, "-", and when that process started. Setting
// it fails while it is set, in one step within the server, and it goes with the
// pane.
const LockOption = "@fleet_sender"

// holderScript defines "started", which prints when a process began in a form
// that no second process of that id shares, and "alive", whether the holder of a
// lock still runs. A process id alone may be another's by now. The start time is
// field 22 of a stat file, counted behind the parenthesis that closes its name.
const holderScript = `started() {
  if [ -r "/proc/$1/stat" ]; then
    stat=$(cat "/proc/$1/stat" 2>/dev/null); set -f; set -- ${stat##*) }; set +f
    echo "${20}"
  else ps -o lstart= -p "$1" 2>/dev/null | LC_ALL=C tr -cd '0-9A-Za-z'
  fi
}
alive() { kill -0 "${1%%-*}" 2>/dev/null && [ "$(started "${1%%-*}")" = "${1#*-}" ]; }
`

// bufferPrefix and what the lock holds of a sender are the name of its paste
// buffer, so that whoever finds it dead can take the buffer away, which has a
// part of its text.
const bufferPrefix = "fleet-"

// lockScript takes the lock, or that of a holder that has died. Each is one
// step within the server, so that of two who find the same dead holder one wins.
// $$ would be the shell that the transport runs the script under: it can die
// before this subshell does. What is not of our making is nobody's lock, and is
// not handed to tmux, which would parse it.
const lockScript = holderScript + `self=$(exec /bin/sh -c 'echo "$PPID"')
self=$self-$(started "$self")
buffer=%[3]s$self
held=$(tmux -u set-option -p -o -q -t "$pane" %[2]s "$self" \; show-options -p -v -q -t "$pane" %[2]s)
case $held in
  "$self") ;;
  '') echo '%[1]s changed'; exit 0 ;;
  *[!0-9A-Za-z-]*) tmux -u set-option -p -t "$pane" %[2]s "$self"; held=$self ;;
  *) if ! alive "$held"; then
       tmux -u delete-buffer -b "%[3]s$held" 2>/dev/null
       held=$(tmux -u if-shell -F -t "$pane" "#{==:#{%[2]s},$held}" "set-option -p -t '$pane' %[2]s $self" \; show-options -p -v -q -t "$pane" %[2]s)
     fi ;;
esac
[ "$held" = "$self" ] || { echo '%[1]s locked'; exit 0; }
trap 'tmux -u set-option -p -u -t "$pane" %[2]s' EXIT
trap '' HUP INT TERM PIPE
`

// lock is lockScript for the answers of one script.
func lock(nonce string) string { return fmt.Sprintf(lockScript, nonce, LockOption, bufferPrefix) }
