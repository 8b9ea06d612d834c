package transport

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// homeDir is the account's home, which OpenSSH takes from the user database and
// not from HOME.
var homeDir = sync.OnceValue(func() string {
	if u, err := user.Current(); err == nil && u.HomeDir != "" {
		return u.HomeDir
	}
	h, _ := os.UserHomeDir()
	return h
})

// expander replaces ~, ${NAME} and the tokens of ssh_config(5) in file names.
type expander struct {
	tokens  map[byte]string
	env     *environment
	lenient bool  // what looks like a token and is none stays as it is
	err     error // the first
}

func newExpander(s *settings) *expander {
	local, _ := os.Hostname()
	x := &expander{tokens: map[byte]string{
		'%': "%", 'd': homeDir(), 'h': s.host, 'n': s.alias, 'p': strconv.Itoa(s.port),
		'r': s.user, 'i': strconv.Itoa(os.Getuid()), 'l': local, 'L': strings.SplitN(local, ".", 2)[0],
		'k': s.alias,
	}}
	if s.origin != nil {
		x.env = s.origin.env
	}
	if s.hostKeyAlias != "" {
		x.tokens['k'] = s.hostKeyAlias
	}
	if u, err := user.Current(); err == nil {
		x.tokens['u'] = u.Username
	}
	// The jump host is part of it since OpenSSH 9.6, and empty where there is none.
	sum := sha1.Sum([]byte(local + s.host + x.tokens['p'] + s.user + s.proxyJump))
	x.tokens['C'] = hex.EncodeToString(sum[:])
	x.tokens['j'] = s.proxyJump
	return x
}

// only leaves the tokens of letters, where fewer are allowed.
func (x *expander) only(letters string) {
	maps.DeleteFunc(x.tokens, func(c byte, _ string) bool { return strings.IndexByte(letters, c) < 0 })
}

// expand replaces tokens and variables. What a variable holds is taken as it is.
func (x *expander) expand(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, "${")
		n := -1
		if i >= 0 {
			n = strings.IndexByte(s[i:], '}')
		}
		if n < 0 {
			return b.String() + x.expandTokens(s)
		}
		b.WriteString(x.expandTokens(s[:i]))
		v, err := expandVariables(x.env, s[i:i+n+1])
		if err != nil {
			x.fail(err)
		}
		b.WriteString(v)
		s = s[i+n+1:]
	}
}

// expandTokens replaces tokens alone.
func (x *expander) expandTokens(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		v, ok := "", false
		if i++; i < len(s) {
			v, ok = x.tokens[s[i]]
		}
		token := s[i-1 : min(i+1, len(s))]
		switch {
		case ok:
			b.WriteString(v)
		case x.lenient:
			b.WriteString(token)
		default:
			x.fail(fmt.Errorf("%q: the token %s is not supported", s, token))
		}
	}
	return b.String()
}

func (x *expander) fail(err error) {
	if x.err == nil {
		x.err = err
	}
}

// tilde replaces ~ and ~name at the beginning of a file name.
func tilde(s string) string {
	name, ok := strings.CutPrefix(s, "~")
	if !ok {
		return s
	}
	name, rest, _ := strings.Cut(name, "/")
	home := homeDir()
	if name != "" {
		u, err := user.Lookup(name)
		if err != nil {
			return s
		}
		home = u.HomeDir
	}
	return filepath.Join(home, rest)
}

func (x *expander) file(s string) string { return filepath.Clean(x.expand(tilde(s))) }

func withoutNone(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(f string) bool { return none(f) == "" })
}

func (x *expander) files(list []string) []string {
	var out []string
	for _, f := range withoutNone(list) {
		out = append(out, x.file(f))
	}
	return out
}

// agent gives the socket of IdentityAgent, or of the environment.
func (x *expander) agent(v string) string {
	switch {
	case v == "" || v == "SSH_AUTH_SOCK":
		return x.env.get("SSH_AUTH_SOCK")
	case none(v) == "":
		return ""
	case strings.HasPrefix(v, "$") && !strings.HasPrefix(v, "${"):
		return x.env.get(v[1:])
	}
	return x.file(v)
}
