package fleet

import (
	"errors"
	"fmt"

	"github.com/claude-fleet/claude-fleet/pkg/tmux"
)

func launch(h Host, conversation string) tmux.Launch {
	return tmux.Launch{Dir: h.Workdir, Command: resuming(h.Command, conversation), Unset: inherited, EnvFile: EnvFile}
}

// keeper asks for the host's own unit, else a scope.
func keeper(h Host) tmux.Keeper {
	return tmux.Keeper{Scope: true, Unit: UnitName, Ready: unitReady(h)}
}

// noteWords says what a note of a start means for a host.
func noteWords(note string, h Host) string {
	const linger = "; turn it on there with: loginctl enable-linger"
	switch note {
	case tmux.NoteLinger:
		return "lingering is off there, so that the session ends with the account's last login" + linger
	case tmux.NoteLingerPlain:
		return "lingering is off there, so that systemd would end the session with the account's last login: it was started outside of it" + linger
	case tmux.NoteUnitFailed:
		return "its unit could not be started, and the session was started without it; see there: systemctl --user status " + UnitName
	case tmux.NoteUnitElsewhere:
		return "its unit was started and makes no session " + h.Session + ", so that one was started without it; see there: systemctl --user cat " + UnitName
	case tmux.NoteScopeFailed:
		return "systemd made no scope for it there: the session may end with the login"
	case noteUnitOther:
		return "the unit there is for another session or command, and the session was started without it; to make it this one's: claude-fleet init --unit " + h.Name
	case noteUnitWorkdir:
		return "~/" + WorkdirFile + " there names another directory, and the session was started without the unit; to mend it: claude-fleet init " + h.Name
	}
	return neutral(note)
}

func launchWords(verb string, h Host, conversation string) string {
	if conversation != "" && resuming(h.Command, conversation) != h.Command {
		return verb + " with conversation " + conversation
	}
	return verb
}

func launchError(h Host, doing string, err error) error {
	switch {
	case errors.Is(err, tmux.ErrUnattached):
		return &Error{Class: ClassFailed, Host: h.Name, Msg: "the session was gone as soon as it was made: " + err.Error(),
			Hint: "take destroy-unattached out of the tmux.conf there (and end a tmux server that runs with it: tmux kill-server), then run: claude-fleet up " + h.Name, Err: err}
	case errors.Is(err, tmux.ErrNoDirectory):
		return &Error{Class: ClassFailed, Host: h.Name, Msg: fmt.Sprintf("the workdir %s does not exist there", h.Workdir),
			Hint: "make it there, or set another workdir for " + h.Name + " in fleet.conf", Err: err}
	case errors.Is(err, tmux.ErrNotInstalled):
		return &Error{Class: ClassFailed, Host: h.Name, Msg: err.Error(), Hint: "install tmux on the host; claude-fleet doctor " + h.Name + " says how", Err: err}
	}
	return failed(h.Name, doing, err)
}
