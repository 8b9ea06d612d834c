package fleet

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/tmux"
)

// Git is the summary of a workdir's repository.
type Git struct {
	// Branch is the current branch, or "(detached)".
	Branch string `json:"branch"`
	// Ahead and Behind count the commits to and from the upstream; both are 0
	// when there is none.
	Ahead  int `json:"ahead"`
	Behind int `json:"behind"`
	// Dirty counts changed and untracked files; -1 when the repository was too
	// slow to say.
	Dirty      int     `json:"dirty"`
	LastCommit *Commit `json:"last_commit"` // nil in a repository without one
}

// Commit is the newest commit of a branch.
type Commit struct {
	Hash    string    `json:"hash"` // abbreviated
	Time    time.Time `json:"time"`
	Subject string    `json:"subject"`
}

// Disk is the room on the file system of a workdir.
type Disk struct {
	FreeBytes   int64 `json:"free_bytes"`
	UsedPercent int   `json:"used_percent"`
}

// A file system is reported when it is fuller than diskFullPercent or has less
// than diskMinFree free.
const (
	diskFullPercent = 90
	diskMinFree     = 2 << 30
)

func (d Disk) low() bool { return d.UsedPercent > diskFullPercent || d.FreeBytes < diskMinFree }

// folderFragment looks at a workdir. git takes no optional locks, so that a
// look never stands in the way of the session's own git, and is given up after
// three seconds where there is a timeout command: a summary is not worth the
// host's deadline. No command that the repository's own settings name is run.
func folderFragment(workdir string) string {
	return fmt.Sprintf(`cd -- %s 2>/dev/null || exit 0
printf 'path %%s\n' "$(pwd -P | tr '\n' '\001')" # its name must not pass for further lines
df -Pk . 2>/dev/null | awk 'NR == 2 { for (i = 3; i <= NF; i++) if ($i ~ /^[0-9]+%%$/) { print "disk", $(i-1), substr($i, 1, length($i) - 1); exit } }'
command -v git >/dev/null 2>&1 || exit 0
limit=; if command -v timeout >/dev/null 2>&1; then limit='timeout 3'; fi
export GIT_OPTIONAL_LOCKS=0
git="$limit git -c core.fsmonitor=false -c core.hooksPath=/dev/null -c log.showSignature=false"
$git rev-parse --git-dir >/dev/null 2>&1 || exit 0
printf 'head %%s\n' "$($git symbolic-ref -q --short HEAD 2>/dev/null || echo '(detached)')"
$git --no-pager log -1 --format='commit %%h %%ct %%s' 2>/dev/null
$git -c core.quotepath=true status --porcelain=v2 --branch 2>/dev/null | awk '/^#/ { print "git", $2, $3, $4; next } { n++ } END { print "dirty", n + 0 }'
`, tmux.DirWord(workdir))
}

// folder is what folderFragment found; path is empty when there is no such
// directory.
type folder struct {
	path string
	git  *Git
	disk *Disk
}

func parseFolder(out []byte) folder {
	var f folder
	git, counted := Git{Dirty: -1}, false
	for line := range bytes.Lines(out) {
		kind, rest, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		switch kind {
		case "path":
			f.path = strings.ReplaceAll(strings.TrimSuffix(rest, "\x01"), "\x01", "\n")
		case "disk":
			words := strings.Fields(rest)
			if len(words) != 2 {
				continue
			}
			free, err1 := strconv.ParseInt(words[0], 10, 64)
			used, err2 := strconv.Atoi(words[1])
			if err1 == nil && err2 == nil {
				f.disk = &Disk{FreeBytes: free << 10, UsedPercent: used}
			}
		case "commit":
			words := strings.SplitN(rest, " ", 3)
			if len(words) == 3 {
				seconds, _ := strconv.ParseInt(words[1], 10, 64)
				git.LastCommit = &Commit{Hash: words[0], Time: time.Unix(seconds, 0).UTC(), Subject: words[2]}
			}
		case "head":
			git.Branch = rest
		case "git":
			words := strings.Fields(rest)
			switch {
			case len(words) >= 2 && words[0] == "branch.head":
				git.Branch, counted = words[1], true
			case len(words) >= 3 && words[0] == "branch.ab":
				git.Ahead, _ = strconv.Atoi(strings.TrimPrefix(words[1], "+"))
				git.Behind, _ = strconv.Atoi(strings.TrimPrefix(words[2], "-"))
			}
		case "dirty":
			// Without its header git was cut off, and the count means nothing.
			if n, err := strconv.Atoi(rest); err == nil && counted {
				git.Dirty = n
			}
		}
	}
	if git.Branch != "" {
		f.git = &git
	}
	return f
}
