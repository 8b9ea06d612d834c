package tmux

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// Paste is text to put into a program's input line and submit.
type Paste struct {
	Guard Guard
	// Chunks are pasted one after the other, each in a frame of its own (where
	// the program asked for bracketed paste). Together they are the text.
	Chunks []string
	// Mark is what stands on the screen right before the input line; the text
	// must show behind its last occurrence. More stands above the input line in
	// its place when the line's beginning is scrolled out of sight.
	Mark, More string
	// Placeholder is what the program may show in place of a long text; spaces
	// do not count.
	Placeholder string
	// Wait is how long the text may take to show, and again to leave the input
	// line once Enter was pressed. Zero means 10 s.
	Wait time.Duration
}

// Pasted says how far a Paste came.
type Pasted string

const (
	// PastedNothing: nothing was typed, for the reason that the error gives.
	PastedNothing Pasted = "nothing"
	// PastedTyped: the text, or part of it, was typed but never seen whole in
	// the input line, so Enter was not pressed.
	PastedTyped Pasted = "typed"
	// PastedStuck: the text stood in the input line, Enter was pressed, and the
	// text is still there.
	PastedStuck Pasted = "stuck"
	// PastedSubmitted: the text left the input line after Enter.
	PastedSubmitted Pasted = "submitted"
	// PastedUnknown: the script's answer was lost on the way.
	PastedUnknown Pasted = "unknown"
)

// LockOption is the pane option that holds a pane for one sender: the process
// id of its script on that machine. Setting it fails while it is set, in one
// step within the server, and it goes with the pane.
const LockOption = "@fleet_sender"

// lockScript takes the lock, freeing it first if its holder has died. The
// second look closes the gap in which two takers free the same dead lock: only
// the one whose id stays goes on.
const lockScript = `take() { tmux -u set-option -p -o -t "$pane" %[2]s $$ 2>/dev/null; }
holder() { tmux -u show-options -p -v -q -t "$pane" %[2]s; }
if ! take; then
  held=$(holder)
  if [ -n "$held" ] && kill -0 "$held" 2>/dev/null; then echo '%[1]s locked'; exit 0; fi
  tmux -u set-option -p -u -t "$pane" %[2]s; take
fi
[ "$(holder)" = $$ ] || { echo '%[1]s locked'; exit 0; }
trap 'tmux -u set-option -p -u -t "$pane" %[2]s' EXIT
`

// inputScript defines "look", which reads what stands in the input line and
// below it: $raw without white space, $flat in printable ASCII alone, so that
// padding, wrapping and the drawing of wide characters make no difference.
// $scrolled tells that the line's beginning is out of sight. "shows" compares
// it with the text.
const inputScript = `look() {
  screen=$(tmux -u capture-pane -p -t "$pane"); scrolled=
  case $screen in
    *"$mark"*) screen=${screen##*"$mark"} ;;
    *"$more"*) screen=${screen##*"$more"}; scrolled=1 ;;
    *) screen= ;;
  esac
  raw=$(printf '%s' "$screen" | tr -d ' \t\n'); flat=$(printf '%s' "$screen" | LC_ALL=C tr -cd '!-~')
}
shows() {
  look
  [ "$raw" != "$before" ] || return 1
  if [ -z "$scrolled" ]; then
    if [ -n "$placeholder" ]; then case $flat in "$placeholder"*) return 0 ;; esac; fi
    case $flat in "$head"*) ;; *) return 1 ;; esac
  fi
  case $flat in *"$tail"*) ;; *) return 1 ;; esac
}
nap() { sleep 0.1 2>/dev/null || sleep 1; }
`

// submitScript waits for the text, presses Enter, and waits for the text to
// go. A program may swallow an Enter that comes soon after a paste; it is
// pressed again, twice at most, and only while the input line still shows the
// text.
const submitScript = `i=0
until shows; do i=$((i+1)); [ $i -lt $tries ] || { echo "$nonce typed"; exit 0; }; nap; done
typed=${raw%%"$before"}
tmux -u send-keys -t "$pane" Enter
i=0
while :; do
  nap; look
  case $raw in "$typed"*) ;; *) echo "$nonce submitted"; exit 0 ;; esac
  i=$((i+1)); [ $i -lt $tries ] || { echo "$nonce stuck"; exit 0; }
  case $i in 15|40) if shows; then tmux -u send-keys -t "$pane" Enter; fi ;; esac
done
`

// script is the whole of it. Once the lock is held, signals that would end the
// script are ignored: what is half typed is finished.
func (p Paste) script(nonce string) string {
	wait := p.Wait
	if wait <= 0 {
		wait = 10 * time.Second
	}
	head, tail := ends(strings.Join(p.Chunks, ""))
	var b strings.Builder
	fmt.Fprintf(&b, "nonce=%s\n%s", nonce, p.Guard.script(nonce))
	fmt.Fprintf(&b, lockScript, nonce, LockOption)
	b.WriteString("trap '' HUP INT TERM PIPE\n")
	b.WriteString("if [ \"$(tmux -u display-message -p -t \"$pane\" '#{pane_in_mode}')\" != 0 ]; then tmux -u send-keys -t \"$pane\" -X cancel; fi\n")
	fmt.Fprintf(&b, "same || { echo '%s changed'; exit 0; }\n", nonce)
	for name, value := range map[string]string{"mark": p.Mark, "more": p.More, "placeholder": printableASCII(p.Placeholder), "head": head, "tail": tail} {
		b.WriteString(name + "=" + transport.Quote(value) + "\n")
	}
	b.WriteString(inputScript)
	fmt.Fprintf(&b, "tries=%d\nlook; before=$raw\n", max(1, int(wait/(100*time.Millisecond))))
	for _, c := range p.Chunks {
		b.WriteString(hereDoc("chunk", nonce, c))
		fmt.Fprintf(&b, "printf '%%s' \"$chunk\" | tmux -u load-buffer -b %[1]s - \\; paste-buffer -p -r -d -b %[1]s -t \"$pane\" || { echo '%[1]s typed'; exit 0; }\n", nonce)
	}
	b.WriteString(submitScript)
	return b.String()
}

// PasteText runs p as one script on the machine, so that a link lost between
// its steps can't leave them half done: take the lock, leave copy mode, compare
// the screen with what was judged, paste, wait until the text shows, press
// Enter apart, wait until the text left the input line. The errors that come
// with PastedNothing are ErrChanged and ErrLocked; with PastedUnknown they are
// the runner's, and whether anything was typed is in transport.Started.
func PasteText(ctx context.Context, r Runner, p Paste) (Pasted, error) {
	n := newNonce()
	words, err := answer(ctx, r, n, p.script(n))
	if err != nil {
		return PastedUnknown, err
	}
	switch words[0] {
	case "changed":
		return PastedNothing, ErrChanged
	case "locked":
		return PastedNothing, ErrLocked
	}
	return Pasted(words[0]), nil
}

// ends are the two ends of the text as the input line must show them. A text
// too long to be sure of its beginning is known by its last part alone: what
// comes before that was pasted by the same script.
func ends(text string) (head, tail string) {
	flat := printableASCII(text)
	const whole, part = 600, 40
	tail = flat[max(0, len(flat)-part):]
	if len(flat) <= whole {
		return flat, tail
	}
	return "", tail
}
