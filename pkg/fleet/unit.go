package fleet

import (
	"fmt"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// The files that Init leaves on a host, below the home of its account.
const (
	// WorkdirFile holds the directory of the session, a line that the unit reads.
	WorkdirFile = ".fleet-workdir"
	// UnitName is the systemd user unit that starts the session.
	UnitName = "claude-tmux.service"
	// UnitFile is where it is installed.
	UnitFile = ".config/systemd/user/" + UnitName
	// EnvFile holds what the client has in its environment beside what it inherits,
	// NAME=value lines, such as a token; there need not be one. The program that
	// runs the client reads it (tmux.Launch), so that tmux itself never has it.
	EnvFile = ".config/claude-fleet/env"
)

// unitMark begins every unit of ours, so that one that somebody wrote by hand is
// told from an older one of ours.
const unitMark = "# A systemd user unit of claude-fleet: "

// unitText is the unit with holes for the session, the launcher, the program and
// the size. systemd takes $$ for $ and %% for %, and joins lines that end in a
// backslash, also within quotes.
//
// Type=forking, because the tmux command ends and its server stays: systemd
// finds that by itself, as the one process left whose parent is systemd. A
// session that a person ends is not brought back: up does that, on request.
const unitText = unitMark + `the client's session in tmux.
#
# "claude-fleet init HOST --unit" installs it on a host, with the session and the
# command that the fleet table has for it. By hand: copy it to ~/.config/systemd/user,
# write the directory to work in to ~/.fleet-workdir, and then
#
#   systemctl --user daemon-reload
#   systemctl --user enable --now claude-tmux
#   loginctl enable-linger     # start it at boot, and let it outlive logins

[Unit]
Description=Claude session in tmux
Documentation=https://github.com/claude-fleet/claude-fleet

[Service]
# The tmux command returns when the session is there; its server is what runs on.
Type=forking
# Stopping ends all that runs in the session at once, and tmux with it.
KillMode=control-group
TimeoutStopSec=20
# A tool that ran out of memory must not take the session with it.
OOMPolicy=continue

# What a client would refuse to start under, or take for another session's.
UnsetEnvironment=%[1]s
# Names and screens are UTF-8, whatever the machine's own language is.
UnsetEnvironment=LC_ALL
Environment=LC_CTYPE=C.UTF-8

Environment="FLEET_SESSION=%[2]s"
# A login shell, as when a person starts the client there, and in it the program.
Environment="FLEET_LAUNCHER=%[3]s"
# The command, and a shell after it, so that the session stands when it has ended.
Environment="FLEET_PROGRAM=%[4]s"

ExecStart=/bin/sh -c '\
  PATH="$$PATH:/usr/local/bin:/opt/local/bin:$$HOME/.local/bin:$$HOME/bin:$$HOME/.nix-profile/bin"; \
  dir=; read -r dir < "$$HOME/.fleet-workdir"; case $$dir in "~"|"~/"*) dir=$$HOME$${dir#"~"} ;; esac; \
  [ -n "$$dir" ] && cd -- "$$dir" || { echo "~/.fleet-workdir names no directory" >&2; exit 1; }; \
  launcher=$$FLEET_LAUNCHER program=$$FLEET_PROGRAM session=$$FLEET_SESSION; unset FLEET_LAUNCHER FLEET_PROGRAM FLEET_SESSION; \
  tmux -u has-session -t "=$$session" 2>/dev/null && exit 0; \
  pane=$$(tmux -u new-session -d -P -F "#{pane_id}" -s "$$session" -x %[5]d -y %[6]d -- /bin/sh -c "$$launcher" sh "$$program" "$${dir%%%%/}/" "$$PATH") && \
  tmux -u set-option -p -t "$$pane" %[7]s "$$(date +%%%%s)"'

[Install]
WantedBy=default.target
`

// Unit is the text of the systemd user unit that starts a host's session as Up
// would, in the directory that WorkdirFile names. It depends on nothing of the
// host but Session and Command. The file of that name in examples is the one for
// the defaults.
func Unit(h Host) string {
	words := tmux.Launch{Command: h.Command, Unset: inherited, EnvFile: EnvFile}.Words()
	return fmt.Sprintf(unitText, strings.Join(inherited, " "), unitQuote(h.Session), unitLines(words[2]), unitLines(words[4]),
		tmux.Cols, tmux.Rows, tmux.LaunchedOption)
}

// unitQuote is a text as it stands between double quotes in a unit's Environment
// line, where a "$" is nothing special.
func unitQuote(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "\n", `\n`).Replace(s)
}

// unitLines is unitQuote with a line of the unit for each line of the text. What
// joins them becomes a blank at the beginning of a line, where sh has no use for
// it; a line that began with "#" or ";" systemd would take for a remark of its own.
func unitLines(s string) string {
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i, line := range lines {
		lines[i] = unitQuote(line)
	}
	return "\\\n" + strings.Join(lines, "\\n\\\n  ")
}

// unitReady is sh text for tmux.Keeper: the unit that is installed is the host's
// own, as the table has it now, or one that somebody wrote by hand, and
// WorkdirFile names the host's directory, which is the one that the script is in.
// A unit by hand may do without that file.
func unitReady(h Host) string {
	return fmt.Sprintf(`unit=$(cat "$HOME/%[1]s" 2>/dev/null; echo .)
case $unit in
  %[2]s.) ;;
  %[3]s*) echo %[4]s; exit ;;
  *) [ -e "$HOME/%[5]s" ] || exit ;;
esac
at=; read -r at 2>/dev/null < "$HOME/%[5]s"; case $at in "~"|"~/"*) at=$HOME${at#"~"} ;; esac
[ -n "$at" ] && at=$(cd -- "$at" 2>/dev/null && pwd -P) && [ "$at" = "$(pwd -P)" ] || echo %[6]s
`, UnitFile, transport.Quote(Unit(h)), transport.Quote(unitMark), noteUnitOther, WorkdirFile, noteUnitWorkdir)
}

// The notes of unitReady.
const (
	noteUnitOther   = "unit-other"
	noteUnitWorkdir = "unit-workdir"
)
