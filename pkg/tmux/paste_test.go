package tmux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// text is a Paste of the box as it is now.
func (b *boxPane) paste(chunks ...string) Paste {
	return Paste{Guard: GuardOf(b.only(b.session)), Chunks: chunks, Marks: []string{boxMark}, More: boxMore, Below: "───", Placeholder: boxPlaceholder, Wait: 2 * time.Second}
}

// pieces cuts a text of ASCII into chunks.
func pieces(text string, size int) []string {
	var chunks []string
	for len(text) > size {
		chunks, text = append(chunks, text[:size]), text[size:]
	}
	return append(chunks, text)
}

// numbered is text of about n bytes in which every part differs.
func numbered(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "part %d is here; ", i)
	}
	return strings.TrimSpace(b.String())
}

// shellRunner runs a script under another program than the machine's /bin/sh,
// called sh, in a subshell as the transport does it.
type shellRunner string

func (r shellRunner) Run(ctx context.Context, s transport.Script) (transport.Result, error) {
	cmd := exec.CommandContext(ctx, string(r), "-c", "(\n:\n"+s.Text+"\n)")
	cmd.Args[0] = "sh"
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return transport.Result{Stdout: out, Stderr: exit.Stderr, ExitCode: exit.ExitCode()}, nil
	}
	return transport.Result{Stdout: out}, err
}

// posixShells are programs that serve as /bin/sh somewhere.
var posixShells = []string{"dash", "bash"}

// hardTexts are texts of which a shell, tmux or a terminal may lose something.
// Where it matters that it is the whole of a text, it is one of its own.
var hardTexts = []string{
	"fünf", // a here-document of dash lost the ü behind the f that its delimiter began with
	"日本語のテキスト", "😀🎉", "Enter", "-t", "drop table x;", ";", "$(touch pwned)", "[Pasted text #1 it says", "  indented",
	strings.Join([]string{
		"\U0001F601 ā é 👩‍💻 ⚠️ ǁ", // bytes 0x81 to 0x88 are marks of dash's own
		"flüssig", "flé", "fle\u0301", "fleet0123456789abcdef", "EOF", "C-c", "Space", "--help", "-", "one\\;", "a; b;",
		"`touch pwned`", "${HOME} $HOME \"$@\"", "it's 'quoted' \"twice\"", `back\slash \n \\ \`, "%H %d %%", "#{pane_id} #(touch pwned) ##",
		"!! !x", "*?[a-z]*", "{a,b} ~ ~root", "", "tail \\",
	}, "\n"),
}

func TestPasteHardTexts(t *testing.T) {
	m := newMachine(t, "")
	for _, sh := range posixShells {
		t.Run(sh, func(t *testing.T) {
			t.Parallel()
			b := m.in(t).box("hard-"+sh, box{Hint: `Try "edit it"`, Restless: true})
			texts := hardTexts
			if sh != "dash" { // whose faults they mostly are
				texts = append(slices.Clone(texts[:2]), texts[len(texts)-1])
			}
			for i, text := range texts {
				got, err := PasteText(t.Context(), shellRunner(sh), b.paste(text))
				if got != PastedSubmitted || err != nil {
					t.Fatalf("%q: %s, %v; the screen is\n%s", text, got, err, b.only(b.session).Screen)
				}
				if sent := b.sent(); len(sent) != i+1 || sent[i] != text {
					t.Fatalf("%q: sent %q", text, sent[i:])
				}
			}
			if sent := b.settled(); !slices.Equal(sent, texts) {
				t.Errorf("sent %q", sent)
			}
			b.missing("pwned")
		})
	}
}

func TestPaste(t *testing.T) {
	m := newMachine(t, "")
	long := numbered(20_000)
	lines := strings.Repeat("a line of it\n", 39) + "the last one"
	for name, tt := range map[string]struct {
		box    box
		chunks []string
		want   Pasted
		sent   bool
	}{
		"submitted":              {chunks: []string{"hello"}, want: PastedSubmitted, sent: true},
		"deaf, footer changes":   {box: box{Deaf: 400 * time.Millisecond, Restless: true, Hint: "Try this"}, chunks: []string{"hello"}, want: PastedSubmitted, sent: true},
		"deaf to emoji":          {box: box{Deaf: 400 * time.Millisecond, Restless: true}, chunks: []string{"😀"}, want: PastedSubmitted, sent: true},
		"never shows":            {box: box{Hidden: true}, chunks: []string{"hello"}, want: PastedTyped},
		"never shows emoji":      {box: box{Hidden: true, Restless: true}, chunks: []string{"😀"}, want: PastedTyped},
		"mute and restless":      {box: box{Mute: true, Restless: true, Hint: "Try this"}, chunks: []string{"hello"}, want: PastedStuck},
		"mute and scrolled":      {box: box{Mute: true, Restless: true, Rows: 3}, chunks: pieces(long[:3000], 600), want: PastedStuck},
		"20 kB in chunks":        {chunks: pieces(long, 600), want: PastedSubmitted, sent: true, box: box{Rows: 8}},
		"20 kB at once":          {chunks: []string{long}, want: PastedSubmitted, sent: true, box: box{Rows: 8}},
		"scrolled, deaf":         {chunks: pieces(long[:3000], 600), want: PastedSubmitted, sent: true, box: box{Rows: 8, Deaf: 400 * time.Millisecond}},
		"scrolled, short":        {chunks: []string{"a\nb\nc\nd\ne\nf"}, want: PastedSubmitted, sent: true, box: box{Rows: 3}},
		"placeholder":            {chunks: []string{lines}, want: PastedSubmitted, sent: true, box: box{Collapse: 100}},
		"placeholder, deaf":      {chunks: []string{numbered(30_000)}, want: PastedSubmitted, sent: true, box: box{Collapse: 100, Deaf: 400 * time.Millisecond, Restless: true}},
		"placeholder, mute":      {chunks: []string{numbered(30_000)}, want: PastedStuck, box: box{Collapse: 100, Mute: true, Restless: true}},
		"a placeholder a chunk":  {chunks: pieces(numbered(2000), 500), want: PastedSubmitted, sent: true, box: box{Collapse: 100}},
		"one chunk is collapsed": {chunks: []string{strings.Repeat("x", 200), "and the end"}, want: PastedSubmitted, sent: true, box: box{Collapse: 100}},
		"one for all of them":    {chunks: []string{"one\n", "two\n", "three"}, want: PastedSubmitted, sent: true, box: box{Merge: true}},
		"one for half of them":   {chunks: []string{"one\ntwo\n", "three"}, want: PastedTyped, box: box{Merge: true, Swap: "[Pasted text #1 +1 lines]"}},
		"empty chunks":           {chunks: []string{"", "hello", ""}, want: PastedSubmitted, sent: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := m.in(t).box(strings.NewReplacer(" ", "-", ",", "").Replace(name), tt.box)
			p := b.paste(tt.chunks...)
			if !tt.sent {
				p.Wait = time.Second
			}
			got, err := PasteText(t.Context(), m, p)
			if got != tt.want || err != nil {
				t.Errorf("%s, %v; want %s; the screen is\n%s", got, err, tt.want, b.only(b.session).Screen)
			}
			text := strings.Join(tt.chunks, "")
			if sent := b.settled(); tt.sent != (len(sent) == 1 && sent[0] == text) || !tt.sent && len(sent) > 0 {
				t.Errorf("sent %d: %.300q", len(sent), sent)
			}
			enters := strings.Count(b.bytes(), "\r")
			if (enters > 0) != (tt.want != PastedTyped) || enters > 3 {
				t.Errorf("Enter was pressed %d times", enters)
			}
			if option := m.tmux("show-options", "-p", "-t", b.only(b.session).ID); strings.Contains(option, LockOption) {
				t.Errorf("the lock is left behind: %s", option)
			}
		})
	}
	t.Cleanup(func() { // when all of them are over
		if left := m.tmux("list-buffers"); left != "" {
			t.Errorf("buffers are left behind:\n%s", left)
		}
	})
}

// TestPasteRefuses holds that not one byte arrives when something is amiss.
func TestPasteRefuses(t *testing.T) {
	m := newMachine(t, "")
	cases := map[string]struct {
		spoil func(b *boxPane, p *Paste)
		want  error // nil: it is submitted all the same
	}{
		"nothing amiss":  {spoil: func(*boxPane, *Paste) {}},
		"screen changed": {func(_ *boxPane, p *Paste) { p.Guard.Screen = append([]byte("x"), p.Guard.Screen...) }, ErrChanged},
		"other attribute": {func(_ *boxPane, p *Paste) {
			p.Guard.Screen = []byte(strings.Replace(string(p.Guard.Screen), "●", "\x1b[1m●\x1b[0m", 1))
		}, ErrChanged},
		"trailing newline":               {spoil: func(_ *boxPane, p *Paste) { p.Guard.Screen = append(p.Guard.Screen, '\n', '\n') }},
		"other process":                  {func(_ *boxPane, p *Paste) { p.Guard.PID++ }, ErrChanged},
		"pane gone":                      {func(_ *boxPane, p *Paste) { p.Guard.Pane = "%999" }, ErrChanged},
		"pane is hostile":                {func(_ *boxPane, p *Paste) { p.Guard.Pane = "'; touch pwned; '" }, ErrChanged},
		"lock held":                      {func(b *boxPane, p *Paste) { b.lock(p.Guard.Pane, holder(b.t, os.Getpid())) }, ErrLocked},
		"lock of the dead":               {spoil: func(b *boxPane, p *Paste) { b.lock(p.Guard.Pane, fmt.Sprintf("%d-123", deadPID(b.t))) }},
		"lock of a pid that another has": {spoil: func(b *boxPane, p *Paste) { b.lock(p.Guard.Pane, fmt.Sprintf("%d-123", os.Getpid())) }},
		"lock of old":                    {spoil: func(b *boxPane, p *Paste) { b.lock(p.Guard.Pane, strconv.Itoa(deadPID(b.t))) }},
		"lock is nonsense":               {spoil: func(b *boxPane, p *Paste) { b.tmux("set-option", "-p", "-t", p.Guard.Pane, LockOption, "x y") }},
		"copy mode":                      {spoil: func(b *boxPane, p *Paste) { b.tmux("copy-mode", "-t", p.Guard.Pane) }},
		"other mode":                     {func(b *boxPane, p *Paste) { b.tmux("clock-mode", "-t", p.Guard.Pane) }, ErrChanged},
		"control character":              {func(_ *boxPane, p *Paste) { p.Chunks = []string{"a\x1b[201~\rb"} }, errControl},
	}
	for _, refused := range []bool{true, false} {
		t.Run(fmt.Sprintf("refused %v", refused), func(t *testing.T) {
			t.Parallel()
			b := m.in(t).box(fmt.Sprintf("refused-%v", refused), box{})
			sent := 0
			for name, tt := range cases {
				if refused != (tt.want != nil) {
					continue
				}
				p := b.paste("hello")
				before := b.bytes()
				tt.spoil(b, &p)
				got, err := PasteText(t.Context(), m, p)
				if tt.want == nil {
					if sent++; got != PastedSubmitted || err != nil || len(b.sent()) != sent {
						t.Fatalf("%s: %s, %v; sent %q", name, got, err, b.sent())
					}
					continue
				}
				if got != PastedNothing || !errors.Is(err, tt.want) {
					t.Errorf("%s: %s, %v", name, got, err)
				}
				if name == "lock held" {
					if held := b.holder(b.only(b.session).ID); held != holder(b.t, os.Getpid()) {
						t.Errorf("the lock of another is now %q", held)
					}
					b.tmux("set-option", "-p", "-u", "-t", b.only(b.session).ID, LockOption)
				}
				b.tmux("copy-mode", "-q", "-t", b.only(b.session).ID) // leaves any mode
				if after := b.bytes(); after != before {
					t.Errorf("%s: %q arrived", name, strings.TrimPrefix(after, before))
				}
			}
			if texts := b.settled(); len(texts) != sent || strings.Trim(strings.Join(texts, ""), "helo") != "" {
				t.Errorf("sent %q", texts)
			}
			b.missing("pwned")
		})
	}
}

func (b *boxPane) lock(pane, holder string) {
	b.tmux("set-option", "-p", "-t", pane, LockOption, holder)
}

// holder is what a sender of that process id writes into the lock.
func holder(t *testing.T, pid int) string {
	t.Helper()
	out, err := exec.Command("/bin/sh", "-c", holderScript+fmt.Sprintf("started %d", pid)).Output()
	if err != nil || len(bytes.TrimSpace(out)) == 0 {
		t.Fatalf("%q, %v", out, err)
	}
	return fmt.Sprintf("%d-%s", pid, bytes.TrimSpace(out))
}

func (b *boxPane) holder(pane string) string {
	return b.tmux("show-options", "-p", "-v", "-q", "-t", pane, LockOption)
}

// TestPasteAtOnce has eight senders on one pane, with the lock of a dead one on
// it at the start of each round.
func TestPasteAtOnce(t *testing.T) {
	m := newMachine(t, "")
	const senders = 8
	b := m.box("crowd", box{})
	var want []string
	for round := range 2 {
		p := b.paste()
		b.lock(p.Guard.Pane, fmt.Sprintf("%d-123", deadPID(t)))
		var mu sync.Mutex
		var accepted []string
		var all sync.WaitGroup
		for i := range senders {
			all.Go(func() {
				p := p
				text := strings.Repeat(fmt.Sprintf("round %d sender %d, ", round, i), 10)
				p.Chunks = pieces(text, 60)
				got, err := PasteText(t.Context(), m, p)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case got == PastedSubmitted && err == nil:
					accepted = append(accepted, text)
				case got == PastedNothing && (errors.Is(err, ErrLocked) || errors.Is(err, ErrChanged)):
				default:
					t.Errorf("sender %d: %s, %v", i, got, err)
				}
			})
		}
		all.Wait()
		if len(accepted) != 1 {
			t.Errorf("round %d: %d were accepted on one screen: %q", round, len(accepted), accepted)
		}
		want = append(want, accepted...)
	}
	if sent := b.settled(); !slices.Equal(sent, want) {
		t.Errorf("sent %q\nwant %q", sent, want)
	}
}

// TestPasteIsFinished ends a sender as a lost link or a caller's deadline does,
// once it has begun: it goes on, and holds the lock for as long.
func TestPasteIsFinished(t *testing.T) {
	m := newMachine(t, "")
	for _, sh := range posixShells {
		t.Run(sh, func(t *testing.T) {
			t.Parallel()
			b := m.in(t).box("ended-"+sh, box{Deaf: 700 * time.Millisecond})
			p := b.paste("hello")
			cmd := exec.Command(sh, "-c", "(\n:\n"+p.script(newNonce())+"\n)\n:")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			b.eventually("the text arrives", func() (bool, string) { got := b.bytes(); return strings.Contains(got, "hello"), got })
			if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // the outer shell, killed
			pid, _, _ := strings.Cut(b.holder(p.Guard.Pane), "-")
			held, err := strconv.Atoi(pid)
			if err != nil || syscall.Kill(held, 0) != nil {
				t.Errorf("the lock is %d (%v), which does not live", held, err)
			}
			b.eventually("the lock is freed", func() (bool, string) { h := b.holder(p.Guard.Pane); return h == "", h })
			if sent := b.settled(); !slices.Equal(sent, []string{"hello"}) {
				t.Errorf("sent %q", sent)
			}
		})
	}
}
