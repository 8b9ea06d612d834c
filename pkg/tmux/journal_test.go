package tmux

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// journal is one in a folder of the box's own.
func (b *boxPane) journal(name string) *Journal {
	return &Journal{Dir: filepath.Join(b.dir, "journals"), Name: name, Head: "about something\n", Days: 2}
}

// written is the journal as its fragment prints it.
func (b *boxPane) written(j *Journal) string {
	b.t.Helper()
	cmd := exec.Command("/bin/sh", "-c", j.Fragment())
	out, err := cmd.Output()
	if err != nil {
		b.t.Fatal(err)
	}
	return string(out)
}

// stages are the first words of its lines behind the head.
func stages(written string) []string {
	var all []string
	for line := range strings.Lines(written) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word != "about" && word != "sender" {
			all = append(all, word)
		}
	}
	return all
}

// TestPasteErased holds that a text which can't be submitted is taken out again,
// that what is not of its making stays, and that the journal tells which.
func TestPasteErased(t *testing.T) {
	m := newMachine(t, "")
	for name, tt := range map[string]struct {
		box    box
		chunks []string
		menus  []string
		erase  string
		want   Pasted
		stages []string
	}{
		"submitted":           {chunks: []string{"hello"}, erase: "C-u", want: PastedSubmitted, stages: []string{"typing", "enter", "submitted"}},
		"shows half":          {box: box{Garble: true, Restless: true, Hint: "Try this"}, chunks: []string{"hello there"}, erase: "C-u", want: PastedErased, stages: []string{"typing", "typed", "erased"}},
		"several lines":       {box: box{Garble: true}, chunks: []string{"one\ntwo\n", "three\nfour\n", "five is the longest of all"}, erase: "C-u", want: PastedErased, stages: []string{"typing", "typed", "erased"}},
		"no key for it":       {box: box{Garble: true}, chunks: []string{"hello there"}, want: PastedTyped, stages: []string{"typing", "typed"}},
		"the text of another": {box: box{Swap: "somebody types"}, chunks: []string{"hello there"}, erase: "C-u", want: PastedTyped, stages: []string{"typing", "typed"}},
		"a menu":              {box: box{Menu: "  ❯ /clear  empties"}, chunks: []string{"/cl "}, menus: []string{"  ❯ /"}, erase: "C-u", want: PastedMenu, stages: []string{"typing", "typed", "erased"}},
		"text like a menu":    {box: box{Menu: "  ❯ clear"}, chunks: []string{"/cl x\n", "/etc/hosts "}, menus: []string{"  ❯ /", "  /", "/"}, erase: "C-u", want: PastedSubmitted, stages: []string{"typing", "enter", "submitted"}},
		"another kind of row": {box: box{Menu: "  ❯ clear  empties"}, chunks: []string{"/cl "}, menus: []string{"  ❯ /"}, erase: "C-u", want: PastedSubmitted, stages: []string{"typing", "enter", "submitted"}},
		"mute":                {box: box{Mute: true}, chunks: []string{"hello"}, erase: "C-u", want: PastedStuck, stages: []string{"typing", "enter", "stuck"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := m.in(t).box("erased-"+strings.ReplaceAll(name, " ", "-"), tt.box)
			p := b.paste(tt.chunks...)
			p.Erase, p.Menus, p.Journal = tt.erase, tt.menus, b.journal("one")
			if tt.want != PastedSubmitted {
				p.Wait = time.Second
			}
			got, err := PasteText(t.Context(), m, p)
			if got != tt.want || err != nil {
				t.Errorf("%s, %v; want %s; the screen is\n%s", got, err, tt.want, b.only(b.session).Screen)
			}
			written := b.written(p.Journal)
			if s := stages(written); !slices.Equal(s, tt.stages) || !strings.HasPrefix(written, "about something\nsender ") {
				t.Errorf("the journal is %q", written)
			}
			if tt.box.Swap != "" && strings.Contains(b.bytes(), "\x15") {
				t.Error("it was taken out")
			}
			enters := strings.Count(b.bytes(), "\r")
			if (enters > 0) != slices.Contains(tt.stages, "enter") {
				t.Errorf("Enter was pressed %d times", enters)
			}
			if tt.want == PastedErased || tt.want == PastedMenu {
				b.tmux("send-keys", "-t", b.only(b.session).ID, "x", "Enter")
				b.eventually("the line was empty", func() (bool, string) {
					sent := b.sent()
					return slices.Equal(sent, []string{"x"}), strings.Join(sent, "|")
				})
			}
			info, err := os.Stat(b.journalFile("one"))
			if err != nil || info.Mode().Perm() != 0o600 || info.Size() > 1024 {
				t.Errorf("%v, %v", info, err)
			}
		})
	}
}

func (b *boxPane) journalFile(name string) string {
	b.t.Helper()
	machine, err := exec.Command("/bin/sh", "-c", machineScript+`printf %s "$machine"`).Output()
	if err != nil || len(machine) == 0 {
		b.t.Fatalf("%q, %v", machine, err)
	}
	return filepath.Join(b.dir, "journals", string(machine), name)
}

// TestJournalClaims holds that a text which may have been typed is not typed a
// second time, and that one which was not is.
func TestJournalClaims(t *testing.T) {
	m := newMachine(t, "")
	b := m.box("claims", box{})
	var want []string
	for _, tt := range []struct {
		name, journal string
		spoil         func(*Paste)
		err           error
	}{
		{name: "none yet"},
		{name: "submitted", journal: "about x\nsender 1-2\ntyping 1\nenter 2\nsubmitted 3\n", err: ErrClaimed},
		{name: "broken off while typing", journal: "about x\nsender 1-2\ntyping 1\n", err: ErrClaimed},
		{name: "taken out again", journal: "about x\nsender 1-2\ntyping 1\ntyped 2\nerased 3\n"},
		{name: "broken off before", journal: "about x\nsend"},
		{name: "empty", journal: ""},
		{name: "the screen changed", spoil: func(p *Paste) { p.Guard.PID++ }, err: ErrChanged},
	} {
		p := b.paste(tt.name)
		p.Journal = b.journal(strings.ReplaceAll(tt.name, " ", "-"))
		file := b.journalFile(p.Journal.Name)
		if tt.journal != "" || tt.name == "empty" {
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(tt.journal), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if tt.spoil != nil {
			tt.spoil(&p)
		}
		got, err := PasteText(t.Context(), m, p)
		if !errors.Is(err, tt.err) || (tt.err == nil) != (got == PastedSubmitted) {
			t.Errorf("%s: %s, %v", tt.name, got, err)
		}
		left, _ := os.ReadFile(file)
		switch {
		case tt.err == nil:
			want = append(want, tt.name)
			if s := stages(string(left)); !slices.Equal(s, []string{"typing", "enter", "submitted"}) {
				t.Errorf("%s: %q", tt.name, left)
			}
		case string(left) != tt.journal:
			t.Errorf("%s: the journal is %q", tt.name, left)
		}
	}
	// A file that is somebody's by another name is left to them.
	theirs := filepath.Join(b.dir, "theirs")
	if err := os.WriteFile(theirs, []byte("words\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := b.paste("beside a hard link")
	p.Journal = b.journal("hard")
	if err := os.Link(theirs, b.journalFile("hard")); err != nil {
		t.Fatal(err)
	}
	if got, err := PasteText(t.Context(), m, p); got != PastedSubmitted || err != nil {
		t.Errorf("a hard link: %s, %v", got, err)
	}
	want = append(want, "beside a hard link")
	if sent := b.settled(); !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
	if left := m.tmux("list-buffers"); left != "" {
		t.Errorf("buffers are left behind:\n%s", left)
	}
	// What is no plain file is not written through, and not waited for.
	for name, make := range map[string]func(string) error{
		"link":           func(path string) error { return os.Symlink(filepath.Join(b.dir, "victim"), path) },
		"link to a file": func(path string) error { return os.Symlink(theirs, path) },
		"directory":      func(path string) error { return os.Mkdir(path, 0o700) },
		"fifo":           func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		p := b.paste("through a " + name)
		p.Journal = b.journal(strings.ReplaceAll(name, " ", "-"))
		if err := make(b.journalFile(p.Journal.Name)); err != nil {
			t.Fatal(err)
		}
		if got, err := PasteText(t.Context(), m, p); got != PastedNothing || !errors.Is(err, ErrJournal) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	b.missing("victim")
	if left, err := os.ReadFile(theirs); err != nil || string(left) != "words\n" {
		t.Errorf("written through a link: %q, %v", left, err)
	}
	// A folder that can't be made means that nothing is typed.
	p = b.paste("nowhere")
	p.Journal = b.journal("x")
	p.Journal.Dir = filepath.Join(b.dir, "sent", "x")
	if got, err := PasteText(t.Context(), m, p); got != PastedNothing || !errors.Is(err, ErrJournal) {
		t.Errorf("%s, %v", got, err)
	}
}

// TestJournalFails has the journal become one that can't be added to once the text
// is typed: then Enter is not pressed, and the text is taken out again.
func TestJournalFails(t *testing.T) {
	bin := t.TempDir()
	real, err := exec.LookPath("tmux")
	if err != nil {
		t.Fatal(err)
	}
	spoil := filepath.Join(bin, "spoil")
	script := "#!/bin/sh\ncase \"$*\" in *paste-buffer*) read -r f < " + spoil + " && rm -f \"$f\" && mkdir \"$f\" ;; esac\nexec " + real + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "tmux"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	b := newMachine(t, "", "PATH="+bin+":"+os.Getenv("PATH")).box("fails", box{})
	p := b.paste("never submitted")
	p.Journal, p.Erase = b.journal("fails"), "C-u"
	if err := os.WriteFile(spoil, []byte(b.journalFile("fails")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := PasteText(t.Context(), b.machine, p); got != PastedErased || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if sent := b.settled(); len(sent) > 0 || strings.Contains(b.bytes(), "\r") {
		t.Errorf("sent %q", sent)
	}
}

// TestJournalOfAnotherName gives the machine another name between two sendings of
// one text: the second finds the journal of the first all the same. Where nothing
// but its name is known of a machine, that is what has to do.
func TestJournalOfAnotherName(t *testing.T) {
	bin := t.TempDir()
	machine := func(t *testing.T, script string) string {
		t.Helper()
		cmd := exec.Command("/bin/sh", "-c", script+`printf %s "$machine"`)
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		out, err := cmd.Output()
		if err != nil || len(out) == 0 {
			t.Fatalf("%q, %v", out, err)
		}
		return string(out)
	}
	id := filepath.Join(bin, "id")
	if err := os.WriteFile(id, []byte("0123abc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	known := strings.Replace(machineScript, "/etc/machine-id", id, 1)
	nameless := strings.Replace(machineScript, "/etc/machine-id", "/nonexistent", 1)
	for _, name := range []string{"one.example", "two\n.example/../x"} {
		for tool, does := range map[string]string{"uname": "printf '%s\\n' '" + name + "'", "sysctl": "exit 1", "ioreg": "exit 1"} {
			if err := os.WriteFile(filepath.Join(bin, tool), []byte("#!/bin/sh\n"+does+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if got := machine(t, known); got != "0123abc" {
			t.Errorf("called %q, it is %q", name, got)
		}
		if got, want := machine(t, nameless), strings.NewReplacer("\n", "", "/", "").Replace(name); got != want {
			t.Errorf("known by the name %q alone, it is %q", name, got)
		}
	}
}

// TestJournalAge holds that old journals go when a new one is made, and young
// ones stay.
func TestJournalAge(t *testing.T) {
	m := newMachine(t, "")
	b := m.box("age", box{})
	dir := filepath.Dir(b.journalFile("x"))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, age := range map[string]time.Duration{"old": 80 * time.Hour, "young": 40 * time.Hour} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte("typing 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	p := b.paste("hello")
	p.Journal = b.journal("new")
	if got, err := PasteText(t.Context(), m, p); got != PastedSubmitted {
		t.Fatalf("%s, %v", got, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 || entries[0].Name() != "new" || entries[1].Name() != "young" {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestJournalOfTheKilled kills the script with a signal that nothing can ignore,
// in the middle of the typing: the journal says how far it came, and that nobody
// writes it any more.
func TestJournalOfTheKilled(t *testing.T) {
	m := newMachine(t, "")
	b := m.box("killed", box{Hidden: true})
	p := b.paste("hello")
	p.Journal, p.Wait = b.journal("one"), time.Minute
	cmd := exec.Command("/bin/sh", "-c", "(\n:\n"+p.script(newNonce())+"\n)\n:")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b.eventually("the text arrives", func() (bool, string) { got := b.bytes(); return strings.Contains(got, "hello"), got })
	if w := b.written(p.Journal); !strings.HasSuffix(w, "\nalive\n") {
		t.Errorf("while it runs: %q", w)
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	b.eventually("nobody writes it", func() (bool, string) {
		w := b.written(p.Journal)
		return slices.Equal(stages(w), []string{"typing"}), w
	})
	// The same text is not typed again, by whoever comes next.
	p = b.paste("hello")
	p.Journal = b.journal("one")
	if got, err := PasteText(t.Context(), m, p); got != PastedNothing || !errors.Is(err, ErrClaimed) {
		t.Errorf("%s, %v", got, err)
	}
}

// TestClearInput empties the line, and leaves one that is not as it was judged.
func TestClearInput(t *testing.T) {
	m := newMachine(t, "")
	b := m.box("clear", box{Restless: true})
	fill := func() Clear {
		b.tmux("send-keys", "-t", b.only(b.session).ID, "-l", "some draft")
		b.eventually("the draft shows", func() (bool, string) {
			s := string(b.only(b.session).Screen)
			return strings.Contains(s, "some draft"), s
		})
		return Clear{Guard: GuardOf(b.only(b.session)), Marks: []string{boxMark}, More: boxMore, Erase: "C-u", Rows: 3}
	}
	c := fill()
	if err := ClearInput(t.Context(), m, c); err != nil {
		t.Error(err)
	}
	b.tmux("send-keys", "-t", c.Guard.Pane, "x", "Enter")
	b.eventually("it was empty", func() (bool, string) { s := b.sent(); return slices.Equal(s, []string{"x"}), strings.Join(s, "|") })
	c = fill()
	c.Guard.PID++
	if err := ClearInput(t.Context(), m, c); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	if sent := b.settled(); len(sent) != 1 {
		t.Errorf("sent %q", sent)
	}
	if !strings.Contains(string(b.only(b.session).Screen), "some draft~") {
		t.Errorf("the draft is gone:\n%s", b.only(b.session).Screen)
	}
}
