package fleet

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// configFile is a fleet.conf of either form as it was read: what is stated, checked
// value by value, before any default is applied.
type configFile struct {
	defaults settings
	rows     []hostRow
}

// hostRow is one host as the file states it.
type hostRow struct {
	name string
	line int // of its first mention
	set  settings
	bad  bool // a value was refused, so the row cannot be judged as a whole
}

// settings are the values that a table of the file states, by key.
type settings map[string]setting

// setting is one value and the line of its key.
type setting struct {
	line int
	text string
	list []string // of a key that takes a list
}

// check reports all that is wrong with the value of a key.
func (s setting) check(spec keySpec) []fault {
	if !spec.list {
		if f := spec.check(s.text); f != nil {
			return []fault{*f}
		}
		return nil
	}
	var all []fault
	seen := map[string]bool{}
	for i, item := range s.list {
		f := spec.check(item)
		if f == nil && seen[item] {
			f = &fault{quote(item) + " is there twice", "state it once"}
		}
		seen[item] = true
		if f != nil {
			all = append(all, fault{fmt.Sprintf("item %d: %s", i+1, f.msg), f.hint})
		}
	}
	return all
}

// accept checks a value of the row and keeps it if it is good.
func (r *hostRow) accept(p *problems, key string, s setting) {
	spec, _ := specOf(key)
	if faults := s.check(spec); len(faults) > 0 {
		p.addAll(s.line, keyPath(tableHosts, r.name, key), faults)
		r.bad = true
		return
	}
	r.set[key] = s
}

// resolve fills in the defaults and checks what only shows once they are: keys
// that do not go together, and two hosts that are one session. The hosts are of
// no use when it added a problem.
func resolve(p *problems, f configFile) []Host {
	hosts := make([]Host, 0, len(f.rows))
	sessions := map[string]hostRow{} // by machine and session
	for _, r := range f.rows {
		if fault := checkName(r.name); fault != nil {
			p.add(r.line, keyPath(tableHosts, r.name), *fault)
			continue
		}
		h := resolveHost(p, f.defaults, r)
		hosts = append(hosts, h)
		if r.bad {
			continue
		}
		key := machineOf(h) + "\x00" + h.Session
		first, taken := sessions[key]
		if !taken {
			sessions[key] = r
			continue
		}
		line := r.line
		if s, ok := r.set[keySession]; ok {
			line = s.line
		}
		where := "this machine"
		if h.Transport == TransportSSH {
			where = h.SSH
		}
		p.add(line, keyPath(tableHosts, r.name, keySession), fault{
			fmt.Sprintf("session %s on %s is that of host %s%s already", quote(h.Session), where, first.name, atLine(first.line)),
			"give one of them a session of its own",
		})
	}
	return hosts
}

// resolveHost makes a host of a row: its own value, else that of [defaults],
// else the built-in one. A value replaces a whole default, tags too.
func resolveHost(p *problems, defaults settings, r hostRow) Host {
	get := func(key, builtin string) string {
		if s, ok := r.set[key]; ok {
			return s.text
		}
		if s, ok := defaults[key]; ok {
			return s.text
		}
		return builtin
	}
	h := Host{
		Name:      r.name,
		Workdir:   get(keyWorkdir, DefaultWorkdir),
		Transport: get(keyTransport, TransportSSH),
		Command:   get(keyCommand, DefaultCommand),
		Tags:      defaults[keyTags].list,
	}
	h.Project = get(keyProject, projectOf(h.Workdir, r.name))
	h.Timeout, _ = time.ParseDuration(get(keyTimeout, DefaultTimeout.String())) // checked as it was read
	if s, ok := r.set[keyTags]; ok {
		h.Tags = s.list
	}
	h.Tags = slices.Clone(h.Tags) // no two hosts share those of [defaults]
	if h.Transport == TransportLocal {
		resolveLocal(p, r, &h)
	} else {
		h.SSH = get(keySSH, r.name)
		h.Session = get(keySession, DefaultSession)
		h.SSHConfig = resolvePath(p, r, get(keySSHConfig, ""))
	}
	return h
}

// resolveLocal fills in what a local host has. The session and the ssh_config of
// [defaults] are for hosts over SSH: all local ones share this machine, so one
// session for all of them is never meant.
func resolveLocal(p *problems, r hostRow, h *Host) {
	for _, key := range []string{keySSH, keySSHConfig} {
		if s, ok := r.set[key]; ok {
			p.add(s.line, keyPath(tableHosts, r.name, key), fault{"means nothing on a local host", `take it out, or set transport = "ssh"`})
		}
	}
	h.Session = strings.ReplaceAll(r.name, ".", "_") // as tmux would
	if s, ok := r.set[keySession]; ok {
		h.Session = s.text
	}
}

// projectOf is the last part of the workdir; of one that has none, such as ~ or
// /, the name of the host.
func projectOf(workdir, name string) string {
	base := path.Base(workdir)
	switch base {
	case "~", "/", ".", "..":
		return name
	}
	if checkLine(base) != nil { // blanks alone
		return name
	}
	return base
}

// resolvePath makes a path of this machine absolute: ~ is the user's home, and
// what is relative is so to the folder of the file.
func resolvePath(p *problems, r hostRow, s string) string {
	if s == "" {
		return ""
	}
	var abs string
	var err error
	if rest, isHome := strings.CutPrefix(s, "~"); isHome {
		if abs, err = homeDir(); err == nil {
			abs = filepath.Join(abs, rest)
		}
	} else if abs = s; !filepath.IsAbs(s) {
		abs = filepath.Join(filepath.Dir(p.file), s)
	}
	if err == nil {
		abs, err = filepath.Abs(abs)
	}
	f := checkLine(abs) // the folder of the file may be called anything
	if err != nil {
		f = &fault{"cannot be resolved: " + systemReason(err), "write an absolute path"}
	}
	if f != nil {
		p.add(r.line, keyPath(tableHosts, r.name, keySSHConfig), *f)
	}
	return abs
}

// machineOf tells machines apart by what the file says of them. It cannot know
// that two aliases are one machine; and one alias may be two machines when two
// ssh_config files explain it.
func machineOf(h Host) string {
	if h.Transport == TransportLocal {
		return TransportLocal
	}
	t, _ := parseTarget(h.SSH)
	return strings.Join([]string{TransportSSH, t.user, strings.ToLower(t.host), t.port, h.SSHConfig}, "\x00")
}
