package fleet

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// maxNameBytes holds for the names of hosts, sessions and tags. A name is a
// column of a table and a part of a command line.
const maxNameBytes = 64

// checkLine takes any text that is one line to read.
func checkLine(s string) *fault {
	if strings.TrimSpace(s) == "" {
		return &fault{"is empty", "leave the key out to get its default"}
	}
	for _, r := range s {
		switch {
		case unicode.IsControl(r), unicode.In(r, unicode.Zl, unicode.Zp):
			return &fault{fmt.Sprintf("holds the control character U+%04X", r), "take it out"}
		case unicode.Is(unicode.Bidi_Control, r):
			// These make a line read otherwise than it is.
			return &fault{fmt.Sprintf("holds the text direction mark U+%04X", r), "take it out"}
		}
	}
	return nil
}

// isNameByte reports whether the name of a host or a tag may hold c.
func isNameByte(c byte) bool { return isBareKeyByte(c) || c == '.' }

// checkName takes the name of a host or a tag. A leading dash would read as a
// flag, an @ as a tag, and a leading dot makes names like .. that are no use as
// the name of a file.
func checkName(s string) *fault {
	if f := checkLine(s); f != nil {
		return f
	}
	for i := range len(s) {
		if !isNameByte(s[i]) {
			return &fault{quote(s) + " is not a name", "use letters, digits, '.', '_' and '-'"}
		}
	}
	switch {
	case s[0] == '-' || s[0] == '.':
		return &fault{quote(s) + " is not a name", "begin it with a letter, a digit or '_'"}
	case len(s) > maxNameBytes:
		return &fault{fmt.Sprintf("%s is longer than %d bytes", quote(s), maxNameBytes), "shorten it"}
	}
	return nil
}

// checkSession takes the name of a tmux session. tmux turns '.' and ':' into '_'
// when it makes a session, so that the session would not be found by the name in
// the file, and reads a leading '=', '@', '$' or '%' and the characters of a glob
// as ways to look for one (measured on tmux 3.3a). What is left is letters,
// digits, '_' and '-'.
func checkSession(s string) *fault {
	if f := checkLine(s); f != nil {
		return f
	}
	for i := range len(s) {
		if !isBareKeyByte(s[i]) {
			return &fault{quote(s) + " is not a session name that tmux keeps as it is", "use letters, digits, '_' and '-'"}
		}
	}
	switch {
	case s[0] == '-':
		return &fault{quote(s) + " would be read as a flag", "begin it with a letter, a digit or '_'"}
	case len(s) > maxNameBytes:
		return &fault{fmt.Sprintf("%s is longer than %d bytes", quote(s), maxNameBytes), "shorten it"}
	}
	return nil
}

// checkWorkdir takes a folder that means the same whoever asks from wherever.
func checkWorkdir(s string) *fault {
	if f := checkLine(s); f != nil {
		return f
	}
	switch {
	case s == "~", strings.HasPrefix(s, "~/"), strings.HasPrefix(s, "/"):
		return nil
	case strings.HasPrefix(s, "~"):
		return &fault{quote(s) + " is another account's home", "only ~ and ~/ are understood; write the whole path"}
	}
	return &fault{quote(s) + " is not an absolute path", "begin it with / or ~/"}
}

// checkPath takes a path on this machine.
func checkPath(s string) *fault {
	if f := checkLine(s); f != nil {
		return f
	}
	if strings.HasPrefix(s, "~") && s != "~" && !strings.HasPrefix(s, "~/") {
		return &fault{quote(s) + " is another account's home", "only ~/ is understood; write the whole path"}
	}
	return nil
}

func checkTransport(s string) *fault {
	switch s {
	case TransportSSH, TransportLocal:
		return nil
	case "":
		return checkLine(s)
	}
	return &fault{"unknown transport " + quote(s), `use "ssh" or "local"`}
}

func checkTimeout(s string) *fault {
	if f := checkLine(s); f != nil {
		return f
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return &fault{quote(s) + " is not a duration", `write a number and its unit, such as "10s" or "1m30s"`}
	case d <= 0:
		return &fault{quote(s) + " is not above zero", `a host needs some time to answer, such as "10s"`}
	}
	return nil
}

// checkTarget takes what ssh is pointed at.
func checkTarget(s string) *fault {
	if f := checkLine(s); f != nil {
		return f
	}
	_, f := parseTarget(s)
	return f
}

// sshTarget is an SSH target taken apart.
type sshTarget struct{ user, host, port string }

// parseTarget takes apart an alias, or [user@]host[:port]; an IPv6 address that
// has a port stands in brackets. What OpenSSH refuses in a host or a user, since
// it may reach a shell by ProxyCommand or Match exec, is refused here too.
func parseTarget(s string) (sshTarget, *fault) {
	const hint = "write an alias of ssh_config, or user@host:port"
	bad := func(why string) (sshTarget, *fault) { return sshTarget{}, &fault{quote(s) + " " + why, hint} }
	if strings.Contains(s, "://") {
		return bad("is a URL")
	}
	if i := strings.IndexFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("'`\"$\\;&<>|(){}", r)
	}); i >= 0 {
		return bad("holds a character that no host name has")
	}
	var t sshTarget
	if at := strings.LastIndexByte(s, '@'); at >= 0 {
		if t.user, s = s[:at], s[at+1:]; t.user == "" {
			return bad("has no user before its @")
		}
	}
	hasPort := false
	switch inside, after, closed := strings.Cut(strings.TrimPrefix(s, "["), "]"); {
	case strings.HasPrefix(s, "["):
		t.host = inside
		t.port, hasPort = strings.CutPrefix(after, ":")
		if !closed || after != "" && !hasPort {
			return bad("has brackets that do not hold the host")
		}
	case strings.Count(s, ":") > 1:
		if _, err := netip.ParseAddr(s); err != nil {
			return bad("has more than one colon")
		}
		t.host = s
	default:
		t.host, t.port, hasPort = strings.Cut(s, ":")
	}
	if t.host == "" {
		return bad("has no host")
	}
	if t.host[0] == '-' || strings.HasPrefix(t.user, "-") {
		return bad("would be read as a flag")
	}
	if hasPort {
		if port, err := strconv.ParseUint(t.port, 10, 16); err != nil || port == 0 {
			return bad("has no port from 1 to 65535 after its colon")
		}
	}
	return t, nil
}
