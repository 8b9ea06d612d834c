package fleet

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"golang.org/x/text/unicode/norm"
)

// How the client (2.1.332) takes a paste: one of more than 800 characters or of
// more than three lines is shown as "[Pasted text #1 +14 lines]" and reaches the
// model inside a <pasted_content> frame, even after it was expanded in the box.
// Smaller ones arrive as if typed, also when forty of them follow each other in
// one burst. So a prompt goes in pieces below those limits, up to maxChunks of
// them, which a loaded machine needs seconds for; a longer one goes as one paste,
// frame and all.
const (
	chunkBytes = 600
	chunkLines = 2
	maxChunks  = 40
)

// MaxPrompt is the length in bytes of the longest prompt that Send takes.
const MaxPrompt = 1 << 20

var (
	errEmptyPrompt = errors.New("the prompt is empty")
	errLongPrompt  = errors.New("the prompt is over 1 MiB; put the text in a file on the host and send its path")
	errNotUTF8     = errors.New("the prompt is not valid UTF-8")
	errCommand     = errors.New("it would end the client or its login; use restart or attach, or say it in other words")
)

// prompt is a text on its way into an input box.
type prompt struct {
	text    string // as the conversation will have it
	dropped int    // control and invisible characters that were taken out
	chunks  []string
	// shown is what the box shows of it where that is not all: the "!" of a shell
	// command is drawn as the box's own glyph.
	shown string
	// command is the name of a command of the client that it may be, such as
	// "/compact", else empty.
	command string
}

// commandWord is what the client takes for the name of a command, as against the
// path of a file: "/etc/hosts is a file" is a prompt like any other (2.1.332).
var commandWord = lazyRegexp(`^/[A-Za-z0-9_:.-]+$`)

// leaving are the commands behind which there is no session to speak of, and
// leavingWords the prompts that the client takes for one (2.1.332).
var (
	leaving      = []string{"/exit", "/quit", "/logout"}
	leavingWords = []string{"exit", "quit", ":q", ":q!", ":wq", ":wq!"}
)

// shellMark is what the box shows in front of a shell command.
const shellMark = "!\u00a0"

// marks are what may stand before the text once it is typed into a box that
// shows mark while it is empty.
func (p prompt) marks(mark string) []string {
	switch {
	case p.shown != "":
		return []string{shellMark, mark}
	case forReader(mark): // the empty line has the glyph alone
		return []string{mark, "$"}
	}
	return []string{mark}
}

// below is what begins the row beneath the input line that has that mark.
func below(mark string) string {
	if forReader(mark) {
		return ""
	}
	return boxBelow
}

// pieces are the chunks for a session as it was seen. 2.1.85 loses all but the end
// of pieces that it shows in short, and a box that does not scroll grows over the
// pane when it is filled piece by piece, and is then out of reach: there the text
// goes as one paste, which arrives whole. 2.1.217 takes pieces; boxes scroll from
// 2.1.300 on, and those of the layout for screen readers do not.
func (p prompt) pieces(look seen) []string {
	version := ""
	if look.session != nil {
		version = look.session.Version
	}
	switch {
	case len(p.chunks) < 2, !forReader(look.Input.Mark) && detect.VersionAtLeast(version, "2.1.300"):
		return p.chunks
	case !detect.VersionAtLeast(version, "2.1.217"):
		return []string{strings.Join(p.chunks, "")}
	}
	rows := 0
	for line := range strings.Lines(p.text) {
		rows += 1 + ansi.StringWidth(line)/max(look.pane.Width-boxFrame, 1)
	}
	if rows <= look.pane.Height-rowsAround {
		return p.chunks
	}
	return []string{strings.Join(p.chunks, "")}
}

// chip tells whether a draft is what the client shows in place of this text.
func (p prompt) chip(draft string) bool {
	lines := strings.Count(strings.TrimRight(p.text, "\n"), "\n")
	return lines > 0 && strings.HasPrefix(draft, boxPlaceholder) && strings.HasSuffix(draft, fmt.Sprintf(" +%d lines]", lines)) && strings.Count(draft, "]") == 1
}

const (
	boxFrame   = 4  // columns that a box takes beside its text
	rowsAround = 12 // rows that a client wants besides its box: rules, footer, status lines, the end of the talk
)

// forReader tells the input line of the layout for screen readers by its mark.
func forReader(mark string) bool { return strings.HasPrefix(mark, "$") }

// menus begin the rows of the list in which the client offers commands: in it
// Enter chooses what is selected, not what was typed (2.1.300 and later, and
// before).
var menus = []string{"  ❯ /", "❯ /", "  /", "/"}

func (p prompt) menus() []string {
	if p.command == "" {
		return nil
	}
	return menus
}

// preparePrompt makes a prompt of a text. The errors say why it can't be one.
func preparePrompt(text string) (prompt, error) {
	clean, dropped, err := cleanPrompt(text)
	if err != nil {
		return prompt{dropped: dropped}, err
	}
	p := prompt{text: clean, dropped: dropped, chunks: chunks(clean)}
	if word := strings.Fields(clean)[0]; commandWord().MatchString(word) {
		p.command = word
		if slices.Contains(leaving, word) {
			return p, errCommand
		}
	}
	if slices.Contains(leavingWords, clean) {
		return p, errCommand
	}
	if rest, ok := strings.CutPrefix(clean, "!"); ok {
		if p.shown = strings.TrimSpace(rest); p.shown == "" {
			return p, errEmptyPrompt
		}
	}
	return p, nil
}

// cleanPrompt is the prompt as it may be typed: line ends are LF, white space at
// either end is dropped as the client would at the end, composed characters are in
// their one-rune form (NFC) as the client has them, and control characters, which a
// terminal would obey, are removed, and so is what nobody could see; dropped counts
// those.
func cleanPrompt(prompt string) (clean string, dropped int, err error) {
	if len(prompt) > MaxPrompt {
		return "", 0, errLongPrompt
	}
	if !utf8.ValidString(prompt) {
		return "", 0, errNotUTF8
	}
	prompt = norm.NFC.String(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(prompt))
	clean = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			dropped++
			return -1
		}
		return r
	}, prompt)
	clean, unseen := visible(clean)
	dropped += unseen
	// The TAB must be spaces before it is typed: the client completes on it.
	clean = strings.TrimSpace(strings.ReplaceAll(clean, "\t", "    "))
	if clean == "" {
		return "", dropped, errEmptyPrompt
	}
	return clean, dropped, nil
}

// chunks cuts a clean prompt into the pieces that are pasted one by one.
//
// The blank at the end keeps Enter what it is: behind a backslash the client
// takes it for a line break, and in the lists that a word such as ":smi", "@READ"
// or "/clear" opens for a choice. It never shows in the conversation (2.1.332).
func chunks(prompt string) []string {
	prompt += " "
	var pieces []string
	start, lines := 0, 0
	for i, r := range prompt {
		if i-start >= chunkBytes || lines >= chunkLines {
			pieces = append(pieces, prompt[start:i])
			start, lines = i, 0
		}
		if r == '\n' {
			lines++
		}
	}
	if pieces = append(pieces, prompt[start:]); len(pieces) > maxChunks {
		return []string{prompt}
	}
	return pieces
}
