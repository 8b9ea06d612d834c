package transport

import (
	"fmt"
	"strings"
	"time"
)

// shellAfter is how many repeatable scripts an endpoint has run when the next one
// starts a shell that stays: who has asked twice will ask again. A program that
// asks once so pays for nothing that it does not use, and the start costs the
// second script what a channel of its own would.
const shellAfter = 1

// loopScript makes a shell run one script after another: see request. A poll so
// costs one round trip and not three, and the host neither a child of sshd nor a
// login shell with its start-up files.
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
const loopScript = "{\n" + pathPrologue + groupPrologue + `unset TMOUT fleet_head fleet_nonce fleet_lines fleet_size fleet_line fleet_text fleet_whole fleet_watchdog
fleet_head=$(command -v head)
fleet_begin() {
printf '%s%s %s\n' "${fleet_nonce}b" "$$" "$fleet_group" || exit 255
printf '%s%s %s\n' "${fleet_nonce}b" "$$" "$fleet_group" >&2
` + watchdogAtOnce + `}
fleet_end() {
fleet_whole=1
{ kill -s KILL "$fleet_watchdog"; wait "$fleet_watchdog"; } 2>/dev/null
printf '%s%s\n' "${fleet_nonce}e" "$1"
printf '%s%s\n' "${fleet_nonce}e" "$1" >&2
}
while read -r fleet_nonce fleet_lines fleet_size; do
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
func request(nonce, text string) string {
	text = "{\nfleet_begin\n(\nunset fleet_nonce fleet_text\n" + text + "\n) </dev/null\nfleet_end $?\n}\n"
	if len(text) <= inlineSize && isPlain(text) {
		return fmt.Sprintf("%s %d 0\n%s", nonce, strings.Count(text, "\n"), text)
	}
	return fmt.Sprintf("%s 0 %d\n%s", nonce, len(text), text)
}

// isPlain is whether text is of printable ASCII, tabs and line feeds alone.
func isPlain(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return c != '\n' && c != '\t' && (c < ' ' || c > '~') })
}

// A channel whose shell runs loopScript is its route's one persistent shell.
//
// Only repeatable scripts use it. That a link is dead may show only after a
// script was written to it, and then nobody knows whether the script has begun;
// to open a channel first, which is what the others do, would have told.
//
// It stands in nobody's way. As long as it is idle it does not count for its
// link's age, it is ended when a caller finds no room for a channel, and where a
// link has room for one channel alone, it is not kept.

// takeShell gives the persistent shell, with its slot, or nil if there is none or
// it is in use: a second one was not worth its keep.
func (r *route) takeShell() *channel {
	r.mu.Lock()
	defer r.mu.Unlock()
	ch := r.shell
	if ch == nil || !ch.idle || ch.link.suspect || isClosed(ch.over) {
		return nil
	}
	ch.idle = false
	ch.link.used++
	return ch
}

// keepShell makes ch, which has yet to be started, the persistent shell, if the
// endpoint is one to be asked again and has neither one nor a want of room.
func (r *route) keepShell(ch *channel) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.runs < shellAfter || r.shellless || ch.link.used >= ch.link.limit {
		return false
	}
	if r.shell != nil && r.shell.link.suspect {
		r.dropShell() // it would wait there for what goes elsewhere
	}
	if r.shell != nil {
		return false
	}
	r.shell = ch
	return true
}

// ran counts a repeatable script that ch has run, and gives the shell back for
// the next one; false means that ch is not to be kept. whole is whether both
// streams came back in frames: where one is lost, only the end of a channel tells
// that nothing more comes of it.
func (r *route) ran(ch *channel, whole bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs++
	if !whole {
		r.shellless = true
	}
	if r.shell != ch {
		return false
	}
	if !whole || ch.link.limit < 2 {
		r.shell = nil
		return false
	}
	ch.idle = true
	ch.link.used--
	ch.link.idleSince = time.Now()
	r.broadcast()
	return true
}

// forgetShell has the next script start another.
func (r *route) forgetShell(ch *channel) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shell == ch {
		r.shell = nil
	}
}

// noShell is for an endpoint whose shell does not run the loop.
func (r *route) noShell() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shellless = true
}

// dropShell makes room for a caller who needs a channel of its own. It is called
// with mu held.
func (r *route) dropShell() {
	if ch := r.shell; ch != nil && ch.idle {
		r.shell = nil
		ch.idle = false
		ch.link.used++ // until release
		ch.finish()
	}
}

// release gives back the slot of a channel that is over.
func (r *route) release(ch *channel) {
	r.mu.Lock()
	if r.shell == ch {
		r.shell = nil
	}
	if ch.idle {
		ch.idle = false
		ch.link.used++ // put takes it back
	}
	r.mu.Unlock()
	r.put(ch.link, true)
}

// reserved is the slots on l that nobody has and an idle shell takes. It is
// called with mu held.
func (r *route) reserved(l *link) int {
	if r.shell != nil && r.shell.link == l && r.shell.idle {
		return 1
	}
	return 0
}
