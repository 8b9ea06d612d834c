package fakeclient_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig/fakeclient"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
)

// recorded is where the screens of the real client are, at the same size.
const recorded = "../../../pkg/detect/testdata/screens/" + fakeclient.Version + "-120x40"

// recordedDir is the directory that the recorded client ran in, where a screen
// names it.
const recordedDir = "/tmp/rec/1/dev/home/dev-app"

// look is a screen of the real client and how the fake one gets there. rows is
// how many of the lowest are compared: those above show another conversation.
type look struct {
	scene string
	rows  int
	do    func(*bench)
}

// hold is a turn that does not end by itself, and says something at once or
// never.
func hold(says bool) fakeclient.Script {
	s := fakeclient.Script{Turn: time.Hour, FirstToken: time.Millisecond}
	if !says {
		s.FirstToken = time.Hour
	}
	return s
}

// asking is a client in which the file "ask" opens a dialog.
func asking(dialog string) fakeclient.Script {
	return fakeclient.Script{Faults: []fakeclient.Fault{{On: fakeclient.OnFile, File: "ask", Dialog: dialog}}}
}

func (b *bench) ask() {
	b.Helper()
	if err := b.host.BringFault(b.Context(), "ask"); err != nil {
		b.Fatal(err)
	}
}

// lines are so many numbered ones.
func lines(n int) string {
	var t []string
	for i := range n {
		t = append(t, fmt.Sprintf("line %d", i+1))
	}
	return strings.Join(t, "\n")
}

// TestLooks holds the fake client's screens to those of the real one, cell by
// cell with their colours.
func TestLooks(t *testing.T) {
	b := start(t, fakeclient.Script{})
	groups := []struct {
		script fakeclient.Script
		looks  []look
	}{
		{fakeclient.Script{}, []look{
			{"ready-fresh", 5, func(*bench) {}},
			{"ready-unsent", 5, func(b *bench) { b.paste("a draft that nobody sent") }},
			{"x-draft-cleared", 5, func(b *bench) { b.keys("C-u") }},
			{"x-draft-escape", 5, func(b *bench) { b.paste("half a thought"); b.escape() }},
		}},
		{fakeclient.Script{}, []look{
			{"ready-multiline-draft", 7, func(b *bench) { b.paste("first line\nsecond line\nthird line") }},
			{"ctrl-c-once", 4, func(b *bench) { b.keys("C-c") }},
			{"ready-wrapped-draft", 5, func(b *bench) {
				b.paste("a draft that is longer than the box is wide, so that it has to be broken into rows, which is where readers of screens take its second row for something else than a draft")
			}},
		}},
		{fakeclient.Script{}, []look{
			{"ready-unsent-paste", 4, func(b *bench) { b.paste(lines(15)) }},
		}},
		{fakeclient.Script{}, []look{
			{"x-stash", 4, func(b *bench) { b.paste("put aside"); b.keys("C-s"); b.shows("draft stashed") }},
		}},
		{hold(false), []look{
			{"busy-early", 4, func(b *bench) { b.paste("a question"); b.keys("Enter") }},
		}},
		{hold(true), []look{
			{"busy-streaming", 4, func(b *bench) { b.paste("a question"); b.keys("Enter"); b.shows("Beginning.") }},
			{"busy-queued", 7, func(b *bench) { b.paste("one more"); b.keys("Enter") }},
			{"busy-queued-draft", 7, func(b *bench) { b.paste("and a draft") }},
		}},
		{asking(fakeclient.DialogQuestion), []look{
			{"gate-question", 14, (*bench).ask},
			{"gate-question-other-row", 14, func(b *bench) { b.keys("Down", "Down") }},
			{"gate-question-typed", 14, func(b *bench) { b.keys("a third one") }},
		}},
		{asking(fakeclient.DialogBoxes), []look{
			{"gate-question-multi", 14, (*bench).ask},
			{"gate-question-multi-ticked", 14, func(b *bench) { b.keys("Enter", "Down") }},
		}},
		{asking(fakeclient.DialogPermission), []look{
			{"gate-permission-bash", 14, (*bench).ask},
			{"gate-permission-bash-other-row", 14, func(b *bench) { b.keys("Down") }},
		}},
	}
	for i, g := range groups {
		if i > 0 {
			b.relaunch(g.script)
		}
		for _, l := range g.looks {
			l.do(b)
			raw, err := os.ReadFile(filepath.Join(recorded, l.scene+".ansi"))
			if err != nil {
				t.Fatal(err)
			}
			want := lowest(strings.ReplaceAll(string(raw), recordedDir, b.host.Workdir), l.rows)
			rigtest.Eventually(t, within, "the screen to look like "+l.scene, func() (bool, string) {
				got := lowest(b.must("capture-pane", "-p", "-e", "-t", b.pane), l.rows)
				return got == want, "got\n" + got + "\nwant\n" + want
			})
		}
	}
}

// lowest is the lowest rows of a captured screen in one notation: a change of
// attributes is written as `{fg bg attributes}` before the cell where it begins,
// blanks at a row's end are left out.
func lowest(screen string, rows int) string {
	var out []string
	style := map[string]string{}
	for _, line := range strings.Split(strings.TrimRight(screen, "\n"), "\n") {
		var b strings.Builder
		last := "{}"
		for len(line) > 0 {
			if seq, ok := strings.CutPrefix(line, "\x1b["); ok {
				var codes string
				codes, line, _ = strings.Cut(seq, "m")
				sgr(style, strings.Split(codes, ";"))
				continue
			}
			r := []rune(line)[0]
			line = line[len(string(r)):]
			now := "{" + strings.TrimSpace(style["fg"]+" "+style["bg"]+" "+style["1"]+style["2"]+style["7"]) + "}"
			if r != ' ' && now != last {
				b.WriteString(now)
				last = now
			}
			b.WriteRune(r)
		}
		out = append(out, strings.TrimRight(b.String(), " "))
	}
	return strings.Join(out[max(0, len(out)-rows):], "\n")
}

// sgr applies the attributes that the client uses.
func sgr(style map[string]string, codes []string) {
	for i := 0; i < len(codes); i++ {
		switch c := codes[i]; c {
		case "0", "":
			clear(style)
		case "1", "2", "7":
			style[c] = c
		case "39":
			delete(style, "fg")
		case "49":
			delete(style, "bg")
		case "38", "48":
			style[map[string]string{"38": "fg", "48": "bg"}[c]] = c + ";" + codes[i+2]
			i += 2
		}
	}
}
