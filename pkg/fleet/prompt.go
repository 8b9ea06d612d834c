package fleet

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// How the client (2.1.332) takes a paste: one of more than 800 characters or of
// more than three lines is shown as "[Pasted text #1 +14 lines]" and reaches the
// model inside a <pasted_content> frame, even after it was expanded in the box.
// Smaller ones arrive as if typed, also when forty of them follow each other in
// one burst. So a prompt goes in pieces below those limits, up to maxTyped; a
// longer one goes as one paste, frame and all.
const (
	chunkBytes = 600
	chunkLines = 2
	maxTyped   = 24 << 10
)

// MaxPrompt is the length in bytes of the longest prompt that Send takes.
const MaxPrompt = 1 << 20

var (
	errEmptyPrompt = errors.New("the prompt is empty")
	errLongPrompt  = errors.New("the prompt is over 1 MiB; put the text in a file on the host and send its path")
	errNotUTF8     = errors.New("the prompt is not valid UTF-8")
	errCommand     = errors.New("a prompt that begins with / or ! is a command of the client and may end it; use attach for those, or put a word before it")
)

// cleanPrompt is the prompt as it may be typed: line ends are LF, white space at
// either end is dropped as the client would, and control characters, which a
// terminal would obey, are removed; dropped counts those.
func cleanPrompt(prompt string) (clean string, dropped int, err error) {
	if len(prompt) > MaxPrompt {
		return "", 0, errLongPrompt
	}
	if !utf8.ValidString(prompt) {
		return "", 0, errNotUTF8
	}
	prompt = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(prompt)
	clean = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			dropped++
			return -1
		}
		return r
	}, prompt)
	// The TAB must be spaces before it is typed: the client completes on it.
	clean = strings.TrimSpace(strings.ReplaceAll(clean, "\t", "    "))
	if clean == "" {
		return "", dropped, errEmptyPrompt
	}
	// As measured: "/exit" ends the client, "/status" opens a dialog, "!x" puts
	// the box into shell mode. None of them is a prompt.
	if strings.HasPrefix(clean, "/") || strings.HasPrefix(clean, "!") {
		return "", dropped, errCommand
	}
	return clean, dropped, nil
}

// chunks cuts a clean prompt into the pieces that are pasted one by one.
func chunks(prompt string) []string {
	// Behind a backslash the client takes Enter for a line break.
	if strings.HasSuffix(prompt, `\`) {
		prompt += " "
	}
	if len(prompt) > maxTyped {
		return []string{prompt}
	}
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
	return append(pieces, prompt[start:])
}
