package fleet

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// localLimit bounds the look at this machine: an agent may not answer.
const localLimit = 30 * time.Second

// DoctorLocal examines this machine as far as the hosts, all of them when none is
// given, need it: the ssh program, the agent, and the modes of ssh_config and of
// the keys that it names. It reads only. CheckConfig judges the table itself.
func (f *Fleet) DoctorLocal(ctx context.Context, hosts ...Host) Report {
	if len(hosts) == 0 {
		hosts = f.table.Hosts
	}
	hosts = slices.DeleteFunc(slices.Clone(hosts), func(h Host) bool { return h.Transport == TransportLocal })
	ctx, cancel := context.WithTimeout(ctx, localLimit)
	defer cancel()
	s := transport.NewSections()
	s.Add("account", accountFragment)
	s.Add("ssh", saying+transport.PlainPath()+`PATH=$fleet_plain
at=$(command -v ssh) || exit 0
say at "$at"
say version "$(ssh -V 2>&1 | head -n 1)"`)
	s.Add("agent", saying+`command -v ssh-add >/dev/null 2>&1 || exit 0
keys=$(limit 5 ssh-add -l </dev/null 2>&1); say code "$?"
say keys "$(printf '%s\n' "$keys" | wc -l | tr -d ' ')"`)
	res, err := f.conns.Conn(transport.Endpoint{Local: true}).Run(ctx, transport.Script{Text: s.Script(), Repeatable: true})
	if err != nil {
		return Report{Findings: []Finding{faulty("shell", "a script could not be run here: "+neutral(err.Error()), "nothing could be looked at", "").hinted(HintOf(err))}}
	}
	parts, err := s.Parse(res.Stdout)
	if err != nil {
		return Report{Findings: []Finding{faulty("shell", "a script ended early here: "+neutral(err.Error()), "nothing could be looked at", "")}}
	}
	x := examined{account: parseFacts(parts["account"].Out)}
	found := []Finding{x.aboutSSH(parseFacts(parts["ssh"].Out), len(hosts)), aboutAgent(parseFacts(parts["agent"].Out), len(hosts))}
	if len(hosts) > 0 {
		if u, err := user.Current(); err == nil { // OpenSSH minds no HOME
			usual := slices.ContainsFunc(hosts, func(h Host) bool { return h.SSHConfig == "" })
			found = append(found, aboutSSHFolder(filepath.Join(u.HomeDir, ".ssh"), usual))
		}
		found = append(found, f.aboutKeys(ctx, hosts)...)
	}
	return Report{Findings: found}
}

func (x examined) aboutSSH(ssh facts, hosts int) Finding {
	switch {
	case ssh.get("at") != "":
		return good("ssh", neutral(ssh.get("version")))
	case hosts == 0:
		return good("ssh", "there is no ssh program, and no host needs one")
	}
	name := "openssh-client"
	if !x.account.has("tool", "apt-get") {
		name = "openssh-clients"
		if x.account.has("tool", "apk") {
			name = "openssh-client"
		} else if x.account.has("tool", "brew") || x.account.has("tool", "pacman") || x.account.has("tool", "zypper") {
			name = "openssh"
		}
	}
	return warning("ssh", "there is no ssh program on the PATH", "ssh_config is then read by this program itself, which passes over some of it, and the commands that this prints can't be run",
		x.install(Host{Transport: TransportLocal}, name))
}

// startAgent starts an agent for the shell that it is pasted into.
const startAgent = `eval "$(ssh-agent -s)"; ssh-add`

func aboutAgent(agent facts, hosts int) Finding {
	const id, why = "agent", "a key with a passphrase can be used without asking only through an agent"
	socket := os.Getenv("SSH_AUTH_SOCK")
	switch code := agent.get("code"); {
	case hosts == 0:
		return good(id, "no host needs an agent")
	case socket == "":
		return note(id, "no agent is named by SSH_AUTH_SOCK", why, startAgent)
	case code == "0":
		n := 0
		_, _ = fmt.Sscan(agent.get("keys"), &n)
		return good(id, "the agent answers, and has "+counted(n, "key"))
	case code == "1":
		return note(id, "the agent answers, and has no keys", why, "ssh-add")
	case code == "":
		return note(id, "whether the agent answers is not known: there is no ssh-add", why, "")
	}
	return warning(id, "the agent at "+printable(socket)+" does not answer", why, startAgent)
}

// aboutSSHFolder judges ~/.ssh and, where a host goes by it, the config in it. ssh
// itself refuses to run while others can write the latter (OpenSSH 9.2: "Bad owner
// or permissions").
func aboutSSHFolder(dir string, usual bool) Finding {
	const id = "ssh-mode"
	config := filepath.Join(dir, "config")
	if why := othersWrite(config); usual && why != "" {
		return faulty(id, printable(config)+why, "ssh refuses to go by it, and no host is reached", owned(config)+"chmod go-w "+pasteWord(config))
	}
	if why := othersWrite(dir); why != "" {
		return warning(id, printable(dir)+why, "whoever writes there decides which keys of hosts are trusted", owned(dir)+"chmod go-w "+pasteWord(dir))
	}
	return good(id, "only you can write "+printable(dir))
}

// owned is the beginning of a remedy for a file that is another's.
func owned(path string) string {
	if !ownedByOther(path) {
		return ""
	}
	return fmt.Sprintf("sudo chown %d %s && ", os.Getuid(), pasteWord(path))
}

// aboutKeys judges the ssh_config of each host and the keys that it names.
func (f *Fleet) aboutKeys(ctx context.Context, hosts []Host) []Finding {
	var found []Finding
	judged := map[string]bool{}
	n := 0
	for r := range f.Resolve(ctx, hosts...) {
		if r.Err != nil {
			found = append(found, faulty("ssh-config", neutral(r.Err.Error()), "the host can't be reached", "").hinted(HintOf(r.Err)))
			continue
		}
		if r.SSH == nil {
			continue
		}
		for _, key := range r.SSH.IdentityFiles {
			if judged[key] {
				continue
			}
			judged[key] = true
			if info, err := os.Stat(key); err == nil && info.Mode().IsRegular() {
				n++
				if exposed(info) {
					found = append(found, faulty("key-mode", fmt.Sprintf("the key %s is for others to read (mode %04o)", printable(key), info.Mode().Perm()),
						"ssh refuses to use it, and so does this program", keyRemedy(key)))
				}
			}
		}
	}
	if !slices.ContainsFunc(found, func(f Finding) bool { return f.ID == "ssh-config" }) {
		found = append(found, good("ssh-config", "ssh_config is valid"))
	}
	if !slices.ContainsFunc(found, func(f Finding) bool { return f.ID == "key-mode" }) {
		found = append(found, good("key-mode", counted(n, "key")+" of ssh_config, for you alone"))
	}
	return found
}

// exposed is OpenSSH's own judgement: a private key of the account's that anybody
// else can do anything with.
func exposed(info os.FileInfo) bool {
	sys, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(sys.Uid) == os.Getuid() && info.Mode().Perm()&0o077 != 0
}

func keyRemedy(key string) string {
	if checkLine(key) != nil {
		return ""
	}
	return "chmod 600 " + pasteWord(key)
}
