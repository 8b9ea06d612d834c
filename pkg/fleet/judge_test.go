package fleet

import (
	"errors"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transcript"
)

func TestJudgeWithoutAClientPane(t *testing.T) {
	h := Host{Name: "a", Session: "claude"}
	now := time.Unix(1_795_973_852, 0)
	shell := func(id string, pid int, launched time.Time) tmux.Pane {
		return tmux.Pane{Session: "claude", ID: id, PID: pid, Launched: launched, Screen: []byte("$ "), Width: 80, Height: 24}
	}
	procs := tree(t, "100 1 100 Ss+ bash", "200 1 200 Ss+ bash")
	for _, c := range []struct {
		name  string
		snap  tmux.Snapshot
		err   error
		state detect.State
		rule  string
	}{
		{"no tmux", tmux.Snapshot{}, tmux.ErrNotInstalled, detect.Unknown, "no-tmux"},
		{"a server of another version is neither down nor to be made anew", tmux.Snapshot{}, &tmux.ServerError{Text: "protocol version mismatch"}, detect.Unknown, "tmux-error"},
		{"no server", tmux.Snapshot{}, nil, detect.Down, "no-server"},
		{"no such session", tmux.Snapshot{Running: true, Panes: []tmux.Pane{{Session: "claude-2", ID: "%1"}}}, nil, detect.Down, "no-session"},
		{"two shells", tmux.Snapshot{Running: true, Panes: []tmux.Pane{shell("%1", 100, time.Time{}), shell("%2", 200, time.Time{})}}, nil, detect.Unknown, "several-panes"},
		{"launched a moment ago", tmux.Snapshot{Running: true, Panes: []tmux.Pane{shell("%1", 100, now.Add(-2*time.Second))}}, nil, detect.Unknown, "starting"},
	} {
		s := judge(h, system{now: now}, c.snap, c.err, procs, nil)
		if s.State != c.state || s.Rule != c.rule || s.Typable() {
			t.Errorf("%s: %s by %s, typable %v; want %s by %s", c.name, s.State, s.Rule, s.Typable(), c.state, c.rule)
		}
	}
	// The grace of a launch is over when its time is, or when the command ended.
	old := shell("%1", 100, now.Add(-startGrace))
	ended := shell("%1", 100, now)
	ended.Ended = true
	for _, p := range []tmux.Pane{old, ended} {
		s := judge(h, system{now: now}, tmux.Snapshot{Running: true, Panes: []tmux.Pane{p}}, nil, procs, nil)
		if s.State != detect.Crashed {
			t.Errorf("a shell after the launch is over: %s by %s", s.State, s.Rule)
		}
	}
}

// TestTmuxSilence holds that a look which said nothing is not taken for a
// machine without sessions, on which up would start one.
func TestTmuxSilence(t *testing.T) {
	h := Host{Name: "a", Session: "claude"}
	for _, c := range []struct {
		name string
		snap tmux.Snapshot
		want detect.State
	}{
		{"no word", tmux.Snapshot{}, detect.Unknown},
		{"a version and no server", tmux.Snapshot{Version: "3.3a"}, detect.Down},
	} {
		snap, err := tmuxAnswer(c.snap, nil)
		if s := judge(h, system{}, snap, err, nil, nil); s.State != c.want {
			t.Errorf("%s: %s by %s, want %s", c.name, s.State, s.Rule, c.want)
		}
	}
	if _, err := tmuxAnswer(tmux.Snapshot{}, tmux.ErrNotInstalled); !errors.Is(err, tmux.ErrNotInstalled) {
		t.Errorf("a better error was lost: %v", err)
	}
}

func TestClientPane(t *testing.T) {
	at := time.Unix(1_795_973_852, 0)
	procs := tree(t, "100 1 100 Ss+ bash", "200 1 201 Ss+ sh", "201 200 201 S+ claude", "300 1 300 Ss+ claude")
	shell := tmux.Pane{ID: "%1", PID: 100}
	client := tmux.Pane{ID: "%2", PID: 200}
	second := tmux.Pane{ID: "%3", PID: 300}
	launched := func(p tmux.Pane) tmux.Pane { p.Launched = at; return p }
	for _, c := range []struct {
		name  string
		panes []tmux.Pane
		want  string // "" for none
	}{
		{"the only one", []tmux.Pane{shell}, "%1"},
		{"the one with a client, though another was launched", []tmux.Pane{launched(shell), client}, "%2"},
		{"the launched one of two shells", []tmux.Pane{shell, launched(tmux.Pane{ID: "%4", PID: 100})}, "%4"},
		{"two clients", []tmux.Pane{client, second}, ""},
		{"two clients, one of them launched", []tmux.Pane{client, launched(second)}, "%3"},
		{"two shells", []tmux.Pane{shell, shell}, ""},
	} {
		got, ok := clientPane(c.panes, procs, nil, nil)
		if got.ID != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q %v, want %q", c.name, got.ID, ok, c.want)
		}
	}
	// Without a process table the client's own word for its pane has to do, and
	// only while it lives.
	sessions := []transcript.Session{{PID: 9, Pane: "%2", Alive: true}, {PID: 8, Pane: "%1"}}
	if got, ok := clientPane([]tmux.Pane{shell, client}, nil, nil, sessions); !ok || got.ID != "%2" {
		t.Errorf("by the client's word: %q %v", got.ID, ok)
	}
}

func TestNewest(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	text := func(typ string, s int) transcript.Record {
		return transcript.Record{Type: typ, At: at(s), Blocks: []transcript.Block{{Kind: "text", Text: typ}}}
	}
	end := transcript.Record{Type: "system", Subtype: "turn_duration", At: at(9)}
	refusal := text("assistant", 3)
	refusal.APIError, refusal.APIStatus = true, 401
	side := text("assistant", 8)
	side.Side = true
	meta := text("user", 8)
	meta.Meta = true
	for _, c := range []struct {
		name  string
		tail  []transcript.Record
		event string
		at    int
	}{
		{"a prompt without an answer", []transcript.Record{text("assistant", 1), text("user", 2)}, "user", 2},
		{"an answer that goes on", []transcript.Record{text("user", 1), text("assistant", 2)}, "assistant", 2},
		{"a turn that ended", []transcript.Record{text("user", 1), text("assistant", 2), end}, "turn_end", 9},
		{"a refusal stays the newest behind the turn's end", []transcript.Record{text("user", 1), refusal, end}, "api_error", 3},
		{"a later prompt is newer than a refusal", []transcript.Record{refusal, end, text("user", 10)}, "user", 10},
		{"subagents and the client's own notes do not count", []transcript.Record{text("user", 2), side, meta}, "user", 2},
	} {
		got := newest(c.tail)
		if got == nil || got.Event != c.event || !got.At.Equal(at(c.at)) {
			t.Errorf("%s: %+v, want %s at %d", c.name, got, c.event, c.at)
		}
	}
	if newest(nil) != nil {
		t.Error("an empty conversation has an event")
	}
}

func TestFlags(t *testing.T) {
	low := &Disk{FreeBytes: 1, UsedPercent: 99}
	in := func(dir string) seen {
		return seen{session: &transcript.Session{Dir: dir}, pane: &tmux.Pane{Path: "/else"}}
	}
	drafted := in("/srv/app")
	drafted.Draft = "x"
	for _, c := range []struct {
		name string
		s    seen
		f    folder
		want string
	}{
		{"all well", in("/srv/app"), folder{path: "/srv/app"}, ""},
		{"another directory", in("/srv"), folder{path: "/srv/app"}, "wrongdir"},
		{"the pane's directory where the client tells none", seen{pane: &tmux.Pane{Path: "/else"}}, folder{path: "/srv/app"}, "wrongdir"},
		{"no session, no wrong directory", seen{}, folder{path: "/srv/app"}, ""},
		{"no workdir", in("/srv/app"), folder{}, "nodir"},
		{"a full disk", in("/srv/app"), folder{path: "/srv/app", disk: low}, "disk"},
		{"a draft", drafted, folder{path: "/srv/app"}, "draft"},
	} {
		got := flags(c.s, c.f)
		if (c.want == "") != (len(got) == 0) || len(got) > 1 || len(got) == 1 && got[0] != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
