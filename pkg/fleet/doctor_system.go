package fleet

import (
	"fmt"
	"strings"
	"time"
)

// aboutSystemd judges what keeps a session alive beyond our login. Where no
// systemd runs, nothing ends it.
func (x examined) aboutSystemd(h Host) []Finding {
	linger, unit := x.systemd.get("linger"), x.systemd.get("unit")
	state, told := lingerState(linger)
	if !told {
		return []Finding{
			good("linger", "no systemd runs there, so that nothing depends on lingering"),
			note("unit", "no systemd runs there, so that there is no unit "+unitName, "", ""),
		}
	}
	found := []Finding{good("linger", "the account lingers: its sessions outlive its logins")}
	if !state {
		found[0] = warning("linger", "the account does not linger",
			"systemd ends what the user manager started, a session too, when the last login of the account ends, and starts none at boot", h.there("loginctl enable-linger"))
	}
	return append(found, x.aboutUnit(h, unitOf(unit)))
}

// lingerState reads what loginctl said; told is false where there is no systemd to
// ask. Of an account that is neither logged in nor lingering it knows nothing.
func lingerState(said string) (lingers, told bool) {
	switch {
	case strings.Contains(said, "Linger=yes"):
		return true, true
	case strings.Contains(said, "Linger=no"), strings.Contains(said, "not logged in or lingering"):
		return false, true
	}
	return false, false
}

// userUnit is what systemctl said of the unit: its LoadState, UnitFileState and
// ActiveState.
type userUnit struct {
	load, file, active string
	said               string
}

func unitOf(said string) userUnit {
	u := userUnit{said: said}
	for line := range strings.Lines(said) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch key {
		case "LoadState":
			u.load = value
		case "UnitFileState":
			u.file = value
		case "ActiveState":
			u.active = value
		}
	}
	return u
}

func (x examined) aboutUnit(h Host, u userUnit) Finding {
	const why = "it starts the session when the machine has booted"
	switch {
	case u.load == "":
		return note("unit", "the user manager does not answer: "+cut(neutral(u.said), 120), "whether "+unitName+" is there is not known", "")
	case u.load == "not-found":
		return note("unit", "the user unit "+unitName+" is not installed", why, x.self+" init --unit "+h.Name)
	case u.load != "loaded":
		return warning("unit", "the user unit "+unitName+" can't be loaded ("+neutral(u.load)+")", why, x.self+" init --unit "+h.Name)
	case u.file != "enabled" && u.file != "enabled-runtime" && u.file != "static" && u.file != "linked":
		return warning("unit", "the user unit "+unitName+" is installed and not enabled", why, x.userManager(h, "enable"))
	case u.active == "failed":
		return warning("unit", "the user unit "+unitName+" has failed", why, x.userManager(h, "restart")).
			hinted("see why by: " + x.userManager(h, "status"))
	case u.active != "active" && x.snap.Running:
		// A tmux server outside of the unit takes the session, so that nothing is left
		// in the unit for systemd to watch: started, it is inactive at once.
		return note("unit", "the user unit "+unitName+" is enabled and not active: the tmux server that runs there was not started by it", why, "").
			hinted("it takes over from the next boot on, or, once that server has ended, by: " + x.self + " up " + h.Name)
	case u.active != "active":
		return note("unit", "the user unit "+unitName+" is enabled and not active", why, x.userManager(h, "start"))
	}
	return good("unit", "the user unit "+unitName+" is enabled and active")
}

// userManager is a command line that has the user manager of a host do something
// with the unit, and says where its bus is if a login there does not.
func (x examined) userManager(h Host, verb string) string {
	command := "systemctl --user " + verb + " " + unitName
	if x.systemd.has("runtime", "unset") {
		command = asSh("XDG_RUNTIME_DIR=/run/user/$(id -u) " + command)
	}
	return h.there(command)
}

// How far a host's clock may be off. Reset times and the ages of states are told
// by it, and a login by a certificate fails when it is far off.
const (
	skewWarning = time.Minute
	skewFault   = 5 * time.Minute
)

func (x examined) aboutClock(h Host) Finding {
	off := x.skew.off()
	size := off.Abs().Round(time.Second)
	if size <= skewWarning {
		return good("clock", "the clock agrees with that of this machine")
	}
	way := "ahead of"
	if off < 0 {
		way = "behind"
	}
	found := warning("clock", fmt.Sprintf("the clock is %s %s that of this machine", size, way),
		"reset times, and how long a state has lasted, are told by the host's clock; certificates may be refused", "")
	if size > skewFault {
		found.Severity = SeverityFault
	}
	if h.Transport == TransportLocal {
		return found.hinted("the clock was set while it was looked at; look again")
	}
	found.Remedy = h.thereAsRoot(x.root(), "timedatectl set-ntp true")
	if !x.account.has("tool", "timedatectl") {
		// Its own quotes, since $(date) has to be read on this machine.
		found.Remedy = strings.TrimSuffix(h.thereAsRoot(x.root(), "date -u -s @NOW"), "'date -u -s @NOW'")
		sudo := "sudo "
		if x.root() {
			sudo = ""
		}
		found.Remedy = strings.TrimSuffix(found.Remedy, "'sudo date -u -s @NOW'") + `"` + sudo + `date -u -s @$(date +%s)"`
	}
	return found.hinted("should this machine's clock be the wrong one, every host will say so")
}
