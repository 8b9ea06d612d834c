package tmux

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// LaunchedOption is the pane option that Start and Relaunch set, to the time
// of the launch in seconds since 1970. It marks the pane that a session's
// command was started in, whatever windows a person opens beside it, and goes
// with the pane.
const LaunchedOption = "@fleet_launched"

// endedOption is the pane option in which a launched command leaves its exit
// code when it ends.
const endedOption = "@fleet_ended"

// noteOption is the pane option that holds a caller's own note on the pane (see
// Note). It goes with the pane.
const noteOption = "@fleet_note"

// Pane is one pane as a Snapshot saw it. Text in it comes from the machine and
// is not neutralised.
type Pane struct {
	Session, ID   string // ID is tmux's "%7"
	PID           int    // of the process that the pane was started with
	Dead          bool   // its process ended and remain-on-exit kept it
	InMode        bool   // copy mode or another mode: keys do not reach the program
	Alternate     bool   // the program draws on the alternate screen
	CursorX       int    // cells from 0
	CursorY       int
	Width, Height int       // cells
	Attached      int       // clients attached to the session
	Activity      time.Time // of the window
	Touched       time.Time // when somebody last pressed a key at a terminal that shows the pane; zero when nobody has
	Launched      time.Time // by Start or Relaunch; zero when a person made the pane
	Ended         bool      // the launched command did; ExitCode is then its exit code
	ExitCode      int
	Note          string // what Note left; anybody may have set it
	Sender        string // what the lock holds: empty, or a sender that may have died
	TTY, Command  string // Command is tmux's pane_current_command
	Path, Title   string
	Screen        []byte    // what capture-pane -p -e printed; nil when the pane vanished first
	Drawn         time.Time // when that was printed, by the server's clock, in whole seconds; see Query.Unchanged
}

// Snapshot is what one look at a machine's tmux server found.
type Snapshot struct {
	Version string // e.g. "3.3a", of the server; of the program where none answered, and for NewQueryAll
	Running bool   // a server answered
	Panes   []Pane // of the sessions asked for, in tmux's order
	// Time is the server's clock as it answered, in whole seconds; zero when it did not.
	Time        time.Time
	asked, read time.Time // by our clock, before and after Time
}

// Session returns the panes of the session named so, in tmux's order.
func (s Snapshot) Session(name string) []Pane {
	var panes []Pane
	for _, p := range s.Panes {
		if p.Session == name {
			panes = append(panes, p)
		}
	}
	return panes
}

// Query is one look at the panes of some sessions: a fragment of sh to run on
// the machine, and the reader of what it prints. Each has a nonce of its own,
// so that nothing a pane shows can pass for a record.
type Query struct {
	sessions []string
	all      bool                // whatever the sessions are called
	hints    map[string][]string // by session, the panes that it is likely to have
	drawn    map[string]Pane     // by id, those whose screens are known, see Unchanged
	last     Snapshot            // that they are of
	nonce    string
	asked    time.Time
}

// NewQuery asks for the sessions named. Names must be made of letters, digits,
// "_" and "-", as the fleet table guarantees: the script has them as
// words.
func NewQuery(sessions ...string) Query {
	return Query{sessions: sessions, nonce: newNonce(), asked: time.Now()}
}

func newNonce() string {
	var b [8]byte
	// crypto/rand.Read never fails: it ends the program instead.
	_, _ = rand.Read(b[:])
	return "fleet" + hex.EncodeToString(b[:])
}

// paneFormat lists the fields of a pane record in the order that parsePane
// reads them. tmux makes them all itself; what others may have set (options, the
// command's name, path and title) has records of its own, in which nonsense
// spoils nothing else. Since 3.4 tmux prints other control characters of a
// format as octal, so TAB is the only separator that every version passes.
const paneFormat = "#{session_name}	#{pane_id}	#{pane_pid}	#{pane_dead}	#{pane_in_mode}	#{alternate_on}	" +
	"#{cursor_x}	#{cursor_y}	#{pane_width}	#{pane_height}	#{session_attached}	#{window_activity}	#{pane_tty}"

// paneFields is how many these are.
const paneFields = 13

// Parse reads what the fragment printed. The errors are ErrNotInstalled and
// *ServerError, such as for a server of another version ("protocol version
// mismatch"): that one runs, and is neither absent nor to be started anew. A
// server that does not run is no error. ErrClockSet comes only of a query that was
// told of screens by Unchanged.
func (q Query) Parse(out []byte) (Snapshot, error) {
	snap := Snapshot{asked: q.asked, read: time.Now()}
	wanted := map[string]bool{}
	for _, s := range q.sessions {
		wanted[s] = true
	}
	// By pane id: a pane is in several sessions when its window is linked, as in
	// a group of sessions.
	paths, titles, screens := map[string]string{}, map[string]string{}, map[string][]byte{}
	beside, abouts := map[string][]string{}, map[string][]string{}
	var screen []byte          // of the pane whose screen is being read
	var text map[string]string // which a line without a record goes on with
	touched := map[string]time.Time{}
	same := map[string]bool{}
	open, last := "", ""
	heard, done := false, false
	var odd error // of a record that was passed over
	for line := range bytes.Lines(out) {
		rest, ours := bytes.CutPrefix(bytes.TrimSuffix(line, []byte("\n")), []byte(q.nonce))
		if !ours || len(rest) == 0 {
			switch {
			case open != "":
				screen = append(screen, line...)
			case text != nil: // the name of a directory may have a line feed
				text[last] += "\n" + string(bytes.TrimSuffix(line, []byte("\n")))
			}
			continue
		}
		sep, fields := rest[0], strings.Split(string(rest[1:]), string(rest[0]))
		text = nil
		switch {
		case sep == ' ' && fields[0] == "screen" && len(fields) == 6:
			open, screen = fields[1], nil // "" of a pane that is missing
			beside[open] = fields[2:]
		case sep == ' ' && fields[0] == "end":
			if open != "" && len(screen) > 0 {
				screens[open] = bytes.TrimSuffix(screen, []byte("\n"))
			}
			open, screen = "", nil
		case sep == ' ' && fields[0] == "same" && len(fields) == 2:
			same[fields[1]] = true
		case sep == ' ' && fields[0] == "now" && len(fields) == 2:
			if n, err := strconv.ParseInt(fields[1], 10, 64); err == nil && snap.Time.IsZero() {
				snap.Time = time.Unix(n, 0)
			}
		case sep == ' ' && fields[0] == "server":
			heard = true
			if snap.Version == "" {
				snap.Version = strings.Join(fields[1:], " ")
			}
		case sep == ' ' && fields[0] == "done":
			done = true
		case sep != '\t':
		case fields[0] == "missing":
			return snap, ErrNotInstalled
		case fields[0] == "version":
			snap.Version = strings.TrimPrefix(strings.Join(fields[1:], " "), "tmux ")
		case fields[0] == "error":
			text := strings.Join(fields[1:], " ")
			if serverAbsent(text) {
				return snap, nil
			}
			return snap, &ServerError{Text: text}
		case fields[0] == "pane":
			snap.Running = true
			if len(fields) < 2 || !q.all && !wanted[fields[1]] {
				continue // whatever a stranger called a session, it can't spoil the rest
			}
			p, err := parsePane(fields[1:])
			if err != nil && !wanted[fields[1]] && len(fields)-1 != paneFields {
				odd = err // before 3.2, a session's name may have a TAB or a line feed
				continue
			}
			if err != nil {
				return snap, err
			}
			if !slices.ContainsFunc(snap.Panes, func(o Pane) bool { return o.Session == p.Session && o.ID == p.ID }) {
				snap.Panes = append(snap.Panes, p)
			}
		case fields[0] == "about" && len(fields) > 6:
			abouts[fields[1]] = fields[2:]
		case fields[0] == "client" && len(fields) == 4:
			// A client's activity is its last key, click or focus, and at first the
			// moment at which it came: neither output nor a resize is (tmux 3.3a).
			at, err := strconv.ParseInt(fields[3], 10, 64)
			if err == nil && fields[2] != fields[3] && time.Unix(at, 0).After(touched[fields[1]]) {
				touched[fields[1]] = time.Unix(at, 0)
			}
		case fields[0] == "path" && len(fields) > 2:
			text, last = paths, fields[1]
			text[last] = strings.Join(fields[2:], "\t")
		case fields[0] == "title" && len(fields) > 2:
			text, last = titles, fields[1]
			text[last] = strings.Join(fields[2:], "\t")
		}
	}
	if heard && !done {
		return snap, &ServerError{Text: "(the list of panes broke off)"}
	}
	if odd != nil && len(snap.Panes) == 0 {
		return snap, odd
	}
	for i := range snap.Panes {
		p := &snap.Panes[i]
		p.Path, p.Title, p.Screen, p.Touched = paths[p.ID], titles[p.ID], screens[p.ID], touched[p.ID]
		p.describe(abouts[p.ID])
		if f := beside[p.ID]; f != nil && p.Screen != nil {
			x, errX := strconv.Atoi(f[0])
			y, errY := strconv.Atoi(f[1])
			if errX == nil && errY == nil {
				p.CursorX, p.CursorY = x, y
			}
			p.InMode, p.Alternate = f[2] != "0" && f[2] != "", f[3] == "1"
		}
		switch was, known := q.drawn[p.ID]; {
		case p.Screen != nil:
			p.Drawn = snap.Time
		case !same[p.ID] || !known:
		case !snap.after(q.last):
			return snap, ErrClockSet
		default:
			p.Screen, p.Drawn = was.Screen, was.Drawn
		}
	}
	return snap, nil
}

// serverAbsent tells the two ways in which tmux says that no server runs, by
// whether its socket was ever made, from every other failure.
func serverAbsent(text string) bool {
	return strings.HasPrefix(text, "no server running on ") ||
		strings.HasPrefix(text, "error connecting to ") &&
			(strings.HasSuffix(text, "(No such file or directory)") || strings.HasSuffix(text, "(Connection refused)"))
}

// describe reads an about record: options, which anybody can set to anything,
// and the command's name, in which a TAB is the command's own.
func (p *Pane) describe(f []string) {
	if len(f) < 5 {
		return
	}
	if n, err := strconv.ParseInt(f[0], 10, 64); err == nil && n > 0 {
		p.Launched = time.Unix(n, 0)
	}
	if n, err := strconv.Atoi(f[1]); err == nil {
		p.Ended, p.ExitCode = true, n
	}
	p.Note, p.Sender, p.Command = f[2], f[3], strings.Join(f[4:], "\t")
}

func parsePane(f []string) (Pane, error) {
	if len(f) != paneFields {
		return Pane{}, fmt.Errorf("tmux described a pane in %d fields, not %d", len(f), paneFields)
	}
	var bad error
	num := func(i int) int {
		n, err := strconv.Atoi(f[i])
		if err != nil && f[i] != "" && bad == nil {
			bad = fmt.Errorf("tmux gave %q for %s", f[i], strings.Split(paneFormat, "\t")[i])
		}
		return n
	}
	at := func(i int) time.Time {
		if n := num(i); n > 0 {
			return time.Unix(int64(n), 0)
		}
		return time.Time{}
	}
	p := Pane{
		Session: f[0], ID: f[1], PID: num(2), Dead: f[3] == "1", InMode: num(4) > 0, Alternate: f[5] == "1",
		CursorX: num(6), CursorY: num(7), Width: num(8), Height: num(9), Attached: num(10), Activity: at(11),
		TTY: f[12],
	}
	return p, bad
}
