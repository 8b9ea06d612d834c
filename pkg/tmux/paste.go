package tmux

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
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
	// PastedNothing means: nothing was typed, for the reason that the error gives.
	PastedNothing Pasted = "nothing"
	// PastedTyped means: the text, or part of it, was typed but never seen whole in
	// the input line, so Enter was not pressed.
	PastedTyped Pasted = "typed"
	// PastedStuck means: the text stood in the input line, Enter was pressed, and the
	// text is still there.
	PastedStuck Pasted = "stuck"
	// PastedSubmitted means: the text left the input line after Enter.
	PastedSubmitted Pasted = "submitted"
	// PastedUnknown means: the script's answer was lost on the way.
	PastedUnknown Pasted = "unknown"
)

// LockOption is the pane option that holds a pane for one sender: the process
// id of its script on that machine. Setting it fails while it is set, in one
// step within the server, and it goes with the pane.
const LockOption = "@fleet_sender"

// lockScript takes the lock, or that of a holder that has died. Each is one
// step within the server, so that of two who find the same dead holder one wins.
// $$ would be the shell that the transport runs the script under: it can die
// before this subshell does.
const lockScript = `self=$(exec /bin/sh -c 'echo "$PPID"')
held=$(tmux -u set-option -p -o -q -t "$pane" %[2]s "$self" \; show-options -p -v -q -t "$pane" %[2]s)
case $held in
  "$self") ;;
  '') echo '%[1]s changed'; exit 0 ;;
  *[!0-9]*) tmux -u set-option -p -t "$pane" %[2]s "$self"; held=$self ;;
  *) if ! kill -0 "$held" 2>/dev/null; then
       held=$(tmux -u if-shell -F -t "$pane" "#{==:#{%[2]s},$held}" "set-option -p -t '$pane' %[2]s $self" \; show-options -p -v -q -t "$pane" %[2]s)
     fi ;;
esac
[ "$held" = "$self" ] || { echo '%[1]s locked'; exit 0; }
trap 'tmux -u set-option -p -u -t "$pane" %[2]s' EXIT
trap '' HUP INT TERM PIPE
`

// inputScript defines "look", which reads what stands in the input line and
// below it: $row its first row, $flat all of it in printable ASCII alone, so
// that padding, wrapping and the drawing of wide characters make no difference.
// $scrolled tells that the line's beginning is out of sight. "shows" compares
// it with the text; "there" is whether what was seen then is still there, by
// its first row, since what is below the line changes by itself.
const inputScript = `nl='
'
seen= screen= row= flat= scrolled=
look() {
  now=$(tmux -u capture-pane -p -t "$pane")
  [ "$now" != "$seen" ] || return 0
  seen=$now scrolled=
  case $now in
    *"$mark"*) screen=${now##*"$mark"} ;;
    *"$more"*) screen=${now##*"$more"}; scrolled=1 ;;
    *) screen= ;;
  esac
  row=${screen%%"$nl"*}
  flat=$(printf '%s' "$screen" | LC_ALL=C tr -cd '!-~')
}
shows() {
  look
  [ "$screen" != "$before" ] || return 1
  if [ -n "$scrolled" ]; then case $flat in *"$last"*) return 0 ;; *) return 1 ;; esac; fi
  if [ -n "$placeholder" ]; then case $flat in COLLAPSED) return 0 ;; esac; fi
  [ -n "$tail" ] || [ "$row" != "$before_row" ] || return 1
  case $flat in "$head"*) ;; *) return 1 ;; esac
  case $flat in *"$tail"*) ;; *) return 1 ;; esac
}
there() {
  look
  [ -z "$scrolled" ] || return 0
  if [ -n "$typed" ]; then [ "$row" = "$typed" ]; else shows; fi
}
nap() { sleep 0.1 2>/dev/null || sleep 1; }
elapsed() { echo $(($(date +%s) - since)); }
look; before=$screen before_row=$row
`

// submitScript waits for the text, presses Enter, and waits for the text to
// go. A program may swallow an Enter that comes soon after a paste; it is
// pressed again, twice at most, and only while the input line still shows the
// text. A screen without an input line may be one that is being drawn: it takes
// two of them.
const submitScript = `since=$(date +%s)
until shows; do [ "$(elapsed)" -le "$wait" ] || { echo "$nonce typed"; exit 0; }; nap; done
typed=$row
tmux -u send-keys -t "$pane" Enter
since=$(date +%s) again=2 blank=
while :; do
  nap
  if there; then
    blank=
    [ "$(elapsed)" -le "$wait" ] || { echo "$nonce stuck"; exit 0; }
    if [ "$(elapsed)" -ge $again ] && [ $again -le 5 ] && shows; then tmux -u send-keys -t "$pane" Enter; again=$((again + 3)); fi
  elif [ -n "$screen$blank" ]; then echo "$nonce submitted"; exit 0
  else blank=1
  fi
done
`

// script is the whole of it. Once the lock is held, signals that would end the
// script are ignored: what is half typed is finished.
func (p Paste) script(nonce string) string {
	wait := p.Wait
	if wait <= 0 {
		wait = 10 * time.Second
	}
	chunks := slices.DeleteFunc(slices.Clone(p.Chunks), func(c string) bool { return c == "" })
	e := endsOf(chunks)
	placeholder := printableASCII(p.Placeholder)
	if strings.HasPrefix(e.head, placeholder) {
		placeholder = "" // the text itself looks like one
	}
	var b strings.Builder
	b.WriteString(assign("nonce", nonce) + p.Guard.script())
	fmt.Fprintf(&b, lockScript, nonce, LockOption)
	b.WriteString("tmux -u if-shell -F -t \"$pane\" '#{pane_in_mode}' \"send-keys -t '$pane' -X cancel\" 2>/dev/null\n")
	fmt.Fprintf(&b, "typable || { echo '%s changed'; exit 0; }\n", nonce)
	b.WriteString(assign("mark", p.Mark) + assign("more", cmp.Or(p.More, p.Mark)) + assign("placeholder", placeholder))
	b.WriteString(assign("head", e.head) + assign("tail", e.tail) + assign("last", e.last))
	// A placeholder for each chunk, or the last chunk as it is behind one.
	collapsed := strings.Repeat(`"$placeholder"*`, max(1, len(chunks)))
	if len(chunks) > 1 {
		collapsed += `|"$placeholder"*"$last"*`
	}
	b.WriteString(strings.Replace(inputScript, "COLLAPSED", collapsed, 1))
	fmt.Fprintf(&b, "wait=%d\n", (wait+time.Second-1)/time.Second)
	for i, c := range chunks {
		outcome := "typed"
		if i == 0 {
			outcome = "failed"
		}
		b.WriteString(assign("chunk", c))
		fmt.Fprintf(&b, "printf '%%s' \"$chunk\" | tmux -u load-buffer -b %[1]s - \\; paste-buffer -p -r -d -b %[1]s -t \"$pane\" || { tmux -u delete-buffer -b %[1]s; echo '%[1]s %[2]s'; exit 0; }\n", nonce, outcome)
	}
	b.WriteString(submitScript)
	return b.String()
}

// errControl refuses text that a terminal would act on; the fleet takes control
// characters out before.
var errControl = errors.New("the text holds control characters; nothing was typed")

// PasteText runs p as one script on the machine, so that a link lost between
// its steps can't leave them half done: take the lock, leave copy mode, compare
// the screen with what was judged, paste, wait until the text shows, press
// Enter apart, wait until the text left the input line. The errors that come
// with PastedNothing are ErrChanged, ErrLocked, *ServerError, and one for text
// with control characters other than LF and TAB; with PastedUnknown they are the
// runner's, and whether anything was typed is in transport.Started.
func PasteText(ctx context.Context, r Runner, p Paste) (Pasted, error) {
	if !validPane(p.Guard.Pane) {
		return PastedNothing, ErrChanged
	}
	// A text that ends the frame of a paste would go on as keys.
	if strings.ContainsFunc(strings.Join(p.Chunks, ""), func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }) {
		return PastedNothing, errControl
	}
	n := newNonce()
	words, err := answer(ctx, r, n, p.script(n))
	var refused *ServerError
	switch {
	case errors.As(err, &refused):
		return PastedNothing, err
	case err != nil:
		return PastedUnknown, err
	case words[0] == "changed":
		return PastedNothing, ErrChanged
	case words[0] == "locked":
		return PastedNothing, ErrLocked
	}
	return Pasted(words[0]), nil
}

// ends are the parts of a text by which the input line is known to show it, in
// printable ASCII.
type ends struct {
	head string // all of it; empty when it is too long to be sure of its beginning
	tail string // its end
	last string // the end of its last line, which shows also when the line is scrolled
}

// endsOf finds them. A text without a head is known by its tail alone: what
// comes before that was pasted by the same script.
func endsOf(chunks []string) ends {
	const whole, part = 600, 40
	end := func(s string) string { return s[max(0, len(s)-part):] }
	text := strings.Join(chunks, "")
	flat := printableASCII(text)
	e := ends{tail: end(flat)}
	if len(flat) <= whole {
		e.head = flat
	}
	if len(chunks) > 0 {
		c := strings.TrimRight(chunks[len(chunks)-1], "\n")
		e.last = end(printableASCII(c[strings.LastIndexByte(c, '\n')+1:]))
	}
	return e
}
