package detect

import (
	"bytes"
	"strings"
	"testing"
)

// TestInput holds, on every labelled screen, that a ready session has an input
// line, that its row begins with its mark, and that a gate's has none; and that
// a draft is said to be put aside where one was, and nowhere else.
func TestInput(t *testing.T) {
	stashes := 0
	for _, c := range loadCorpus(t, "testdata/screens") {
		in := Classify(c.e).Input
		if c.state == string(Ready) && in.Mark == "" || c.state == string(Gate) && in != (Input{}) {
			t.Errorf("%s: %s, and the input line is %+v", c.id, c.state, in)
		}
		if in.Mark != "" {
			rows := bytes.Split(c.e.Screen, []byte("\n"))
			row := plainRow(string(rows[in.Row]))
			if !strings.HasPrefix(row+" ", in.Mark) && !(row == "$" && in.Mark == "$\u00a0 ") {
				t.Errorf("%s: row %d is %q, without %q", c.id, in.Row, row, in.Mark)
			}
		}
		// At 60 columns 2.1.85 has no room to say it. The scenes that some recordings
		// took behind x-stash have it still.
		want := c.name == "x-stash" && c.version+"-"+c.size != "2.1.85-60x20"
		after := c.name == "tmux-copy-mode" || strings.HasPrefix(c.name, "x-tab-")
		if in.Stashed != want && !after {
			t.Errorf("%s: stashed is %v", c.id, in.Stashed)
		}
		if want {
			stashes++
		}
	}
	if stashes == 0 {
		t.Error("no screen has a draft put aside")
	}
}

// plainRow is a row without its escapes.
func plainRow(row string) string {
	var b strings.Builder
	for row != "" {
		if rest, ok := strings.CutPrefix(row, "\x1b["); ok {
			i := strings.IndexByte(rest, 'm')
			row = rest[i+1:]
			continue
		}
		b.WriteByte(row[0])
		row = row[1:]
	}
	return b.String()
}
