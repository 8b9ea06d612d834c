package fleet

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transcript"
)

const (
	// memoryForm is of all that a memory is when it is written down, and what it means.
	// TestMemoryForm tells it.
	memoryForm = "c5bd36389807e76b"
	// recalledAge is how old what the host does not confirm may be (a count of changed
	// files, the room on a disk) when a process tells it that did not see it itself:
	// a person who looks has often just changed something.
	recalledAge = 5 * time.Second
	// maxMemory bounds a memory that is written down, as a server does.
	maxMemory = 64 << 10
	// maxRefusal bounds what is written down of a refusal by the service.
	maxRefusal = 2 << 10
)

// memoryBlob is a memory written down. What is no UTF-8 does not survive that, and is
// left out. It has no times of the other clock, which only the process has that made
// them: leases are ages, as of At.
type memoryBlob struct {
	Form     string                 `json:"form"` // of all this; another build's tells nothing
	At       time.Time              `json:"at"`   // by the calendar
	Link     string                 `json:"link"` // the connection, see recall
	Panes    map[string][]string    `json:"panes,omitempty"`
	Clients  []clientBlob           `json:"clients,omitempty"`
	Stat     string                 `json:"stat,omitempty"`
	Clock    leaseBlob              `json:"clock"`
	Offset   time.Duration          `json:"offset,omitempty"`
	East     int                    `json:"east,omitempty"` // seconds
	Asked    leaseBlob              `json:"asked"`
	Login    time.Time              `json:"login"`
	TZ       string                 `json:"tz,omitempty"`
	Settings *string                `json:"settings,omitempty"`
	Vim      bool                   `json:"vim,omitempty"`
	ZoneFile *string                `json:"zoneFile,omitempty"`
	Zone     string                 `json:"zone,omitempty"`
	Folders  map[string]*folderBlob `json:"folders,omitempty"`
}

// clientBlob is a conversation whose end need not be read again while its file stays.
type clientBlob struct {
	ID    string       `json:"id"`
	PID   int          `json:"pid"`
	Mark  string       `json:"mark"`
	Dir   string       `json:"dir,omitempty"`
	Tail  []recordBlob `json:"tail,omitempty"`
	Start string       `json:"start,omitempty"`
	Line  []int        `json:"line,omitempty"`
}

// recordBlob is what a verdict goes by of a record. Nothing of what was said is in it,
// but for what the service said as it refused.
type recordBlob struct {
	Type    string    `json:"type"`
	Subtype string    `json:"subtype,omitempty"`
	At      time.Time `json:"at"`
	Meta    bool      `json:"meta,omitempty"`
	Side    bool      `json:"side,omitempty"`
	Refused bool      `json:"refused,omitempty"`
	Status  int       `json:"status,omitempty"`
	Text    string    `json:"text,omitempty"`
}

type folderBlob struct {
	Path string    `json:"path"`
	Room leaseBlob `json:"room"`
	Disk *Disk     `json:"disk,omitempty"`
	Repo *repoBlob `json:"repo,omitempty"`
}

type repoBlob struct {
	Lease leaseBlob `json:"lease"`
	Block string    `json:"block,omitempty"`
	OID   string    `json:"oid,omitempty"`
	Git   *Git      `json:"git,omitempty"`
	Slow  bool      `json:"slow,omitempty"`
}

// leaseBlob is a lease; zero is one that is over.
type leaseBlob struct {
	Age time.Duration `json:"age,omitempty"`
	For time.Duration `json:"for,omitempty"`
}

// encode writes the memory down for one who looks over the same connection. What is
// over is left out, and nil is that nothing is worth it.
func (m *memory) encode(link string, now time.Time) []byte {
	b := memoryBlob{Form: memoryForm, At: now.UTC().Round(0), Link: link, Stat: m.stat, Clock: m.clock.blob(now), Folders: map[string]*folderBlob{}}
	b.keepSight(m.sight)
	if b.Clock.For > 0 && m.east != nil {
		b.Offset, b.East = m.offset, eastOf(m.east)
	} else {
		b.Clock = leaseBlob{}
	}
	if utf8.ValidString(m.tz) {
		b.Asked, b.Login, b.TZ = m.asked.blob(now), m.login, m.tz
	}
	b.Settings, b.Vim = m.settings, m.vim
	if utf8.ValidString(m.zone) {
		b.ZoneFile, b.Zone = m.zoneFile, m.zone
	}
	for dir, f := range m.folders {
		if kept := f.blob(now); kept != nil && utf8.ValidString(dir) {
			b.Folders[dir] = kept
		}
	}
	// What costs the least to see again goes first.
	for _, less := range []func(){func() {}, func() { b.Clients = nil }, func() { b.Folders = nil }} {
		less()
		if out, err := json.Marshal(b); err == nil && len(out) <= maxMemory {
			return out
		}
	}
	return nil
}

func (b *memoryBlob) keepSight(s *sighted) {
	if s == nil {
		return
	}
	b.Panes = map[string][]string{}
	for _, p := range s.snap.Panes {
		b.Panes[p.Session] = append(b.Panes[p.Session], p.ID)
	}
	for _, c := range s.sessions {
		if known, ok := c.Known(); ok {
			if tail, ok := brief(known.Tail); ok {
				b.Clients = append(b.Clients, clientBlob{ID: known.ID, PID: known.PID, Mark: known.Mark, Dir: known.Folder, Tail: tail, Start: known.Start, Line: known.Line})
			}
		}
	}
}

// brief is the part of a conversation's end that newest goes by. It is false where
// that can't be written down.
func brief(tail []transcript.Record) (blobs []recordBlob, ok bool) {
	want := newest(tail)
	n := 0
	for n < len(tail) && !reflect.DeepEqual(newest(tail[len(tail)-n:]), want) {
		n++
	}
	for _, r := range tail[len(tail)-n:] {
		b := recordBlob{Type: r.Type, Subtype: r.Subtype, At: r.At, Meta: r.Meta, Side: r.Side, Refused: r.APIError, Status: r.APIStatus}
		if r.APIError {
			b.Text = r.Text()
		}
		if len(b.Text) > maxRefusal || !utf8.ValidString(b.Text+b.Type+b.Subtype) {
			return nil, false
		}
		blobs = append(blobs, b)
	}
	return blobs, true
}

func (b recordBlob) record() transcript.Record {
	r := transcript.Record{Type: b.Type, Subtype: b.Subtype, At: b.At, Meta: b.Meta, Side: b.Side, APIError: b.Refused, APIStatus: b.Status}
	if b.Text != "" {
		r.Blocks = []transcript.Block{{Kind: "text", Text: b.Text}}
	}
	return r
}

func (f *folderMemory) blob(now time.Time) *folderBlob {
	if !utf8.ValidString(f.path) {
		return nil
	}
	b := &folderBlob{Path: f.path, Room: f.room.blob(now), Disk: f.disk}
	r := f.repo
	if r != nil && (r.git == nil || wholeText(r.git)) {
		b.Repo = &repoBlob{Lease: r.blob(now), Block: r.block, OID: r.oid, Git: r.git, Slow: r.slow}
	}
	return b
}

func wholeText(g *Git) bool {
	return utf8.ValidString(g.Branch) && (g.LastCommit == nil || utf8.ValidString(g.LastCommit.Hash+g.LastCommit.Subject))
}

func (l lease) blob(now time.Time) leaseBlob {
	if l.over(now) {
		return leaseBlob{}
	}
	return leaseBlob{Age: now.Sub(l.from), For: l.d}
}

// decodeMemory reads what encode has written, age ago by a clock that nobody sets, and
// gives the connection that it is of. Whatever is wrong with it, it then tells nothing:
// it may be another build's, or anybody's. So it is where the calendar was set since,
// or the machine has slept.
func decodeMemory(blob []byte, age time.Duration, now time.Time) (*memory, string) {
	var b memoryBlob
	d := json.NewDecoder(bytes.NewReader(blob))
	d.DisallowUnknownFields()
	if len(blob) > maxMemory || d.Decode(&b) != nil || b.Form != memoryForm || b.Link == "" || age < 0 {
		return nil, ""
	}
	if apart := now.Round(0).Sub(b.At) - age; apart > time.Second || apart < -time.Second {
		return nil, ""
	}
	m := newMemory()
	m.sight = b.sight()
	if b.Stat == "gnu" || b.Stat == "bsd" {
		m.stat = b.Stat
	}
	if clock := b.Clock.lease(age, clockAge, now); !clock.over(now) && b.East > -24*3600 && b.East < 24*3600 {
		m.clock, m.offset, m.east = clock, b.Offset, time.FixedZone("", b.East)
	}
	m.asked, m.login, m.tz = b.Asked.lease(age, siteAge, now), b.Login, b.TZ
	if b.Settings != nil && numbers(*b.Settings) {
		m.settings, m.vim = b.Settings, b.Vim
	}
	if b.ZoneFile != nil && numbers(*b.ZoneFile) {
		m.zoneFile, m.zone = b.ZoneFile, b.Zone
	}
	for dir, f := range b.Folders {
		if f != nil {
			m.folders[dir] = f.memory(age, now)
		}
	}
	return m, b.Link
}

func (b *memoryBlob) sight() *sighted {
	s := &sighted{}
	for session, ids := range b.Panes {
		for _, id := range ids {
			s.snap.Panes = append(s.snap.Panes, tmux.Pane{Session: session, ID: id})
		}
	}
	for _, c := range b.Clients {
		known := transcript.Known{ID: c.ID, PID: c.PID, Mark: c.Mark, Folder: c.Dir, Start: c.Start, Line: c.Line}
		for _, r := range c.Tail {
			known.Tail = append(known.Tail, r.record())
		}
		if session, ok := known.Session(); ok {
			s.sessions = append(s.sessions, session)
		}
	}
	return s
}

func (f *folderBlob) memory(age time.Duration, now time.Time) *folderMemory {
	m := &folderMemory{path: f.Path}
	if room := f.Room.lease(age, recalledAge, now); f.Disk != nil && !room.over(now) {
		m.room, m.disk = room, f.Disk
	}
	r := f.Repo
	if r == nil || !numbers(r.Block) || strings.Trim(r.OID, "0123456789abcdef") != "" {
		return m
	}
	m.repo = &repoMemory{oid: r.OID}
	if l := r.Lease.lease(age, recalledAge, now); !l.over(now) {
		m.repo.lease, m.repo.block, m.repo.git, m.repo.slow = l, r.Block, r.Git, r.Slow
	} else if r.Git != nil { // the text of a commit stays true
		m.repo.git = &Git{Branch: r.Git.Branch, Dirty: -1, LastCommit: r.Git.LastCommit}
	}
	return m
}

// lease is what is left of a lease, which may be most old.
func (b leaseBlob) lease(age, most time.Duration, now time.Time) lease {
	if b.Age < 0 || b.For <= 0 || b.Age > math.MaxInt64-age || b.Age+age >= min(b.For, most) {
		return lease{}
	}
	return lease{from: now.Add(-b.Age - age), d: min(b.For, most)}
}

// numbers tells whether a block is made of what stat prints: it goes into a script.
func numbers(block string) bool { return strings.Trim(block, "0123456789. \n") == "" }

// eastOf is how far east a zone without rules is, in seconds.
func eastOf(zone *time.Location) int {
	_, seconds := time.Time{}.In(zone).Zone()
	return seconds
}
