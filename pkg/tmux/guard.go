package tmux

import (
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
}

// GuardOf is the guard for a pane as it was seen.
func GuardOf(p Pane) Guard { return Guard{Pane: p.ID, PID: p.PID, Screen: p.Screen} }

// script defines the sh function "same", which succeeds while the pane shows
// what was judged, and the variable pane. Command substitution strips trailing
// newlines on both sides.
func (g Guard) script(nonce string) string {
	return fmt.Sprintf("pane=%s\n%sjudged=$(printf '%%s' \"$judged\")\n"+
		"same() { [ \"$(tmux -u display-message -p -t \"$pane\" '#{pane_id} #{pane_pid}')\" = \"$pane %d\" ] && [ \"$(tmux -u capture-pane -p -e -t \"$pane\")\" = \"$judged\" ]; }\n",
		transport.Quote(g.Pane), hereDoc("judged", nonce, string(g.Screen)), g.PID)
}

// PressKey presses one key, by tmux's name for it ("Down", "Enter"), if the
// pane still shows what g holds; otherwise ErrChanged, and nothing was
// pressed. A pane in copy mode is refused with ErrChanged as well, since the
// key would go to tmux.
func PressKey(ctx context.Context, r Runner, g Guard, key string) error {
	n := newNonce()
	words, err := answer(ctx, r, n, g.script(n)+fmt.Sprintf(
		"if [ \"$(tmux -u display-message -p -t \"$pane\" '#{pane_in_mode}')\" = 0 ] && same; then\n"+
			"  if tmux -u send-keys -t \"$pane\" %s; then echo '%s pressed'; else echo '%s failed'; fi\n"+
			"else echo '%s changed'; fi\n", transport.Quote(key), n, n, n))
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
