package fleet

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
)

func TestPickLabel(t *testing.T) {
	permission := []string{"Yes", "Yes, and always allow access to x", "Yes, and switch to auto mode", "No"}
	for _, c := range []struct {
		name    string
		options []string
		label   string
		want    []int
	}{
		{"the very label, though others begin so", permission, "Yes", []int{0}},
		{"a beginning that one has", permission, "Yes, and s", []int{2}},
		{"a beginning that several have", permission, "Yes, and", []int{1, 2}},
		{"not its middle", permission, "always allow", nil},
		{"another case", permission, "no", []int{3}},
		{"a beginning in another case", permission, "yes, AND SWITCH", []int{2}},
		{"the right case goes before another", []string{"yes", "Yes"}, "Yes", []int{1}},
		{"two of one label", []string{"Yes", "Yes"}, "Yes", []int{0, 1}},
		{"nothing", permission, " ", nil},
		{"without the box", []string{"[ ] Search", "[✔] Export"}, "Export", []int{1}},
		{"with the box", []string{"[ ] Search", "[✔] Export"}, "[ ] Search", []int{0}},
		{"as it was printed", []string{"evil\u202eno", "b"}, neutral("evil\u202eno"), []int{0}},
		{"white space is one", []string{"one  two", "b"}, " one two ", []int{0}},
		{"a number is no label", permission, "2", nil},
	} {
		if got := pickLabel(c.options, c.label); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func FuzzPickLabel(f *testing.F) {
	f.Add("Yes\nYes, and\n[ ] No", "Yes")
	f.Fuzz(func(t *testing.T, options, label string) {
		all := strings.Split(options, "\n")
		for _, i := range pickLabel(all, label) {
			if strings.TrimSpace(label) == "" || i < 0 || i >= len(all) {
				t.Errorf("%q of %q: %d", label, all, i)
			}
		}
	})
}

func TestDanger(t *testing.T) {
	danger := func(title string, options ...string) []string {
		rows := []string{"─────", " " + title, ""}
		for i, o := range options {
			mark := "  "
			if i == 0 {
				mark = "❯ "
			}
			rows = append(rows, mark+strconv.Itoa(i+1)+". "+o)
		}
		labels := make([]string, len(options))
		for i, o := range options {
			labels[i], _, _ = strings.Cut(o, "  ")
		}
		f := face{Dialog: &detect.Dialog{Title: title, Options: labels}, rows: rows}
		if !f.locate() || !f.marked() {
			t.Fatalf("%q", rows)
		}
		var found []string
		for i := range labels {
			if f.dangerOf(i) != "" {
				found = append(found, labels[i])
			}
		}
		return found
	}
	for _, c := range []struct {
		title   string
		options []string
		want    []string
	}{
		{"What do you want to do?", []string{"Stop and wait for limit to reset", "Upgrade your plan", "Adjust monthly spend limit: $50", "Wait here, then continue automatically at 3:25am"},
			[]string{"Upgrade your plan", "Adjust monthly spend limit: $50"}},
		{"Go on?", []string{"Use extra usage", "Opus  $15 a million", "Sonnet  the usual"}, []string{"Use extra usage", "Opus"}},
		{"Bypass Permissions mode", []string{"No, exit", "Yes, I accept"}, []string{"No, exit", "Yes, I accept"}},
		{"Do you trust it?", []string{"Yes, I trust this folder", "No, exit"}, []string{"No, exit"}},
		{"Bash command", []string{"Yes", "Yes, and don't ask again for ls", "No"}, []string{"Yes, and don't ask again for ls"}},
		{"Bash command", []string{"Yes", "Yes, and switch to bypass permissions (no further prompts) for this session", "Yes, and allow access to src/ and touch commands",
			"Yes, for this session", "Yes, and remember this directory", "Yes, allow unattended commands on main", "Yes, and keep allowing any reads", "Yes, and switch to default mode", "No, and tell Claude what to do differently (esc)"},
			[]string{"Yes, and switch to bypass permissions (no further prompts) for this session", "Yes, and allow access to src/ and touch commands",
				"Yes, for this session", "Yes, and remember this directory", "Yes, allow unattended commands on main", "Yes, and keep allowing any reads"}},
		{"Rewind", []string{"one turn", "(current)"}, []string{"one turn"}},
		{"Confirm", []string{"Restore code and conversation", "Never mind"}, []string{"Restore code and conversation"}},
		{"Rewind", []string{"Summarize from here", "Never mind"}, []string{"Summarize from here"}},
		{"New MCP server found in this project: notes", []string{"Use this MCP server", "Use this and all future MCP servers in this project"}, []string{"Use this and all future MCP servers in this project"}},
		{"Which?", []string{"Delete the table", "Keep it  nothing is deleted", "Dropbox"}, []string{"Delete the table"}},
		{"Database", []string{"SQLite", "Postgres", "Type something.", "Chat about this"}, nil},
	} {
		if got := danger(c.title, c.options...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.title, got, c.want)
		}
	}
}

// TestFaces reads every recorded dialog: its options are found on the screen, each
// in its row, and the mark before the one that is selected; or it is one of those
// that take other keys. Another option selected leaves it the same dialog, and no
// two others are.
func TestFaces(t *testing.T) {
	const dir = "../detect/testdata/screens"
	raw, err := os.ReadFile(filepath.Join(dir, "labels.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	faces, other, parts := map[string]face{}, 0, 0
	for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n")[1:] {
		col := strings.Split(line, "\t")
		if col[5] == "-" || col[3] != "gate" && col[3] != "limited" {
			continue
		}
		name := col[0] + "-" + col[1] + "/" + col[2]
		screen, err := os.ReadFile(filepath.Join(dir, name+".ansi"))
		if err != nil {
			t.Fatal(err)
		}
		size, _, _ := strings.Cut(col[1], "-")
		w, h, _ := strings.Cut(size, "x")
		e := detect.Evidence{Screen: screen, CursorX: -1, CursorY: -1}
		e.Width, _ = strconv.Atoi(w)
		e.Height, _ = strconv.Atoi(h)
		s := seen{pane: &tmux.Pane{Screen: screen}}
		s.Verdict = detect.Classify(e)
		f, ok := faceOf(s)
		if !ok {
			known := false
			for _, kind := range []string{"status", "config", "permissions", "memory"} {
				known = known || strings.Contains(col[2], kind)
			}
			if !known {
				t.Errorf("%s: %s is not read", name, col[5])
			}
			other++
			continue
		}
		for i, label := range f.Options {
			if text := f.text(i); !strings.Contains(solid(strings.ReplaceAll(text, selectMark, "")), solid(label)) {
				t.Errorf("%s: %q is not in %q", name, label, text)
			}
		}
		faces[name] = f
		if part, ok := halfDrawn(e, f); ok {
			if parts++; !part.partOf(f) || part.same(f) || f.partOf(part) {
				t.Errorf("%s half drawn: %q of %q", name, part.Options, f.Options)
			}
		}
	}
	if len(faces) < 450 || other > 40 {
		t.Errorf("%d dialogs are read, %d are not", len(faces), other)
	}
	if parts < 300 {
		t.Errorf("%d are read half drawn", parts)
	}
	pairs := 0
	for name, f := range faces {
		plain, isPair := strings.CutSuffix(name, "-other-row")
		for another, g := range faces {
			if filepath.Dir(another) != filepath.Dir(name) || another == name {
				continue
			}
			if f.partOf(g) && !f.settings() { // a list that scrolls
				t.Errorf("%s is taken for a part of %s", name, another)
			}
			if isPair && another == plain {
				if f.Selected != g.Selected {
					pairs++
				}
				if !f.same(g) {
					t.Errorf("%s: another option selected, and it is another dialog: %q %q, %q %q", name, f.Options, f.asks(), g.Options, g.asks())
				}
			}
		}
		ticked := strings.TrimSuffix(name, "-ticked")
		if g, ok := faces[ticked]; ok && ticked != name && (f.same(g) || !f.sameBut(g, 0)) {
			t.Errorf("%s: a ticked box", name)
		}
		if second := faces[name+"-second"]; second.Dialog != nil && f.sameBut(second, 0) {
			t.Errorf("%s: the next page is taken for it", name)
		}
	}
	if pairs < 40 {
		t.Errorf("%d pairs", pairs)
	}
}

// halfDrawn reads a dialog of which nothing is drawn from its last option on. It is
// false where that is no dialog to the rules, or has lost what the rules take its
// title and its options by.
func halfDrawn(e detect.Evidence, whole face) (face, bool) {
	last := whole.top + whole.at[len(whole.at)-1]
	e.Screen = []byte(strings.Join(strings.Split(string(e.Screen), "\n")[:last], "\n"))
	s := seen{pane: &tmux.Pane{Screen: e.Screen}}
	s.Verdict = detect.Classify(e)
	f, ok := faceOf(s)
	return f, ok
}

// TestQuestionSame takes a dialog for another one when it asks or offers something
// else, and has no option of that one chosen.
func TestQuestionSame(t *testing.T) {
	shown := Question{Title: "Run it?", Asks: []string{"ls"}, Options: []Choice{{Label: "Yes", Selected: true}, {Label: "No"}}, Answerable: true}
	for _, c := range []struct {
		name   string
		change func(*Question)
		same   bool
	}{
		{"itself", func(*Question) {}, true},
		{"another selected", func(q *Question) { q.Options = []Choice{{Label: "Yes"}, {Label: "No", Selected: true}} }, true},
		{"about another command", func(q *Question) { q.Asks = []string{"rm -rf /"} }, false},
		{"of another title", func(q *Question) { q.Title = "Sure?" }, false},
		{"of other options", func(q *Question) { q.Options = []Choice{{Label: "Yes"}, {Label: "Never"}} }, false},
	} {
		now := shown
		c.change(&now)
		look := seen{pane: &tmux.Pane{}}
		start := face{Dialog: &detect.Dialog{Options: []string{"Yes", now.Options[1].Label}}}
		for _, seen := range []*Question{&shown, nil} {
			a := answering{o: AnswerOptions{Label: "Yes", Seen: seen}}
			want, err := a.pick(look, start, &now)
			if may := c.same || seen == nil; may != (err == nil) || err != nil && ClassOf(err) != ClassRefused || want != 0 {
				t.Errorf("%s, seen %v: option %d, %v", c.name, seen != nil, want, err)
			}
		}
	}
}
