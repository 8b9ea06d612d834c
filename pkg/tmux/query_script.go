package tmux

import (
	"slices"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
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

// pattern is what a case of the fragment compares a session's name with.
func (q Query) pattern() string {
	if q.all {
		return "*"
	}
	return anyOf(q.sessions)
}

// anyOf is the pattern of a case that these words match.
func anyOf(words []string) string {
	if len(words) == 0 {
		return "''"
	}
	return strings.Join(words, "|")
}

// asking are the commands that print the screen of a pane and what goes with it,
// such as the cursor. The server runs them before it reads on from the pane: a
// cursor of a moment ago would contradict the screen. The target stands in single
// quotes. Of one that is missing the record names no pane.
func (q Query) asking(target string) []string {
	return []string{
		"display-message -p -t '" + target + "' '" + q.nonce + " screen #{pane_id} #{cursor_x} #{cursor_y} #{pane_in_mode} #{alternate_on}'",
		"capture-pane -p -e -t '" + target + "'",
		"display-message -p '" + q.nonce + " end'",
	}
}

// first gives the commands for the first client, the panes that it asks for by
// name, and the sessions of which it asks for the pane in front.
func (q Query) first() (commands, panes, fronts []string) {
	list := func(kind string, fields ...string) string {
		return "list-panes -a -F '" + q.nonce + "\t" + kind + "\t" + strings.Join(fields, "\t") + "'"
	}
	commands = []string{
		"display-message -p '" + q.nonce + " server #{version}'",
		list("list", "#{pane_pid}", "#{pane_id}", "#{pane_dead}.#{window_active}.#{pane_active}.#{?"+LaunchedOption+",1,0}", "#{session_name}"),
		"display-message -p '" + q.nonce + " listed'",
		list("pane", paneFormat...),
		list("about", "#{pane_id}", "#{"+LaunchedOption+"}", "#{"+endedOption+"}", "#{"+noteOption+"}", "#{"+LockOption+"}", "#{pane_current_command}"),
		list("path", "#{pane_id}", "#{pane_current_path}"),
		list("title", "#{pane_id}", "#{pane_title}"),
		"list-clients -F '" + q.nonce + "\tclient\t#{pane_id}\t#{client_created}\t#{client_activity}'",
		"display-message -p '" + q.nonce + " done'",
	}
	for _, s := range q.sessions {
		if len(q.hints[s]) == 0 {
			fronts = append(fronts, s)
			commands = append(commands, q.asking("="+s+":")...)
		}
	}
	for _, ids := range q.hints {
		panes = append(panes, ids...)
	}
	slices.Sort(panes)
	panes = slices.Compact(panes)
	for _, id := range panes {
		commands = append(commands, q.asking(id)...)
	}
	return commands, panes, fronts
}

// Fragment is the sh text of the query. It needs a server of 3.1 or newer for
// source-file from stdin, which goes on behind a pane that is missing and has no
// limit of length, as a list of commands in the arguments has. A client costs as
// much as all that it asks for, so there is one, for the lists and for the panes
// that are most likely those wanted; a second one comes for what the lists name
// beside them, and where the first one had no answer, to tell why: errors may come
// amid a screen's text, and are not read with it.
func (q Query) Fragment() string {
	commands, panes, fronts := q.first()
	var words strings.Builder
	for _, c := range commands {
		words.WriteString(" " + transport.Quote(c))
	}
	for i, s := range fronts {
		fronts[i] = "?.1.1.?" + s
	}
	unnamed := `[ "$fleet_heard" != named ]`
	if q.all { // whoever asks for all may judge the program
		unnamed = ":"
	}
	return strings.NewReplacer(
		"NONCE", q.nonce, "COMMANDS", words.String(), "WANTED", q.pattern(), "PANES", strings.Join(panes, " "), "FRONTS", anyOf(fronts),
		"UNNAMED", unnamed, "ASKING", transport.Quote(strings.Join(q.asking("%s"), "\n")+"\n"),
	).Replace(queryScript)
}

// queryScript is the fragment, with words to be replaced. The loop goes over the
// records that are made for it, and not over the screens behind them.
const queryScript = `fleet_panes= fleet_due=
fleet_ask() { printf '%s\n'COMMANDS | tmux -u source-file -; }
fleet_read() {
  fleet_heard= fleet_panes= fleet_more= fleet_due= fleet_session= fleet_all= fleet_launched=
  set -f
  IFS='
'
  for fleet_line in ${fleet_out%%NONCE listed*}; do
    case $fleet_line in
    'NONCE server '?*) fleet_heard=named ;;
    'NONCE server'*) fleet_heard=nameless ;;
    'NONCE	list	'*)
      IFS='	'
      set -- $fleet_line
      case $6 in WANTED) ;; *) continue ;; esac
      [ "$6" = "$fleet_session" ] || fleet_next
      fleet_session=$6
      case $5 in
      1.*) ;;
      *.1) fleet_panes="$fleet_panes $3" fleet_launched="$fleet_launched $3" ;;
      *) fleet_panes="$fleet_panes $3" fleet_all="$fleet_all $3" ;;
      esac
      case $5$6 in FRONTS) continue ;; esac
      case ' PANES ' in *" $4 "*) continue ;; esac
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
if command -v tmux >/dev/null 2>&1; then
  fleet_out=$(fleet_ask 2>/dev/null)
  fleet_read
  if [ -z "$fleet_heard" ]; then
    fleet_out=$(fleet_ask 2>&1)
    fleet_read
  fi
  if UNNAMED; then printf 'NONCE\tversion\t%s\n' "$(tmux -V 2>&1)"; fi
  if [ -n "$fleet_heard" ]; then
    printf '%s\n' "$fleet_out"
    if [ -n "$fleet_more" ]; then
      for fleet_id in $fleet_more; do printf ASKING "$fleet_id" "$fleet_id"; done | tmux -u source-file - 2>/dev/null
    fi
  else
    printf 'NONCE\terror\t%s\n' "$fleet_out"
  fi
else
  printf 'NONCE\tmissing\n'
fi
`
