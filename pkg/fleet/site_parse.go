package fleet

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// siteSeen is what a site found.
type siteSeen struct {
	system
	folders map[string]folder // by workdir; those that are not there are missing
}

// siteAnswer is what the script printed, before it is put together with what was
// known.
type siteAnswer struct {
	tz, zone, stat string
	clock          *time.Time
	east           *time.Location
	blocks         map[string]string // by id
	same           map[string]bool   // the blocks that are what they were
	vim            bool
	paths          map[int]string
	of             map[int]int // the folder that was asked about the same repository
	repos          map[int]*repoAnswer
	asked          []int    // the folders that df was asked about
	df             []string // its lines
}

// repoAnswer is what was printed of one repository.
type repoAnswer struct {
	Git
	oid       string
	counted   bool // git came to the end of its count
	uncounted bool // it was asked for none
	known     bool // the newest commit is the one that is known
	headers   int  // lines of git's that count nothing
	lines     int
}

func readSite(out []byte) siteAnswer {
	a := siteAnswer{blocks: map[string]string{}, same: map[string]bool{}, paths: map[int]string{}, of: map[int]int{}, repos: map[int]*repoAnswer{}}
	block, open := "", false
	before := map[string]bool{"tz": true, "zone": true, "stat": true, "block": true, "same": true, "path": true, "of": true} // the first repository
	repo := &repoAnswer{}                                                                                                    // lines about none go nowhere
	for line := range bytes.Lines(out) {
		text := strings.TrimSuffix(string(line), "\n")
		if len(a.asked) > 0 {
			a.df = append(a.df, text)
			continue
		}
		kind, rest, _ := strings.Cut(text, " ")
		if open {
			if open = kind != "end"; open {
				a.blocks[block] += text + "\n"
			}
			continue
		}
		if len(a.repos) > 0 && before[kind] {
			continue // a repository's own words
		}
		switch kind {
		case "tz":
			a.tz = rest
		case "zone":
			a.zone = rest
		case "stat":
			a.stat = rest
		case "clock":
			a.readClock(rest)
		case "block":
			block, open = rest, true
			a.blocks[block] = ""
		case "git":
			repo = &repoAnswer{Git: Git{Dirty: -1}}
			if n, err := strconv.Atoi(rest); err == nil {
				a.repos[n] = repo
			}
		case "same":
			a.same[rest] = true
		case "path", "of":
			place, what, _ := strings.Cut(rest, " ")
			n, err := strconv.Atoi(place)
			if err != nil {
				continue
			}
			if kind == "path" {
				a.paths[n] = strings.ReplaceAll(what, "\x01", "\n")
			} else if first, err := strconv.Atoi(what); err == nil {
				a.of[n] = first
			}
		case "df":
			for _, place := range strings.Fields(rest) {
				n, _ := strconv.Atoi(place)
				a.asked = append(a.asked, n)
			}
		default:
			if strings.HasPrefix(kind, `"editorMode"`) && len(a.repos) == 0 {
				a.vim = strings.Contains(text, `"vim"`) // the last one counts
				continue
			}
			repo.read(kind, rest)
		}
	}
	return a
}

func (a *siteAnswer) readClock(text string) {
	clock, offset, _ := strings.Cut(text, " ")
	if n, err := strconv.ParseInt(clock, 10, 64); err == nil {
		at := time.Unix(n, 0)
		a.clock = &at
	}
	if t, err := time.Parse("-0700", offset); err == nil {
		_, seconds := t.Zone()
		a.east = time.FixedZone("", seconds)
	}
}

// read takes one line about a repository.
func (r *repoAnswer) read(kind, rest string) {
	switch kind {
	case "uncounted":
		r.uncounted = true
	case "tracked":
		r.UntrackedSkipped = true
	case "known":
		r.known = true
	case "head":
		r.Branch = rest
	case "commit":
		words := strings.SplitN(rest, " ", 3)
		if len(words) == 3 {
			seconds, _ := strconv.ParseInt(words[1], 10, 64)
			r.LastCommit = &Commit{Hash: words[0], Time: time.Unix(seconds, 0).UTC(), Subject: words[2]}
		}
	case "#":
		r.headers++
		words := strings.Fields(rest)
		switch {
		case len(words) == 2 && words[0] == "code":
			r.counted = words[1] == "0"
		case len(words) == 2 && words[0] == "branch.oid" && strings.Trim(words[1], "0123456789abcdef") == "":
			r.oid = words[1]
		case len(words) == 2 && words[0] == "branch.head":
			r.Branch = words[1]
		case len(words) == 3 && words[0] == "branch.ab":
			r.Ahead, _ = strconv.Atoi(strings.TrimPrefix(words[1], "+"))
			r.Behind, _ = strconv.Atoi(strings.TrimPrefix(words[2], "-"))
		}
	default:
		if n, err := strconv.Atoi(kind); err == nil {
			r.lines = n
		}
	}
}

// summary is what the lines come to; nil is no repository.
func (r *repoAnswer) summary() *Git {
	if r.Branch == "" {
		return nil
	}
	git := r.Git
	if r.counted && !r.uncounted {
		git.Dirty = max(0, r.lines-r.headers)
	}
	return &git
}

// disks reads what df said. It has a line for each folder, but for those that it
// failed at: then a folder has the disk whose mount point is the nearest above it.
func (a *siteAnswer) disks() map[int]*Disk {
	type row struct {
		disk  Disk
		mount string
	}
	var rows []row
	for _, line := range a.df[min(1, len(a.df)):] {
		words := strings.Fields(line)
		for i := 3; i < len(words); i++ { // the name of a file system may have blanks
			percent, ok := strings.CutSuffix(words[i], "%")
			used, err1 := strconv.Atoi(percent)
			free, err2 := strconv.ParseInt(words[i-1], 10, 64)
			if ok && err1 == nil && err2 == nil {
				_, mount, _ := strings.Cut(line, words[i])
				rows = append(rows, row{Disk{FreeBytes: free << 10, UsedPercent: used}, strings.TrimSpace(mount)})
				break
			}
		}
	}
	disks := map[int]*Disk{}
	for i, n := range a.asked {
		if len(rows) == len(a.asked) {
			disks[n] = &rows[i].disk
			continue
		}
		best := -1
		for k, r := range rows {
			above := r.mount == "/" || a.paths[n] == r.mount || strings.HasPrefix(a.paths[n], r.mount+"/")
			if above && (best < 0 || len(r.mount) > len(rows[best].mount)) {
				best = k
			}
		}
		if best >= 0 {
			disks[n] = &rows[best].disk
		}
	}
	return disks
}
