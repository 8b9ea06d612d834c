package detect

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// capture is one labelled screen.
type capture struct {
	id                   string // version/size/name
	version, size, name  string
	state, draft, dialog string
	why                  string
	e                    Evidence
}

// corpora are the folders of labelled screens: our own, and one more where the
// environment names it.
func corpora() []string {
	dirs := []string{"testdata/screens"}
	if d := os.Getenv("CLAUDE_FLEET_SCREENS"); d != "" {
		dirs = append(dirs, d)
	}
	return dirs
}

func loadCorpus(tb testing.TB, dir string) []capture {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "labels.tsv"))
	if err != nil {
		tb.Fatal(err)
	}
	var cs []capture
	for i, line := range strings.Split(strings.TrimRight(string(b), "\n"), "\n") {
		f := strings.Split(line, "\t")
		if i == 0 {
			continue
		}
		if len(f) < 7 {
			tb.Fatalf("labels.tsv:%d: %d fields", i+1, len(f))
		}
		c := capture{id: f[0] + "/" + f[1] + "/" + f[2], version: f[0], size: f[1], name: f[2], state: f[3], draft: f[4], dialog: f[5], why: f[6]}
		base := filepath.Join(dir, f[0]+"-"+f[1], f[2])
		if c.e.Screen, err = os.ReadFile(base + ".ansi"); err != nil {
			tb.Fatal(err)
		}
		meta, err := os.ReadFile(base + ".meta")
		if err != nil {
			tb.Fatal(err)
		}
		readMeta(&c.e, string(meta))
		size, _, _ := strings.Cut(c.size, "-")
		w, h, _ := strings.Cut(size, "x")
		c.e.Width, _ = strconv.Atoi(w)
		c.e.Height, _ = strconv.Atoi(h)
		cs = append(cs, c)
	}
	return cs
}

// readMeta reads `cmd=bash alt=1 cursor=2,37 title=✳ Claude Code mode=0 hist=0`.
func readMeta(e *Evidence, m string) {
	m = strings.TrimRight(m, "\n")
	between := func(from, to string) string {
		_, rest, _ := strings.Cut(m, from)
		if to == "" {
			return rest
		}
		if i := strings.LastIndex(rest, to); i >= 0 {
			return rest[:i]
		}
		return rest
	}
	e.Title = between("title=", " mode=")
	e.Alternate = strings.HasPrefix(between("alt=", ""), "1")
	e.CopyMode = strings.HasPrefix(between(" mode=", ""), "1")
	cursor, _, _ := strings.Cut(between("cursor=", ""), " ")
	x, y, _ := strings.Cut(cursor, ",")
	e.CursorX, _ = strconv.Atoi(x)
	e.CursorY, _ = strconv.Atoi(y)
}

// dialogLabel renders a dialog as labels.tsv does.
func dialogLabel(d *Dialog) string {
	if d == nil || len(d.Options) == 0 {
		return "-"
	}
	var o []string
	for i, l := range d.Options {
		if i == d.Selected {
			l = "*" + l
		}
		o = append(o, l)
	}
	return strings.Join(o, " | ")
}

// matches says which of the three labels a verdict misses.
func (c *capture) matches(v Verdict) (state, draft, dialog bool) {
	for _, s := range strings.Split(c.state, "|") {
		state = state || s == string(v.State)
	}
	draft = (c.draft == "yes") == (v.Draft != "")
	return state, draft, dialogLabel(v.Dialog) == c.dialog
}

func TestCorpus(t *testing.T) {
	for _, dir := range corpora() {
		var n, states, drafts, dialogs, falseReady int
		for _, c := range loadCorpus(t, dir) {
			n++
			v := Classify(c.e)
			s, d, g := c.matches(v)
			if !s {
				states++
				t.Errorf("%s: state %s by %s (%s), want %s: %s", c.id, v.State, v.Rule, v.Why, c.state, c.why)
			}
			if !d {
				drafts++
				t.Errorf("%s: draft %q, want %s", c.id, v.Draft, c.draft)
			}
			if !g {
				dialogs++
				t.Errorf("%s: dialog\n got %s\nwant %s", c.id, dialogLabel(v.Dialog), c.dialog)
			}
			if v.State == Ready && !s {
				falseReady++
			}
			if v.Typable() && (c.state != "ready" || c.draft == "yes") {
				t.Errorf("%s: typable, but it is %s, draft %s", c.id, c.state, c.draft)
			}
		}
		fmt.Printf("%s: %d screens, wrong: state %d, draft %d, dialog %d; false ready %d\n", dir, n, states, drafts, dialogs, falseReady)
	}
}

// TestCorpusBare holds that the screen alone is enough: no size, no cursor and
// no title, as when a saved file is explained.
func TestCorpusBare(t *testing.T) {
	for _, dir := range corpora() {
		for _, c := range loadCorpus(t, dir) {
			c.e.Width, c.e.Height, c.e.CursorX, c.e.CursorY, c.e.Title = 0, 0, -1, -1, ""
			v := Classify(c.e)
			if s, d, g := c.matches(v); !s || !d || !g {
				t.Errorf("%s: %s by %s, draft %q, dialog %s; want %s, %s, %s", c.id, v.State, v.Rule, v.Draft, dialogLabel(v.Dialog), c.state, c.draft, c.dialog)
			}
		}
	}
}
