package tmux

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// Clear is the taking out of all that stands in a program's input line.
type Clear struct {
	Guard Guard
	Marks []string // as in Paste
	More  string
	Erase string // as in Paste
	Rows  int    // of the text, about; it bounds how often the key is pressed
}

// clearScript presses the key until the line is as an empty one: blank behind
// its mark, and that for a moment.
const clearScript = pressScript + `still=0
while [ $presses -lt $most ]; do
  boxed || break
  case $scrolled$row in
    *[!\ ]*) still=0; erase ;;
    *) still=$((still + 1)); [ $still -lt 4 ] || { echo "$nonce cleared"; exit 0; } ;;
  esac
  nap
done
echo "$nonce left"
`

// ClearInput runs c as one script on the machine, under the lock of the pane.
// The errors are ErrChanged and ErrLocked (no key was pressed), ErrLeft, and the
// runner's.
func ClearInput(ctx context.Context, r Runner, c Clear) error {
	if !validPane(c.Guard.Pane) {
		return ErrChanged
	}
	n := newNonce()
	var b strings.Builder
	b.WriteString(assign("nonce", n) + c.Guard.script() + lock(n))
	b.WriteString("typable || { echo \"$nonce changed\"; exit 0; }\n")
	b.WriteString(marks(c.Marks) + assign("more", cmp.Or(c.More, n)) + "below= exact=\n" + input(c.Marks, nil, ""))
	fmt.Fprintf(&b, "most=%d erase=%s\n", 40+4*c.Rows, transport.Quote(c.Erase))
	b.WriteString(clearScript)
	words, err := answer(ctx, r, n, b.String())
	switch {
	case err != nil:
		return err
	case words[0] == "left":
		return ErrLeft
	}
	return refusals[words[0]]
}
