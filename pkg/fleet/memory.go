package fleet

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

const (
	// factAge is how old a count of changed files and the room on a disk may be
	// when they are told.
	factAge = 30 * time.Second
	// siteAge is how old all that a site tells may be: who looks more often asks a
	// machine for its folders in some of the looks.
	siteAge = 5 * time.Second
	// clockAge is how long a host's clock is taken to run as ours does.
	clockAge = time.Minute
	// clockLate is how long a look may take for the clock it tells to be kept.
	clockLate = 5 * time.Second
	// settled is how long before a look a file has to have been changed for its
	// times to tell a change after it: some file systems keep times to two seconds.
	settled = 3 * time.Second
)

// memory is what one who looks at a group again and again keeps between two looks,
// so that the next one costs less. It belongs to one call of one method and is not
// safe for concurrent use. All in it is a hint, which the machine compares with
// what is there, or a fact that is told for a limited time, and no verdict rests on
// one of those. Nil is the memory of who looks once.
type memory struct {
	sight *sighted
	stat  string // which form of stat the machine has: "gnu", "bsd", or empty

	clock  lease
	offset time.Duration  // of the host's clock from ours
	east   *time.Location // the host's zone by its offset

	asked lease     // of the site
	login time.Time // see system
	tz    string    // the name of the host's zone, if it has one

	settings *string // the block of the settings; nil when it is not known
	vim      bool    // what they say
	zoneFile *string // the block of the time zone's link
	zone     string  // where it leads

	folders map[string]*folderMemory // by workdir
}

func newMemory() *memory { return &memory{folders: map[string]*folderMemory{}} }

// folderMemory is what is known of a workdir.
type folderMemory struct {
	path string // as the host resolved it
	room lease
	disk *Disk
	repo *repoMemory // perhaps another workdir's too; nil when it is not known
}

// repoMemory is what is known of a repository.
type repoMemory struct {
	lease
	block string // the files that say what is checked out; empty when they can't tell
	oid   string // of the newest commit
	git   *Git   // never written to
	slow  bool   // git was too slow to count
}

// lease is the time for which a fact may be told.
type lease struct {
	from time.Time
	d    time.Duration
}

// leaseFrom is a lease of at most d; leases that were taken together end at
// different times.
func leaseFrom(now time.Time, d time.Duration) lease {
	return lease{from: now, d: d*3/4 + rand.N(d/4)}
}

// over goes by the calendar too: while this machine sleeps, its other clock stands.
// Where the two disagree the calendar was set, and what was reckoned by it is no use.
func (l lease) over(now time.Time) bool {
	age := now.Round(0).Sub(l.from.Round(0))
	if d := age - now.Sub(l.from); d > time.Second || d < -time.Second {
		return true
	}
	return l.from.IsZero() || age < 0 || age >= l.d || now.Sub(l.from) >= l.d
}

// machineHints is what a script need not ask a machine for, or only whether it has
// changed.
type machineHints struct {
	stat           string
	clock          bool
	settings, zone *string
}

func (m *memory) hints(now time.Time) machineHints {
	if m == nil {
		return machineHints{}
	}
	return machineHints{stat: m.stat, clock: !m.clock.over(now), settings: m.settings, zone: m.zoneFile}
}

// lastSight is what the look before saw of panes and clients.
func (m *memory) lastSight() *sighted {
	if m == nil {
		return nil
	}
	return m.sight
}

// folder is what is known of a workdir; nil when that is nothing.
func (m *memory) folder(workdir string) *folderMemory {
	if m == nil {
		return nil
	}
	return m.folders[workdir]
}

// site is what the newest site told, if that is young enough and has told of all these
// workdirs.
func (m *memory) site(now time.Time, workdirs []string) (siteSeen, bool) {
	if m == nil || m.asked.over(now) || m.clock.over(now) {
		return siteSeen{}, false
	}
	seen := siteSeen{system: system{now: now.Round(0).Add(m.offset).Truncate(time.Second), vim: m.vim, login: m.login}, folders: map[string]folder{}}
	seen.in(m.tz, m.east)
	for _, dir := range workdirs {
		f := m.folders[dir]
		if f == nil || f.room.over(now) || f.repo != nil && f.repo.over(now) {
			return siteSeen{}, false
		}
		found := folder{path: f.path, disk: f.disk}
		if f.repo != nil {
			found.git = f.repo.git
		}
		seen.folders[dir] = found
	}
	return seen, true
}

// forget drops what is known of a workdir.
func (m *memory) forget(workdir string) {
	if m != nil {
		delete(m.folders, workdir)
	}
}

// folderHints is machineHints for a workdir.
type folderHints struct {
	block  *string
	commit string // its id, whose text is known
	slow   string // "1": counting is not to be tried
	disk   bool
}

func (f *folderMemory) hints(now time.Time) (h folderHints) {
	if f == nil {
		return h
	}
	h.disk = f.path != "" && !f.room.over(now)
	if r := f.repo; r != nil {
		if r.git != nil && r.git.LastCommit != nil {
			h.commit = r.oid
		}
		if !r.over(now) {
			if r.block != "" {
				h.block = &r.block
			}
			if r.slow {
				h.slow = "1"
			}
		}
	}
	return h
}

// sound tells whether a block can be compared with a later one: it is made of the
// numbers of stat, and every change of the files after now will show. now is the
// host's clock before the block was made.
func sound(block string, now time.Time) bool {
	if len(block) > 4<<10 {
		return false
	}
	for line := range strings.Lines(block) {
		f := strings.Fields(line)
		if len(f) != 4 {
			return false
		}
		for _, word := range f {
			if strings.Trim(word, "0123456789.") != "" {
				return false
			}
		}
		for _, at := range f[2:] {
			if t, ok := statTime(at); !ok || now.Sub(t) < settled {
				return false
			}
		}
	}
	return true
}

// statTimeExact is a time as stat prints it, as exactly as it does.
func statTimeExact(s string) (time.Time, bool) {
	at, ok := statTime(s)
	_, fraction, _ := strings.Cut(s, ".")
	n, err := strconv.ParseInt((fraction + "000000000")[:9], 10, 64)
	if !ok || err != nil || n < 0 {
		return at, ok
	}
	return at.Add(time.Duration(n)), true
}

// statTime is a time as stat prints it, in whole seconds.
func statTime(s string) (time.Time, bool) {
	s, _, _ = strings.Cut(s, ".")
	n, err := strconv.ParseInt(s, 10, 64)
	return time.Unix(n, 0), err == nil
}
