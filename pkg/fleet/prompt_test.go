package fleet

import (
	"errors"
	"strings"
	"testing"
	"testing/quick"
	"unicode/utf8"

	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transcript"
)

func TestCleanPrompt(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		dropped        int
		err            error
	}{
		{"plain", "hello", "hello", 0, nil},
		{"trailing newline is no prompt of its own", "hello\n", "hello", 0, nil},
		{"inner newlines stay", "a\n\nb", "a\n\nb", 0, nil},
		{"CRLF and CR", "a\r\nb\rc", "a\nb\nc", 0, nil},
		{"TAB is spaces, since the client completes on it", "a\tb", "a    b", 0, nil},
		{"a paste can't end its own frame", "a\x1b[201~\rrm -rf /", "a[201~\nrm -rf /", 1, nil},
		{"C1 and DEL", "a\u009bb\x7fc", "abc", 2, nil},
		{"no-break space and emoji stay", "a\u00a0b 👩\u200d💻", "a\u00a0b 👩\u200d💻", 0, nil},
		{"trailing semicolon stays", "drop table x;", "drop table x;", 0, nil},
		{"a slash command", "\n /compact x", "/compact x", 0, nil},
		{"empty", "", "", 0, errEmptyPrompt},
		{"only white space", " \n\t\r\n", "", 0, errEmptyPrompt},
		{"only controls", "\x1b\x07", "", 2, errEmptyPrompt},
		{"not UTF-8", "a\xff", "", 0, errNotUTF8},
		{"at the limit", strings.Repeat("a", MaxPrompt), strings.Repeat("a", MaxPrompt), 0, nil},
		{"over the limit", strings.Repeat("a", MaxPrompt+1), "", 0, errLongPrompt},
	} {
		got, dropped, err := cleanPrompt(c.in)
		if got != c.want || dropped != c.dropped || !errors.Is(err, c.err) {
			t.Errorf("%s: got %.40q, %d, %v; want %.40q, %d, %v", c.name, got, dropped, err, c.want, c.dropped, c.err)
		}
	}
}

// TestPreparePrompt holds what is a command of the client, and what is none.
func TestPreparePrompt(t *testing.T) {
	for _, c := range []struct {
		in, command, shown string
		err                error
	}{
		{"/compact focus on x", "/compact", "", nil},
		{"/plugin:do-it", "/plugin:do-it", "", nil},
		{"/etc/hosts is a file", "", "", nil},
		{"see /etc and go!", "", "", nil},
		{"/ alone", "", "", nil},
		{"/exit", "/exit", "", errCommand},
		{"\n /quit now", "/quit", "", errCommand},
		{"/exits", "/exits", "", nil},
		{"exit", "", "", errCommand},
		{" :wq!\n", "", "", errCommand},
		{"Exit", "", "", nil},
		{"exit now", "", "", nil},
		{"!ls -l", "", "ls -l", nil},
		{"! ls", "", "ls", nil},
		{"!", "", "", errEmptyPrompt},
		{"# a note", "", "", nil},
	} {
		p, err := preparePrompt(c.in)
		if p.command != c.command || p.shown != c.shown || !errors.Is(err, c.err) {
			t.Errorf("%q: %q, %q, %v", c.in, p.command, p.shown, err)
		}
	}
}

// TestPieces holds that a text goes in pieces only where the box that they fill
// stays in reach.
func TestPieces(t *testing.T) {
	long, err := preparePrompt(strings.Repeat("a line of some words\n", 60))
	if err != nil {
		t.Fatal(err)
	}
	wide, err := preparePrompt(strings.Repeat("words without end ", 200))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, version, mark string
		prompt              prompt
		width, height       int
		whole               bool
	}{
		{"a box that scrolls", "2.1.332", "❯\u00a0", long, 120, 40, false},
		{"one that does not", "2.1.217", "❯\u00a0", long, 120, 40, true},
		{"a pane that has room", "2.1.217", "❯\u00a0", long, 120, 100, false},
		{"a screen reader's", "2.1.332", "$\u00a0 ", long, 120, 40, true},
		{"a version that is not known", "", "❯\u00a0", long, 120, 40, true},
		{"one line that wraps often", "2.1.217", "❯\u00a0", wide, 60, 20, true},
		{"and one that does not", "2.1.217", "❯\u00a0", wide, 300, 40, false},
		{"a client that loses pieces", "2.1.85", "❯\u00a0", wide, 300, 100, true},
	} {
		look := seen{pane: &tmux.Pane{Width: c.width, Height: c.height}, session: &transcript.Session{Version: c.version}}
		look.Input.Mark = c.mark
		if got := c.prompt.pieces(look); (len(got) == 1) != c.whole || strings.Join(got, "") != c.prompt.text+" " {
			t.Errorf("%s: %d pieces", c.name, len(got))
		}
	}
}

// TestRestoredAs holds that only a whole prompt counts as put back.
func TestRestoredAs(t *testing.T) {
	const framed = "\n\n<pasted_content id=\"1a\">\nlong\n</pasted_content id=\"1a\">\n"
	for _, c := range []struct {
		draft, prompt string
		want          bool
	}{
		{"HOLD x and letters", "HOLD x and letters", true},
		{"two\nlines", "two lines", true}, // a box wraps
		{"let", "HOLD x and letters", false},
		{"HOLD x and letters and more", "HOLD x and letters", false},
		{"[Pasted text #3 +20 lines]", framed, true},
		{"[Pasted text #3 +20 lines]", "words", false},
		{"[Pasted text #3 +20 lines] and more", framed, false},
	} {
		if got := restoredAs(c.draft, c.prompt); got != c.want {
			t.Errorf("%q of %q: %v", c.draft, c.prompt, got)
		}
	}
}

// TestChunks holds the two things that matter of the pieces: together they are
// the prompt, and none is large enough for the client to fold away.
func TestChunks(t *testing.T) {
	check := func(prompt string) bool {
		pieces := chunks(prompt)
		typed := strings.Join(pieces, "")
		if typed != prompt+" " {
			return false
		}
		for _, p := range pieces {
			if !utf8.ValidString(p) && utf8.ValidString(prompt) {
				return false
			}
			if len(pieces) > 1 && (len(p) > chunkBytes+utf8.UTFMax || strings.Count(p, "\n") > chunkLines) {
				return false
			}
		}
		small := len(prompt) < chunkBytes && strings.Count(prompt, "\n") < chunkLines
		return len(pieces) <= maxChunks && (len(pieces) > 1 || small || len(prompt) >= chunkBytes*maxChunks || strings.Count(prompt, "\n") >= chunkLines*maxChunks ||
			len(prompt) <= chunkBytes+utf8.UTFMax && strings.Count(prompt, "\n") <= chunkLines)
	}
	for _, p := range []string{"", "a", "a\nb\nc\nd\ne", strings.Repeat("é", 5000), strings.Repeat("x\n", 400), strings.Repeat("y", 30000), `ends in \`, `\`} {
		if !check(p) {
			t.Errorf("chunks(%.20q…): %q", p, chunks(p))
		}
	}
	if err := quick.Check(check, nil); err != nil {
		t.Error(err)
	}
}
