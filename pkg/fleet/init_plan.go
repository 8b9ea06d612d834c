package fleet

import (
	"strings"
	"unicode"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// initPlan is what is to be done on a host: a step of sh for each change.
type initPlan struct {
	changes []Change
	steps   []string
	notes   []string
	refused error // the unit can't be had there; the rest can
	err     error // nothing can be done
}

// handMade is what is appended to the name of a unit that was there and is not
// ours. systemd reads no file of such a name.
const handMade = ".before-claude-fleet"

// planInit compares what a host has with what it should have.
func planInit(h Host, found initFound, unit bool) initPlan {
	var p initPlan
	stop := func(msg, hint string) initPlan {
		return initPlan{err: &Error{Class: ClassFailed, Host: h.Name, Msg: msg, Hint: hint}}
	}
	switch {
	case found.workdir == "":
		return stop("the workdir "+h.Workdir+" does not exist there, or can't be gone into; nothing was changed",
			"make it there (mkdir -p "+shellPath(h.Workdir)+"), or set another workdir for "+h.Name+" in fleet.conf")
	case strings.ContainsFunc(found.workdir, unicode.IsControl):
		return stop("the path of the workdir has control characters there: "+neutral(found.workdir), "move it, or set another workdir for "+h.Name+" in fleet.conf")
	case found.fileKind == "dir":
		return stop("~/"+WorkdirFile+" is a directory there", "move it away there, then run this again")
	}
	file := found.workdir + "\n"
	if !found.hasFile || found.file != file {
		p.add("write ~/"+WorkdirFile, WorkdirFile, found.hasFile, found.file, file, writeStep(WorkdirFile, file, ""))
	}
	if !unit {
		return p
	}
	if !found.systemd {
		msg := "no unit was installed: no systemd answers there for this account"
		if found.systemdReason != "" {
			msg += " (" + cut(neutral(found.systemdReason), 120) + ")"
		}
		p.refused = &Error{Class: ClassRefused, Host: h.Name, Msg: msg,
			Hint: "without a unit the session is started with: claude-fleet up " + h.Name + "; with a systemd that does not answer, log in there once and try again, or enable lingering: loginctl enable-linger"}
		return p
	}
	want := Unit(h)
	fresh := !found.hasUnit || found.unit != want
	if fresh {
		keep := ""
		if found.hasUnit && !strings.HasPrefix(found.unit, unitMark) {
			keep = handMade
			p.notes = append(p.notes, "the "+UnitName+" that was there is kept as ~/"+UnitFile+handMade)
		}
		p.add("install ~/"+UnitFile, UnitFile, found.hasUnit, found.unit, want, writeStep(UnitFile, want, keep))
	}
	if fresh || !found.enabled {
		p.changes, p.steps = append(p.changes, Change{What: "enable " + strings.TrimSuffix(UnitName, ".service")}), append(p.steps, enableStep)
	}
	switch found.linger {
	case "no":
		p.notes = append(p.notes, "lingering is off: the unit starts with the account's first login and ends with its last; turn it on there with: loginctl enable-linger")
	case "":
		p.notes = append(p.notes, "whether lingering is on is not known; without it the unit ends with the last login; turn it on there with: loginctl enable-linger")
	}
	return p
}

func (p *initPlan) add(what, path string, has bool, before, after, step string) {
	from := "~/" + path
	if !has {
		from = "/dev/null"
	}
	text := string(diff.Diff(from, []byte(before), "~/"+path, []byte(after)))
	_, text, _ = strings.Cut(text, "\n") // the line "diff OLD NEW", which a unified diff has not
	p.changes = append(p.changes, Change{What: what, Diff: transport.NeutraliseLines(text)})
	p.steps = append(p.steps, step)
}

// shellPath is a workdir as a person types it in a shell.
func shellPath(dir string) string {
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		return "~/" + shellWord(rest)
	}
	if dir == "~" {
		return dir
	}
	return shellWord(dir)
}

// shellWord quotes a word only where it needs it.
func shellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+") == "" {
		return s
	}
	return transport.Quote(s)
}
