package transcript

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// Session is what one client wrote of itself in sessions/PID.json.
type Session struct {
	PID        int
	ID         string // of the conversation
	Dir        string // the directory the client was started in
	Version    string
	Kind       string // "interactive" or "background"
	Status     string // "idle", "busy" or "waiting"; empty in versions that do not say
	WaitingFor string // e.g. "input needed"
	Pane       string // tmux's "%7"; empty when the version does not say
	Since      time.Time
	// Alive: the process of that id runs and started when the file says. The
	// file of a killed client stays.
	Alive bool
	// Tail holds the newest records of the conversation, oldest first, and Size
	// the length in bytes of its file; both empty for one that is not alive or
	// has no conversation yet.
	Tail []Record
	Size int64
	// Line is the process and those that it descends from, up to the first that
	// Query.Under names; empty for one that is not alive or descends from none.
	Line  []Process
	file  file
	start string // of the process, as the machine tells it
}

// Process is a row of a machine's process table.
type Process struct {
	PID, Parent int
	Foreground  int    // the process group that has its terminal
	State, Name string // as Linux says: "S", "claude"
}

// Query is one look at the session files of a machine's account: a fragment of
// sh, and the reader of what it prints, with a nonce of its own so that nothing
// in a file can pass for a record.
type Query struct {
	nonce      string
	panes, due string             // shell variables, see Under; empty for every client
	known      map[string]Session // by the id of the conversation
	last       []Session          // all that was found
	inPlace    bool
}

// NewQuery returns a query.
func NewQuery() Query {
	var b [8]byte
	// crypto/rand.Read never fails: it ends the program instead.
	_, _ = rand.Read(b[:])
	return Query{nonce: "fleet" + hex.EncodeToString(b[:])}
}

// tailBytes is how much of a conversation's end is looked through for its
// newest records. The records between turns (attachments, request bodies) are
// the large ones and are dropped on the machine.
const tailBytes = "262144"

// configDir sets base to the folder where the client keeps its files, and
// defines "newest", which prints the path of a conversation's file: of the one
// written last where several folders hold it. The lines that it reads are paths
// of the client's own making, without line feeds.
const configDir = configBase + "\n" + newestFunction

const (
	configBase     = "base=${CLAUDE_CONFIG_DIR:-$HOME/.claude}"
	newestFunction = `newest() { ls -t -- "$base"/projects/*/"$1.jsonl" 2>/dev/null | head -n 1; }
`
)

// told finds the records that say what happened in a conversation, and what was
// put into the queue of prompts and taken out.
const told = `"type":"(user|assistant|system|queue-operation|queued_command|hook_stopped_continuation)"`

// onlyTurns keeps those records.
const onlyTurns = `LC_ALL=C grep -a -E '` + told + `'`

// Parse reads what the fragment printed. Files that are no JSON objects, as
// when the client is in the middle of writing one, are passed over.
func (q Query) Parse(out []byte) []Session {
	var sessions []Session
	open := -1 // of which processes come; none when its file could not be read
	var pid, start, id string
	section := ""
	files, tails := map[string]file{}, map[string][]Record{}
	for line := range bytes.Lines(out) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if rest, ok := bytes.CutPrefix(line, []byte(q.nonce)); ok && len(rest) > 0 {
			kind, value, _ := strings.Cut(string(rest[1:]), string(rest[:1]))
			section = kind
			switch kind {
			case "session":
				open = -1
				pid, start, _ = strings.Cut(value, " ")
			case "process":
				if p, ok := parseProcess(value); ok && open >= 0 {
					sessions[open].Line = append(sessions[open].Line, p)
				}
			case "file":
				if id, f, ok := parseFile(value); ok {
					files[id] = f
				}
			case "tail":
				id = value
				tails[id] = nil
			}
			continue
		}
		switch section {
		case "session":
			section = "" // one line a file
			// A file that is not named after its process tells nothing: the process
			// that was looked at is another.
			if s, ok := parseSession(line, start); ok && strconv.Itoa(s.PID) == pid {
				open = len(sessions)
				sessions = append(sessions, s)
			}
		case "tail":
			if r, ok := ParseRecord(line); ok {
				tails[id] = append(tails[id], r)
			}
		}
	}
	for i := range sessions {
		s := &sessions[i]
		f, found := files[s.ID]
		tail, read := tails[s.ID]
		known, same := q.known[s.ID]
		switch {
		case !s.Alive:
			s.Line = nil
		case !found:
		case read:
			if len(tail) == 0 {
				f.mark = "" // reading it may have failed, which is not to be remembered
			}
			s.Tail, s.Size, s.file = tail, f.size, f
		case same && f.mark != "" && known.file.mark == f.mark:
			s.Tail, s.Size, s.file = known.Tail, f.size, f
		}
	}
	return sessions
}

func parseSession(line []byte, start string) (Session, bool) {
	var f struct {
		PID             int    `json:"pid"`
		SessionID       string `json:"sessionId"`
		CWD             string `json:"cwd"`
		ProcStart       string `json:"procStart"`
		Version         string `json:"version"`
		Kind            string `json:"kind"`
		Status          string `json:"status"`
		WaitingFor      string `json:"waitingFor"`
		Tmux            string `json:"tmux"`
		StatusUpdatedAt int64  `json:"statusUpdatedAt"`
	}
	if json.Unmarshal(line, &f) != nil || f.PID <= 0 {
		return Session{}, false
	}
	s := Session{
		PID: f.PID, ID: f.SessionID, Dir: f.CWD, Version: f.Version, Kind: f.Kind, Status: f.Status, WaitingFor: f.WaitingFor,
		start: start, Alive: start == "alive" || start != "gone" && (f.ProcStart == "" || f.ProcStart == start),
	}
	if _, pane, ok := strings.Cut(f.Tmux, ".%"); ok {
		s.Pane = "%" + pane
	}
	if f.StatusUpdatedAt > 0 {
		s.Since = time.UnixMilli(f.StatusUpdatedAt)
	}
	return s, true
}

// maxSlug is the length from which on the client cuts a slug and appends a hash
// to it (read from client 2.1.332).
const maxSlug = 200

// Slug is the name of the folder that holds the conversations of a directory:
// each UTF-16 unit outside [A-Za-z0-9] becomes "-", so two directories can
// share one. Of a slug over 200 characters the client takes the first 200, "-",
// and a hash of its own; Slug gives it whole.
func Slug(dir string) string {
	var b strings.Builder
	for _, r := range dir {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case r > 0xffff:
			b.WriteString("--")
		default:
			b.WriteByte('-')
		}
	}
	return b.String()
}
