package tmux

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// clients lets a script be run before the nth tmux client of a fragment, and counts
// its clients.
type clients struct {
	*machine
	program string
}

func (m *machine) counting() clients {
	program, err := exec.LookPath("tmux")
	if err != nil {
		m.t.Fatal(err)
	}
	return clients{m, program}
}

// look runs a query; of a client that is the nth, before goes ahead.
func (c clients) look(q Query, nth int, before string) (snap Snapshot, n int, err error) {
	c.t.Helper()
	counted := transport.Quote(c.home + "/counted")
	c.write("standing/tmux", "#!/bin/sh\necho \"$*\" >> "+counted+"\nif [ $(wc -l < "+counted+") -eq "+string(rune('0'+nth))+" ]; then\n:\n"+
		strings.ReplaceAll(before, "tmux ", c.program+" ")+"\nfi\nexec "+c.program+" \"$@\"\n")
	stand := "counted=" + counted + "\n: > $counted\nPATH=" + transport.Quote(c.home+"/standing") + ":$PATH\n"
	out := c.run(c.t.Context(), stand+q.Fragment()+"\nprintf '\\nCOUNTED\\n'; cat $counted")
	out, calls, _ := bytes.Cut(out, []byte("\nCOUNTED\n"))
	snap, err = q.Parse(out)
	return snap, bytes.Count(calls, []byte("\n")), err
}

// TestQueryClients counts the tmux clients that a look takes: one, where the last
// look or the usual form of a session tells which panes there are. What is found is
// the same, whatever was thought.
func TestQueryClients(t *testing.T) {
	m := newMachine(t, "").counting()
	a, b := m.display("a", "in a"), m.display("b", "in b")
	m.display("three", "in three")
	m.tmux("split-window", "-d", "-t", "=three:", "exec sleep 1000")
	m.tmux("new-window", "-d", "-t", "=three:", "exec sleep 1000")
	m.tmux("new-session", "-d", "-t", "=a", "-s", "linked")
	m.tmux("set-option", "-t", "=a:", "@x", "1")
	panes := func(session string, ids ...string) (s Snapshot) {
		for _, id := range ids {
			s.Panes = append(s.Panes, Pane{Session: session, ID: id})
		}
		return s
	}
	three := strings.Fields(m.tmux("list-panes", "-s", "-t", "=three:", "-F", "#{pane_id}"))
	front := strings.TrimSpace(m.tmux("display-message", "-p", "-t", "=three:", "#{pane_id}"))
	if len(three) != 3 || front != three[0] {
		t.Fatalf("panes %q, %q in front", three, front)
	}
	for name, tt := range map[string]struct {
		sessions []string
		last     Snapshot
		want     []string // the panes that are found
		clients  int
	}{
		"one pane each":            {[]string{"a", "b"}, Snapshot{}, []string{a, b}, 1},
		"one of them is missing":   {[]string{"none", "b"}, Snapshot{}, []string{b}, 1},
		"all are missing":          {[]string{"none", "neither"}, Snapshot{}, nil, 1},
		"none asked for":           {nil, Snapshot{}, nil, 1},
		"linked":                   {[]string{"a", "linked"}, Snapshot{}, []string{a, a}, 1},
		"three panes":              {[]string{"three", "a"}, Snapshot{}, append([]string{a}, three...), 2},
		"three panes, known":       {[]string{"three"}, panes("three", three...), three, 1},
		"three panes, two known":   {[]string{"three"}, panes("three", three[:2]...), three, 2},
		"known before, now gone":   {[]string{"a", "b"}, panes("a", a, "%999"), []string{a, b}, 1},
		"all known":                {[]string{"a", "b"}, Snapshot{Panes: append(panes("a", a).Panes, panes("b", b).Panes...)}, []string{a, b}, 1},
		"all known, one gone":      {[]string{"a"}, panes("a", "%999", a), []string{a}, 2},
		"known by another's pane":  {[]string{"a"}, panes("a", b), []string{a}, 2},
		"another session is known": {[]string{"a"}, panes("b", b), []string{a}, 1},
		"known of a missing one":   {[]string{"none", "a"}, panes("none", "%999"), []string{a}, 1},
		"hostile":                  {[]string{"a"}, panes("a", "%0' ; kill-server ; '", "%", "", "%1 %2", a), []string{a}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			m := clients{m.in(t), m.program}
			snap, n, err := m.look(NewQuery(tt.sessions...).After(tt.last), 0, "")
			var got []string
			for _, p := range snap.Panes {
				got = append(got, p.ID)
				if p.Screen == nil || p.ID == a != bytes.HasPrefix(p.Screen, []byte("in a")) || p.ID == b != bytes.HasPrefix(p.Screen, []byte("in b")) {
					t.Errorf("%s shows %q", p.ID, p.Screen)
				}
			}
			if err != nil || !snap.Running || !slices.Equal(got, tt.want) || n != tt.clients {
				t.Errorf("%q in %d clients (%v), want %q in %d", got, n, err, tt.want, tt.clients)
			}
		})
	}
}

// TestQueryVanishing ends a session, a pane or the server between two clients, and
// brings one there: what is left is told truly.
func TestQueryVanishing(t *testing.T) {
	for name, tt := range map[string]struct {
		before  string
		goes    []bool // of the two panes of "goes", whether the screen came
		error   string
		version bool
	}{
		"nothing":   {":", []bool{true, true}, "", true},
		"a session": {"tmux kill-session -t =goes", []bool{true, false}, "", true}, // the one in front was seen while it was there
		"a pane":    {"tmux kill-pane -t =goes:.1", []bool{true, false}, "", true},
		"server":    {"tmux kill-server", []bool{true, false}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, "").counting()
			m.display("goes", "here")
			m.tmux("split-window", "-d", "-t", "=goes:", "exec sleep 1000")
			m.display("stays", "here")
			snap, n, err := m.look(NewQuery("goes", "stays"), 2, tt.before)
			goes, stays := snap.Session("goes"), snap.Session("stays")
			if err != nil || n != 2 || len(goes) != 2 || len(stays) != 1 || !bytes.Contains(stays[0].Screen, []byte("here")) {
				t.Fatalf("%+v, %v, %d clients", snap, err, n)
			}
			for i, p := range goes {
				if (p.Screen != nil) != tt.goes[i] {
					t.Errorf("pane %d shows %q", i, p.Screen)
				}
			}
		})
	}
	// A server that comes while it is asked why there is none.
	m := newMachine(t, "").counting()
	m.write("show.txt", "here")
	snap, n, err := m.look(NewQuery("work"), 2, "tmux new-session -d -s work 'cat show.txt; exec sleep 1000'")
	if err != nil || !snap.Running || len(snap.Session("work")) != 1 || n != 2 {
		t.Errorf("%+v, %v, %d clients", snap, err, n)
	}
}

// TestQueryBroken has answers that break off, or a server that does not know its
// version.
func TestQueryBroken(t *testing.T) {
	m := newMachine(t, "")
	m.display("work", "here")
	q := NewQuery("work")
	whole := m.run(t.Context(), q.Fragment())
	n := []byte(q.nonce)
	list, _, _ := bytes.Cut(whole, append(slices.Clone(n), " done\n"...))
	for at := range list {
		if snap, err := q.Parse(list[:at]); err == nil && snap.Version != "" {
			t.Fatalf("%q: %+v, %v", list[:at], snap, err)
		}
	}
	if snap, err := q.Parse(bytes.Replace(whole, append(slices.Clone(n), " end"...), append(slices.Clone(n), " and"...), 1)); err != nil || snap.Panes[0].Screen != nil {
		t.Errorf("a screen that broke off: %+v, %v", snap, err)
	}
	c := m.counting()
	m.front("#!/bin/sh\ncase $* in *source-file*) exec " + c.program + " \"$@\" | sed 's/server .*/server /' ;; esac\nexec " + c.program + " \"$@\"\n")
	if p := m.only("work"); !bytes.HasPrefix(p.Screen, []byte("here")) {
		t.Errorf("%+v", p)
	}
	snap, err := m.look("work")
	if version := m.tmux("-V"); err != nil || "tmux "+snap.Version != version {
		t.Errorf("version %q, %v", snap.Version, err)
	}
}
