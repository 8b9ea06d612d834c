package tmux

import (
	"context"
	"fmt"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// Keeper says what is to keep a new tmux server running when the login that
// starts it has ended, where the machine has a systemd that could end it then.
// The zero value is nothing: the server is started like any other program.
type Keeper struct {
	// Scope asks for a transient scope of the user's own systemd manager.
	Scope bool
	// Unit is a user unit that starts the session, and is preferred where it is
	// installed; empty for none.
	Unit string
	// Ready is sh text that looks whether the unit is for this session. It prints
	// nothing where it is, else one word why not, which becomes a note.
	Ready string
}

// Kept says what keeps a session that was started.
type Kept string

// What can keep a session.
const (
	KeptByNothing Kept = ""
	KeptByScope   Kept = "scope"
	KeptByUnit    Kept = "unit"
)

// The notes of StartKept, beside those of Keeper.Ready.
const (
	// NoteLinger: the user's manager is ended with the last login, and the session
	// with it, since lingering is off.
	NoteLinger = "linger"
	// NoteLingerPlain: so that the session was started outside the manager; the
	// logins of this machine leave behind what runs.
	NoteLingerPlain = "linger-plain"
	// NoteUnitFailed: the unit is installed and could not be started.
	NoteUnitFailed = "unit-failed"
	// NoteUnitElsewhere: the unit was started, and there is no such session.
	NoteUnitElsewhere = "unit-elsewhere"
	// NoteScopeFailed: the manager made no scope.
	NoteScopeFailed = "scope-failed"
)

// Started is a session that Start found or made.
type Started struct {
	Pane  string // the id of its first pane
	Kept  Kept   // by what; empty also for a session that was there
	Notes []string
}

// userManager asks the user's systemd manager, which is found by a variable that
// not every sshd sets, and goes no way that takes long: each call has its own
// deadline, so that a machine without timeout, which no systemd comes without, is
// taken to have no manager. Where the manager itself ends with the last login
// (lingering is off), it is no place for a session, unless logins end what they
// leave behind in any case (KillUserProcesses); a scope lasts at least as long
// as the last of them then. A tmux server that runs already takes the session, so
// that nothing of this would keep it.
const userManager = `way=plain
there() { tmux -u list-sessions >/dev/null 2>&1; }
if [ "$scope" = yes ] && ! there && command -v systemctl >/dev/null 2>&1 && command -v timeout >/dev/null 2>&1; then
  if [ -z "${XDG_RUNTIME_DIR:-}" ] && [ -d "/run/user/$(id -u)" ]; then
    XDG_RUNTIME_DIR=/run/user/$(id -u); export XDG_RUNTIME_DIR
  fi
  if loaded=$(timeout 5 systemctl --user show -p LoadState ${unit:+"$unit"} 2>/dev/null); then
    way=scope
    case $(timeout 5 loginctl show-user "$(id -un)" -p Linger 2>/dev/null) in
      *=no)
        case $(timeout 5 loginctl show-session -p KillUserProcesses 2>/dev/null) in
          *Processes=no) way=plain; note linger-plain ;;
          *) note linger ;;
        esac ;;
    esac
  fi
fi
if [ "$way" = scope ] && [ -n "$unit" ]; then
  case $loaded in
    *=loaded) ;;
    *=*) unit= ;;
    *) [ -f "$HOME/.config/systemd/user/$unit" ] || unit= ;;
  esac
  if [ -n "$unit" ]; then
    why=$(eval "$ready")
    if [ -n "$why" ]; then note "$why"
    elif ! timeout 60 systemctl --user start "$unit" >/dev/null 2>&1; then note unit-failed
    elif found; then way=unit; started
    else note unit-elsewhere
    fi
    ! there || way=plain
  fi
fi
`

// begin makes the session. A line of another kind may come with the pane's id, as
// a warning of the loader.
const begin = `begin() {
  said=$("$@" tmux -u new-session -d -P -F '#{pane_id}' -s "$session" -x %[1]d -y %[2]d -- /bin/sh -c "$launcher" sh "$program" "$dir" "$PATH" 2>&1) || return 1
  pane=$(printf '%%s\n' "$said" | paneid)
}
`

// finish makes it, marks its pane, and where it is gone looks for the cause: a
// server that has no session yet reads tmux.conf too.
const finish = `cause() {
  case $(tmux -u start-server \; show-options -gv destroy-unattached 2>/dev/null) in ''|off) ;; *) echo "$nonce unattached"; exit 0 ;; esac
}
if [ "$way" = scope ]; then
  begin timeout 20 systemd-run --user --scope --quiet || pane=
  if [ -z "$pane" ]; then
    way=plain
    if found; then started; fi
    note scope-failed
  fi
fi
if [ -z "$pane" ] && ! begin; then
  case $said in
    *"duplicate session"*) found; way=plain; started ;;
    *) cause; printf '%s failed %s\n' "$nonce" "$said"; exit 0 ;;
  esac
fi
tmux -u set-option -p -t "${pane:-none}" @fleet_launched "$(date +%s)" 2>/dev/null || { cause; echo "$nonce vanished"; exit 0; }
started
`

// Start is StartKept with nothing to keep the session.
func Start(ctx context.Context, r Runner, session string, l Launch) (pane string, err error) {
	s, err := StartKept(ctx, r, session, l, Keeper{})
	return s.Pane, err
}

// StartKept makes a detached session and launches the command in it, kept as k
// says as far as the machine can. A session of that name that exists already is
// left alone and its first pane returned, so that two callers at once start one
// session. The errors are ErrNotInstalled, ErrNoDirectory, ErrVanished,
// ErrUnattached, *ServerError and the runner's.
func StartKept(ctx context.Context, r Runner, session string, l Launch, k Keeper) (Started, error) {
	n := newNonce()
	scope := ""
	if k.Scope || k.Unit != "" {
		scope = "yes"
	}
	script := l.script(n) + assign("session", session) + assign("unit", k.Unit) + assign("ready", k.Ready) + assign("scope", scope) +
		"nonce=" + n + "; pane=; notes=\n" + unsetting(l.Unset) + locale + `note() { notes="$notes $1"; }
paneid() { sed -n '/^%[0-9][0-9]*$/p' | head -n 1; }
found() { pane=$(tmux -u list-panes -s -t "=$session" -F '#{pane_id}' 2>/dev/null | paneid); [ -n "$pane" ]; }
started() { echo "$nonce started $pane $way$notes"; exit 0; }
` + userManager + fmt.Sprintf(begin, Cols, Rows) + finish
	words, err := answer(ctx, r, n, script)
	if err != nil {
		return Started{}, err
	}
	var s Started
	if words[0] == "started" && len(words) == 2 {
		all := strings.Fields(words[1])
		words = append(words[:1], all...)
		if len(all) > 1 {
			if all[1] != "plain" {
				s.Kept = Kept(all[1])
			}
			s.Notes = all[2:]
		}
	}
	s.Pane, err = launched(words, nil)
	return s, err
}

// unsetting takes variables out of the environment that a new server would keep,
// and give to every session that it ever has.
func unsetting(names []string) string {
	if len(names) == 0 {
		return ""
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = transport.Quote(n)
	}
	return "unset " + strings.Join(quoted, " ") + "\n"
}
