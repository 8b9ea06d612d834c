package tmux

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// quietly looks until the screens of so many panes need not be printed again.
func (m *machine) quietly(n int, sessions ...string) Snapshot {
	m.t.Helper()
	var last Snapshot
	m.eventually("the panes are quiet", func() (bool, string) {
		var err error
		if last, err = m.look(sessions...); err != nil {
			m.t.Fatal(err)
		}
		q := NewQuery().Unchanged(last)
		return len(q.drawn) == n, last.Time.String()
	})
	return last
}

// TestUnchanged has panes change in every way that a screen can, and be left alone:
// the screen of a look that knows the one before is that of a look which knows
// nothing, and is printed again of those alone that have changed.
func TestUnchanged(t *testing.T) {
	m := newMachine(t, "set-option -g remain-on-exit on")
	shown := func(text string) []string {
		return []string{"/bin/sh", "-c", "printf '" + text + "'; exec cat"}
	}
	respawn := func(program ...string) func(id string) {
		return func(id string) { m.tmux(append([]string{"respawn-pane", "-k", "-t", id, "--"}, program...)...) }
	}
	cases := map[string]unchangedCase{
		"nothing": {func(string) {}, true, "text of nothing"},
		"option":  {func(id string) { m.tmux("set-option", "-p", "-t", id, noteOption, "a note") }, true, "text of option"},
		"beside":  {func(string) { m.tmux("new-window", "-d", "-t", "=beside:", "exec sleep 1000") }, true, "text of beside"},
		"output":  {func(id string) { m.tmux("send-keys", "-t", id, "xyz") }, false, "text of outputxyz"},
		"in-place": {func(id string) { // and the cursor is where it was
			tty := m.tmux("display-message", "-p", "-t", id, "#{pane_tty}")
			if err := os.WriteFile(tty, []byte("\x1b7\x1b[5;1Hwritten over\x1b8"), 0); err != nil {
				t.Fatal(err)
			}
		}, false, "written over"},
		"taller":    {func(id string) { m.tmux("resize-window", "-t", id, "-x", "100", "-y", "35") }, false, "text of taller"},
		"again":     {respawn(shown("text of again")...), false, "text of again"},
		"resized":   {func(id string) { m.tmux("resize-window", "-t", id, "-x", "10", "-y", "20") }, false, "sized"},
		"mode":      {func(id string) { m.tmux("copy-mode", "-t", id) }, false, "text of mode"},
		"other":     {respawn(shown("another text")...), false, "another text"},
		"alternate": {respawn(shown(`\033[?1049hthe other screen`)...), false, "the other screen"},
		"dead":      {func(id string) { m.tmux("send-keys", "-t", id, "C-d") }, false, "Pane is dead"},
		"gone":      {func(string) { m.tmux("kill-session", "-t", "=gone") }, false, ""},
	}
	names := slices.Sorted(maps.Keys(cases))
	for _, name := range names {
		m.pane(name, shown("text of "+name)...)
	}
	last := m.quietly(len(names), names...)
	for _, name := range names {
		cases[name].change(last.Session(name)[0].ID)
	}
	for _, name := range names {
		if want := cases[name].want; want != "" {
			m.eventually(name+" shows it", func() (bool, string) {
				s := m.tmux("capture-pane", "-p", "-t", last.Session(name)[0].ID)
				return strings.Contains(s, want), s
			})
		}
	}
	plain, err := m.look(names...)
	if err != nil {
		t.Fatal(err)
	}
	// One way has all in the arguments of a client, the other one goes by the lists.
	for sh, words := range envShells(t) {
		for way, sessions := range map[string][]string{sh + ", arguments": names, sh + ", lists": append([]string{"none"}, names...)} {
			q := NewQuery(sessions...).After(last).Unchanged(last)
			out, err := exec.Command(words[0], append(words[1:], "-c", q.Fragment())...).Output()
			if err != nil {
				t.Fatal(err)
			}
			m.checkUnchanged(way, q, out, last, plain, cases)
		}
	}
}

// unchangedCase is a pane, and what is done to it.
type unchangedCase struct {
	change func(id string)
	same   bool
	want   string // is on the screen then; empty where there is no pane
}

// checkUnchanged holds what a query that knew last found to a plain look.
func (m *machine) checkUnchanged(way string, q Query, out []byte, last, plain Snapshot, cases map[string]unchangedCase) {
	t := m.t
	t.Helper()
	snap, err := q.Parse(out)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range cases {
		was, now := last.Session(name)[0], snap.Session(name)
		if same := bytes.Contains(out, []byte(q.nonce+" same "+was.ID+"\n")); same != c.same {
			t.Errorf("%s, %s: said to be the same: %v", way, name, same)
		}
		if c.want == "" {
			if len(now) != 0 {
				t.Errorf("%s, %s: %+v", way, name, now)
			}
			continue
		}
		want := plain.Session(name)[0]
		if !bytes.Contains(now[0].Screen, []byte(c.want)) || !bytes.Equal(now[0].Screen, want.Screen) || now[0].CursorX != want.CursorX || now[0].CursorY != want.CursorY {
			t.Errorf("%s, %s: at %d,%d:\n%s\nwant at %d,%d:\n%s", way, name, now[0].CursorX, now[0].CursorY, now[0].Screen, want.CursorX, want.CursorY, want.Screen)
		}
		if drawn := now[0].Drawn; c.same && !drawn.Equal(was.Drawn) || !c.same && !drawn.Equal(snap.Time) {
			t.Errorf("%s, %s: drawn at %v, then %v", way, name, was.Drawn, drawn)
		}
	}
}

// TestUnchangedMany has more panes than go into a client's arguments, each with as
// long a mark as there may be.
func TestUnchangedMany(t *testing.T) {
	m := newMachine(t, "")
	c := m.counting()
	var names []string
	for i := range 25 {
		name := "s" + strings.Repeat("x", i)
		names = append(names, name)
		m.pane(name, "/bin/sh", "-c", "printf '\\033[?1049h\\033[30;100Htext of "+name+"'; exec sleep 1000")
	}
	last := m.quietly(len(names), names...)
	for n, want := range map[int]int{24: 1, 25: 1} {
		q := NewQuery(names[:n]...).After(last).Unchanged(last)
		snap, clients, err := c.look(q, 9, "")
		if err != nil || clients != want || len(snap.Panes) != n {
			t.Errorf("%d: %d panes by %d clients, %v", n, len(snap.Panes), clients, err)
		}
		for _, p := range snap.Panes {
			if was := last.Session(p.Session)[0]; !bytes.Equal(p.Screen, was.Screen) || !p.Drawn.Equal(was.Drawn) {
				t.Errorf("%d: %s: %q", n, p.Session, p.Screen)
			}
		}
	}
}

// TestUnchangedOffer asks for a screen again where its being as it was could not be
// told.
func TestUnchangedOffer(t *testing.T) {
	at := time.Unix(1_800_000_000, 0)
	good := Snapshot{Version: "3.3a", Time: at, read: time.Now(), Panes: []Pane{{ID: "%1", PID: 7, Screen: []byte("x"), Activity: at.Add(-quiet), Drawn: at}}}
	for name, c := range map[string]struct {
		spoil func(s *Snapshot, p *Pane)
		offer bool
	}{
		"quiet":               {func(*Snapshot, *Pane) {}, true},
		"printed before":      {func(s *Snapshot, p *Pane) { s.Time = at.Add(drawnAge - time.Second) }, true},
		"3.0":                 {func(s *Snapshot, p *Pane) { s.Version = "3.0" }, true},
		"the next one":        {func(s *Snapshot, p *Pane) { s.Version = "next-3.8" }, true},
		"printed long ago":    {func(s *Snapshot, p *Pane) { s.Time = at.Add(drawnAge) }, false},
		"seen before":         {func(s *Snapshot, p *Pane) { s.read = s.read.Add(-drawnAge / 2) }, true},
		"seen long ago":       {func(s *Snapshot, p *Pane) { s.read = s.read.Add(-drawnAge) }, false},
		"and we slept":        {func(s *Snapshot, p *Pane) { s.read = s.read.Round(0).Add(-drawnAge) }, false},
		"both together":       {func(s *Snapshot, p *Pane) { s.Time, s.read = at.Add(drawnAge/2), s.read.Add(-drawnAge/2) }, false},
		"output a moment ago": {func(s *Snapshot, p *Pane) { p.Activity = p.Activity.Add(time.Second) }, false},
		"output unknown":      {func(s *Snapshot, p *Pane) { p.Activity = time.Time{} }, false},
		"no screen":           {func(s *Snapshot, p *Pane) { p.Screen = nil }, false},
		"time unknown":        {func(s *Snapshot, p *Pane) { s.Time, p.Drawn = time.Time{}, time.Time{} }, false},
		"a mode":              {func(s *Snapshot, p *Pane) { p.InMode = true }, false},
		"dead":                {func(s *Snapshot, p *Pane) { p.Dead = true }, false},
		"2.9a":                {func(s *Snapshot, p *Pane) { s.Version = "2.9a" }, false},
		"another program":     {func(s *Snapshot, p *Pane) { s.Version = "openbsd-7.3" }, false},
		"no version":          {func(s *Snapshot, p *Pane) { s.Version = "" }, false},
		"a hostile id":        {func(s *Snapshot, p *Pane) { p.ID = "%1'" }, false},
	} {
		last := good
		last.Panes = slices.Clone(good.Panes)
		c.spoil(&last, &last.Panes[0])
		if q := NewQuery().Unchanged(last); (len(q.drawn) == 1) != c.offer {
			t.Errorf("%s: offered: %v", name, !c.offer)
		}
	}
}

// TestUnchangedAll asks for all panes by what it knows, as for those of some sessions.
func TestUnchangedAll(t *testing.T) {
	m := newMachine(t, "")
	m.pane("a", "/bin/sh", "-c", "printf 'some text'; exec sleep 1000")
	last := m.quietly(1, "a")
	q := NewQueryAll().After(last).Unchanged(last)
	out, err := exec.Command("sh", "-c", q.Fragment()).Output()
	if err != nil {
		t.Fatal(err)
	}
	snap, err := q.Parse(out)
	if err != nil || !bytes.Contains(out, []byte(q.nonce+" same ")) || !bytes.Equal(snap.Session("a")[0].Screen, last.Session("a")[0].Screen) {
		t.Errorf("%v: %+v", err, snap)
	}
}

// TestUnchangedClock trusts no time where the clock has not gone on as ours did.
func TestUnchangedClock(t *testing.T) {
	at, ours := time.Unix(1_800_000_000, 0), time.Now()
	last := Snapshot{Version: "3.3a", Time: at, asked: ours.Add(-time.Second), read: ours, Panes: []Pane{{ID: "%1", Session: "a", PID: 7, Screen: []byte("x"), Activity: at.Add(-quiet), Drawn: at}}}
	parse := func(said string) (Snapshot, error) {
		q := NewQuery("a").Unchanged(last)
		q.asked = ours.Add(10 * time.Second)
		out := "N server 3.3a\n" + said + "N\tpane\ta\t%1\t7\t0\t0\t0\t0\t0\t100\t30\t0\t1799999997\t/dev/pts/1\nN done\nN same %1\nN over\n"
		return q.Parse([]byte(strings.ReplaceAll(out, "N", q.nonce)))
	}
	for said, good := range map[string]bool{
		"N now 1800000010\n": true, "N now 1800000009\n": true, "N now 1800009999\n": true,
		"N now 1800000008\n": false, "N now 1799999999\n": false, "N now x\n": false, "": false,
	} {
		snap, err := parse(said)
		if good && (err != nil || string(snap.Panes[0].Screen) != "x") || !good && !errors.Is(err, ErrClockSet) {
			t.Errorf("%q: %+v, %v", said, snap, err)
		}
	}
	// Nobody but who was told of a screen has it taken from there.
	last.Panes[0].InMode = true
	if snap, err := parse("N now 1800000010\n"); err != nil || snap.Panes[0].Screen != nil {
		t.Errorf("%+v, %v", snap, err)
	}
}
