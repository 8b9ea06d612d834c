package fakeclient

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// token is a piece of input: a key by tmux's name for it, text that came
// unframed, or a whole paste.
type token struct {
	kind tokenKind
	text string
}

type tokenKind uint8

const (
	tokenKey tokenKind = iota
	tokenText
	tokenBurst // much text that came unframed at once
	tokenPaste
)

var pasteBegin, pasteEnd = []byte("\x1b[200~"), []byte("\x1b[201~")

// input takes what the terminal sends apart. It holds what is not whole yet.
type input struct {
	pending []byte
	burst   []byte // comes before pending
	pasting bool
	paste   []byte
}

// burstBytes is the length from which on what is read at once, with no sequence
// in it, is taken as pasted: its line ends submit nothing, and other control
// characters are dropped (measured on 2.1.332: 63 letters and a CR are one).
const burstBytes = 64

// add is what was read from the terminal at once.
func (in *input) add(raw []byte) {
	if !in.pasting && len(in.pending) == 0 && len(raw) >= burstBytes && bytes.IndexByte(raw, 0x1b) < 0 {
		in.burst = append(in.burst, raw...)
		return
	}
	in.pending = append(in.pending, raw...)
}

// stop tells where the next stop of a paste is, in bytes of its text, of which it
// has so many: what comes behind it waits for the next call of next.
type stop func(have int) (at int, ok bool)

// next takes one token off. ok is false when what is there is not whole, and
// reached when it is not because a paste has come to a stop.
func (in *input) next(until stop) (t token, ok, reached bool) {
	if in.pasting {
		return in.nextPaste(until)
	}
	p := in.pending
	switch {
	case len(in.burst) > 0:
		text := strings.Map(func(r rune) rune {
			if (r < ' ' || r == 0x7f) && r != '\n' && r != '\r' && r != '\t' {
				return -1
			}
			return r
		}, string(in.burst))
		in.burst = nil
		return token{tokenBurst, text}, true, false
	case len(p) == 0:
		return t, false, false
	case bytes.HasPrefix(p, pasteBegin):
		in.pending, in.pasting, in.paste = p[len(pasteBegin):], true, nil
		return in.nextPaste(until)
	case p[0] == 0x1b:
		name, n := escape(p)
		if n == 0 {
			return t, false, false
		}
		in.pending = p[n:]
		return token{tokenKey, name}, true, false
	case p[0] < ' ' || p[0] == 0x7f:
		in.pending = p[1:]
		return token{tokenKey, controlName(p[0])}, true, false
	}
	end := bytes.IndexFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f })
	if end < 0 {
		end = len(p)
		for end > 0 && !utf8.FullRune(p[lastRune(p[:end]):end]) {
			end = lastRune(p[:end])
		}
	}
	if end == 0 {
		return t, false, false
	}
	in.pending = p[end:]
	return token{tokenText, string(p[:end])}, true, false
}

// lastRune is where the last rune of p begins, whole or not.
func lastRune(p []byte) int {
	i := len(p) - 1
	for i > 0 && len(p)-i < utf8.UTFMax && !utf8.RuneStart(p[i]) {
		i--
	}
	return i
}

func (in *input) nextPaste(until stop) (t token, ok, reached bool) {
	p := in.pending
	end := bytes.Index(p, pasteEnd)
	take := end
	if end < 0 {
		// The last bytes may begin the closing mark.
		take = len(p)
		for n := min(len(pasteEnd)-1, len(p)); n > 0; n-- {
			if bytes.HasPrefix(pasteEnd, p[len(p)-n:]) {
				take = len(p) - n
				break
			}
		}
	}
	if at, ok := until(len(in.paste)); ok && at <= len(in.paste)+take {
		n := at - len(in.paste)
		in.paste, in.pending = append(in.paste, p[:n]...), p[n:]
		return t, false, true
	}
	in.paste, in.pending = append(in.paste, p[:take]...), p[take:]
	if end < 0 {
		return t, false, false
	}
	in.pending, in.pasting = in.pending[len(pasteEnd):], false
	return token{tokenPaste, string(in.paste)}, true, false
}

// waits tells that what is left may be a lone Escape: whether it is, only time
// tells.
func (in *input) waits() bool { return !in.pasting && len(in.pending) > 0 && in.pending[0] == 0x1b }

// giveUp takes what waits for its rest as it is: an Escape, and then what
// follows.
func (in *input) giveUp() token {
	in.pending = in.pending[1:]
	return token{tokenKey, "Escape"}
}

var escapes = map[string]string{
	"A": "Up", "B": "Down", "C": "Right", "D": "Left", "H": "Home", "F": "End", "Z": "BTab",
	"1~": "Home", "3~": "DC", "4~": "End", "5~": "PPage", "6~": "NPage", "I": "FocusIn", "O": "FocusOut",
}

// escape reads one sequence. n is 0 where it is not whole. A byte that follows
// Escape at once makes a key with Alt of it, as in the real client.
func escape(p []byte) (name string, n int) {
	if len(p) < 2 {
		return "", 0
	}
	switch p[1] {
	case '[', 'O':
		for i := 2; i < len(p); i++ {
			if p[i] < 0x40 || p[i] > 0x7e {
				continue
			}
			body := string(p[2 : i+1])
			if name, ok := escapes[body]; ok {
				return name, i + 1
			}
			return "Esc" + string(p[1]) + body, i + 1
		}
		return "", 0
	case 0x1b:
		return "Escape", 1
	}
	if p[1] < ' ' || p[1] == 0x7f {
		return "M-" + controlName(p[1]), 2
	}
	if !utf8.FullRune(p[1:]) {
		return "", 0
	}
	_, size := utf8.DecodeRune(p[1:])
	return "M-" + string(p[1:1+size]), 1 + size
}

func controlName(b byte) string {
	switch b {
	case '\r':
		return "Enter"
	case '\n':
		return "C-j"
	case '\t':
		return "Tab"
	case 0x7f, 0x08:
		return "BSpace"
	case 0:
		return "C-Space"
	}
	return "C-" + strings.ToLower(string(rune(b+'@')))
}
