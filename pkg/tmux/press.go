package tmux

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// errSeveral refuses text that is more than one line, or none.
var errSeveral = errors.New("the text is not one line of text; nothing was typed")

// PressAlone is PressKey under the lock of the pane: no sender is at work there
// while the key goes in. ErrLocked means that one is, and ErrChanged that the pane
// is not what g holds; nothing was pressed then. The lock goes with the call, and so
// does not hold anybody off between two keys.
func PressAlone(ctx context.Context, r Runner, g Guard, key string) error {
	return alone(ctx, r, g, "", fmt.Sprintf("tmux -u send-keys -t \"$pane\" -- %s", transport.Quote(key)))
}

// TypeAlone types one line of text, as a paste of its own and without Enter, under
// the same conditions and with the same errors as PressAlone.
func TypeAlone(ctx context.Context, r Runner, g Guard, text string) error {
	if text == "" || strings.ContainsFunc(text, unicode.IsControl) {
		return errSeveral
	}
	return alone(ctx, r, g, assign("chunk", text)+
		"printf '%s' \"$chunk\" | tmux -u load-buffer -b \"$buffer\" - || { echo \"$nonce failed\"; exit 0; }\n",
		`tmux -u paste-buffer -p -r -d -b "$buffer" -t "$pane"`)
}

// alone runs a command of tmux that types, under the lock and the guard. What
// prepares it comes before the pane is compared, so that nothing but the command
// stands between the two.
func alone(ctx context.Context, r Runner, g Guard, prepare, command string) error {
	if !validPane(g.Pane) {
		return ErrChanged
	}
	n := newNonce()
	words, err := answer(ctx, r, n, assign("nonce", n)+g.script()+lock(n)+prepare+
		`drop() { tmux -u delete-buffer -b "$buffer" 2>/dev/null; }
typable || { drop; echo "$nonce changed"; exit 0; }
if `+command+`; then echo "$nonce pressed"; else drop; echo "$nonce failed"; fi
`)
	if err != nil {
		return err
	}
	return refusals[words[0]]
}
