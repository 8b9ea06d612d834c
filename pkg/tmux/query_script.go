package tmux

import (
	"fmt"
	"slices"
	"strings"
)

// PanePIDs is the shell variable in which a query's fragment leaves the process
// ids of the panes that it found in the sessions asked for, with blanks between
// them: those of panes whose process runs. DuePIDs has those of them which tell
// what a session's program does: of a session in which one pane was launched, that
// pane; of any other, all of them.
const (
	PanePIDs = "fleet_panes"
	DuePIDs  = "fleet_due"
)

// After is the query for a machine of which an earlier one, for whichever
// sessions, gave last. It finds the same as without, and also takes one tmux client
// where a session has several panes.
func (q Query) After(last Snapshot) Query {
	q.hints = map[string][]string{}
	for _, p := range last.Panes {
		if validPane(p.ID) && (q.all || slices.Contains(q.sessions, p.Session)) && !slices.Contains(q.hints[p.Session], p.ID) {
			q.hints[p.Session] = append(q.hints[p.Session], p.ID)
		}
	}
	return q
}

// Fragment is the sh text of the query.
func (q Query) Fragment() string { return QueryPrelude + q.Call() }

// Call is the sh text of the query where QueryPrelude was run before.
func (q Query) Call() string {
	var known []string
	var fronts strings.Builder
	for _, s := range q.sessions {
		if len(q.hints[s]) == 0 {
			fronts.WriteString(" " + s)
		}
	}
	for _, ids := range q.hints {
		known = append(known, ids...)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for i, id := range known {
		if p, ok := q.drawn[id]; ok {
			known[i] = id + "@" + p.mark()
		}
	}
	all := ""
	if q.all {
		all = "1"
	}
	return fmt.Sprintf("fleet_qn=%s fleet_wanted=':%s:' fleet_every=%s fleet_fronts='%s ' fleet_known='%s'\nfleet_look\n",
		q.nonce, strings.Join(q.sessions, ":"), all, fronts.String(), strings.Join(known, " "))
}

// maxArguments is up to how many panes are asked for in a client's arguments, which
// have room for 16 kB (imsg of OpenBSD, which tmux is built with).
const maxArguments = "24"

// The commands that print the screen of a pane and what goes with it, such as the
// cursor. The server runs them before it reads on from the pane: a cursor of a
// moment ago would contradict the screen. Of a pane that is missing the record names
// none. Where a pane still has the mark that it had when its screen was printed, a
// record of one line says so.
const (
	markFormat   = "#{pane_pid}/#{window_activity}/#{pane_width}/#{pane_height}/#{cursor_x}/#{cursor_y}/#{alternate_on}/#{pane_in_mode}/#{pane_dead}"
	screenFormat = "screen #{pane_id} #{cursor_x} #{cursor_y} #{pane_in_mode} #{alternate_on}"
	listFormat   = "#{pane_pid}	#{pane_id}	#{pane_dead}.#{window_active}.#{pane_active}.#{?" + LaunchedOption + ",1,0}	" + markFormat + "	#{session_name}"
	aboutFormat  = "#{pane_id}	#{" + LaunchedOption + "}	#{" + endedOption + "}	#{" + noteOption + "}	#{" + LockOption + "}	#{pane_current_command}"
	clientFormat = "#{pane_id}	#{client_created}	#{client_activity}"
)

// QueryPrelude defines the functions that Call goes by.
//
// A client costs as much as all that it asks for, so there is one, for the lists
// and for the panes that are most likely those wanted. Where the last look tells
// which these are, it has all in its arguments; a pane that is missing then breaks it
// off. Where there are too many for that, or some are not known, and the screens of
// others are, it brings the lists alone: most of the screens will be as they were.
// Else, and where a client broke off, it is source-file from stdin (of 3.1 and newer),
// which goes on behind a pane that is missing and has no limit of length, and takes
// two processes more. Another client comes for what the lists name beside them, and
// where the first one had no answer, to tell why: errors may come amid a screen's
// text, and are not read with it.
//
// The loop goes over the records that are made for it, and not over the screens
// behind them.
const QueryPrelude = `fleet_quick() {
  fleet_i=$#
  while [ "$fleet_i" -gt 0 ]; do
    case $1 in
    *@*)
      fleet_id=${1%%@*}
      set -- "$@" ';' if-shell -F -t "$fleet_id" "#{==:` + markFormat + `,${1#*@}}" "display-message -p -t '$fleet_id' '$fleet_qn same #{pane_id}'" \
        "display-message -p -t '$fleet_id' '$fleet_qn ` + screenFormat + `' ; capture-pane -p -e -t '$fleet_id' ; display-message -p '$fleet_qn end'" ;;
    *) set -- "$@" ';' display-message -p -t "$1" "$fleet_qn ` + screenFormat + `" ';' capture-pane -p -e -t "$1" ';' display-message -p "$fleet_qn end" ;;
    esac
    shift
    fleet_i=$((fleet_i - 1))
  done
  fleet_lists "$@"
}
# fleet_lists is for a subshell, which becomes the client.
fleet_lists() {
  exec tmux -u display-message -p "$fleet_qn server #{version}" ';' display-message -p "$fleet_qn now %s" ';' \
    list-panes -a -F "$fleet_qn	list	` + listFormat + `" ';' display-message -p "$fleet_qn listed" ';' \
    list-panes -a -F "$fleet_qn	pane	` + paneFormat + `" ';' list-panes -a -F "$fleet_qn	about	` + aboutFormat + `" ';' \
    list-panes -a -F "$fleet_qn	path	#{pane_id}	#{pane_current_path}" ';' list-panes -a -F "$fleet_qn	title	#{pane_id}	#{pane_title}" ';' \
    list-clients -F "$fleet_qn	client	` + clientFormat + `" ';' display-message -p "$fleet_qn done" \
    "$@" ';' display-message -p "$fleet_qn over"
}
fleet_screens() {
  for fleet_id; do
    fleet_id=${fleet_id%%@*}
    printf "display-message -p -t '%s' '%s ` + screenFormat + `'\ncapture-pane -p -e -t '%s'\ndisplay-message -p '%s end'\n" "$fleet_id" "$fleet_qn" "$fleet_id" "$fleet_qn"
  done
}
fleet_ask() {
  {
    printf "%s '$fleet_qn%s'\n" display-message\ -p ' server #{version}' display-message\ -p ' now %s' \
      list-panes\ -a\ -F '	list	` + listFormat + `' display-message\ -p ' listed' \
      list-panes\ -a\ -F '	pane	` + paneFormat + `' list-panes\ -a\ -F '	about	` + aboutFormat + `' \
      list-panes\ -a\ -F '	path	#{pane_id}	#{pane_current_path}' list-panes\ -a\ -F '	title	#{pane_id}	#{pane_title}' \
      list-clients\ -F '	client	` + clientFormat + `' display-message\ -p ' done'
    for fleet_id in $fleet_fronts; do fleet_screens "=$fleet_id:"; done
    fleet_screens $fleet_known
  } | tmux -u source-file -
}
fleet_read() {
  fleet_heard= fleet_panes= fleet_more= fleet_same= fleet_due= fleet_session= fleet_all= fleet_launched=
  set -f
  IFS='
'
  for fleet_line in ${fleet_out%%"$fleet_qn listed"*}; do
    case $fleet_line in
    "$fleet_qn server "?*) fleet_heard=named ;;
    "$fleet_qn server"*) fleet_heard=nameless ;;
    "$fleet_qn	list	"*)
      IFS='	'
      set -- $fleet_line
      case $fleet_every$fleet_wanted in 1*|*":$7:"*) ;; *) continue ;; esac
      [ "$7" = "$fleet_session" ] || fleet_next
      fleet_session=$7
      case $5 in
      1.*) ;;
      *.1) fleet_panes="$fleet_panes $3" fleet_launched="$fleet_launched $3" ;;
      *) fleet_panes="$fleet_panes $3" fleet_all="$fleet_all $3" ;;
      esac
      if [ "$fleet_drawn" ]; then
        case $5$fleet_fronts in ?.1.1.?*" $7 "*) continue ;; esac
        case " $fleet_known " in *" $4 "* | *" $4@"*) continue ;; esac
      else
        case " $fleet_known " in *" $4@$6 "*) fleet_same="$fleet_same $4"; continue ;; esac
      fi
      fleet_more="$fleet_more $4" ;;
    esac
  done
  fleet_next
  set +f
  unset IFS
}
fleet_next() {
  case $fleet_launched in
  ''|' '*' '*) fleet_due="$fleet_due$fleet_launched$fleet_all" ;;
  *) fleet_due="$fleet_due$fleet_launched" ;;
  esac
  fleet_all= fleet_launched=
}
fleet_look() {
  fleet_panes= fleet_due= fleet_heard=
  if ! command -v tmux >/dev/null 2>&1; then
    printf '%s\tmissing\n' "$fleet_qn"
    return
  fi
  set -f
  set -- $fleet_known
  set +f
  fleet_out= fleet_drawn=1
  if [ $# -gt 0 ] && [ $# -le ` + maxArguments + ` ] && [ "$fleet_fronts" = ' ' ]; then fleet_out=$(fleet_quick "$@" 2>/dev/null)
  else
    case $fleet_known in *@*)
      fleet_drawn=
      fleet_out=$(fleet_lists 2>/dev/null) ;;
    esac
  fi
  case $fleet_out in *"
$fleet_qn over") fleet_read ;; esac
  [ -n "$fleet_heard" ] || fleet_drawn=1
  if [ -z "$fleet_heard" ]; then
    fleet_out=$(fleet_ask 2>/dev/null)
    fleet_read
  fi
  if [ -z "$fleet_heard" ]; then
    fleet_out=$(fleet_ask 2>&1)
    fleet_read
  fi
  if [ "$fleet_every$fleet_heard" != named ]; then printf '%s\tversion\t%s\n' "$fleet_qn" "$(tmux -V 2>&1)"; fi
  if [ -n "$fleet_heard" ]; then
    printf '%s\n' "$fleet_out"
    for fleet_id in $fleet_same; do printf '%s same %s\n' "$fleet_qn" "$fleet_id"; done
    if [ -n "$fleet_more" ]; then
      fleet_screens $fleet_more | tmux -u source-file - 2>/dev/null
    fi
  else
    printf '%s\terror\t%s\n' "$fleet_qn" "$fleet_out"
  fi
}
`
