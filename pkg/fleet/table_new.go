package fleet

import "fmt"

// NewTable makes a table of hosts that a program has made itself, for New. It
// fills in and checks what ParseTable would of a fleet.conf without [defaults]: a
// field that is zero gets its default, so that Host{Name: "box"} is the machine
// that ssh calls box, and Host{Name: "here", Transport: TransportLocal} a session on
// this one. A relative SSHConfig is relative to the current folder. It touches no
// file. All that is wrong is reported, as *ConfigError joined in the order of the
// hosts; their Line is 0.
func NewTable(hosts ...Host) (*Table, error) {
	p := &problems{file: "table"}
	var f configFile
	seen := map[string]bool{}
	for _, h := range hosts {
		if seen[h.Name] {
			p.add(0, keyPath(tableHosts, h.Name), fault{"is there twice", "give each host a name of its own"})
			continue
		}
		seen[h.Name] = true
		f.rows = append(f.rows, rowOf(p, h))
	}
	t := &Table{Hosts: resolve(p, f)}
	if err := p.err(); err != nil {
		return nil, err
	}
	return t, nil
}

// rowOf states a host as a file would that leaves out what is zero.
func rowOf(p *problems, h Host) hostRow {
	r := hostRow{name: h.Name, set: settings{}}
	timeout := ""
	if h.Timeout != 0 {
		timeout = h.Timeout.String()
	}
	for _, s := range []struct{ key, text string }{
		{keyProject, h.Project}, {keyWorkdir, h.Workdir}, {keyTransport, h.Transport}, {keySSH, h.SSH},
		{keySession, h.Session}, {keyCommand, h.Command}, {keyTimeout, timeout}, {keySSHConfig, h.SSHConfig},
	} {
		if s.text != "" {
			r.accept(p, s.key, setting{text: s.text})
		}
	}
	if len(h.Tags) > 0 {
		r.accept(p, keyTags, setting{list: h.Tags})
	}
	return r
}

// atLine words where the host stands that a message names; a table that a program
// made has no lines.
func atLine(line int) string {
	if line == 0 {
		return ""
	}
	return fmt.Sprintf(" on line %d", line)
}
