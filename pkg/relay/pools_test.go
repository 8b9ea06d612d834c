package relay

import (
	"fmt"
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
	for _, name := range []string{"bin", "other/bin"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "ssh"), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, patterns string
		one, other     string
		change         func()
		whole, login   bool
		same           bool
	}{
		{name: "another ssh", one: "PATH=" + dir + "/bin", other: "PATH=" + dir + "/other/bin"},
		{name: "the same ssh", one: "PATH=" + dir + "/bin", other: "PATH=/nowhere:" + dir + "/bin:" + dir + "/other/bin", same: true},
		{name: "any variable", one: "A=1", other: "A=2", whole: true},
		{name: "any variable that is not sent", one: "A=1", other: "A=2", same: true},
		{name: "a run of systemd", one: "INVOCATION_ID=1", other: "INVOCATION_ID=2", whole: true, same: true},
		{name: "a session", one: "XDG_SESSION_ID=1", other: "XDG_SESSION_ID=2", whole: true, same: true},
		{name: "a window", one: "KITTY_WINDOW_ID=1", other: "KITTY_WINDOW_ID=2", whole: true, same: true},
		{name: "a window that is sent", patterns: "KITTY_*", one: "KITTY_WINDOW_ID=1", other: "KITTY_WINDOW_ID=2", whole: true},
		{name: "a login", one: "SSH_CONNECTION=::1 1 ::1 22", other: "SSH_CONNECTION=::1 2 ::1 22", whole: true, same: true},
		{name: "a login that is sent", patterns: "SSH_*", one: "SSH_CONNECTION=::1 1 ::1 22", other: "SSH_CONNECTION=::1 2 ::1 22", whole: true},
		{name: "a login that ssh_config names", one: "SSH_CONNECTION=::1 1 ::1 22", other: "SSH_CONNECTION=::1 2 ::1 22", whole: true, login: true},
		{name: "a login from elsewhere, which Match exec may look for", one: "SSH_CLIENT=::1 1 22", other: "SSH_CLIENT=::2 1 22", whole: true},
		{name: "no login, which Match exec may look for", one: "SSH_TTY=/dev/pts/1", other: "OTHER=", whole: true},
		{name: "a terminal of a login", one: "SSH_TTY=/dev/pts/1", other: "SSH_TTY=/dev/pts/2", whole: true, same: true},
		{name: "the same agent", one: "SSH_AUTH_SOCK=" + link, other: "SSH_AUTH_SOCK=" + link, same: true},
		{name: "another agent at that path", one: "SSH_AUTH_SOCK=" + link, other: "SSH_AUTH_SOCK=" + link, change: func() { point(agents[1]) }},
	} {
		point(agents[0])
		n := needs{whole: c.whole, login: c.login, patterns: c.patterns}
		env, _, one := n.of(&request{Env: [][]byte{[]byte(c.one)}})
		if c.change != nil {
			c.change()
		}
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

// TestWholePoolsBusy has no room for a fifth environment while four are in use, and
// none for anything once it has ended.
func TestWholePoolsBusy(t *testing.T) {
	var p pools
	e, other := transport.Endpoint{Destination: "a"}, transport.Endpoint{Destination: "b"}
	var busy []*held
	for i := range maxWhole {
		busy = append(busy, p.take(string(rune('a'+i)), nil, "/", true, &e))
	}
	if p.take("z", nil, "/", true, &e) != nil {
		t.Error("a fifth one")
	}
	if h := p.take("z", nil, "/", true, &other); h == nil {
		t.Error("none for another endpoint")
	} else if p.take("z", nil, "/", true, &e) != h {
		t.Error("one that is there for another endpoint is not used")
	}
	if p.take("y", nil, "/", true, &e) != nil {
		t.Error("a sixth one")
	}
	p.give(busy[0])
	if p.take("y", nil, "/", true, &e) == nil {
		t.Error("none, though one has nothing to do")
	}
	p.close()
	if p.take("x", nil, "/", true, nil) != nil {
		t.Error("one after the end")
	}
}

// TestNeedsBound remembers endpoints, and not without end.
func TestNeedsBound(t *testing.T) {
	var p pools
	for i := range 2 * maxNeeds {
		e := transport.Endpoint{Destination: fmt.Sprint(i)}
		p.learn(e, needs{whole: true})
		if !p.needsOf(e).whole || len(p.needs) > maxNeeds {
			t.Fatalf("%d: %d endpoints", i, len(p.needs))
		}
	}
}
