package fleet

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transcript"
)

// TestAround holds which processes of a pane are the client's, hold it, or are none
// of its own.
func TestAround(t *testing.T) {
	const pane = 100
	said := func(pid int) *transcript.Session { return &transcript.Session{PID: pid, Alive: true} }
	for _, c := range []struct {
		name    string
		rows    []string
		session *transcript.Session
		client  int
		holders []int
		beside  []string
	}{
		{"under its launcher", []string{"100 1 101 Ss sh", "101 100 101 S+ claude", "102 101 101 S node"}, nil, 101, nil, nil},
		{"its own word, whatever it is called", []string{"100 1 101 Ss sh", "101 100 101 S+ node"}, said(101), 101, nil, nil},
		{"by its own word, not by the name of a wrapper", []string{"100 1 101 Ss sh", "101 100 101 S+ claude", "102 101 101 S+ claude"}, said(102), 102, []int{101}, nil},
		{"behind wrappers", []string{"100 1 101 Ss bash", "101 100 101 S+ npx", "102 101 101 S sh", "103 102 101 S+ claude"}, nil, 103, []int{101}, nil},
		{"the pane's own process holds it", []string{"100 1 100 Ss+ mc", "101 100 100 S+ claude"}, nil, 101, []int{100}, nil},
		{"the pane is the client", []string{"100 1 100 Ss+ claude"}, nil, 100, nil, nil},
		{"a job of the shell is none of it", []string{"100 1 101 Ss bash", "101 100 101 S+ claude", "102 100 102 S make", "103 100 103 S gitstatusd"}, nil, 101, nil, []string{"make"}},
		{"no client", []string{"100 1 101 Ss bash", "101 100 101 S+ vim"}, nil, 0, nil, []string{"vim"}},
		{"another pane's", []string{"100 1 100 Ss+ bash", "200 1 201 Ss bash", "201 200 201 S+ claude"}, nil, 0, nil, nil},
	} {
		table := tree(t, c.rows...)
		client := table.clientOf(pane, nil, c.session)
		a := table.around(pane, client)
		if client != c.client || !slices.Equal(a.holders, c.holders) || !slices.Equal(a.beside, c.beside) {
			t.Errorf("%s: client %d, holders %v, beside %q", c.name, client, a.holders, a.beside)
		}
	}
	if pid := processes(nil).clientOf(pane, nil, said(7)); pid != 7 {
		t.Errorf("without a table: %d", pid)
	}
}

// TestSessionOfTheOuter holds that a client that another has started does not pass
// for the pane's, whichever file comes first.
func TestSessionOfTheOuter(t *testing.T) {
	table := tree(t, "100 1 101 Ss sh", "101 100 101 S+ claude", "102 101 102 S bash", "103 102 103 S claude")
	inner, outer := transcript.Session{PID: 103, ID: "inner", Alive: true}, transcript.Session{PID: 101, ID: "outer", Alive: true}
	for _, all := range [][]transcript.Session{{inner, outer}, {outer, inner}} {
		if s := sessionOf(tmux.Pane{PID: 100}, table, all); s == nil || s.ID != "outer" {
			t.Errorf("%+v", s)
		}
	}
	if s := sessionOf(tmux.Pane{PID: 100}, table, []transcript.Session{inner}); s == nil || s.ID != "inner" {
		t.Errorf("alone: %+v", s)
	}
}

func TestBackgroundIn(t *testing.T) {
	for _, c := range []struct{ footer, want string }{
		{"  ⏵⏵ bypass permissions on · 1 shell · ↓ to manage", "1 shell"},
		{"  ⏵⏵ bypass permissions on (shift+tab to cycle) · 2 local agents · 3 shells", "2 local agents, 3 shells"},
		{"  ⏵⏵ bypass permissions on (shift+tab to cycle) · esc to interrupt", ""},
		{"  ⏵⏵ bypass permissions on (shift+tab to cycle) · ← for agents", ""},
		{"  1 shell of the sea · 3 tokens", ""},
		{"", ""},
	} {
		if got := backgroundIn(strings.Split(c.footer, "\n")); got != c.want {
			t.Errorf("%q: %q", c.footer, got)
		}
	}
}

func TestWasWords(t *testing.T) {
	for _, c := range []struct {
		was  Was
		why  string
		want string
	}{
		{Was{State: detect.Ready}, "the box is idle", "ready"},
		{Was{State: detect.Ready, Draft: "half\nof \x1b[31mit"}, "", `ready, the draft "half␊of ␛[31mit"`},
		{Was{State: detect.Busy, Turn: "✻ Perusing… (12s)", Prompt: "go on"}, "a spinner", `busy with "go on": ✻ Perusing… (12s)`},
		{Was{State: detect.Busy}, "a spinner", "busy: a spinner"},
		{Was{State: detect.Busy, Prompt: "x", Queued: true, Background: "1 shell"}, "why", `busy with "x", prompts queued, in the background 1 shell`},
		{Was{State: detect.Gate, Dialog: &detect.Dialog{Title: "Bash command"}}, "a dialog", `gate at "Bash command"`},
		{Was{State: detect.Down, Attached: 2}, "no session", "down: no session, attached terminals: 2"},
	} {
		if got := c.was.words(c.why); got != c.want {
			t.Errorf("%+v: %q, want %q", c.was, got, c.want)
		}
	}
}

func TestTurnIn(t *testing.T) {
	edge, notice := strings.Repeat("─", 60), strings.Repeat(" ", 70)+"tmux focus-events off"
	for _, c := range []struct {
		name string
		rows []string
		at   []int // that the rule saw
		mark int   // row of the box
		want string
	}{
		{"a spinner", []string{"● words", "✻ Perusing… (12s)", notice, edge, "❯ "}, []int{1}, 4, "✻ Perusing… (12s)"},
		{"words stream", []string{"❯ go", "● Holding on", "", notice, edge, "❯ "}, []int{4}, 5, "● Holding on"},
		{"only the box", []string{edge, "❯ draft", edge, "  esc to interrupt"}, []int{3}, 1, ""},
	} {
		s := seen{pane: &tmux.Pane{Width: 100}}
		s.Rows, s.Input = c.at, detect.Input{Mark: "❯", Row: c.mark}
		if got := turnIn(c.rows, s); got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// TestRestartJSON holds that "was" stands beside all that an UpResult has.
func TestRestartJSON(t *testing.T) {
	r := RestartResult{UpResult: UpResult{Did: []string{"ended the client"}, Err: &Error{Class: ClassFailed, Host: "alpha", Msg: "not up", Hint: "look"}}, Was: Was{State: detect.Busy, Draft: "d"}}
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var j map[string]any
	if err := json.Unmarshal(raw, &j); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"status", "did", "kept", "notes", "error", "hint", "was"} {
		if _, ok := j[key]; !ok {
			t.Errorf("no %q in %s", key, raw)
		}
	}
	was, _ := j["was"].(map[string]any)
	if was["state"] != "busy" || was["draft"] != "d" || j["error"] != "alpha: not up" {
		t.Errorf("%s", raw)
	}
}

// TestRestartLaunch holds in which directory a conversation is resumed, and that it
// is told where it can't be.
func TestRestartLaunch(t *testing.T) {
	const id = "3327b6b4-0821-4b0c-a9d2-244d02bb99c4"
	for _, c := range []struct {
		name, command, id, dir string
		want                   string // the directory
		notes                  int
	}{
		{"in the workdir", "claude", id, "/home/u/app", "~/app", 0},
		{"of another directory", "claude", id, "/srv/else", "/srv/else", 1},
		{"fresh", "claude", "", "/srv/else", "~/app", 0},
		{"a command that takes none", "nvm use 22 && claude", id, "/srv/else", "~/app", 1},
		{"a directory that is none", "claude", id, "else", "~/app", 0},
	} {
		r := restarting{h: Host{Name: "alpha", Workdir: "~/app", Command: c.command}}
		l := r.launch(seen{home: "/home/u/app", session: &transcript.Session{ID: id, Dir: c.dir}}, c.id)
		if l.Dir != c.want || len(r.notes) != c.notes || (r.dir != "") != (c.want != "~/app") {
			t.Errorf("%s: in %s, notes %q", c.name, l.Dir, r.notes)
		}
	}
}
