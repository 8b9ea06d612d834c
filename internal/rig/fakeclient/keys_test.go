package fakeclient_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/claude-fleet/claude-fleet/internal/rig/fakeclient"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
)

// deed is what is done to a fake client and what its log has to say of it, the
// keys and pastes themselves left out.
type deed struct {
	name   string
	script fakeclient.Script
	do     func(*bench)
	want   []string // "what text"
}

// received are the events that say what came, not what was done.
var received = []string{fakeclient.Started, fakeclient.Key, fakeclient.Paste, fakeclient.Burst, fakeclient.DialogKey, fakeclient.DialogPaste, fakeclient.Resized}

// did is what the log says was done, once an `~` that was pressed behind
// everything has come: nothing that was on its way is missed.
func (b *bench) did() []string {
	b.Helper()
	n := len(b.events(fakeclient.Key))
	b.keys("~")
	b.eventually("the last key to come", func() bool {
		keys := b.events(fakeclient.Key)
		return len(keys) > n && strings.HasSuffix(keys[len(keys)-1], "~")
	})
	return b.deeds()
}

// deeds are what the log says was done so far.
func (b *bench) deeds() []string {
	b.Helper()
	var did []string
	for _, e := range b.ofClient() {
		if !slices.Contains(received, e.What) {
			did = append(did, strings.TrimSpace(e.What+" "+e.Text))
		}
	}
	return did
}

func (d deed) check(b *bench) {
	b.Helper()
	b.relaunch(d.script)
	d.do(b)
	var got []string
	rigtest.Eventually(b, within, d.name, func() (bool, string) {
		got = b.did()
		return slices.Equal(got, d.want), "did\n" + strings.Join(got, "\n") + "\nwant\n" + strings.Join(d.want, "\n") + "\n" + b.screen()
	})
}

// TestKeys holds what keys and pastes do without a fault.
func TestKeys(t *testing.T) {
	long := strings.Repeat("x", 63)
	quick := fakeclient.Script{}
	b := start(t, quick)
	for _, d := range []deed{
		{"a paste and Enter", quick, func(b *bench) { b.paste("hello"); b.keys("Enter") }, []string{"submitted hello", "ended hello"}},
		{"Enter in an empty box", quick, func(b *bench) { b.keys("Enter", "Enter") }, nil},
		{"blanks alone", quick, func(b *bench) { b.paste("  \n "); b.keys("Enter") }, nil},
		{"pieces make one prompt", quick, func(b *bench) { b.paste("a\nb\n"); b.paste("c\n"); b.keys("Enter") }, []string{"submitted a\nb\nc", "ended a\nb\nc"}},
		{"a backslash makes a line end of Enter", quick, func(b *bench) { b.paste(`a\`); b.keys("Enter"); b.paste("b"); b.keys("Enter") }, []string{"submitted a\nb", "ended a\nb"}},
		{"text and Enter in one short burst", quick, func(b *bench) { b.keys("short", "Enter") }, []string{"submitted short", "ended short"}},
		{"in a long burst Enter is a line end", quick, func(b *bench) { b.keys(long, "Enter"); b.keys("Enter") }, []string{"submitted " + long, "ended " + long}},
		{"a burst of 64 keys does nothing", quick, func(b *bench) { b.paste("kept"); b.keys("-N", "64", "C-u"); b.keys("Enter") }, []string{"submitted kept", "ended kept"}},
		{"and one of 60 does", quick, func(b *bench) { b.paste("gone"); b.keys("-N", "60", "C-u"); b.keys("Enter") }, nil},
		{"C-u takes a row, and then its line end", quick, func(b *bench) { b.paste("one\ntwo"); b.keys("C-u", "C-u"); b.keys("Enter") }, []string{"submitted one", "ended one"}},
		{"C-u in a long line takes a row of the screen", quick, func(b *bench) { b.paste(strings.Repeat("y", 120)); b.keys("C-u"); b.keys("Enter") },
			[]string{"submitted " + strings.Repeat("y", 116), "ended " + strings.Repeat("y", 116)}},
		{"C-y brings back what C-u took, over pastes", quick, func(b *bench) {
			b.paste("first")
			b.keys("C-u")
			b.paste("second")
			b.keys("C-u", "C-y", "Enter")
		}, []string{"submitted secondfirst", "ended secondfirst"}},
		{"C-y brings back what C-u took since another key", quick, func(b *bench) {
			b.paste("first")
			b.keys("C-u")
			b.paste("second")
			b.keys("C-e", "C-u", "C-y", "Enter")
		}, []string{"submitted second", "ended second"}},
		{"C-c drops a draft, and Up brings it back", quick, func(b *bench) { b.paste("old"); b.keys("C-c"); b.keys("Up", "Enter") }, []string{"cleared old", "submitted old", "ended old"}},
		{"Escape twice drops a draft", quick, func(b *bench) {
			b.paste("old")
			b.escape()
			b.shows("esc again")
			b.escape()
			b.shows("← for agents")
		}, []string{"cleared old"}},
		{"C-s puts a draft aside until a prompt is sent", quick, func(b *bench) {
			b.paste("mine")
			b.keys("C-s")
			b.paste("theirs")
			b.keys("Enter")
		}, []string{"stashed mine", "submitted theirs", "unstashed mine", "ended theirs"}},
		{"C-s in the empty box takes it back", quick, func(b *bench) { b.paste("mine"); b.keys("C-s"); b.keys("C-s", "Enter") }, []string{"stashed mine", "unstashed mine", "submitted mine", "ended mine"}},
		{"a second C-s loses the first draft", quick, func(b *bench) {
			b.paste("one")
			b.keys("C-s")
			b.paste("two")
			b.keys("C-s")
			b.keys("C-s", "C-c")
			b.keys("C-s")
		}, []string{"stashed one", "stashed two", "unstashed two", "cleared two"}},
		{"a prompt in a turn is queued", hold(true), func(b *bench) { b.paste("one"); b.keys("Enter"); b.paste("two"); b.keys("Enter") }, []string{"submitted one", "queued two"}},
		{"Up takes the queue back", hold(true), func(b *bench) {
			b.keys("one", "Enter")
			b.keys("two", "Enter")
			b.keys("three", "Enter")
			b.keys("Up")
		}, []string{"submitted one", "queued two", "queued three", "unqueued two\nthree"}},
		{"Escape interrupts, and the queue is sent at once", hold(true), func(b *bench) {
			b.keys("one", "Enter")
			b.keys("two", "Enter")
			b.shows("Queued", "Beginning.")
			b.escape()
			b.shows("Interrupted")
		}, []string{"submitted one", "queued two", "interrupted one", "submitted two"}},
		{"C-c in a turn interrupts and leaves the draft", hold(true), func(b *bench) {
			b.keys("one", "Enter")
			b.shows("Beginning.")
			b.paste("draft")
			b.keys("C-c")
			b.keys("Enter")
		}, []string{"submitted one", "interrupted one", "submitted draft"}},
	} {
		d.check(b)
	}
}

// TestChips holds how large pastes are shown and what becomes of them.
func TestChips(t *testing.T) {
	b := start(t, fakeclient.Script{})
	for _, c := range []struct {
		name, paste, shows string
		framed             bool
	}{
		{"three lines", lines(3), "line 3", false},
		{"four", lines(4), "[Pasted text #1 +3 lines]", true},
		{"800 letters", strings.Repeat("é", 800), strings.Repeat("é", 100), false},
		{"801", strings.Repeat("é", 801), "[Pasted text #1]", true},
		{"1 MB", strings.Repeat("0123456789abcde\n", 1<<16), "[Pasted text #1 +65536 lines]", true},
	} {
		b.relaunch(fakeclient.Script{})
		b.paste(c.paste)
		b.shows(c.shows)
		b.keys("Enter")
		b.eventually(c.name+" to be submitted", func() bool { return len(b.events(fakeclient.Submitted)) == 1 })
		got := b.events(fakeclient.Submitted)[0]
		body, framed := strings.CutPrefix(got, "\n\n<pasted_content id=\"")
		if framed {
			_, body, _ = strings.Cut(body, ">\n")
			body = body[:strings.LastIndex(body, "\n</pasted_content id=\"")]
		}
		if framed != c.framed || body != c.paste {
			t.Errorf("%s: framed %v, %d bytes of %d: %.200q", c.name, framed, len(body), len(c.paste), got)
		}
	}
	// A chip that is pasted again opens, and stays one paste in the conversation.
	b.relaunch(fakeclient.Script{})
	b.paste(lines(5))
	b.shows("[Pasted text #1 +4 lines]")
	b.paste(lines(5))
	b.shows("line 5")
	b.keys("Enter")
	b.eventually("it to be submitted", func() bool { return len(b.events(fakeclient.Submitted)) == 1 })
	if got := b.events(fakeclient.Submitted)[0]; strings.Count(got, "line 5") != 1 || !strings.Contains(got, "<pasted_content") {
		t.Errorf("a chip that was opened: %q", got)
	}
}

// TestScrolledBox holds that a box of more rows than it has room for shows its
// end, and how much is above.
func TestScrolledBox(t *testing.T) {
	b := start(t, fakeclient.Script{})
	for range 20 {
		b.paste("a row\nanother\n")
	}
	b.shows("─── ↑ 26 more ─") // 15 of 41 rows, at 40 rows of the terminal
	b.must("resize-window", "-t", b.pane, "-x", "120", "-y", "20")
	b.shows("─── ↑ 36 more ─")
	if s := b.screen(); strings.Contains(s, "❯\u00a0") {
		t.Errorf("the box's beginning is in sight:\n%s", s)
	}
	b.must("resize-window", "-t", b.pane, "-x", "30", "-y", "12")
	b.shows("↑ 40 more", "bypass")
}
