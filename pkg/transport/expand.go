package transport

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
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
	tokens map[byte]string
	err    error // the first
}

func newExpander(s *settings) *expander {
	local, _ := os.Hostname()
	x := &expander{tokens: map[byte]string{
		'%': "%", 'd': homeDir(), 'h': s.host, 'n': s.alias, 'p': strconv.Itoa(s.port),
		'r': s.user, 'i': strconv.Itoa(os.Getuid()), 'l': local, 'L': strings.SplitN(local, ".", 2)[0],
		'k': s.alias,
	}}
	if s.hostKeyAlias != "" {
		x.tokens['k'] = s.hostKeyAlias
	}
	if u, err := user.Current(); err == nil {
		x.tokens['u'] = u.Username
	}
	return x
}

func (x *expander) expand(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '%' && i+1 < len(s):
			i++
			v, ok := x.tokens[s[i]]
			if !ok {
				x.fail(fmt.Errorf("%q: the token %%%c is not supported", s, s[i]))
			}
			b.WriteString(v)
		case strings.HasPrefix(s[i:], "${") && strings.IndexByte(s[i:], '}') > 0:
			n := strings.IndexByte(s[i:], '}')
			v, ok := os.LookupEnv(s[i+2 : i+n])
			if !ok {
				x.fail(fmt.Errorf("%q: the environment has no %s", s, s[i+2:i+n]))
			}
			b.WriteString(v)
			i += n
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func (x *expander) fail(err error) {
	if x.err == nil {
		x.err = err
	}
}

func (x *expander) file(s string) string {
	if s == "~" || strings.HasPrefix(s, "~/") {
		s = homeDir() + s[1:]
	}
	return filepath.Clean(x.expand(s))
}

func (x *expander) files(list []string) []string {
	var out []string
	for _, f := range list {
		if none(f) != "" {
			out = append(out, x.file(f))
		}
	}
	return out
}

// agent gives the socket of IdentityAgent, or of the environment.
func (x *expander) agent(v string) string {
	switch {
	case v == "" || v == "SSH_AUTH_SOCK":
		return os.Getenv("SSH_AUTH_SOCK")
	case none(v) == "":
		return ""
	case strings.HasPrefix(v, "$") && !strings.HasPrefix(v, "${"):
		return os.Getenv(v[1:])
	}
	return x.file(v)
}
