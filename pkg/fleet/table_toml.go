package fleet

import (
	"fmt"
	"strconv"
	"strings"
)

// TOML writes the table as a fleet.conf in TOML. ParseTable reads it back to
// the same hosts, whichever form they came from: each host states all of its
// keys, so the text does not lean on [defaults], on the folder that it lies in
// or on the defaults of another version. A field that is empty is left out.
func (t *Table) TOML() string {
	var b strings.Builder
	b.WriteString("# The fleet as resolved: every default is written out.\n")
	for _, h := range t.Hosts {
		fmt.Fprintf(&b, "\n[hosts.%s]\n", tomlKey(h.Name))
		write := func(key, value string) {
			if value != "" {
				fmt.Fprintf(&b, "%s = %s\n", key, tomlString(value))
			}
		}
		write(keyProject, h.Project)
		write(keyWorkdir, h.Workdir)
		write(keyTransport, h.Transport)
		write(keySSH, h.SSH)
		write(keySession, h.Session)
		write(keyCommand, h.Command)
		if len(h.Tags) > 0 {
			quoted := make([]string, len(h.Tags))
			for i, tag := range h.Tags {
				quoted[i] = tomlString(tag)
			}
			fmt.Fprintf(&b, "%s = [%s]\n", keyTags, strings.Join(quoted, ", "))
		}
		if h.Timeout > 0 {
			write(keyTimeout, h.Timeout.String())
		}
		write(keySSHConfig, h.SSHConfig)
	}
	return b.String()
}

// tomlString writes s as a basic string of TOML. Go's own quoting will not do:
// its \a, \v and \x.. are not TOML 1.0.
func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s { // bytes that are not UTF-8 come out as U+FFFD
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// tomlKey writes one part of a key, quoted where TOML needs it: a bare dot
// would make two parts of one name.
func tomlKey(s string) string {
	for i := range len(s) {
		if !isBareKeyByte(s[i]) {
			return tomlString(s)
		}
	}
	if s == "" {
		return `""`
	}
	return s
}

// isBareKeyByte reports whether TOML takes c in a key without quotes.
func isBareKeyByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
