package transcript

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// Fragment is the sh text of the query. Whatever the number of clients, it runs one
// awk over their files and their processes, one stat over the files of their
// conversations, and one tail with an awk over the ends of these: each program that
// is started costs more than what it does. What is known goes first, so that
// nothing is left to be done where nothing has changed.
//
// Where awk, or a tail of several files, does not do, there are loops of plainer
// programs.
func (q Query) Fragment() string {
	var known, ids strings.Builder
	for _, id := range slices.Sorted(maps.Keys(q.known)) {
		fmt.Fprintf(&known, "%s %s\n", id, q.known[id].file.mark)
		ids.WriteString(" " + id)
	}
	panes, due := "", ""
	if q.panes != "" {
		panes, due = "$"+q.panes, "$"+q.due
	}
	return configDir + strings.NewReplacer(
		"NONCE", q.nonce, "KNOWN", transport.Quote(known.String()), "IDS", ids.String(), "EVERY", map[bool]string{true: "1", false: "0"}[q.panes == ""],
		"PANES", panes, "DUE", due, "CLIENTS", transport.Quote(clientsAwk), "ENDS", transport.Quote(endsAwk),
		"TYPES", "'"+told+"'", "TAILBYTES", fmt.Sprint(tailBytes), "TAILLINES", fmt.Sprint(tailLines), "HEADBYTES", fmt.Sprint(headBytes), "TURNS", onlyTurns,
	).Replace(clientsScript)
}

const (
	// tailLines is how many records of a conversation come.
	tailLines = 12
	// headBytes is how much of a session file is read; the client's own are of a
	// kilobyte. awk reads on to the next comma.
	headBytes = 16384
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
  k = split(ENVIRON["fleet_known"], p, "\n")
  for (i = 1; i <= k; i++) if (j = index(p[i], " ")) known[substr(p[i], 1, j - 1)] = substr(p[i], j + 1)
  k = split(ENVIRON["fleet_files"], p, "\n")
  for (i = 1; i <= k; i++) if (split(p[i], f, "\t") == 8 && f[1] == n) {
    id = f[8]; sub(/^.*\//, "", id); sub(/\.jsonl$/, "", id)
    now[id] = f[3] " " f[4] " " f[5] " " f[6] " " f[7]
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
// header itself comes where it is not due, and nothing is printed.
const endsAwk = `
function put(i, id, k) {
  id = path[i]; sub(/^.*\//, "", id); sub(/\.jsonl$/, "", id)
  print n " tail " id
  for (k = count[i] > lines ? count[i] - lines : 0; k < count[i]; k++) print line[i, k % lines]
}
BEGIN { files = ARGC; for (i = 1; i < files; i++) { path[i] = ARGV[i]; head["==> " ARGV[i] " <=="] = i } head["==> /dev/null <=="] = files; ARGC = 1 }
substr($0, 1, 4) == "==> " && ($0 in head) { if (head[$0] <= at) { bad = 1; exit } at = head[$0]; read[at] = 1; next }
$0 ~ types { line[at, count[at]++ % lines] = $0 }
END { if (bad || at != files) exit 1; for (i = 1; i < files; i++) if (i in read) put(i) }
`

const clientsScript = `fleet_path() {
  set -- "$1" "$base"/projects/*/"$1.jsonl"
  fleet_file=$2
  if [ $# -gt 2 ]; then fleet_file=$(newest "$1"); fi
  [ -f "$fleet_file" ]
}
fleet_stat() {
  [ $# -gt 0 ] || return 0
  fleet_files=$(stat -c 'NONCE	file	%s	%i	%Y	%y	%z	%n' -- "$@" 2>/dev/null)
  case $fleet_files in NONCE*) return 0 ;; esac
  fleet_files=$(stat -f 'NONCE	file	%z	%i	%m	%Fm	%Fc	%N' -- "$@" 2>/dev/null)
  case $fleet_files in NONCE*) return 0 ;; esac
  fleet_files=$(for fleet_file in "$@"; do printf 'NONCE\tfile\t%s\t\t\t\t\t%s\n' "$(($(wc -c <"$fleet_file")))" "$fleet_file"; done 2>/dev/null)
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
  printf 'NONCE tail %s\n' "${fleet_id%.jsonl}"
  tail -c TAILBYTES "$1" | TURNS | tail -n TAILLINES
}
fleet_known=KNOWN fleet_files= fleet_alive=' ' fleet_proc=1
set --
for fleet_id inIDS; do
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
export fleet_known fleet_files
fleet_lone=
if fleet_out=$(LC_ALL=C awk -v n=NONCE -v every=EVERY -v head=HEADBYTES -v proc="$fleet_proc" -v alive="$fleet_alive" -v panes="PANES" -v due="DUE" CLIENTS "$@" 2>/dev/null); then
  printf '%s\n' "$fleet_out"
  fleet_more= fleet_grown=
  set -f
  IFS='
'
  for fleet_line in ${fleet_out%%NONCE asked*}; do
    case $fleet_line in
    'NONCE more '*) fleet_more="$fleet_more
${fleet_line##* }" ;;
    'NONCE grown '*) fleet_grown="$fleet_grown
${fleet_line##* }" ;;
    'NONCE lone '*) fleet_lone="$fleet_lone ${fleet_line##* }" ;;
    esac
  done
  set --
  set +f
  for fleet_id in $fleet_more; do
    if fleet_path "$fleet_id"; then set -- "$@" "$fleet_file"; fi
  done
  fleet_files=
  fleet_stat "$@"
  [ -z "$fleet_files" ] || printf '%s\n' "$fleet_files"
  for fleet_id in $fleet_grown; do
    if fleet_path "$fleet_id"; then set -- "$@" "$fleet_file"; fi
  done
  unset IFS
  if [ $# -gt 0 ] && ! tail -c TAILBYTES -- "$@" /dev/null 2>/dev/null | LC_ALL=C awk -v n=NONCE -v lines=TAILLINES -v types=TYPES ENDS "$@" 2>/dev/null; then
    for fleet_file in "$@"; do fleet_end "$fleet_file"; done
  fi
else
  fleet_lone="DUE"
  for fleet_file in "$@"; do
    fleet_pid=${fleet_file##*/} fleet_pid=${fleet_pid%.json} fleet_start=gone
    if [ -r "/proc/$fleet_pid/stat" ]; then
      fleet_line=$(cat "/proc/$fleet_pid/stat" 2>/dev/null)
      fleet_start=${fleet_line##*') '}
      fleet_start=$(set -f; set -- $fleet_start; printf '%s' "${20:-gone}")
    else
      case $fleet_alive in *" $fleet_pid "*) fleet_start=alive ;; esac
    fi
    printf 'NONCE session %s %s\n' "$fleet_pid" "$fleet_start"
    head -c HEADBYTES "$fleet_file" | tr -d '\n'; echo
    fleet_plain "$fleet_file"
  done
fi
:
`
