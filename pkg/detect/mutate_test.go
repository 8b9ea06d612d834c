package detect

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

var (
	dimSGR    = regexp.MustCompile(`\x1b\[([0-9;:]*)m`)
	notReady  = func(c capture) bool { return c.state != "ready" || c.draft == "yes" }
	someState = func(c capture) string { return c.state + "/" + c.draft }
)

// undim removes the dim attribute, as a terminal that can't dim does.
func undim(b []byte) []byte {
	return dimSGR.ReplaceAllFunc(b, func(m []byte) []byte {
		ps := strings.Split(string(m[2:len(m)-1]), ";")
		var out []string
		for i := 0; i < len(ps); i++ {
			if (ps[i] == "38" || ps[i] == "48") && i+1 < len(ps) {
				n := map[string]int{"5": 3, "2": 5}[ps[i+1]]
				out = append(out, ps[i:min(i+n, len(ps))]...)
				i += n - 1
				continue
			}
			if ps[i] != "2" {
				out = append(out, ps[i])
			}
		}
		if len(out) == 0 {
			return nil
		}
		return []byte("\x1b[" + strings.Join(out, ";") + "m")
	})
}

// selfContained gives the rows of a capture, each with the style that the row
// before it ended in: rows that are dropped, moved or cut keep the look of the others.
func selfContained(b []byte) [][]byte {
	rows := bytes.Split(bytes.TrimRight(b, "\n"), []byte("\n"))
	var r reader
	r.parseScreen(nil, 0)
	for i, row := range rows {
		rows[i] = append([]byte(sgr(r.cur)), row...)
		for _, m := range dimSGR.FindAll(row, -1) {
			r.plainSGR(m)
		}
	}
	return rows
}

// sgr is the sequence that sets a style.
func sgr(st style) string {
	t := "\x1b[0"
	for i, a := range []uint8{attrBold, attrDim, attrItalic} {
		if st.has(a) {
			t += fmt.Sprintf(";%d", i+1)
		}
	}
	if st.has(attrReverse) {
		t += ";7"
	}
	for i, c := range []colour{st.fg, st.bg} {
		switch v := c & 0xffffff; c &^ 0xffffff {
		case colourIndexed:
			t += fmt.Sprintf(";%d8;5;%d", 3+i, v)
		case colourRGB:
			t += fmt.Sprintf(";%d8;2;%d;%d;%d", 3+i, v>>16, v>>8&0xff, v&0xff)
		}
	}
	return t + "m"
}

func joinRows(rows ...[]byte) []byte { return bytes.Join(rows, []byte("\n")) }

// mutants are the ways in which a screen reaches us spoiled.
func mutants(c capture) map[string]Evidence {
	ms := map[string]Evidence{}
	with := func(name string, screen []byte) {
		e := c.e
		e.Screen, e.CursorX, e.CursorY = screen, -1, -1
		ms[name] = e
	}
	rows := selfContained(c.e.Screen)
	with("no cursor", c.e.Screen)
	with("undimmed", undim(c.e.Screen))
	with("no escapes", []byte(ansi.Strip(string(c.e.Screen))))
	cut := make([][]byte, len(rows))
	for i, r := range rows {
		cut[i] = []byte(ansi.Truncate(string(r), 60, ""))
	}
	e := c.e
	e.Screen, e.Width, e.CursorX, e.CursorY = joinRows(cut...), 60, -1, -1
	ms["cut to 60"] = e
	return ms
}

// TestMutations holds that no spoiled copy of a screen that is not ready can be
// typed into.
func TestMutations(t *testing.T) {
	for _, dir := range corpora() {
		for _, c := range loadCorpus(t, dir) {
			if !notReady(c) {
				continue
			}
			for name, e := range mutants(c) {
				if name == "cut to 60" && strings.HasPrefix(c.id, "1.0.128/120x40/unauth-no-credentials") {
					continue // their one mark stands in column 90: cut off, nothing is left to tell by
				}
				if name == "no escapes" && Classify(c.e).Rule == "busy.glyph" {
					continue // a colour was all that told
				}
				if v := Classify(e); v.Typable() {
					t.Errorf("%s, %s: typable by %s, it is %s", c.id, name, v.Rule, someState(c))
				}
			}
		}
	}
}

// TestDroppedRows holds the same for every screen with any one row missing, and
// with any two neighbours missing.
func TestDroppedRows(t *testing.T) {
	for _, dir := range corpora() {
		for _, c := range loadCorpus(t, dir) {
			if !notReady(c) {
				continue
			}
			base := Classify(c.e)
			rows := selfContained(c.e.Screen)
			for n := 1; n <= 2; n++ {
				for y := 0; y+n <= len(rows); y++ {
					e := c.e
					e.Screen, e.CursorX, e.CursorY = joinRows(slices.Concat(rows[:y], rows[y+n:])...), -1, -1
					if v := Classify(e); v.Typable() && !lost(c.e, y, n) {
						t.Errorf("%s, rows %d+%d dropped: typable by %s, it is %s; fired on %v", c.id, y, n, v.Rule, someState(c), base.Rows)
					}
				}
			}
		}
	}
}

// lost reports whether rows y to y+n-1 hold all that the verdict rested on
// beside the box itself: then the evidence is gone and nobody could tell.
func lost(e Evidence, y, n int) bool {
	var j judge
	e.CursorX, e.CursorY = -1, -1
	j.look(&e)
	gone := false
	for _, r := range j.decide(nil).Rows {
		switch {
		case j.have&factWhole != 0 && r >= j.box.top && r <= j.box.bottom:
		case r >= y && r < y+n:
			gone = true
		default:
			return false
		}
	}
	return gone
}
