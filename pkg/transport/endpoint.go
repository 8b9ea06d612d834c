package transport

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Endpoint names a machine. It is comparable, so that hosts which share a
// machine can be grouped by it; two Endpoints are one machine only if they are
// written alike.
type Endpoint struct {
	// Local is this machine; the other fields then mean nothing.
	Local bool
	// Destination is an ssh_config alias, a host name, user@host or
	// user@host:port. An IPv6 address that has a port stands in brackets.
	Destination string
	// ConfigFile is read instead of the user's and the system's ssh_config, as
	// with ssh -F. Empty means the usual files.
	ConfigFile string
}

// String is what errors and tables call the endpoint.
func (e Endpoint) String() string {
	if e.Local {
		return "local"
	}
	return Neutralise(e.Destination)
}

// target is a Destination taken apart. Empty user and zero port mean that the
// configuration decides.
type target struct {
	user, host string
	port       int
}

// parseDestination splits user@host:port. The last @ ends the user, as it does
// for OpenSSH, so that a user name may be a mail address.
func parseDestination(s string) (target, error) {
	var t target
	rest := strings.TrimPrefix(s, "ssh://")
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		t.user, rest = rest[:i], rest[i+1:]
		if t.user == "" {
			return t, fmt.Errorf("destination %q has an empty user before @", s)
		}
	}
	port := ""
	switch {
	case strings.HasPrefix(rest, "["):
		end := strings.IndexByte(rest, ']')
		if end < 0 {
			return t, fmt.Errorf("destination %q has no closing bracket", s)
		}
		t.host = rest[1:end]
		if tail := rest[end+1:]; tail != "" {
			if tail[0] != ':' {
				return t, fmt.Errorf("destination %q has %q after the bracket", s, tail)
			}
			port = tail[1:]
			if port == "" {
				port = "missing"
			}
		}
	case strings.Count(rest, ":") == 1:
		var err error
		if t.host, port, err = net.SplitHostPort(rest); err != nil {
			return t, fmt.Errorf("destination %q: %w", s, err)
		}
		if port == "" {
			port = "missing"
		}
	default: // a name, or a bare IPv6 address
		t.host = rest
	}
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return t, fmt.Errorf("destination %q has no port between 1 and 65535 after the colon", s)
		}
		t.port = int(n)
	}
	return t, checkTarget(s, t)
}

// shellSafe is whether a user name may stand unquoted in a ProxyCommand.
func shellSafe(user string) bool {
	return !strings.HasPrefix(user, "-") && !strings.ContainsFunc(user, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("'\"`$\\;&<>|(){}", r) })
}

// checkTarget refuses what could be read as an option by ssh, or as something
// else by a ProxyCommand's shell.
func checkTarget(s string, t target) error {
	if t.host == "" {
		return errors.New("destination has no host; write an ssh alias, user@host or user@host:port")
	}
	for _, part := range []string{t.user, t.host} {
		if strings.HasPrefix(part, "-") {
			return fmt.Errorf("destination %q has a part that begins with a dash", s)
		}
		for _, r := range part {
			if r <= ' ' || r == 0x7f || strings.ContainsRune("'\"`$\\;&<>|(){}", r) {
				return fmt.Errorf("destination %q holds %q, which no host or user name has", s, r)
			}
		}
	}
	return nil
}
