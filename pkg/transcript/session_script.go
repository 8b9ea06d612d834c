package transcript

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// Fragment is the sh text of the query.
func (q Query) Fragment() string { return QueryPrelude + q.Call() }

// Call is the sh text of the query where QueryPrelude was run before.
func (q Query) Call() string {
	var marks, ids strings.Builder
	for _, id := range slices.Sorted(maps.Keys(q.known)) {
		fmt.Fprintf(&marks, "%s %s\n", id, q.known[id].file.mark)
		ids.WriteString(" ")
		if folder := q.known[id].file.folder; q.inPlace && folder != "" {
			ids.WriteString(folder + "/")
		}
		ids.WriteString(id)
	}
	panes, due, every := "", "", "1"
	if q.panes != "" {
		panes, due, every = "$"+q.panes, "$"+q.due, "0"
	}
	return fmt.Sprintf("fleet_cn=%s fleet_marks=%s fleet_ids='%s' fleet_all=%s fleet_under=%s fleet_owed=%s fleet_again=%s\nfleet_clients\n",
		q.nonce, transport.Quote(marks.String()), ids.String(), every, panes, due, transport.Quote(q.again()))
}

const (
	// tailLines is how many records of a conversation come.
	tailLines = "12"
	// mostlyBytes is how much of a conversation's end is read at first: most often
	// that many records are in it (measured with records of 2 kB).
	mostlyBytes = "65536"
	// headBytes is how much of a session file is read; the client's own are of a
	// kilobyte. awk reads on to the next comma.
	headBytes = "16384"
)

// clientsAwk prints the session files that are its arguments, each with the start
// time of its process, which is field 22 of the stat file, counted behind the
// parenthesis that closes its name; without /proc only whether it lives is known, by
// the list alive. Before them, up to "asked", it names the conversations whose end is
// wanted: "more" of one whose file is not known, "grown" of one whose file is, and is
// another than it was.
const clientsAwk = `
function look(pid, all, line, name, rest, i, f) {
  if (pid in start) return start[pid] != "gone"
  start[pid] = "gone"
  RS = "\n"
  for (i = 0; i < 16 && (getline line < ("/proc/" pid "/stat")) > 0; i++) all = i ? all "\n" line : line
  close("/proc/" pid "/stat")
  name = rest = all
  if (!sub(/^[0-9]+ \(/, "", name) || !sub(/^.*\) /, "", rest) || split(rest, f, " ") < 20) return 0
  name = substr(name, 1, length(name) - length(rest) - 2)
  gsub(/\n/, " ", name)
  start[pid] = f[20]; state[pid] = f[1]; parent[pid] = f[2]; group[pid] = f[3]; front[pid] = f[6]
  row[pid] = pid " " f[2] " " f[6] " " f[1] " " name
  return 1
}
function value(name, re, v) {
  if (!match(json, "\"" name "\" *: *" re)) return ""
  v = substr(json, RSTART, RLENGTH)
  sub(/^"[a-zA-Z]*" *: */, "", v)
  gsub(/"/, "", v)
  return v
}
function load(file, line, sep) {
  json = ""; sep = ""; RS = ","
  while (length(json) < head && (getline line < file) > 0) { json = json sep line; sep = "," }
  close(file)
  json = substr(json, 1, head)
  gsub(/[\n\r]/, "", json)
}
function climb(pid, i) {
  chain = ""
  for (i = 0; i < 64 && pid + 0 > 1; i++) {
    if (!look(pid)) return 0
    chain = chain n " process " row[pid] "\n"
    if (pid in pane) return pid
    pid = parent[pid]
  }
  return 0
}
function client(file, pid, below, id, ok) {
  load(file)
  if (proc) look(pid); else start[pid] = index(alive, " " pid " ") ? "alive" : "gone"
  below = 0
  if (!every && proc && start[pid] != "gone") below = climb(pid)
  said = said n " session " pid " " start[pid] "\n" json "\n" (below ? chain : "")
  if (start[pid] == "gone") return
  ok = value("procStart", "\"[^\"]*\"")
  ok = ok == "" || ok == start[pid]
  if (below && ok && json ~ /^[ \t]*[{].*[}][ \t]*$/ && value("pid", "[0-9]+") == pid && value("kind", "\"[^\"]*\"") ~ /^(interactive)?$/ && state[pid] ~ /^[RSD]/ && group[pid] == front[below]) covered[below] = 1
  id = value("sessionId", "\"[0-9a-zA-Z-]+\"")
  if (id == "" || id in told || !(every || !proc || below)) return
  told[id] = 1
  if (!(id in now)) print n " more " id
  else if (now[id] != known[id]) print n " grown " id
}
BEGIN {
  k = split(panes, p, " "); for (i = 1; i <= k; i++) pane[p[i]] = 1
  k = split(ENVIRON["fleet_marks"], p, "\n")
  for (i = 1; i <= k; i++) if (j = index(p[i], " ")) known[substr(p[i], 1, j - 1)] = substr(p[i], j + 1)
  k = split(ENVIRON["fleet_files"], p, "\n")
  for (i = 1; i <= k; i++) if (split(p[i], f, "\t") == 8 && f[1] == n) {
    id = f[8]; sub(/^.*\//, "", id); sub(/\.jsonl$/, "", id)
    now[id] = f[3] "\t" f[4] "\t" f[5] "\t" f[6] "\t" f[7]
  }
  for (i = 1; i < ARGC; i++) { pid = ARGV[i]; sub(/^.*\//, "", pid); sub(/\.json$/, "", pid); client(ARGV[i], pid) }
  k = split(due, p, " "); for (i = 1; i <= k; i++) if (!(p[i] in covered)) print n " lone " p[i]
  print n " asked"
  ORS = "" # printf may have a limit
  print said
}
`

// endsAwk prints the last records of each of the files that are its arguments, by the
// headers that tail prints. A file may have a line that looks like one: then the
// header itself comes where it is not due, and nothing is printed. Of a file of which
// too few records are in so many bytes as short says, the number goes to stderr instead;
// the first line is none of them, as its beginning may not have been read.
const endsAwk = `
function put(i, id, k) {
  id = path[i]; sub(/^.*\//, "", id); sub(/\.jsonl$/, "", id)
  print n " tail " id
  for (k = count[i] > lines ? count[i] - lines : 0; k < count[i]; k++) print line[i, k % lines]
}
BEGIN { files = ARGC; for (i = 1; i < files; i++) { path[i] = ARGV[i]; head["==> " ARGV[i] " <=="] = i } head["==> /dev/null <=="] = files; ARGC = 1 }
substr($0, 1, 4) == "==> " && ($0 in head) { if (head[$0] <= at) { bad = 1; exit } at = head[$0]; read[at] = 1; next }
{ first = !size[at]; size[at] += length($0) + 1 }
$0 ~ types { cut[at] += first; line[at, count[at]++ % lines] = $0 }
END { if (bad || at != files) exit 1; for (i = 1; i < files; i++) if (i in read) if (short && count[i] - cut[i] < lines && size[i] >= short) print i >"/dev/stderr"; else put(i) }
`

// QueryPrelude defines the functions that Call goes by. Whatever the number of
// clients, they run one awk over their files and their processes, one stat over the
// files of their conversations, and one tail with an awk over the ends of these: each
// program that is started costs more than what it does. What is known goes first, so
// that nothing is left to be done where nothing has changed: of a few clients the
// shell itself sees that they are those of the last look.
//
// Where awk, or a tail of several files, does not do, there are loops of plainer
// programs.
const QueryPrelude = `# fleet_path finds the file of a conversation, which may stand behind its folder.
fleet_path() {
  case $1 in */*)
    fleet_file=$base/projects/$1.jsonl
    [ ! -f "$fleet_file" ] || return 0
    set -- "${1##*/}" ;;
  esac
  set -- "$1" "$base"/projects/*/"$1.jsonl"
  fleet_file=$2
  if [ $# -gt 2 ]; then fleet_file=$(newest "$1"); fi
  [ -f "$fleet_file" ]
}
fleet_stat() {
  fleet_files=
  [ $# -gt 0 ] || return 0
  fleet_files=$(stat -c "$fleet_cn	file	%s	%i	%Y	%y	%z	%n" -- "$@" 2>/dev/null)
  case $fleet_files in "$fleet_cn"*) return 0 ;; esac
  fleet_files=$(stat -f "$fleet_cn	file	%z	%i	%m	%Fm	%Fc	%N" -- "$@" 2>/dev/null)
  case $fleet_files in "$fleet_cn"*) return 0 ;; esac
  fleet_files=$(for fleet_file in "$@"; do printf '%s\tfile\t%s\t\t\t\t\t%s\n' "$fleet_cn" "$(($(wc -c <"$fleet_file")))" "$fleet_file"; done 2>/dev/null)
}
fleet_plain() {
  [ "$fleet_start" != gone ] || return 0
  fleet_id=$(LC_ALL=C sed -n 's/.*"sessionId" *: *"\([0-9a-zA-Z-]*\)".*/\1/p' "$1" | head -n 1)
  [ -n "$fleet_id" ] && fleet_path "$fleet_id" || return 0
  fleet_stat "$fleet_file"
  printf '%s\n' "$fleet_files"
  fleet_end "$fleet_file"
}
fleet_end() {
  fleet_id=${1##*/}
  printf '%s tail %s\n' "$fleet_cn" "${fleet_id%.jsonl}"
  tail -c ` + tailBytes + ` "$1" | ` + onlyTurns + ` | tail -n ` + tailLines + `
}
# fleet_tails prints the ends of files, of so many bytes; see endsAwk for the second word.
fleet_tails() {
  fleet_n=$1 fleet_short=$2
  shift 2
  tail -c "$fleet_n" -- "$@" /dev/null 2>/dev/null | LC_ALL=C awk -v n="$fleet_cn" -v lines=` + tailLines + ` -v short="$fleet_short" -v types='` + told + `' '` + endsAwk + `' "$@"
}
fleet_ends() {
  [ $# -gt 0 ] || return 0
  if { fleet_few=$(fleet_tails ` + mostlyBytes + ` ` + mostlyBytes + ` "$@" 2>&1 >&3 3>&-); } 3>&1; then
    fleet_n=0 fleet_short=$fleet_nl$fleet_few$fleet_nl
    for fleet_file; do
      shift
      fleet_n=$((fleet_n + 1))
      case $fleet_short in *"$fleet_nl$fleet_n$fleet_nl"*) set -- "$@" "$fleet_file" ;; esac
    done
    [ $# -gt 0 ] || return 0
    if fleet_tails ` + tailBytes + ` 0 "$@" 2>/dev/null; then return; fi
  fi
  for fleet_file; do fleet_end "$fleet_file"; done
}
# fleet_process takes one from a client up to its pane: the next one's id, its own, and what follows its name.
fleet_process() {
  fleet_said="$fleet_said$fleet_cn process $2 $4 $8 $3 $fleet_t$fleet_nl"
  case " $fleet_under " in
  *" $2 "*) [ -z "$1" ] && [ "$fleet_group" = "$8" ] && fleet_covered="$fleet_covered$2 " ;;
  *) [ "$4" = "$1" ] ;;
  esac || return 1
  [ -n "$fleet_start" ] || return 0
  case $3 in [RSD]) ;; *) return 1 ;; esac
  [ "${22}" = "$fleet_start" ] || return 1
  fleet_start=
}
# fleet_client is whether a client, a line of fleet_again, is the one that it was.
fleet_client() {
  fleet_file=$base/sessions/$1.json fleet_start=$2 fleet_id=$3 fleet_t=
  [ -f "$fleet_file" ] && { IFS= read -r fleet_h; ! IFS= read -r fleet_t && [ -z "$fleet_t" ]; } 2>/dev/null <"$fleet_file" || return 1
  case $fleet_h in '{'*'}') ;; *) return 1 ;; esac
  for fleet_t in "pid\":$1," "procStart\":\"$2\"" "sessionId\":\"$3\"" 'kind":"interactive"'; do
    case $fleet_h in *"\"$fleet_t"*) ;; *) return 1 ;; esac
  done
  fleet_said="$fleet_said$fleet_cn session $1 $2$fleet_nl$fleet_h$fleet_nl"
  shift 3
  fleet_group=
  while [ $# -gt 0 ]; do
    IFS= read -r fleet_t 2>/dev/null <"/proc/$1/stat" || return 1
    fleet_h=${fleet_t##*') '}
    case $fleet_t in "$1 ("*") $fleet_h") ;; *) return 1 ;; esac
    fleet_t=${fleet_t#*'('}
    fleet_t=${fleet_t%") $fleet_h"}
    if [ -z "$fleet_group" ]; then fleet_group=${fleet_h#* * } fleet_group=${fleet_group%%' '*}; fi
    fleet_process "$2" "$1" $fleet_h || return 1
    shift
  done
}
# fleet_same looks at clients that may be as they were, and is whether all are, and no others are there.
fleet_same() {
  [ -n "$fleet_again" ] || return 1
  fleet_said= fleet_covered=' ' fleet_ours=
  set -- "$base"/sessions/*.json
  fleet_n=$#
  set -f
  IFS=$fleet_nl
  set -- $fleet_again
  unset IFS
  [ $# -eq "$fleet_n" ] || return 1
  for fleet_line; do
    fleet_client ${fleet_line%%'	'*} || return 1
    fleet_ours="$fleet_ours $fleet_id"
  done
  for fleet_pid in $fleet_owed; do
    case $fleet_covered in *" $fleet_pid "*) ;; *) return 1 ;; esac
  done
  set +f
  printf %s "$fleet_said"
  set --
  for fleet_id in $fleet_ours; do
    fleet_t="$fleet_ids "
    case $fleet_t in *"/$fleet_id "*)
      fleet_t=${fleet_t%%"/$fleet_id "*}
      fleet_id=${fleet_t##* }/$fleet_id ;;
    esac
    if fleet_path "$fleet_id"; then set -- "$@" "$fleet_file"; fi
  done
  fleet_stat "$@"
  [ -z "$fleet_files" ] || printf '%s\n' "$fleet_files"
  for fleet_file; do
    shift
    fleet_id=${fleet_file##*/} fleet_id=${fleet_id%.jsonl}
    fleet_t=${fleet_again#*" $fleet_id "}
    fleet_t=${fleet_t#*'	'}
    case $fleet_nl$fleet_files$fleet_nl in *"$fleet_nl$fleet_cn	file	${fleet_t%%"$fleet_nl"*}	$fleet_file$fleet_nl"*) ;; *) set -- "$@" "$fleet_file" ;; esac
  done
  fleet_ends "$@"
}
fleet_clients() {
  ` + configBase + `
  fleet_nl='
'
  fleet_lone=
  if fleet_same; then return; fi
  set +f
  fleet_alive=' ' fleet_proc=1
  set --
  for fleet_id in $fleet_ids; do
    if fleet_path "$fleet_id"; then set -- "$@" "$fleet_file"; fi
  done
  fleet_stat "$@"
  [ -z "$fleet_files" ] || printf '%s\n' "$fleet_files"
  [ -r /proc/self/stat ] || fleet_proc=0
  set --
  for fleet_file in "$base"/sessions/*.json; do
    [ -f "$fleet_file" ] || continue
    fleet_pid=${fleet_file##*/} fleet_pid=${fleet_pid%.json}
    case $fleet_pid in ''|*[!0-9]*) continue ;; esac
    if [ "$fleet_proc" = 0 ] && kill -0 "$fleet_pid" 2>/dev/null; then fleet_alive="$fleet_alive$fleet_pid "; fi
    set -- "$@" "$fleet_file"
  done
  export fleet_marks fleet_files
  if fleet_out=$(LC_ALL=C awk -v n="$fleet_cn" -v every="$fleet_all" -v head=` + headBytes + ` -v proc="$fleet_proc" -v alive="$fleet_alive" -v panes="$fleet_under" -v due="$fleet_owed" '` + clientsAwk + `' "$@" 2>/dev/null); then
    printf '%s\n' "$fleet_out"
    fleet_more= fleet_grown=
    set -f
    IFS=$fleet_nl
    for fleet_line in ${fleet_out%%"$fleet_cn asked"*}; do
      case $fleet_line in
      "$fleet_cn more "*) fleet_more="$fleet_more$fleet_nl${fleet_line##* }" ;;
      "$fleet_cn grown "*) fleet_grown="$fleet_grown$fleet_nl${fleet_line##* }" ;;
      "$fleet_cn lone "*) fleet_lone="$fleet_lone ${fleet_line##* }" ;;
      esac
    done
    set --
    set +f
    for fleet_id in $fleet_more; do
      if fleet_path "$fleet_id"; then set -- "$@" "$fleet_file"; fi
    done
    fleet_stat "$@"
    [ -z "$fleet_files" ] || printf '%s\n' "$fleet_files"
    for fleet_id in $fleet_grown; do
      if fleet_path "$fleet_id"; then set -- "$@" "$fleet_file"; fi
    done
    unset IFS
    fleet_ends "$@"
    return
  fi
  fleet_lone=$fleet_owed
  for fleet_file; do
    fleet_pid=${fleet_file##*/} fleet_pid=${fleet_pid%.json} fleet_start=gone
    if [ -r "/proc/$fleet_pid/stat" ]; then
      fleet_line=$(cat "/proc/$fleet_pid/stat" 2>/dev/null)
      fleet_start=${fleet_line##*') '}
      fleet_start=$(set -f; set -- $fleet_start; printf '%s' "${20:-gone}")
    else
      case $fleet_alive in *" $fleet_pid "*) fleet_start=alive ;; esac
    fi
    printf '%s session %s %s\n' "$fleet_cn" "$fleet_pid" "$fleet_start"
    head -c ` + headBytes + ` "$fleet_file" | tr -d '\n'; echo
    fleet_plain "$fleet_file"
  done
}
` + newestFunction
