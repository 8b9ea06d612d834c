package fleet

import "github.com/claude-fleet/claude-fleet/pkg/transport"

const (
	// gitSeconds is how long one count of a repository's changes may take.
	gitSeconds = "3"
	// bigIndex is the size in bytes of an index from which on untracked files are
	// left out. An entry takes some 90 bytes, so that is about 45,000 files.
	bigIndex = "4194304"
	// countBytes is how much of a list of changes the shell counts by itself. It
	// reads a byte at a time: from about a kilobyte on a program is quicker.
	countBytes = "900"

	// The encoding is ours, or a repository would choose what its subjects come out as:
	// line feeds, in one of two bytes a character.
	gitSettings = "-c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.quotepath=true -c log.showSignature=false -c log.mailmap=false -c i18n.logOutputEncoding=UTF-8"
	gitStatus   = "status --porcelain=v2 --branch --ignore-submodules=dirty"
	gitLog      = "log -1 --encoding=UTF-8 --format='commit %h %ct %s'"
)

// siteGit defines what looks at a repository. A look runs no command that the
// repository's own settings name. Most can be switched off; the filters through
// which git puts a file to compare it can't, and where such settings name one, no
// file is compared: git looks for changes where none can be. Settings are read by
// git itself only where they may name one. A submodule counts when another commit
// of it is checked out; git would run in it otherwise. Without a timeout command, as on
// macOS, the shell itself ends git.
//
// All the time that git takes has a limit, for one can wait for a file that never
// ends. The first that comes to it makes the limit shorter for those after it; behind the
// second none is counted, and behind the third none asked any more. Else a few slow
// repositories would have no look end within its deadline.
//
// Whether the host's timeout is one that we can use shows when it is first used: try
// says that nobody knows yet.
const siteGit = `fleet_max= fleet_late=
# fleet_limit ends the shell that it is called in, where it can: call it in one of its own.
fleet_limit() {
  [ -z "$fleet_timeout" ] || exec timeout "$fleet_max" "$@"
  "$@" & fleet_p=$!
  { sleep "$fleet_max"; kill "$fleet_p"; } </dev/null >/dev/null 2>&1 &
  fleet_w=$!
  wait "$fleet_p"; fleet_p=$?
  kill "$fleet_w" 2>/dev/null
  return "$fleet_p"
}
fleet_limits() {
  fleet_max=` + gitSeconds + ` fleet_timeout=
  ! command -v timeout >/dev/null 2>&1 || fleet_timeout=try
}
# fleet_proves goes by what came of a timeout. Where that says nothing, a program that can't fail does.
fleet_proves() {
  case $fleet_timeout:$1 in
  try:*'# branch.'* | try:*'# code 124'* | try:*'# code 143'*) fleet_timeout=1 ;;
  try:*)
    fleet_timeout=
    ! timeout 1 true 2>/dev/null || fleet_timeout=1 # one of busybox before 1.30 takes -t
    [ -n "$fleet_timeout" ] || return 1 ;;
  esac
}
fleet_over() {
  case $1 in 124 | 143) fleet_late=1$fleet_late fleet_max=1; return 2 ;; esac
  return "$1"
}
# fleet_enter goes where git is to look at a repository, and no further up than it was found.
fleet_enter() {
  eval "fleet_at=\$fleet_at$1 GIT_CEILING_DIRECTORIES=\$fleet_r$1"
  export GIT_CEILING_DIRECTORIES
  cd -P -- "$fleet_at" 2>/dev/null
}
fleet_changes() {
  (fleet_limit git --no-pager ` + gitSettings + ` ` + gitStatus + ` "$@" 2>/dev/null)
  printf '# code %s\n' "$?"
}
# fleet_count tells the lines of git's that are headers, and how many there are in all. It holds
# no more of them than fit its bound: a list of changes may be long.
fleet_count() {
  fleet_i=0 fleet_b=0
  while IFS= read -r fleet_t; do
    fleet_i=$((fleet_i + 1)) fleet_b=$((fleet_b + ${#fleet_t}))
    case $fleet_t in '# '*) printf '%s\n' "$fleet_t" ;; esac
    [ "$fleet_b" -gt ` + countBytes + ` ] || continue
    fleet_h=$(sed -n -e '/^# /p' -e '$=')
    fleet_b=${fleet_h##*"$fleet_nl"}
    case $fleet_b in *[!0-9]* | '') break ;; esac
    printf '%s\n' "${fleet_h%"$fleet_b"}"
    fleet_i=$((fleet_i + fleet_b))
    break
  done
  printf '%s\n' "$fleet_i"
}
# fleet_filters is 0 where the repository may name some, 1 where not, and 2 where it never ends to say.
fleet_filters() {
  fleet_t=0
  case $fleet_at in *:*) return 0 ;; esac # it can't be said where git is to stop
  if [ -z "$fleet_e" ] && [ -f "$fleet_c/config" ] && [ -r "$fleet_c/config" ]; then
    while IFS= read -r fleet_h || [ -n "$fleet_h" ]; do
      fleet_t=$((fleet_t + 1))
      case $fleet_h in *[Ff][Ii][Ll][Tt][Ee][Rr]* | *[Ll][Ff][Ss]* | *[Ii][Nn][Cc][Ll][Uu][Dd][Ee]* | *[Ww][Oo][Rr][Kk][Tt][Rr][Ee][Ee][Cc]*) fleet_t=200 ;; esac
      [ "$fleet_t" -lt 200 ] || break
    done <"$fleet_c/config"
    [ "$fleet_t" -ge 200 ] || return 1
  fi
  fleet_proves nothing || :
  fleet_t=$(fleet_limit git config --show-scope --name-only --get-regexp '^(filter\..*\.(clean|process)|lfs\.extension\..*)$' 2>/dev/null)
  fleet_over $?
  case $?:$fleet_t in 2:*) return 2 ;; 1:*) return 1 ;; 0:*'local	'[fl]* | 0:*'worktree	'[fl]*) return 0 ;; 0:*) return 1 ;; esac
  return 0 # a git that can't tell whose settings they are
}
`

// siteNews finds the repositories that the caller does not know as they are, and how
// each is to be counted: not at all, without untracked files, or whole.
const siteNews = `fleet_news=
set --
for fleet_n in $fleet_ids; do
  eval "fleet_b=\$fleet_b$fleet_n fleet_k=\$fleet_k$fleet_n fleet_u=\$fleet_u$fleet_n fleet_c=\$fleet_c$fleet_n fleet_e=\$fleet_e$fleet_n"
  [ -n "$fleet_b" ] || fleet_k=x
  ! fleet_known "$fleet_n" "$fleet_b" "$fleet_k" || continue
  [ -n "$fleet_max" ] || fleet_limits
  case $fleet_late in 111*) continue ;; esac
  fleet_enter "$fleet_n" || continue
  fleet_i=${fleet_b#* }; fleet_i=${fleet_i%%' '*}
  [ -n "$fleet_u" ] || fleet_filters; fleet_t=$?
  [ "$fleet_t" != 2 ] || continue
  fleet_news="$fleet_news $fleet_n"
  if [ "$fleet_t" = 0 ]; then eval "fleet_u$fleet_n=uncounted"
  elif [ "${fleet_i:-0}" -gt ` + bigIndex + ` ]; then eval "fleet_u$fleet_n=tracked"
  else
    eval "fleet_u$fleet_n="
    set -- "$@" "$fleet_n" "$fleet_at" "$GIT_CEILING_DIRECTORIES"
  fi
done
`

// siteBatch counts small repositories, if there are several, in parts beside each
// other, each of them one process with one limit, which takes half as many programs.
// There are no more parts than the host has processors, nor than four, and at least
// four repositories are in each. What a part prints goes through an awk of its own and
// waits in a pipe until the parts before it are over, so that nothing is mixed. Those
// that no part came to are left to siteRepository, so that a slow one costs no other its
// count. A timeout that ends its child alone, as busybox's does, would leave git
// running: hence the trap.
var siteBatch = `fleet_y=
fleet_part() {
  fleet_limit sh -c ` + transport.Quote(batchScript) + ` sh "$@" </dev/null 2>/dev/null | awk '
/^## /{n = $2; c = 0; print "git " n; next}
{c++}
/^# code/{print; print c; next}
/^# done/{print "done " n; next}
/^# cut/{print "cut"; next}
/^# /||/^commit /{print}'
}
# fleet_parts has the part whose place is first, and those before it.
fleet_parts() {
  if [ "$1" -eq 0 ]; then fleet_part "$@"; return; fi
  fleet_part "$@" | {
    fleet_i=$1
    shift
    fleet_parts "$((fleet_i - 1))" "$@"
    cat
  }
}
if [ $# -ge 9 ] && [ -z "$fleet_late" ]; then
  fleet_h=/sys/devices/system/cpu/online fleet_i=1
  if [ -f "$fleet_h" ] && [ -r "$fleet_h" ]; then
    IFS= read -r fleet_i <"$fleet_h"
    fleet_i=${fleet_i##*[-,]}
    case $fleet_i in *[!0-9]* | '' | ????*) fleet_i=0 ;; esac
  fi
  [ "$fleet_i" -lt 4 ] || fleet_i=3
  while [ "$fleet_i" -gt 0 ] && [ $# -lt $((fleet_i * 12 + 12)) ]; do fleet_i=$((fleet_i - 1)); done
  fleet_y=$(fleet_parts "$fleet_i" "$((fleet_i + 1))" "$@")
  [ "$fleet_timeout:$fleet_y" = try: ] || fleet_timeout=${fleet_timeout:+1}
  printf '%s\n' "$fleet_y"
  case $fleet_nl$fleet_y$fleet_nl in *"${fleet_nl}cut$fleet_nl"*)
    fleet_max=2 fleet_h= fleet_t=
    for fleet_n in $fleet_news; do
      case $fleet_nl$fleet_y$fleet_nl in
      *"${fleet_nl}git $fleet_n$fleet_nl"*) fleet_h="$fleet_h $fleet_n" ;;
      *) fleet_t="$fleet_t $fleet_n" ;;
      esac
    done
    fleet_news=$fleet_t$fleet_h ;; # first those that were not reached
  esac
fi
`

// batchScript is what one of the parts runs. Behind its place and the number of parts it is
// told three words of each repository.
const batchScript = `k=$1 w=$2
shift 2
trap 'kill "$p" 2>/dev/null; echo "# cut"; exit 1' TERM
while [ $# -gt 0 ]; do
  if [ "$k" -gt 0 ]; then k=$((k - 1)); shift 3; continue; fi
  k=$((w - 1))
  GIT_CEILING_DIRECTORIES=$3
  if cd -P -- "$2"; then
    printf '## %s\n' "$1"
    git --no-pager ` + gitSettings + ` ` + gitStatus + ` & p=$!
    wait "$p"; c=$?
    printf '# code %s\n' "$c"
    if [ "$c" = 0 ]; then
      git --no-pager ` + gitSettings + ` ` + gitLog + ` & p=$!
      wait "$p"
      echo '# done'
    fi
  fi
  shift 3
done`

// siteRepository looks at one repository. Where git could not tell, a second question
// tells at least the branch.
const siteRepository = `for fleet_n in $fleet_news; do
case $fleet_nl$fleet_y$fleet_nl in *"${fleet_nl}done $fleet_n$fleet_nl"*) continue ;; esac
case $fleet_late in 111*) continue ;; esac
eval "fleet_o=\$fleet_o$fleet_n fleet_u=\$fleet_u$fleet_n"
fleet_enter "$fleet_n" || continue
case $fleet_late in 11*) fleet_u=uncounted ;; esac
printf 'git %s\n%s\n' "$fleet_n" "$fleet_u"
case $fleet_u in
uncounted) set -- --untracked-files=no -- .git/none ;;
tracked) set -- --untracked-files=no ;;
*) set -- ;;
esac
fleet_t=$(fleet_changes "$@" | fleet_count)
fleet_proves "$fleet_t" || fleet_t=$(fleet_changes "$@" | fleet_count)
printf '%s\n' "$fleet_t"
case $fleet_t in
*'# code 0'*) ;;
*)
  case $fleet_t in *'# code 124'* | *'# code 143'*) fleet_over 124 ;; esac
  fleet_h=$(fleet_limit git ` + gitSettings + ` symbolic-ref -q --short HEAD 2>/dev/null)
  case $? in 0) printf 'head %s\n' "$fleet_h" ;; 1) echo 'head (detached)' ;; *) continue ;; esac ;;
esac
case $fleet_t in
*"# branch.oid $fleet_o$fleet_nl"*) echo known ;;
*'# branch.oid (initial)'*) ;;
*)
  fleet_h=$(fleet_limit git --no-pager ` + gitSettings + ` ` + gitLog + ` 2>/dev/null)
  fleet_over $?
  printf '%s\n' "${fleet_h%%"$fleet_nl"*}" ;;
esac
done
`
