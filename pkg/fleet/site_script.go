package fleet

// The sh text of a site. All of it runs in one subshell. What it prints are lines
// that begin with a word, and blocks: the lines of stat behind "block ID" up to
// "end". A folder is named by its place in the script, and a repository by the
// first folder that is in it.

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
