package fleet

import "github.com/claude-fleet/claude-fleet/pkg/transport"

// The sh text of a site. All of it runs in one subshell. What it prints are lines
// that begin with a word, and blocks: the lines of stat behind "block ID" up to
// "end". A folder is named by its place in the script, and a repository by the
// first folder that is in it.

const (
	// gitSeconds is how long one count of a repository's changes may take.
	gitSeconds = "3"
	// bigIndex is the size in bytes of an index from which on untracked files are
	// left out. An entry takes some 90 bytes, so that is about 45,000 files.
	bigIndex = "4194304"

	// The encoding is ours, or a repository would choose what its subjects come out as:
	// line feeds, in one of two bytes a character.
	gitSettings = "-c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.quotepath=true -c log.showSignature=false -c log.mailmap=false -c i18n.logOutputEncoding=UTF-8"
	gitStatus   = "status --porcelain=v2 --branch --ignore-submodules=dirty"
	gitLog      = "log -1 --encoding=UTF-8 --format='commit %h %ct %s'"
)

// siteStart sets what the rest relies on. The variables of git that mean another
// repository than the folder's are a caller's who runs us from a hook. The others
// see to it that git takes no lock that somebody may wait for, and neither asks nor
// fetches: in a partial clone a look would go to the network otherwise, by a
// command that the repository names.
const siteStart = `unset CDPATH GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_NAMESPACE GIT_PREFIX
unset GIT_CONFIG GIT_CONFIG_PARAMETERS GIT_CONFIG_COUNT GIT_IMPLICIT_WORK_TREE GIT_GRAFT_FILE GIT_SHALLOW_FILE GIT_NO_REPLACE_OBJECTS GIT_REPLACE_REF_BASE
unset GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS GIT_ICASE_PATHSPECS GIT_ATTR_SOURCE GIT_CEILING_DIRECTORIES
LC_ALL=C GIT_OPTIONAL_LOCKS=0 GIT_NO_LAZY_FETCH=1 GIT_ALLOW_PROTOCOL=none GIT_TERMINAL_PROMPT=0
export LC_ALL GIT_OPTIONAL_LOCKS GIT_NO_LAZY_FETCH GIT_ALLOW_PROTOCOL GIT_TERMINAL_PROMPT
fleet_nl='
'
printf 'tz %s\n' "$TZ"
set -- / "$HOME/` + EnvFile + `" / "$HOME/.claude.json" "$HOME/.claude/settings.json" / /etc/localtime
fleet_ids=
fleet_roots=$fleet_nl
fleet_n=0
fleet_isgit() { [ -e "$1/HEAD" ] && [ -d "$1/objects" ] && [ -d "$1/refs" ]; }
# fleet_line reads a file of one line. What git may read in another way is noted in fleet_e.
fleet_line() {
  fleet_h=
  if [ ! -f "$1" ] || [ ! -r "$1" ]; then fleet_e=1; return; fi
  { IFS= read -r fleet_h; ! IFS= read -r fleet_t && [ -z "$fleet_t" ] || fleet_e=1; } <"$1"
  case $fleet_h in *[![:print:]]*) fleet_e=1 ;; esac
}
`

// siteFolder goes into a folder and finds its repository as git would, without
// running it: the nearest folder upwards with a .git that is one, or that is a bare
// one. git is not let look further up: it may see through a .git that is none after all,
// and would find another repository, with settings that nobody has looked at. Then
// it gathers the files that say which commit is checked out, and which one origin's
// branch of that name is at: a fetch of any other upstream shows when the count is made
// anew. Where these can't be
// known by looking (HEAD or a branch is a link), none is gathered, and nothing of
// the repository will be told twice.
const siteFolder = `  fleet_n=$((fleet_n + 1))
  eval "fleet_at$fleet_n="
  cd -P -- "$fleet_d" 2>/dev/null || continue
  eval "fleet_at$fleet_n=\$PWD"
  fleet_t=$PWD; fleet_e=
  while :; do case $fleet_t in
  *"$fleet_nl"*) fleet_e=$fleet_e${fleet_t%%"$fleet_nl"*}` + "\x01" + `; fleet_t=${fleet_t#*"$fleet_nl"} ;;
  *) break ;;
  esac; done
  printf 'path %s %s\n' "$fleet_n" "$fleet_e$fleet_t"
  fleet_r=${PWD%/}
  until [ -f "$fleet_r/.git" ] || fleet_isgit "$fleet_r/.git" || fleet_isgit "$fleet_r"; do
    [ -n "$fleet_r" ] || continue 2
    fleet_r=${fleet_r%/*}
  done
  case $fleet_roots in *"$fleet_nl$fleet_r//"*)
    fleet_t=${fleet_roots#*"$fleet_nl$fleet_r//"}; fleet_t=${fleet_t%%"$fleet_nl"*}
    printf 'of %s %s\n' "$fleet_n" "$fleet_t"
    continue ;;
  esac
  fleet_ids="$fleet_ids $fleet_n"
  fleet_t=${fleet_r%/*}
  [ -z "$fleet_r" ] || fleet_t=${fleet_t:-/}
  eval "fleet_r$fleet_n=\$fleet_t"
  set -- "$@" /
  fleet_g=$fleet_r; [ -f "$fleet_r/.git" ] || ! fleet_isgit "$fleet_r/.git" || fleet_g=$fleet_r/.git
  fleet_e=
  if [ -f "$fleet_r/.git" ]; then # a worktree or a submodule
    fleet_line "$fleet_r/.git"; fleet_g=$fleet_h
    case $fleet_g in 'gitdir: /'*) fleet_g=${fleet_g#gitdir: } ;; *) fleet_g=$fleet_r/${fleet_g#gitdir: } ;; esac
  fi
  fleet_c=$fleet_g
  if [ -e "$fleet_g/commondir" ]; then
    fleet_line "$fleet_g/commondir"; fleet_c=$fleet_h
    case $fleet_c in /*) ;; *) fleet_c=$fleet_g/$fleet_c ;; esac
  fi
  eval "fleet_c$fleet_n=\$fleet_c fleet_e$fleet_n=\$fleet_e"
  case $fleet_r in *"$fleet_nl"*) continue ;; esac
  fleet_roots=$fleet_roots$fleet_r//$fleet_n$fleet_nl
  if [ -f "$fleet_g/HEAD" ] && [ -r "$fleet_g/HEAD" ]; then IFS= read -r fleet_h <"$fleet_g/HEAD"; else fleet_h=; fi
  for fleet_t in "$fleet_g/HEAD" "$fleet_g/index" "$fleet_c/packed-refs" "$fleet_c/refs/heads"; do [ ! -L "$fleet_t" ] || fleet_h=; done
  case $fleet_h in
  'ref: refs/heads/'*)
    fleet_h=${fleet_h#ref: }
    [ ! -L "$fleet_c/$fleet_h" ] || continue
    if [ -f "$fleet_c/$fleet_h" ] && [ -r "$fleet_c/$fleet_h" ]; then
      IFS= read -r fleet_t <"$fleet_c/$fleet_h"
      case $fleet_t in ref:*) continue ;; esac
    fi
    [ ! -f "$fleet_g/index" ] || set -- "$@" "$fleet_g/index"
    set -- "$@" "$fleet_g/HEAD" "$fleet_c/packed-refs" "$fleet_c/$fleet_h" "$fleet_c/refs/remotes/origin/${fleet_h#refs/heads/}"
    [ ! -d "$fleet_c/reftable" ] || set -- "$@" "$fleet_g/reftable/tables.list" "$fleet_c/reftable/tables.list" ;;
  *[!0-9a-f]* | '') ;;
  *) # detached
    [ ! -f "$fleet_g/index" ] || set -- "$@" "$fleet_g/index"
    set -- "$@" "$fleet_g/HEAD" ;;
  esac
`

// siteStat looks at all files at once: inode, size, and the times of the last
// write and of the last change, as exactly as the host's stat can tell. Those of
// GNU and busybox take the first form, those of the BSDs the second. The root
// folder stands before each group of files, so that its line parts them.
const (
	siteStatGNU = `fleet_s=$(stat -L -c '%i %s %.9Y %.9Z' -- "$@" 2>/dev/null)
`
	siteStatBSD = `fleet_s=$(stat -L -f '%i %z %Fm %Fc' -- "$@" 2>/dev/null)
`
	siteStatAny = siteStatGNU + `if [ -n "$fleet_s" ]; then echo stat gnu; else
` + siteStatBSD + `[ -z "$fleet_s" ] || echo stat bsd
fi
`
	siteSplit = `set -f
set -- e s z $fleet_ids
for fleet_t; do eval "fleet_b$fleet_t="; done
IFS=$fleet_nl
fleet_sep=
for fleet_t in $fleet_s; do
  [ -n "$fleet_sep" ] || fleet_sep=$fleet_t
  if [ "$fleet_t" = "$fleet_sep" ]; then
    [ $# -gt 0 ] || break
    fleet_i=$1; shift
  else eval "fleet_b$fleet_i=\$fleet_b$fleet_i\$fleet_t\$fleet_nl"
  fi
done
unset IFS
# fleet_known prints a block, unless it is the one that the caller knows.
fleet_known() {
  if [ -n "$fleet_sep" ] && [ "$2" = "$3" ]; then printf 'same %s\n' "$1"; return; fi
  printf 'block %s\n%send\n' "$1" "$2"
  return 1
}
`
)

// siteAccount prints when EnvFile was written, the editor modes that the client's
// settings name, and where the time zone's file is.
const siteAccount = `fleet_known e "$fleet_be" x
fleet_known s "$fleet_bs" "$fleet_ks" || {
  set --
  for fleet_t in "$HOME/.claude.json" "$HOME/.claude/settings.json"; do
    [ ! -f "$fleet_t" ] || set -- "$@" "$fleet_t"
  done
  [ $# -eq 0 ] || grep -a -o -h '"editorMode" *: *"[a-zA-Z]*"' "$@" 2>/dev/null
}
[ -n "$TZ" ] || fleet_known z "$fleet_bz" "$fleet_kz" || printf 'zone %s\n' "$(readlink /etc/localtime 2>/dev/null)"
`

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
const siteGit = `fleet_max= fleet_late=
fleet_limit() {
  if [ -n "$fleet_timeout" ]; then timeout "$fleet_max" "$@"; return; fi
  "$@" & fleet_p=$!
  { sleep "$fleet_max"; kill "$fleet_p"; } </dev/null >/dev/null 2>&1 &
  fleet_w=$!
  wait "$fleet_p"; fleet_p=$?
  kill "$fleet_w" 2>/dev/null
  return "$fleet_p"
}
fleet_limits() {
  fleet_max=` + gitSeconds + ` fleet_timeout=
  ! timeout 1 true 2>/dev/null || fleet_timeout=1 # one of busybox before 1.30 takes -t
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
  fleet_limit git --no-pager ` + gitSettings + ` ` + gitStatus + ` "$@" 2>/dev/null
  printf '# code %s\n' "$?"
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

// siteBatch counts small repositories, if there are several, in one process with one
// limit, which takes half as many programs. Those that it did not come to are left
// to siteRepository, so that a slow one costs no other its count. A timeout that
// ends its child alone, as busybox's does, would leave git running: hence the trap.
var siteBatch = `fleet_y=
if [ $# -ge 9 ] && [ "$fleet_timeout:$fleet_late" = 1: ]; then
  fleet_y=$(fleet_limit sh -c ` + transport.Quote(batchScript) + ` sh "$@" 2>/dev/null | awk '
/^## /{n = $2; c = 0; print "git " n; next}
{c++}
/^# code/{print; print c; next}
/^# done/{print "done " n; next}
/^# /||/^commit /{print}')
  printf '%s\n' "$fleet_y"
  case $fleet_y in *'# cut'*) fleet_max=2 ;; esac
fi
`

const batchScript = `trap 'kill "$p" 2>/dev/null; echo "# cut"; exit 1' TERM
while [ $# -gt 0 ]; do
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

// siteRepository looks at one repository. The count of the changes is left to the
// host's sed: a list of them may be long. Where git could not tell, a second
// question tells at least the branch.
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
fleet_t=$(fleet_changes "$@" | sed -n -e '/^# /p' -e '$=')
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

// siteDisks asks for the room on the file systems of the folders whose places are
// put before it. siteRoom prints the answer: all behind it is df's, so that it is last.
const siteDisks = `set --
fleet_ids=
for fleet_n in $fleet_disks; do
  eval "fleet_t=\$fleet_at$fleet_n"
  [ -z "$fleet_t" ] || { set -- "$@" "$fleet_t"; fleet_ids="$fleet_ids $fleet_n"; }
done
fleet_t=
[ $# -eq 0 ] || fleet_t=$(df -Pk "$@" 2>/dev/null)
`

const siteRoom = `[ -z "$fleet_ids" ] || printf 'df%s\n%s\n' "$fleet_ids" "$fleet_t"
`
