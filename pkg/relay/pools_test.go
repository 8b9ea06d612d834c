package relay

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// TestNeeds tells callers apart by what counts, and gives on what is sent.
func TestNeeds(t *testing.T) {
	dir := t.TempDir()
	var agents []net.Listener
	for _, name := range []string{"a", "b"} {
		l, err := net.Listen("unix", filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		agents = append(agents, l)
	}
	link := filepath.Join(dir, "link")
	point := func(to net.Listener) {
		t.Helper()
		_ = os.Remove(link)
		if err := os.Symlink(to.Addr().String(), link); err != nil {
			t.Fatal(err)
		}
	}
	none := func() {}
	for _, c := range []struct {
		name, patterns string
		one, other     string
		change         func()
		whole, same    bool
	}{
		{"any variable", "", "A=1", "A=2", none, true, false},
		{"any variable that is not sent", "", "A=1", "A=2", none, false, true},
		{"a run of systemd", "", "INVOCATION_ID=1", "INVOCATION_ID=2", none, true, true},
		{"a session", "", "XDG_SESSION_ID=1", "XDG_SESSION_ID=2", none, true, true},
		{"a window", "", "KITTY_WINDOW_ID=1", "KITTY_WINDOW_ID=2", none, true, true},
		{"a window that is sent", "KITTY_*", "KITTY_WINDOW_ID=1", "KITTY_WINDOW_ID=2", none, true, false},
		{"a login, which Match exec may look for", "", "SSH_CONNECTION=1", "SSH_CONNECTION=2", none, true, false},
		{"the same agent", "", "SSH_AUTH_SOCK=" + link, "SSH_AUTH_SOCK=" + link, none, false, true},
		{"another agent at that path", "", "SSH_AUTH_SOCK=" + link, "SSH_AUTH_SOCK=" + link, func() { point(agents[1]) }, false, false},
	} {
		point(agents[0])
		n := needs{whole: c.whole, patterns: c.patterns}
		env, _, one := n.of(&request{Env: [][]byte{[]byte(c.one)}})
		c.change()
		_, _, other := n.of(&request{Env: [][]byte{[]byte(c.other)}})
		if (one == other) != c.same {
			t.Errorf("%s: the same is %t", c.name, one == other)
		}
		if c.patterns != "" && !slices.Contains(env, c.one) {
			t.Errorf("%s: not sent: %q", c.name, env)
		}
	}
}

// TestWholePools bounds the pools of one endpoint that hang on all variables, and
// no others.
func TestWholePools(t *testing.T) {
	var p pools
	defer p.close()
	e := transport.Endpoint{Destination: "a"}
	for i := range 3 * maxWhole {
		h := p.take(string(rune('a'+i)), nil, "/", true, &e)
		if h == nil {
			t.Fatal("no pool")
		}
		p.give(h)
	}
	if n := len(p.all()); n != maxWhole {
		t.Errorf("%d pools", n)
	}
	for i := range 3 * maxWhole {
		p.give(p.take(string(rune('A'+i)), nil, "/", true, nil))
	}
	if n := len(p.all()); n != 4*maxWhole {
		t.Errorf("%d pools with the others", n)
	}
}
