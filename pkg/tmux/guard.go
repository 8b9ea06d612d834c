package tmux

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// Guard is what a pane must still show for anything to be typed into it: the
// screen, to the byte and the attribute, on which a verdict was given.
type Guard struct {
	Pane   string // tmux's "%7"
	PID    int    // of the process that the pane was started with
	Screen []byte // as Pane.Screen
	// From is the first row, from 0, that has to be as it was: what is above it
	// may change.
	From int
}

// GuardOf is the guard for a pane as it was seen.
func GuardOf(p Pane) Guard { return Guard{Pane: p.ID, PID: p.PID, Screen: p.Screen} }

// script sets the variable pane and defines the sh functions "same", which
// succeeds while the pane shows what was judged, and "typable", which demands
// besides that keys reach the program. One tmux client looks at all of it at
// once. Command substitution strips trailing newlines on the one side, so they
// are stripped on the other.
func (g Guard) script() string {
	rows := bytes.Split(g.Screen, []byte("\n"))
	from := min(max(g.From, 0), len(rows))
	expect := func(mode string) string {
		return strings.TrimRight(fmt.Sprintf("%s %d%s\n%s", g.Pane, g.PID, mode, bytes.Join(rows[from:], []byte("\n"))), "\n")
	}
	above := ""
	if from > 0 { // counted behind the line that comes before the rows
		above = fmt.Sprintf(" | sed '2,%dd'", from+1)
	}
	return assign("pane", g.Pane) + assign("judged", expect("")) + assign("judged_typable", expect(" 0")) +
		`shown() { tmux -u display-message -p -t "$pane" "#{pane_id} #{pane_pid}$1" \; capture-pane -p -e -t "$pane" 2>/dev/null` + above + `; }
same() { [ "$(shown '')" = "$judged" ]; }
typable() { [ "$(shown ' #{pane_in_mode}')" = "$judged_typable" ]; }
`
}

// PressKey presses one key, by tmux's name for it ("Down", "Enter"), if the
// pane still shows what g holds; otherwise ErrChanged, and nothing was
// pressed. A pane in copy mode is refused with ErrChanged as well, since the
// key would go to tmux. The other errors are *ServerError and the runner's.
func PressKey(ctx context.Context, r Runner, g Guard, key string) error {
	if !validPane(g.Pane) {
		return ErrChanged
	}
	n := newNonce()
	words, err := answer(ctx, r, n, g.script()+fmt.Sprintf(
		"typable || { echo '%[1]s changed'; exit 0; }\n"+
			"if tmux -u send-keys -t \"$pane\" -- %[2]s; then echo '%[1]s pressed'; else echo '%[1]s failed'; fi\n", n, transport.Quote(key)))
	switch {
	case err != nil:
		return err
	case words[0] != "pressed":
		return ErrChanged
	}
	return nil
}

// printableASCII drops what a terminal may draw in more than one way: spaces,
// which it pads and wraps at, and everything outside ASCII. The script does the
// same to the screen with tr.
func printableASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r >= 0x7f {
			return -1
		}
		return r
	}, s)
}
