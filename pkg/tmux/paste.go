package tmux

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Paste is text to put into a program's input line and submit.
type Paste struct {
	Guard Guard
	// Chunks go in one after the other, each pasted in a frame of its own (where
	// the program asked for bracketed paste).
	Chunks []string
	// Shown is the text as the input line shows it; empty means the chunks
	// joined.
	Shown string
	// Marks are what stands at the beginning of a row right before the input
	// line, in one mode of the program or another: the text must show behind the
	// last of them on the screen. More begins a row above the input line in its
	// place when the line's beginning is scrolled out of sight.
	Marks []string
	More  string
	// Below begins the row beneath the input line. Where it is set, the line must
	// show the text and nothing else, unless Loose says that the program may show
	// something behind it.
	Below string
	Loose bool
	// Menus begin the rows of a list in which Enter would choose something: if a
	// row that begins with one of them has come with the text, the text is not
	// submitted.
	Menus []string
	// Placeholder begins what the program may show in place of a long text, such as
	// "[Pasted text #1 +14 lines]"; spaces do not count.
	Placeholder string
	// Erase is the key, by tmux's name, that takes the end of the text out of the
	// input line and does nothing else, ever, an empty line included; empty leaves
	// a text that can't be submitted where it is.
	Erase string
	// Once has Enter pressed once and never again, for a program that puts something
	// else into the input line as soon as the text is submitted: a slow one may still
	// show the text when it has taken Enter, and the next would submit that.
	Once bool
	// Journal is where the script says how far it came; nil for nowhere.
	Journal *Journal
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
	// PastedMenu means: as PastedErased, since a menu opened for it.
	PastedMenu Pasted = "menu"
	// PastedErased means: as PastedTyped, and the text was taken out again.
	PastedErased Pasted = "erased"
	// PastedStuck means: the text stood in the input line, Enter was pressed, and the
	// text is still there.
	PastedStuck Pasted = "stuck"
	// PastedSubmitted means: the text left the input line after Enter.
	PastedSubmitted Pasted = "submitted"
	// PastedUnknown means: the script's answer was lost on the way.
	PastedUnknown Pasted = "unknown"
)

// errControl refuses text that a terminal would act on; the fleet takes control
// characters out before.
var errControl = errors.New("the text holds control characters; nothing was typed")

// PasteText runs p as one script on the machine, so that a link lost between
// its steps can't leave them half done: take the lock, leave copy mode, compare
// the screen with what was judged, paste, wait until the text shows, press
// Enter apart, wait until the text left the input line. The errors that come
// with PastedNothing are ErrChanged, ErrLocked, ErrClaimed, ErrJournal, *ServerError, and one
// for text with control characters other than LF and TAB; with PastedUnknown they
// are the runner's, and whether anything was typed is in transport.Started.
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
	}
	if why, ok := refusals[words[0]]; ok {
		return PastedNothing, why
	}
	return Pasted(words[0]), nil
}

// refusals are the answers of a script that typed nothing.
var refusals = map[string]error{"changed": ErrChanged, "locked": ErrLocked, "claimed": ErrClaimed, "unwritten": ErrJournal}

// pieces are the chunks that hold anything.
func (p Paste) pieces() []string {
	return slices.DeleteFunc(slices.Clone(p.Chunks), func(c string) bool { return c == "" })
}

// ends are the parts of a text by which the input line is known to show it, in
// printable ASCII.
type ends struct {
	all  string // empty when it is too long to be looked for
	head string // all of it; empty when it is too long to be sure of its beginning
	tail string // its end
	last string // the end of its last chunk's last line, which shows also when the line is scrolled
}

// The lengths in bytes up to which a text is sure to show whole in an input
// line, and up to which it is carried into the script a second time.
const (
	maxWhole = 600
	maxAll   = 32 << 10
)

// endsOf finds them. A text without a head is known by its tail alone: what
// comes before that was pasted by the same script.
func endsOf(text, chunk string) ends {
	const part = 40
	end := func(s string) string { return s[max(0, len(s)-part):] }
	flat := printableASCII(text)
	e := ends{tail: end(flat)}
	if len(flat) <= maxAll {
		e.all = flat
	}
	if len(flat) <= maxWhole {
		e.head = flat
	}
	chunk = strings.TrimRight(chunk, "\n")
	e.last = end(printableASCII(chunk[strings.LastIndexByte(chunk, '\n')+1:]))
	return e
}
