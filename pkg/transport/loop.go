package transport

import (
	"fmt"
	"strings"
)

// loopScript makes a shell run text, and then one script after another: see
// request. A poll so costs one round trip and not three, and the host neither a
// child of sshd nor a login shell with its start-up files.
//
// Text stands within, and nothing may be sent behind it before its answer has come:
// head is mostly written over stdio (busybox, the BSDs, macOS), and then takes from
// the pipe what follows the bytes that it was asked for.
//
// The script runs in a subshell, so that nothing it does to its shell reaches the
// next one. The watchdog beside it is that of a single script: only a process that
// is gone before the last mark can be told apart, to the instant, from one that
// still has a script to end. To watch by itself the loop would need another process
// behind the script, for that mark, which is the same fork. While no script runs,
// the end of the input ends the loop and nothing else.
//
// Its names are unset first, or what the account's environment has of them would
// carry scripts into environments. Bash's read would mind TMOUT. A syntax error
// ends most shells there and then, and the others by fleet_whole; behind the eval
// there must be no ||, or a script's set -e does nothing.
//
// A prelude is run by the loop's own shell, and so is there for all that follow.
func loopScript(nonce, prelude, text string) string {
	return loopHead + Script{Prelude: prelude, Text: "fleet_nonce="}.whole() + nonce + "\n" + inLoop(text) + loopTail
}

const loopHead = "{\n" + optionPrologue + pathPrologue + groupPrologue + `unset TMOUT fleet_head fleet_nonce fleet_lines fleet_size fleet_line fleet_text fleet_whole fleet_watchdog
fleet_head=$(command -v head)
fleet_loop_begin() {
printf '%s%s %s\n' "${fleet_nonce}b" "$$" "$fleet_group" || exit 255
printf '%s%s %s\n' "${fleet_nonce}b" "$$" "$fleet_group" >&2
` + watchdogAtOnce + `}
fleet_loop_end() {
fleet_whole=1
{ kill -s KILL "$fleet_watchdog"; wait "$fleet_watchdog"; } 2>/dev/null
printf '%s%s\n' "${fleet_nonce}e" "$1"
printf '%s%s\n' "${fleet_nonce}e" "$1" >&2
}
`

const loopTail = `while read -r fleet_nonce fleet_lines fleet_size; do
fleet_text=
while [ "$fleet_lines" -gt 0 ]; do
IFS= read -r fleet_line || exit 0
fleet_text=$fleet_text$fleet_line'
'
fleet_lines=$((fleet_lines - 1))
done
[ "$fleet_size" -eq 0 ] || fleet_text=$(exec "$fleet_head" -c "$fleet_size" 2>/dev/null) || fleet_text=$(exec dd bs=1 count="$fleet_size" 2>/dev/null)
fleet_whole=
eval "$fleet_text"
fleet_text=
[ "$fleet_whole" ] || exit 255
done
exit 0
}
`

// inlineSize is up to how many bytes a script is read by the loop itself, for
// which a shell makes a system call a byte; beyond, head is cheaper (measured in
// dash and bash: 0.3 ms a KiB, and 1 ms).
const inlineSize = 1 << 10

// request is a script as loopScript takes it: a line with the nonce of its frame,
// how many lines follow, and how many bytes if it does not come in lines. Only
// plain text does, in which there is nothing for a shell's read to mistake. What
// frameScript says of the braces holds here too.
func request(nonce, prelude, text string) string {
	text = "{\n" + Script{Prelude: prelude, Text: inLoop(text)}.whole() + "}\n"
	if len(text) <= inlineSize && isPlain(text) {
		return fmt.Sprintf("%s %d 0\n%s", nonce, strings.Count(text, "\n"), text)
	}
	return fmt.Sprintf("%s 0 %d\n%s", nonce, len(text), text)
}

// inLoop is what the loop does for one script.
func inLoop(text string) string {
	return "fleet_loop_begin\n(\nunset fleet_nonce fleet_text\n" + text + "\n) </dev/null\nfleet_loop_end $?\n"
}

// isPlain is whether text is of printable ASCII, tabs and line feeds alone.
func isPlain(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return c != '\n' && c != '\t' && (c < ' ' || c > '~') })
}
