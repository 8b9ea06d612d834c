package fleet

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// nameAll proposes a name for each: that of its directory, with its machine's
// before it where that is taken, and a number behind where that is taken, too.
func nameAll(table *Table, all []Discovered) {
	var taken []string
	for _, h := range table.Hosts {
		taken = append(taken, h.Name)
	}
	for i := range all {
		d := &all[i]
		base := nameFor("/" + path.Base(d.Host.Workdir))
		name := base
		if slices.Contains(taken, name) {
			name = d.Machine + "-" + base
		}
		const room = maxNameBytes - 5 // for a number
		name = strings.TrimRight(name[:min(len(name), room)], "-.")
		for n, stem := 2, name; slices.Contains(taken, name); n++ {
			name = fmt.Sprintf("%s-%d", stem, n)
		}
		taken = append(taken, name)
		d.Host.Name = name
		d.Host.Project = projectOf(d.Host.Workdir, name)
	}
}

// DiscoveredTOML writes what Discover found as rows to be pasted into a
// fleet.conf in TOML. Those that can't be rows stand there as comments. Each row
// states what [defaults] could change.
func DiscoveredTOML(all []Discovered) string {
	var b strings.Builder
	for i, d := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		comment := ""
		about := fmt.Sprintf("on %s, session %s: %s", d.Machine, quote(d.Host.Session), d.State)
		if d.Skip != "" {
			comment = "# "
			about += "; left out for " + d.Skip
		}
		fmt.Fprintf(&b, "# %s\n", printable(about))
		write := func(key, value string) {
			if value != "" {
				fmt.Fprintf(&b, "%s%s = %s\n", comment, key, tomlString(value))
			}
		}
		fmt.Fprintf(&b, "%s[hosts.%s]\n", comment, tomlKey(d.Host.Name))
		write(keyWorkdir, d.Host.Workdir)
		write(keyTransport, d.Host.Transport)
		write(keySSH, d.Host.SSH)
		write(keySession, d.Host.Session)
		write(keySSHConfig, d.Host.SSHConfig)
	}
	return b.String()
}
