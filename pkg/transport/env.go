package transport

import (
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// neverSent are variables that would make a program on the host believe that it
// runs inside the multiplexer that this program runs in.
var neverSent = []string{"TMUX", "TMUX_PANE"}

// envVar is a variable for a session.
type envVar struct{ Name, Value string }

// sentEnv is what of environ goes to a session, by SendEnv, and after it, so
// that it wins, what SetEnv sets.
func sentEnv(s *settings, environ []string) []envVar {
	var out []envVar
	add := func(v string) {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" || slices.Contains(neverSent, name) {
			return
		}
		out = slices.DeleteFunc(out, func(o envVar) bool { return o.Name == name })
		out = append(out, envVar{name, value})
	}
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		if slices.ContainsFunc(s.sendEnv, func(p string) bool { return matchPattern(name, p) }) {
			add(v)
		}
	}
	for _, v := range s.setEnv {
		add(v)
	}
	return out
}

// setEnvTerm is the TERM of SetEnv, which OpenSSH gives to the terminal too; unset
// if there is none.
func (s *settings) setEnvTerm(unset string) string {
	for _, v := range s.setEnv {
		if t, ok := strings.CutPrefix(v, "TERM="); ok && t != "" {
			return t
		}
	}
	return unset
}

// sendEnv offers the variables to the server. It waits for no reply: most servers
// refuse most names (AcceptEnv), and that is no fault.
func (ch *channel) sendEnv() {
	for _, v := range sentEnv(ch.link.s, ch.link.route.pool.env.all()) {
		if _, err := ch.SendRequest("env", false, ssh.Marshal(v)); err != nil {
			return // the connection is gone, which the command will tell
		}
	}
}
