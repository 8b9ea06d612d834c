package tmux

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// boxEnv makes the test binary a program with an input line, as the client has
// one: bracketed paste, its own drawing, and the client's bad habits by choice.
const boxEnv = "TMUX_TEST_BOX"

// box is how that program behaves.
type box struct {
	Dir      string        // where it leaves "bytes", all that it read, and "sent", a JSON string a line
	Deaf     time.Duration // Enter is swallowed so long after a paste
	Mute     bool          // Enter does nothing, ever
	Hidden   bool          // the text is not drawn
	Collapse int           // a paste of more bytes is drawn as a placeholder
	Merge    bool          // and so are all pastes together
	Rows     int           // of text that are drawn; above them the text is scrolled
	Hint     string        // drawn while there is no text
	Restless bool          // the footer changes with every key
	Menu     string        // drawn above the box while the text begins with a slash
	Garble   bool          // of a paste only half is drawn
	Swap     string        // drawn in place of a paste

	text  []byte
	shown []byte // text with placeholders
	paste []byte // what came of a paste that goes on
	until time.Time
	keys  int
	last  string
}

const (
	boxMark        = "❯\u00a0"
	boxMore        = "─── ↑ "
	boxPlaceholder = "[Pasted text #"
)

var pasteBegin, pasteEnd = []byte("\x1b[200~"), []byte("\x1b[201~")

func runBox(conf string) int {
	var b box
	if err := json.Unmarshal([]byte(conf), &b); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if _, err := term.MakeRaw(0); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Print("\x1b[?1049h\x1b[?2004h")
	b.draw()
	log, err := os.OpenFile(filepath.Join(b.Dir, "bytes"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = log.Close() }()
	var pending []byte
	buf := make([]byte, 4096)
	for {
		n, err := os.Stdin.Read(buf)
		if err != nil {
			return 0
		}
		if _, err := log.Write(buf[:n]); err != nil {
			return 1
		}
		b.keys++
		pending = b.take(append(pending, buf[:n]...))
		b.draw()
	}
}

// take reads what has come as far as it is whole.
func (b *box) take(in []byte) (rest []byte) {
	for len(in) > 0 {
		switch {
		case b.paste != nil:
			i := bytes.Index(in, pasteEnd)
			if i < 0 {
				return in
			}
			b.insert(in[:i])
			in, b.paste = in[i+len(pasteEnd):], nil
			b.until = time.Now().Add(b.Deaf)
		case bytes.HasPrefix(in, pasteBegin):
			in, b.paste = in[len(pasteBegin):], []byte{}
		case bytes.HasPrefix(pasteBegin, in):
			return in
		case in[0] == '\r':
			if !b.Mute && time.Now().After(b.until) {
				b.send()
			}
			in = in[1:]
		case in[0] == 21: // Ctrl+U takes a row
			rest := bytes.TrimSuffix(b.text, []byte("\n"))
			rest = rest[:bytes.LastIndexByte(rest, '\n')+1]
			b.text, b.shown, in = rest, rest, in[1:]
		case in[0] == 3: // Ctrl+C
			b.text, b.shown, in = nil, nil, in[1:]
		default:
			b.text, b.shown, in = append(b.text, in[0]), append(b.shown, in[0]), in[1:]
		}
	}
	return nil
}

func (b *box) insert(p []byte) {
	b.text = append(b.text, p...)
	if b.Garble {
		p = p[:len(p)/2]
	}
	if b.Swap != "" {
		p, b.shown = []byte(b.Swap), nil
	}
	if b.Collapse > 0 && len(p) > b.Collapse {
		p = fmt.Appendf(nil, "%s1 +%d lines]", boxPlaceholder, bytes.Count(p, []byte("\n")))
	}
	b.shown = append(b.shown, p...)
	if b.Merge && b.Swap == "" {
		b.shown = fmt.Appendf(nil, "%s1 +%d lines]", boxPlaceholder, bytes.Count(b.text, []byte("\n")))
	}
}

func (b *box) send() {
	if len(b.text) == 0 {
		return
	}
	line, err := json.Marshal(string(b.text))
	if err != nil {
		return
	}
	f, err := os.OpenFile(filepath.Join(b.Dir, "sent"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = f.Write(append(line, '\n'))
	_ = f.Close()
	b.last, _, _ = strings.Cut(string(b.text), "\n")
	b.text, b.shown = nil, nil
}

// draw paints the whole screen in one write: the last prompt in the history
// with its plain space, the box with its no-break space, and a footer.
func (b *box) draw() {
	width, _, err := term.GetSize(1)
	if err != nil || width < 20 {
		width = 80
	}
	rule := strings.Repeat("─", width-1)
	text := string(b.shown)
	if text == "" {
		text = "\x1b[2m" + b.Hint + "\x1b[0m"
	}
	if b.Hidden {
		text = ""
	}
	rows := strings.Split(ansi.Hardwrap(text, width-4, true), "\n")
	top := rule
	first := boxMark
	if b.Rows > 0 && len(rows) > b.Rows {
		top = fmt.Sprintf("%s%d more ───", boxMore, len(rows)-b.Rows)
		rows, first = rows[len(rows)-b.Rows:], "  "
	}
	out := "\x1b[H\x1b[2J❯ " + ansi.Truncate(b.last, width-4, "") + "\r\n● done\r\n" + b.menu() + top + "\r\n" + first + strings.Join(rows, "\r\n  ") + "\r\n" + rule + "\r\n  ? for shortcuts"
	if b.Restless {
		out += fmt.Sprintf("  %d keys", b.keys)
	}
	fmt.Print(out)
}

func (b *box) menu() string {
	if b.Menu == "" || !bytes.HasPrefix(b.text, []byte("/")) {
		return ""
	}
	return b.Menu + "\r\n"
}

// boxPane is a pane in which the program runs.
type boxPane struct {
	*machine
	session, dir string
}

func (m *machine) box(session string, b box) *boxPane {
	m.t.Helper()
	b.Dir = m.mkdir("box-" + session)
	conf, err := json.Marshal(b)
	if err != nil {
		m.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		m.t.Fatal(err)
	}
	id := m.pane(session, "/bin/sh", "-c", boxEnv+"="+transport.Quote(string(conf))+" exec "+transport.Quote(self))
	m.eventually("the box runs", func() (bool, string) {
		_, err := os.Stat(filepath.Join(b.Dir, "bytes"))
		return err == nil, "nothing"
	})
	m.eventually("the box is drawn", func() (bool, string) {
		s := m.tmux("capture-pane", "-p", "-t", id)
		return strings.Contains(s, "? for shortcuts"), s
	})
	return &boxPane{m, session, b.Dir}
}

// bytes is all that the program has read.
func (b *boxPane) bytes() string {
	got, err := os.ReadFile(filepath.Join(b.dir, "bytes"))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(got)
}

// sent is what was submitted to the program.
func (b *boxPane) sent() []string {
	got, err := os.ReadFile(filepath.Join(b.dir, "sent"))
	if err != nil && !os.IsNotExist(err) {
		b.t.Fatal(err)
	}
	var texts []string
	for line := range strings.Lines(string(got)) {
		var text string
		if err := json.Unmarshal([]byte(line), &text); err != nil {
			b.t.Fatal(err)
		}
		texts = append(texts, text)
	}
	return texts
}

// settled reads sent until a key pressed after everything before it has come:
// what was on its way has then arrived.
func (b *boxPane) settled() []string {
	b.t.Helper()
	n := len(b.bytes())
	b.tmux("send-keys", "-t", b.only(b.session).ID, "~")
	b.eventually("the last key arrives", func() (bool, string) {
		got := b.bytes()
		return len(got) > n && strings.HasSuffix(got, "~"), got
	})
	return b.sent()
}
