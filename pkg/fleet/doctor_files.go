package fleet

import (
	"fmt"
	"strings"
)

// aboutFiles judges what the fleet keeps in the home of the account.
func (x examined) aboutFiles(h Host, folder facts) []Finding {
	return []Finding{x.aboutToken(h), x.aboutPushed(h, folder), x.aboutJournal(h)}
}

// The file that holds a session's token, as sh of any shell reads it.
const (
	tokenFolder = "~/.config/claude-fleet"
	tokenFile   = tokenFolder + "/env"
)

// aboutToken wants the token's file for the account alone.
func (x examined) aboutToken(h Host) Finding {
	folder, file := x.files.get("folder"), x.files.get("token")
	if file == "" {
		return good("token", "there is no token of the fleet's")
	}
	var wrong, cure []string
	owner := false
	for _, f := range []struct{ listed, mode, name, path, octal string }{
		{folder, "drwx------", "its folder", tokenFolder, "700"}, {file, "-rw-------", tokenFile, tokenFile, "600"},
	} {
		words := strings.Fields(f.listed)
		if strings.HasPrefix(f.listed, "lr") {
			return faulty("token", f.path+" is a link", "a launch reads no file through a link, nor does reauth write one: the session goes without the token",
				h.there(asSh("umask 077 && cat "+f.path+" > "+f.path+".new && mv -f "+f.path+".new "+f.path)))
		}
		if len(words) < 3 || len(words[0]) < len(f.mode) || words[0][0] != f.mode[0] {
			return faulty("token", f.name+" is not what it should be: "+cut(neutral(f.listed), 120), "the token can't be read", "").hinted("look at it there by: " + h.there("ls -ld "+f.path))
		}
		if words[2] != x.account.get("uid") {
			owner = true
			wrong = append(wrong, f.name+" belongs to user "+neutral(words[2]))
		}
		// Behind the mode some systems put a sign for lists of rights.
		if words[0][:len(f.mode)] != f.mode {
			wrong = append(wrong, fmt.Sprintf("%s is %s, not %s", f.name, neutral(words[0]), f.mode))
		}
		cure = append(cure, "chmod "+f.octal+" "+f.path)
	}
	if len(wrong) == 0 {
		return good("token", "the token's file is the account's alone")
	}
	found := faulty("token", strings.Join(wrong, ", and "), "whoever reads the token can spend as you for as long as it is valid", "")
	command := h.there(strings.Join(cure, " && "))
	if owner {
		user := x.owner()
		if user == "" {
			return found.hinted("make both the account's own there, with the modes 700 and 600")
		}
		command = h.thereAsRoot(x.root(), "chown "+user+" "+tokenFolder+" "+tokenFile) + " && " + command
	}
	found.Remedy = command
	return found
}

var digits = lazyRegexp(`^[0-9]+$`)

// owner is the account as a root's chown may be told it: its name, or else its
// number. It is empty where the host told neither.
func (x examined) owner() string {
	if user := x.account.get("user"); checkName(user) == nil {
		return user
	}
	if uid := x.account.get("uid"); digits().MatchString(uid) {
		return uid
	}
	return ""
}

// aboutPushed compares the folder that init left in the home with the table's.
// The systemd unit goes by it, for the session that a machine has by default.
func (x examined) aboutPushed(h Host, folder facts) Finding {
	const id = "fleet-workdir"
	if len(x.files["pushed"]) == 0 {
		return good(id, "there is no ~/.fleet-workdir, which only the unit needs")
	}
	if h.Session != DefaultSession {
		return good(id, "~/.fleet-workdir is for the session "+DefaultSession)
	}
	pushed, _, _ := strings.Cut(x.files.get("pushed"), "\n")
	pushed = strings.TrimSpace(pushed)
	if pushed == h.Workdir || pushed != "" && (pushed == folder.get("path") || pushed == folder.get("logical")) {
		return good(id, "~/.fleet-workdir agrees with the table")
	}
	remedy := "" // the folder has to be there first
	if dir := folder.get("logical"); dir != "" {
		remedy = x.overPath(h, dir, func(p string) string { return asSh("echo " + p + " > ~/.fleet-workdir") })
	}
	return warning(id, fmt.Sprintf("~/.fleet-workdir says %s, and the table %s", quote(neutral(pushed)), quote(h.Workdir)),
		"the unit starts the session in the wrong folder", remedy)
}

// aboutJournal wants the folder in which a sending is written down first.
func (x examined) aboutJournal(h Host) Finding {
	const why = "a prompt is written down there before it is typed, and is not sent where that fails"
	if bad := x.files.get("nofolder"); bad != "" {
		return faulty("journal", neutral(bad)+" is in the way of the journal's folder", why, x.overPath(h, bad, func(p string) string { return "mv " + p + " " + p + ".old" }))
	}
	if bad := x.files.get("readonly"); bad != "" {
		return faulty("journal", neutral(bad)+" can't be written in", why, x.overPath(h, bad, func(p string) string { return "chmod u+rwx " + p })).
			hinted("where another account owns it, or the file system is read-only, that has to be mended first")
	}
	return good("journal", journalRoot+" can be written in")
}

// overPath is a remedy over a path that the host named; empty for one that no
// command line should hold.
func (x examined) overPath(h Host, path string, command func(string) string) string {
	if checkLine(path) != nil || !strings.HasPrefix(path, "/") {
		return ""
	}
	return h.there(command(pasteWord(path)))
}
