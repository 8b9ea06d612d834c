package transport

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// pathPrologue appends what a non-login shell lacks. Appended, never replaced:
// the order of the host's own PATH (as on NixOS) is its owner's.
const pathPrologue = `PATH="${PATH:-/usr/local/bin:/usr/bin:/bin}:/opt/homebrew/bin:/usr/local/bin:/opt/local/bin:$HOME/.local/bin:$HOME/bin:$HOME/.nix-profile/bin"
export PATH
`

// optionPrologue undoes what bash, as sh, takes from SHELLOPTS in the account's
// environment: a script that fails would not reach its closing marks.
const optionPrologue = "set +eu\n"

// newNonce gives 128 random bits in hexadecimal.
func newNonce() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand documents that it never fails
	return hex.EncodeToString(b[:])
}

// readScript is sh that reads a number from its standard input, runs as many
// bytes as come next, and leaves what follows: the caller keeps that stream
// open, so that its end tells the host that the caller has gone. head takes -c
// nearly everywhere (GNU, busybox, toybox, the BSDs, macOS); dd, which POSIX
// has, is slower by a system call a byte.
const readScript = `read -r n && eval "$(head -c $n 2>/dev/null || dd bs=1 count=$n)"`

// sized is a script as readScript takes it.
func sized(script string) string { return strconv.Itoa(len(script)) + "\n" + script }

// shellCommand is the command string that every Run sends. It reads the same in
// sh, bash, zsh, fish and csh, and keeps the script out of the argument list.
// Its second half is for restricted shells alone: they know neither exec nor a
// slash, and run sh where their owner has put it into PATH.
const shellCommand = "exec /bin/sh -c '" + readScript + "'; sh -c '" + readScript + "'"

// groupPrologue finds the process group to end the script by. It is mostly that
// of the shell itself; a login shell or a forced command that stays in between
// leads it otherwise. Linux says so without a fork.
const groupPrologue = `fleet_group=$$
if ! kill -s 0 -- "-$$" 2>/dev/null; then
if [ -r "/proc/$$/stat" ]; then
read -r _ _ _ _ fleet_group _ <"/proc/$$/stat"
else
fleet_group=$(ps -o pgid= -p "$$" | tr -d ' ')
fi
fi
fleet_group=${fleet_group:-$$}
`

// finishGrace is how long a script that is to finish may go on, in seconds, once
// its caller has gone.
const finishGrace = 60

// watchdog ends the script's process group when standard input ends, which is
// when the caller has closed it or is no more: killed, or cut off; and after as
// many seconds of grace as it is given. It costs a
// fork, no exec, and holds neither of the output streams. A background process
// loses its standard input, hence the descriptor 3, which nothing else inherits.
// Where TMOUT is set for interactive shells, bash's read would mind it.
const watchdog = watchdogBegin + `fleet_grace=%d
while [ "$fleet_grace" -gt 0 ]; do
sleep 1
fleet_grace=$((fleet_grace - 1))
done
` + watchdogEnd

// watchdogAtOnce is a watchdog that gives no grace.
const watchdogAtOnce = watchdogBegin + watchdogEnd

const watchdogBegin = `{
(
unset TMOUT
read -r fleet_line <&3
trap '' TERM
`

const watchdogEnd = `kill -s TERM -- "-$fleet_group"
sleep 1
kill -s KILL -- "-$fleet_group"
) >/dev/null 2>&1 &
} 3<&0
fleet_watchdog=$!
`

// frameScript puts text between marks, on both streams, that tell where its
// output begins and ends, under which process id and group, and with which exit
// code.
//
// The braces make the shell read all of it before it runs any of it: a script
// that was cut on its way is a syntax error and does nothing. A caller who has
// gone by the time the login shell is ready has closed the pipe, on which the
// first printf then fails: nothing runs either. The inner subshell lets text
// exit without losing the closing marks, and the colon lets it be empty.
//
// The watchdog is gone before the first closing mark is written: a caller who
// leaves after that leaves running what the script left running.
func frameScript(nonce string, s Script) string {
	grace := 0
	if s.Finish {
		grace = finishGrace
	}
	var b strings.Builder
	b.WriteString("{\n" + optionPrologue + pathPrologue + groupPrologue)
	fmt.Fprintf(&b, "printf '%%s%%s %%s\\n' %sb \"$$\" \"$fleet_group\" || exit 255\nprintf '%%s%%s %%s\\n' %sb \"$$\" \"$fleet_group\" >&2\n", nonce, nonce)
	fmt.Fprintf(&b, watchdog, grace)
	b.WriteString("(\n:\n" + s.whole())
	// The shell would report the killed job on standard error.
	b.WriteString("\n) </dev/null\nfleet_code=$?\n{ kill -s KILL \"$fleet_watchdog\"; wait \"$fleet_watchdog\"; } 2>/dev/null\n")
	fmt.Fprintf(&b, "printf '%%s%%s\\n' %se \"$fleet_code\"\nprintf '%%s%%s\\n' %se \"$fleet_code\" >&2\nexit \"$fleet_code\"\n}\n", nonce, nonce)
	return b.String()
}

// killScript ends the process group of run: TERM, and a second later KILL for
// what is left of it.
func killScript(run runID) string {
	return fmt.Sprintf(`kill -s TERM -- -%[1]d 2>/dev/null || exit 0
for i in 1 2 3 4 5 6 7 8 9 10; do
	kill -s 0 -- -%[1]d 2>/dev/null || exit 0
	sleep 0.1 2>/dev/null || sleep 1
done
kill -s KILL -- -%[1]d 2>/dev/null
:
`, run.group)
}

// killLostScript is killScript for a run that was lost sight of, so that its ids
// may be another's by now. Its shell is known by its arguments. If that is gone,
// a watchdog has ended it, and takes a second for what minds no TERM.
func killLostScript(run runID) string {
	return fmt.Sprintf(`fleet_args=$( (tr '\000' ' ' </proc/%[1]d/cmdline || ps -o args= -p %[1]d) 2>/dev/null)
case $fleet_args in
*%[2]s*) ;;
*)
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		kill -s 0 -- -%[3]d 2>/dev/null || exit 0
		sleep 0.1 2>/dev/null || sleep 1
	done
	exit 0
	;;
esac
`, run.pid, Quote("&& eval \"$(head -c $n "), run.group) + killScript(run)
}
