package fleet_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/api"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// scene is one dialog of the real client, what is refused at it, and an answer.
type scene struct {
	name string
	do   func(l liveAnswers) // brings the dialog about; nil where it is there already
	// options are its labels as drawn, with a "*" before the selected one. {workdir}
	// is the host's. others has those of hosts at which they differ.
	options string
	others  map[string]string
	// panel is a text of one that is no question: what options it has is not the
	// matter, and every answer to it is refused.
	panel   string
	asks    string                // what the dialog says above them has this
	refused []fleet.AnswerOptions // these must not press a key
	o       fleet.AnswerOptions   // no label and no text: the dialog stays and Escape ends it
	want    fleet.AnswerResult
	// The effect: what the client told the model, then what the screen has, then
	// anything else.
	told, shows string
	effect      func(l liveAnswers) (bool, string)
}

// liveSizes are the hosts of TestAnswerLive by the sizes of their panes.
var liveSizes = map[string][2]int{"alpha": {120, 40}, "beta": {80, 24}, "gamma": {60, 20}}

// TestAnswerLive answers the dialogs of the real client by their labels, on hosts
// behind SSH with panes of three sizes: which options there are, that nothing is
// pressed where an answer is refused, that no key goes anywhere but to the option, and that
// the client did what the option says. The labels are given in full on one host, as
// short as they may be on another, and in small letters on the third.
func TestAnswerLive(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha"}, rig.HostSpec{Name: "beta"}, rig.HostSpec{Name: "gamma"})
	f := over(t, r, fleet.WithTimeout(time.Minute))
	for host, size := range liveSizes {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			l := liveAnswers{person{t, r, r.Host(host)}, f}
			l.serves()
			l.opens("claude", size[0], size[1], manually)
			for _, s := range slices.Concat(startScenes, permissionScenes, questionScenes, planScenes, panelScenes, bypassScenes) {
				began := time.Now()
				l.play(s)
				t.Logf("%s: %s", s.name, time.Since(began).Round(time.Second/10))
				if t.Failed() {
					return
				}
			}
		})
	}
}

// manually runs a client that asks before it acts, and leaves a shell behind it.
const manually = "claude --permission-mode manual; exec sh"

type liveAnswers struct {
	person
	f *fleet.Fleet
}

// play brings a scene about, has answers refused, gives one, and looks what came
// of it.
func (l liveAnswers) play(s scene) {
	l.t.Helper()
	if s.do != nil {
		s.do(l)
	}
	options, ok := s.others[l.h.Name]
	if !ok {
		options = s.options
	}
	options = strings.ReplaceAll(options, "{workdir}", l.h.Workdir)
	var q fleet.Question
	if s.panel != "" {
		l.shows(s.panel)
	} else {
		q = l.question(s.name, options)
	}
	if asks := strings.Join(q.Asks, " "); !strings.Contains(asks, s.asks) {
		l.t.Errorf("%s: asks %q, which lacks %q", s.name, asks, s.asks)
	}
	for _, o := range s.refused {
		out, err := l.f.Answer(l.t.Context(), l.h.Name, o)
		if c := fleet.ClassOf(err); out.Result != fleet.AnswerRefused || len(out.Keys) > 0 || c != fleet.ClassRefused && c != fleet.ClassUsage {
			l.t.Errorf("%s: %+v: %s, keys %q: %v", s.name, o, out.Result, out.Keys, err)
		}
		if s.panel == "" && !reflect.DeepEqual(out.Question, &q) {
			l.t.Errorf("%s: it was\n%+v, and before %+v was refused it is\n%+v", s.name, q, o, out.Question)
		}
	}
	if s.o.Label == "" && s.o.Text == "" {
		l.keys("Escape")
	} else {
		l.answers(s, q)
	}
	for what, text := range map[string]string{"told": s.told, "shows": s.shows} {
		if text == "" {
			continue
		}
		rigtest.Eventually(l.t, drawn, s.name+" "+what+" "+text, func() (bool, string) {
			if what == "told" {
				told := l.told()
				return strings.Contains(told, text), told
			}
			screen := l.screen()
			return strings.Contains(screen, text), screen
		})
	}
	if s.effect != nil {
		rigtest.Eventually(l.t, drawn, "the effect of "+s.name, func() (bool, string) { return s.effect(l) })
	}
}

// answers gives a scene's answer to the dialog that shows.
func (l liveAnswers) answers(s scene, q fleet.Question) {
	l.t.Helper()
	o := s.o
	o.Label = strings.ReplaceAll(o.Label, "{workdir}", l.h.Workdir)
	want, at := -1, 0
	for i, c := range q.Options {
		if c.Label == o.Label || o.Label == "" && c.Free {
			want = i
		}
		if c.Selected {
			at = i
		}
	}
	if want < 0 {
		l.t.Fatalf("%s: no option %+v in %+v", s.name, o, q.Options)
	}
	switch l.h.Name {
	case "beta":
		o.Label = shortest(q, o.Label)
	case "gamma":
		o.Label = strings.ToLower(o.Label)
	}
	out, err := l.f.Answer(l.t.Context(), l.h.Name, o)
	if out.Result != s.want || (err == nil) != (s.want == fleet.AnswerGiven) || out.Option != q.Options[want].Label {
		l.t.Fatalf("%s: %+v: %s of %q, want %s: keys %q: %v", s.name, o, out.Result, out.Option, s.want, out.Keys, err)
	}
	// A key that is pressed again is taken back, so that what counts is the sum.
	moved, count := 0, map[string]int{}
	for _, k := range out.Keys {
		count[k]++
		moved += map[string]int{"Down": 1, "Up": -1}[k]
	}
	enters, texts := 1, min(1, len(o.Text))
	if texts > 0 && q.Options[want].Ticked != nil {
		enters = 0 // the client ticks what is typed into
	}
	if moved != want-at || count["Enter"] != enters || count["text"] != texts || len(out.Keys) != count["Up"]+count["Down"]+enters+texts {
		l.t.Errorf("%s: from option %d to option %d by %q", s.name, at+1, want+1, out.Keys)
	}
}

// shortest is the shortest beginning of a label that no other option has.
func shortest(q fleet.Question, label string) string {
	for n := range label {
		others := 0
		for _, c := range q.Options {
			if strings.HasPrefix(c.Label, label[:n]) {
				others++
			}
		}
		if others == 1 {
			return label[:n]
		}
	}
	return label
}

// question waits for a dialog with those options. Looks through the product are
// dear where the machine is loaded, so the screen is asked first.
func (l liveAnswers) question(name, options string) (q fleet.Question) {
	l.t.Helper()
	_, selected, _ := strings.Cut(options, "*")
	selected, _, _ = strings.Cut(selected, " | ")
	words := strings.Fields(strings.TrimLeft(selected, "[] x"))
	rigtest.Eventually(l.t, drawn, name, func() (bool, string) {
		screen := l.screen()
		for line := range strings.Lines(screen) {
			if row, ok := strings.CutPrefix(strings.TrimSpace(line), "❯ "); ok && len(words) > 0 && strings.Contains(row, words[0]) {
				return true, ""
			}
		}
		return len(words) == 0, screen
	})
	rigtest.Eventually(l.t, drawn, name, func() (bool, string) {
		var err error
		var labels []string
		q, err = l.f.Question(l.t.Context(), l.h.Name)
		for _, c := range q.Options {
			mark := map[bool]string{true: "*"}[c.Selected]
			if c.Ticked != nil {
				mark += map[bool]string{true: "[x] ", false: "[ ] "}[*c.Ticked]
			}
			labels = append(labels, mark+c.Label)
		}
		// Where the path does not fit the client writes it from the home on.
		got := strings.ReplaceAll(strings.Join(labels, " | "), "~/"+filepath.Base(l.h.Workdir), l.h.Workdir)
		return err == nil && got == options, fmt.Sprintf("%s\nis not\n%s\n%v\n%s", got, options, err, l.screen())
	})
	return q
}

// asking brings a dialog about by a prompt, once the client is idle.
func asking(prompt string) func(liveAnswers) {
	return func(l liveAnswers) {
		l.t.Helper()
		l.idle()
		l.submits(prompt)
	}
}

// idle waits until the client says that it is, and shows an empty box.
func (l liveAnswers) idle() {
	l.t.Helper()
	rigtest.Eventually(l.t, drawn, l.h.Name+" to be idle", func() (bool, string) {
		status := l.status()
		screen := l.screen()
		for line := range strings.Lines(screen) {
			if status == "idle" && strings.TrimRight(line, " \n") == "❯\u00a0" {
				return true, ""
			}
		}
		return false, status + "\n" + screen
	})
}

// status is what the newest client of the host says in its session file.
func (l liveAnswers) status() string {
	files, _ := filepath.Glob(filepath.Join(l.h.Home, ".claude", "sessions", "*.json"))
	var newest struct {
		StartedAt float64
		Status    string
	}
	for _, file := range files {
		this := newest
		raw, err := os.ReadFile(file)
		if err == nil && json.Unmarshal(raw, &this) == nil && this.StartedAt >= newest.StartedAt {
			newest = this
		}
	}
	return newest.Status
}

// told is the newest result of a tool that the host's client gave to the API.
func (l liveAnswers) told() string {
	for _, q := range slices.Backward(l.r.API().Requests()) {
		if strings.HasSuffix(q.Token, "-"+l.h.Name) && q.Kind == api.Continuation {
			return q.Result
		}
	}
	return ""
}
