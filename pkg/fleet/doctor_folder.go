package fleet

import (
	"fmt"
	"strconv"
	"strings"
)

// aboutFolder judges a host's workdir, its repository and its disk.
func (x examined) aboutFolder(h Host, folder facts) []Finding {
	dir := folder.get("path")
	if dir == "" {
		return []Finding{faulty("workdir", fmt.Sprintf("the workdir %s is not there", printable(h.Workdir)), "up starts no session without it",
			h.there("mkdir -p "+homeWord(h.Workdir)))}
	}
	return []Finding{good("workdir", "the workdir is "+neutral(dir)), x.aboutGit(h, folder), aboutDisk(h, folder)}
}

func (x examined) aboutGit(h Host, folder facts) Finding {
	said := folder.get("tree")
	const why = "the client and whoever reviews its work go by it"
	switch {
	case !x.account.has("tool", "git"):
		return warning("git", "git is not installed there", why, x.install(h, "git"))
	case said == "true":
		return good("git", "the workdir is a git work tree")
	case strings.Contains(said, "dubious ownership"):
		return warning("git", "git refuses the workdir, since another account owns it", "the client can neither see nor commit changes",
			h.there(asSh("cd "+homeWord(h.Workdir)+" && "+onPath(x.beyond("git"))+`git config --global --add safe.directory "$(pwd -P)"`))).hinted("if that is so by mistake, give the folder to the account instead")
	case strings.Contains(said, "not a git repository"), said == "false":
		return warning("git", "the workdir is no git work tree", why, h.there(calling(x.beyond("git"), "git init -q "+homeWord(h.Workdir))))
	}
	return warning("git", "git does not tell whether the workdir is a work tree: "+cut(neutral(said), 120), why, "").
		hinted("see what it says there by: " + h.there(calling(x.beyond("git"), "git -C "+homeWord(h.Workdir)+" status")))
}

// aboutDisk goes by the limits of Status. What may be removed is for a person to
// say, so that there is no command that cures it.
func aboutDisk(h Host, folder facts) Finding {
	words := strings.Fields(folder.get("disk"))
	if len(words) != 2 {
		return note("disk", "df does not tell the free space", "", "")
	}
	free, err1 := strconv.ParseInt(words[0], 10, 64)
	used, err2 := strconv.Atoi(words[1])
	if err1 != nil || err2 != nil {
		return note("disk", "df does not tell the free space", "", "")
	}
	d := Disk{FreeBytes: free << 10, UsedPercent: used}
	what := fmt.Sprintf("%.1f GiB are free, and %d %% used", float64(d.FreeBytes)/(1<<30), used)
	if !d.low() {
		return good("disk", what)
	}
	found := warning("disk", what, "with a full disk the client loses its conversation, and nothing can be sent: what is done has to be written down first", "")
	if d.FreeBytes == 0 {
		found.Severity = SeverityFault
	}
	return found.hinted("see what is large there by: " + h.there(asSh("du -xk ~ | sort -n | tail -n 20")))
}
