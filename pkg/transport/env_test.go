package transport

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestSentEnv has the patterns of SendEnv, and SetEnv over them.
func TestSentEnv(t *testing.T) {
	environ := []string{"LANG=C", "LC_ALL=x=y", "LC_TIME=", "TMUX=/tmp/s,1,0", "TMUX_PANE=%1", "TMUXED=1", "=odd", "broken"}
	for _, tc := range []struct {
		send, set []string
		want      string
	}{
		{nil, nil, "[]"},
		{[]string{"LANG"}, nil, "[{LANG C}]"},
		{[]string{"lang"}, nil, "[]"},
		{[]string{"LC_*"}, nil, "[{LC_ALL x=y} {LC_TIME }]"},
		{[]string{"LC_?LL"}, nil, "[{LC_ALL x=y}]"},
		{[]string{"*"}, nil, "[{LANG C} {LC_ALL x=y} {LC_TIME } {TMUXED 1}]"},
		{[]string{"TMUX", "TMUX_PANE"}, nil, "[]"},
		{nil, []string{"A=1", "B=x y", "TMUX=no"}, "[{A 1} {B x y}]"},
		{[]string{"LANG", "LC_ALL"}, []string{"LANG=de"}, "[{LC_ALL x=y} {LANG de}]"},
		{nil, []string{"broken", "=x"}, "[]"},
	} {
		if got := fmt.Sprint(sentEnv(&settings{sendEnv: tc.send, setEnv: tc.set}, environ)); got != tc.want {
			t.Errorf("SendEnv %q, SetEnv %q: %s, want %s", tc.send, tc.set, got, tc.want)
		}
	}
}

// TestEnv compares, on a real sshd, the environment of a session of ours with
// that of real ssh.
func TestEnv(t *testing.T) {
	for k, v := range map[string]string{"FLEET_A": "a b", "FLEET_B": "b", "FLEET_SECRET": "s", "TMUX": "/tmp/none,1,0", "TMUX_PANE": "%9"} {
		t.Setenv(k, v)
	}
	s := startServer(t, "AcceptEnv FLEET_* TMUX*")
	config := []string{"SendEnv FLEET_A FLEET_B FLEET_SECRET TMUX*", "SendEnv -FLEET_S*", "SetEnv FLEET_C=c FLEET_B=own", "BatchMode yes"}
	e := s.endpoint(config...)
	vars := func(text string) []string {
		var out []string
		for l := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
			if strings.HasPrefix(l, "FLEET_") || strings.HasPrefix(l, "TMUX") {
				out = append(out, l)
			}
		}
		slices.Sort(out)
		return out
	}
	out, err := exec.Command("ssh", "-F", e.ConfigFile, "box", "env").Output()
	if err != nil {
		t.Fatal(err)
	}
	// All but what only leads a program on the host astray.
	theirs := slices.DeleteFunc(vars(string(out)), func(v string) bool { return strings.HasPrefix(v, "TMUX") })
	if want := []string{"FLEET_A=a b", "FLEET_B=own", "FLEET_C=c"}; !slices.Equal(theirs, want) {
		t.Fatalf("ssh sends %q, want %q", theirs, want)
	}
	pool := newPool(t, Options{})
	res, err := pool.Conn(e).Run(within(t, 20e9), Script{Text: "env"})
	if err != nil || !slices.Equal(vars(string(res.Stdout)), theirs) {
		t.Errorf("Run has %q, %v; want %q", vars(string(res.Stdout)), err, theirs)
	}
	if _, screen := attach(t, pool.Conn(e), "env"); !slices.Equal(vars(screen), theirs) {
		t.Errorf("Attach has %q, want %q", vars(screen), theirs)
	}
	_, screen := attach(t, newPool(t, Options{}).Conn(s.endpoint("SetEnv TERM=vt100")), `echo "<$TERM>"`)
	if screen != "<vt100>\r\n" {
		t.Errorf("TERM of SetEnv: %q", screen)
	}

	// A server that takes none of them is none the worse.
	deaf := startServer(t)
	res, err = newPool(t, Options{}).Conn(deaf.endpoint(config...)).Run(within(t, 20e9), Script{Text: "env"})
	if err != nil || len(vars(string(res.Stdout))) > 0 {
		t.Errorf("a server without AcceptEnv: %q, %v", vars(string(res.Stdout)), err)
	}
}

// TestForwardAgent has the agent within an attached session, and nowhere else.
func TestForwardAgent(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	sock := startAgent(t, s.client)
	const list = `if [ -n "$SSH_AUTH_SOCK" ]; then ssh-add -l; else echo no agent; fi`
	key, err := exec.Command("ssh-keygen", "-lf", s.client).Output()
	if err != nil {
		t.Fatal(err)
	}
	fingerprint := strings.Fields(string(key))[1]
	on := s.endpoint("ForwardAgent " + sock)

	t.Run("attached", func(t *testing.T) {
		pool := newPool(t, Options{})
		for range 2 { // the connection's handler is made once
			if _, screen := attach(t, pool.Conn(on), list); !strings.Contains(screen, fingerprint) {
				t.Errorf("the session shows %q", screen)
			}
		}
	})
	t.Run("not set", func(t *testing.T) {
		if _, screen := attach(t, newPool(t, Options{}).Conn(s.endpoint("IdentityAgent "+sock)), list); screen != "no agent\r\n" {
			t.Errorf("the session shows %q", screen)
		}
	})
	t.Run("not for a script", func(t *testing.T) {
		res, err := newPool(t, Options{}).Conn(on).Run(within(t, 20e9), Script{Text: list})
		if err != nil || string(res.Stdout) != "no agent\n" {
			t.Errorf("got %q, %v", res.Stdout, err)
		}
	})
	t.Run("not for a hop", func(t *testing.T) {
		hop := startServer(t)
		e := Endpoint{Destination: "box", ConfigFile: s.configFile(s.block("box", "ProxyJump hop"), hop.block("hop", "ForwardAgent "+sock))}
		if _, screen := attach(t, newPool(t, Options{}).Conn(e), list); screen != "no agent\r\n" {
			t.Errorf("the session shows %q", screen)
		}
	})
	t.Run("over when the session is", func(t *testing.T) {
		pool := newPool(t, Options{})
		keep := s.path("kept.sock")
		// Something on the host keeps the way to the agent beyond the session.
		_, screen := attach(t, pool.Conn(on), fmt.Sprintf(`ssh-add -l; ln -f "$SSH_AUTH_SOCK" '%s' && echo kept`, keep))
		wantText(t, screen, fingerprint, "kept")
		res, err := pool.Conn(on).Run(within(t, 20e9), Script{Text: fmt.Sprintf("SSH_AUTH_SOCK='%s' ssh-add -l; :", keep)})
		if err != nil || strings.Contains(string(res.Stdout), fingerprint) {
			t.Errorf("got %q, %v", res.Stdout, err)
		}
	})
	t.Run("an agent that is gone", func(t *testing.T) {
		_, screen := attach(t, newPool(t, Options{}).Conn(s.endpoint("ForwardAgent /nonexistent/agent")), list+"; echo on")
		wantText(t, screen, "on")
	})
	t.Run("an agent that hangs is cut with the connection", func(t *testing.T) {
		hung := hungAgent(t)
		pool := newPool(t, Options{})
		ctx := within(t, 60e9)
		done := make(chan error, 1)
		var out screen
		go func() {
			_, err := pool.Conn(s.endpoint("ForwardAgent "+hung.sock)).Attach(ctx, Script{Text: list}, Terminal{Out: &out})
			done <- err
		}()
		select {
		case <-hung.asked:
		case err := <-done:
			t.Fatalf("ended: %v; %q", err, out.String())
		}
		_ = pool.Close() // returns only when no goroutine is left
		if k, _ := KindOf(<-done); k != KindCanceled {
			t.Error(k)
		}
	})
	if os.Getenv("SSH_AUTH_SOCK") == sock {
		t.Error("the agent of the test is that of the environment")
	}
}
