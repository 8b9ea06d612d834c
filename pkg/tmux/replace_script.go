package tmux

// processScript looks at processes. "place" finds the pane: the id of its first
// process, its terminal, and whether a terminal shows a session that has it; "lives"
// is whether a process that began then still runs, which a zombie does not; "here"
// is whether a process has the pane's terminal: by its standard input, which a busybox
// without a useful ps tells too, else by ps; with $below whether it descends from the
// pane's first process; "within" waits for a command to succeed,
// and counts its naps besides, since a machine's clock may be set back.
const processScript = `place() {
  attached=; panepid=; tty=
  for word in $(tmux -u list-panes -a -F '#{pane_id}=#{pane_pid}=#{session_attached}=#{pane_tty}' 2>/dev/null); do
    case $word in "$pane="*) ;; *) continue ;; esac
    word=${word#*=}; panepid=${word%%=*}
    word=${word#*=}; [ "${word%%=*}" = 0 ] || attached=yes
    tty=${word#*=}
  done
  [ -n "$panepid" ]
}
condition() {
  if [ -r "/proc/$1/stat" ]; then
    stat=$(cat "/proc/$1/stat" 2>/dev/null); set -f; set -- ${stat##*) }; set +f
    echo "$1"
  else ps -o stat= -p "$1" 2>/dev/null
  fi
}
lives() {
  [ "$(started "$1")" = "$2" ] || return 1
  case $(condition "$1") in ''|Z*|X*) return 1 ;; esac
}
living() { lives "${1%%-*}" "${1#*-}"; }
beneath() {
  up=$1 n=0
  while [ "$up" != "$panepid" ]; do
    n=$((n + 1)); [ $n -lt 64 ] || return 1
    up=$(ps -o ppid= -p "$up" 2>/dev/null | tr -d ' ')
    case $up in ''|0|1|*[!0-9]*) return 1 ;; esac
  done
}
here() {
  if [ -n "$below" ]; then beneath "$1"; return; fi
  mine=$(readlink "/proc/$1/fd/0" 2>/dev/null)
  case $mine in /dev/*) ;; *) mine=/dev/$(ps -o tty= -p "$1" 2>/dev/null | tr -d ' ') ;; esac
  [ -n "$tty" ] && [ "$mine" = "$tty" ]
}
within() {
  most=$1; shift
  begun=$(date +%s) naps=0
  until "$@"; do
    second=$(date +%s)
    [ "$second" -ge "$begun" ] || begun=$second
    [ $((second - begun)) -lt "$most" ] && [ $naps -le $((most * 20)) ] || return 1
    naps=$((naps + 1)); sleep 0.1 2>/dev/null || sleep 1
  done
}
`

// replaceScript is Replace from the lock on. remain-on-exit keeps the pane while
// nothing runs in it. Launcher and pane end apart: the launcher leaves its exit code on
// the pane when its command has ended, which is waited for, since behind the next
// launch it would tell of the wrong one.
const replaceScript = `within_of() {
  ps -A -o pid= -o ppid= 2>/dev/null | awk -v root="$1" '{ up[$1] = $2 }
    END { for (i in up) { j = i; for (n = 0; n < 99 && (j in up) && j != root; n++) j = up[j]; if (j == root && i != root) print i } }'
}
stamped() { for one; do began=$(started "$one"); [ -z "$began" ] || printf '%%s-%%s ' "$one" "$began"; done; }
gone() { ! lives "$victim" "$since"; }
none() { for one; do ! living "$one" || return 1; done; }
signal() { name=$1; shift; for one; do ! living "$one" || kill "-$name" "${one%%%%-*}" 2>/dev/null; done; }
told() {
  printf '%%s' "$how"
  for one in $children; do ! living "$one" || ps -o comm= -p "${one%%%%-*}" 2>/dev/null | LC_ALL=C tr -cd '0-9A-Za-z._/+-' | sed 's/^/ /'; done
}
noted() { [ -n "$(tmux -u show-options -p -v -q -t "$pane" %[1]s)" ] || [ "$(tmux -u display-message -p -t "$pane" '#{pane_dead}')" = 1 ]; }
same && ! gone && here "$victim" && [ -z "$(eval "$check")" ] || { echo "$nonce changed"; exit 0; }
[ -z "$alone" ] || [ -z "$attached" ] || { echo "$nonce attached"; exit 0; }
kill -0 "$victim" 2>/dev/null || { echo "$nonce denied"; exit 0; }
for one in $(within_of "$victim"); do [ "$one" != "${self%%%%-*}" ] || { echo "$nonce inside"; exit 0; }; done
remains=$(tmux -u show-options -p -v -q -t "$pane" remain-on-exit)
restore() {
  if [ -n "$remains" ]; then tmux -u set-option -p -q -t "$pane" remain-on-exit "$remains"
  else tmux -u set-option -p -u -q -t "$pane" remain-on-exit; fi
  tmux -u set-option -p -u -t "$pane" %[3]s
} 2>/dev/null
trap restore EXIT
tmux -u set-option -p -q -t "$pane" remain-on-exit on 2>/dev/null
children=$(stamped $(within_of "$victim")) holders=$(stamped $holders)
how=term
kill -TERM "$victim" 2>/dev/null
case $(condition "$victim") in [Tt]*) kill -CONT "$victim" 2>/dev/null ;; esac
within "$term" gone || {
  how=kill
  kill -KILL "$victim" 2>/dev/null
  within "$kill" gone || { echo "$nonce endures"; exit 0; }
}
within 1 none $children || [ "$how" = term ] || {
  signal TERM $children
  within 2 none $children || { signal KILL $children; within 2 none $children; }
}
within 3 none $holders || [ -n "$force" ] || { echo "$nonce stays $(told)"; exit 0; }
[ -z "$(tmux -u show-options -p -v -q -t "$pane" %[2]s)" ] || within 3 noted
tmux -u set-option -p -u -q -t "$pane" %[1]s
tmux -u respawn-pane -k -t "$pane" -- /bin/sh -c "$launcher" sh "$program" "$dir" "$PATH" || { echo "$nonce unlaunched $(told)"; exit 0; }
tmux -u set-option -p -t "$pane" %[2]s "$(date +%%s)" 2>/dev/null
within 1 none $children # what has the pane's terminal was hung up
echo "$nonce launched $(told)"
`
