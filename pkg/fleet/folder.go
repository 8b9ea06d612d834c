package fleet

import "time"

// Git is the summary of a workdir's repository.
type Git struct {
	// Branch is the current branch, or "(detached)".
	Branch string `json:"branch"`
	// Ahead and Behind count the commits to and from the upstream; both are 0
	// when there is none.
	Ahead  int `json:"ahead"`
	Behind int `json:"behind"`
	// Dirty counts changed and untracked files; -1 when the repository was too
	// slow to say, has no files of its own (it is bare), or names a filter of its own,
	// without which no file can be compared.
	Dirty int `json:"dirty"`
	// UntrackedSkipped is whether Dirty is without the untracked files, since the
	// repository is large.
	UntrackedSkipped bool    `json:"untracked_skipped"`
	LastCommit       *Commit `json:"last_commit"` // nil in a repository without one
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

// folder is what a look found of a workdir; the zero value is one that is not
// there.
type folder struct {
	path string
	git  *Git
	disk *Disk
}
