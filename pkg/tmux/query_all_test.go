package tmux

import (
	"slices"
	"testing"
)

// TestQueryAllReads has records of sessions with any name, screens and all, where
// a query for one session keeps that one alone.
func TestQueryAllReads(t *testing.T) {
	all, one := NewQueryAll(), NewQuery("b")
	for _, c := range []struct {
		q    Query
		want []string
	}{{all, []string{`a b|*$(x)`, "b"}}, {one, []string{"b"}}} {
		n := c.q.nonce
		pane := func(session, id string) string {
			return n + "\tpane\t" + session + "\t" + id + "\t7\t0\t0\t0\t0\t0\t80\t24\t0\t0\t/dev/pts/1\n"
		}
		out := n + "\tversion\ttmux 3.3a\n" + pane(`a b|*$(x)`, "%1") + pane("b", "%2") +
			pane("a\tb", "%3") + pane("a\nb", "%4") +
			n + " screen %1 3 4 0 0\nhello\n" + n + " end 1\n"
		snap, err := c.q.Parse([]byte(out))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range snap.Panes {
			names = append(names, p.Session)
			if p.ID == "%1" && (string(p.Screen) != "hello" || p.CursorX != 3) {
				t.Errorf("%+v", p)
			}
		}
		if !slices.Equal(names, c.want) || !snap.Running {
			t.Errorf("%q, want %q", names, c.want)
		}
	}
}
