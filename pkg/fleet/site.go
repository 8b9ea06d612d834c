package fleet

import (
	"fmt"
	"strings"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// site is the part of a look that is about the machine and the folders on it: its
// clock, the settings of the account, and of each folder the disk and the
// repository. What is the machine's is asked for once, and of several folders in
// one repository the first alone is asked about that.
type site struct {
	folders []string // workdirs, each once
	memory  *memory  // nil: nothing is known
	now     time.Time
}

// newSite is a look at workdirs. With a memory it asks for what has changed since,
// or is too old to be told again, and its parse writes to that memory.
func newSite(m *memory, workdirs ...string) site {
	s := site{memory: m, now: time.Now()}
	asked := map[string]bool{}
	for _, dir := range workdirs {
		if !asked[dir] {
			asked[dir] = true
			s.folders = append(s.folders, dir)
		}
	}
	return s
}

// fragment is the sh text.
func (s site) fragment() string {
	var b strings.Builder
	b.WriteString(siteStart)
	know := s.memory.hints(s.now)
	fmt.Fprintf(&b, "fleet_ks=%s\nfleet_kz=%s\n", hint(know.settings), hint(know.zone))
	var words, disks []string
	for i, dir := range s.folders {
		words = append(words, tmux.DirWord(dir))
		f := s.memory.folder(dir)
		k := f.hints(s.now)
		fmt.Fprintf(&b, "fleet_k%[1]d=%[2]s\nfleet_o%[1]d=%[3]s\nfleet_u%[1]d=%[4]s\n", i+1, hint(k.block), k.commit, k.slow)
		if !k.disk {
			disks = append(disks, fmt.Sprint(i+1))
		}
	}
	fmt.Fprintf(&b, "for fleet_d in %s; do\n%sdone\n", strings.Join(words, " "), siteFolder)
	switch know.stat {
	case "gnu":
		b.WriteString(siteStatGNU)
	case "bsd":
		b.WriteString(siteStatBSD)
	default:
		b.WriteString(siteStatAny)
	}
	b.WriteString(siteSplit + siteAccount)
	if len(s.folders) > 0 {
		batch := "fleet_y=\n"
		if len(s.folders) >= 3 {
			batch = siteBatch // there is no use for it with fewer
		}
		b.WriteString("if [ -n \"$fleet_ids\" ] && command -v git >/dev/null 2>&1; then\n" + siteGit + siteNews + batch + siteRepository + "fi\n")
	}
	if len(disks) > 0 {
		fmt.Fprintf(&b, "fleet_disks='%s'\n%s", strings.Join(disks, " "), siteDisks)
	}
	// Behind all that may take time, for it is compared with the time at which the
	// answer is here.
	if !know.clock {
		b.WriteString("date '+clock %s %z'\n")
	}
	if len(disks) > 0 {
		b.WriteString(siteRoom)
	}
	b.WriteString(":\n")
	return b.String()
}

// hint is a known block as the script takes it; no block is x, which stat does not
// print.
func hint(block *string) string {
	if block == nil {
		return "x"
	}
	return transport.Quote(*block)
}

// parse reads what the fragment printed.
func (s site) parse(out []byte) siteSeen {
	a := readSite(out)
	sys, began := s.system(&a)
	seen := siteSeen{system: sys, folders: map[string]folder{}}
	repos, disks := s.repos(&a, began), a.disks()
	for i, dir := range s.folders {
		n := i + 1
		path, there := a.paths[n]
		if !there {
			s.memory.forget(dir)
			continue
		}
		first, shared := a.of[n]
		if !shared {
			first = n
		}
		found := folder{path: path, disk: disks[n]}
		repo := repos[first]
		if repo != nil {
			found.git = repo.git
		}
		if s.memory != nil {
			known := s.memory.folders[dir]
			if known == nil {
				known = &folderMemory{}
				s.memory.folders[dir] = known
			}
			switch {
			case found.disk != nil:
				known.disk, known.room = found.disk, leaseFrom(s.now, factAge)
			case known.path == path:
				found.disk = known.disk
			default: // it is elsewhere now
				known.disk, known.room = nil, lease{}
			}
			known.path, known.repo = path, repo
		}
		seen.folders[dir] = found
	}
	return seen
}

// system puts together what the machine says of itself. began is when the look
// began, by the host's clock.
func (s site) system(a *siteAnswer) (sys system, began time.Time) {
	m := s.memory
	if m == nil {
		m = newMemory() // and forgets it
	}
	if s.memory.hints(s.now).clock {
		a.clock, a.east = nil, nil // nobody asked
	}
	sys = system{now: time.Now(), vim: a.vim}
	switch {
	case a.clock != nil:
		sys.now = *a.clock
		m.clock, m.offset, m.east = leaseFrom(s.now, clockAge), a.clock.Sub(time.Now().Round(0)), a.east
		if time.Since(s.now) > clockLate {
			m.clock = lease{} // the answer was on its way for nobody knows how long
		}
	case !m.clock.from.IsZero():
		sys.now = time.Now().Round(0).Add(m.offset).Truncate(time.Second)
	}
	began = s.now.Round(0).Add(m.offset)
	if a.stat != "" {
		m.stat = a.stat
	}
	if a.same["s"] {
		sys.vim = m.vim
	} else {
		m.settings, m.vim = remember(a, "s", began), a.vim
	}
	if a.same["z"] {
		a.zone = m.zone
	} else {
		m.zoneFile, m.zone = remember(a, "z", began), a.zone
	}
	name := a.tz
	if name == "" {
		name = a.zone
	}
	if i := strings.LastIndex(name, "/zoneinfo/"); i >= 0 {
		name = name[i+len("/zoneinfo/"):]
	}
	sys.in(name, m.east)
	if f := strings.Fields(a.blocks["e"]); len(f) == 4 {
		if at, ok := statTimeExact(f[2]); ok {
			sys.login = at
		}
	}
	m.asked, m.login, m.tz = leaseFrom(s.now, siteAge), sys.login, name
	return sys, began
}

// in puts the clock into the host's zone: the one of that name, if this machine knows
// it, else the one so far east.
func (s *system) in(name string, east *time.Location) {
	s.zone = east
	if name != "" {
		if zone, err := time.LoadLocation(name); err == nil {
			s.zone = zone
		}
	}
	if s.zone != nil {
		s.now = s.now.In(s.zone)
	}
}

// remember is a block to compare with the next time; nil for one that would not do.
func remember(a *siteAnswer, id string, began time.Time) *string {
	block, ok := a.blocks[id]
	if !ok || !sound(block, began) {
		return nil
	}
	return &block
}

// repos are the repositories, by the first folder that is in each.
func (s site) repos(a *siteAnswer, began time.Time) map[int]*repoMemory {
	repos := map[int]*repoMemory{}
	for i, dir := range s.folders {
		n := i + 1
		var was *repoMemory
		if f := s.memory.folder(dir); f != nil {
			was = f.repo
		}
		r := a.repos[n]
		switch {
		case r == nil && was != nil && a.same[fmt.Sprint(n)]:
			repos[n] = was
		case r != nil:
			repos[n] = r.remembered(was, a.blocks[fmt.Sprint(n)], s.now, began)
		}
	}
	return repos
}

// remembered is what is kept of an answer. was is what was known before; now and
// host are the moment at which the look began, by our clock and the host's.
func (r *repoAnswer) remembered(was *repoMemory, block string, now, host time.Time) *repoMemory {
	kept := &repoMemory{lease: leaseFrom(now, factAge), oid: r.oid, git: r.summary(), slow: !r.counted && r.Branch != ""}
	if was != nil && r.known && was.oid == r.oid && was.git != nil && kept.git != nil {
		kept.git.LastCommit = was.git.LastCommit
	}
	if was != nil && was.slow && r.uncounted && !was.over(now) {
		kept.lease, kept.slow = was.lease, true // until it is tried again
	}
	if sound(block, host) {
		kept.block = block
	}
	return kept
}
