package fleet

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// there is the command line, for a shell on this machine, that runs a command on
// a host. The command has to read the same in sh, fish and csh; sh text goes
// through asSh first.
func (h Host) there(command string) string { return h.remote(command) }

// thereAsRoot is there for a command that changes the machine: sudo goes before
// it, with a terminal to ask on, unless the account is root.
func (h Host) thereAsRoot(root bool, command string) string {
	if root {
		return h.there(command)
	}
	if h.Transport == TransportLocal {
		return "sudo " + command
	}
	return h.remote("sudo "+command, "-t")
}

func (h Host) remote(command string, flags ...string) string {
	if h.Transport == TransportLocal {
		return command
	}
	words := []string{"ssh"}
	if h.SSHConfig != "" {
		words = append(words, "-F", pasteWord(h.SSHConfig))
	}
	words = append(words, flags...)
	destination := h.SSH
	// ssh takes a port apart from the host; a destination that can't be taken apart
	// never gets past the table.
	if t, f := parseTarget(h.SSH); f == nil {
		if t.port != "" {
			words = append(words, "-p", t.port)
		}
		if t.user != "" {
			words = append(words, "-l", pasteWord(t.user))
		}
		destination = t.host
	}
	return strings.Join(append(words, pasteWord(destination), pasteWord(command)), " ")
}

// asSh wraps sh text as a command of any shell.
func asSh(text string) string { return "sh -c " + transport.Quote(text) }

// onPath is sh text to stand before a command whose program was found at a path
// that is beyond the host's own PATH, so that a shell there would not find it. It
// appends the folder: a full path would not do for a program that begins with
// "env node" and has node beside it. It is empty where at is, and where no command
// line should hold the folder.
func onPath(at string) string {
	dir := path.Dir(at)
	if checkLine(dir) != nil || !strings.HasPrefix(dir, "/") || neutral(dir) != dir {
		return ""
	}
	return "PATH=$PATH:" + pasteWord(dir) + " "
}

// calling is a simple command for any shell of the host, with onPath before it
// where that is needed.
func calling(at, command string) string {
	if text := onPath(at); text != "" {
		return asSh(text + command)
	}
	return command
}

// beyond is where a tool is that the host's own PATH lacks; empty for any other.
func (x examined) beyond(tool string) string {
	for _, at := range x.account["beyond"] {
		if path.Base(at) == tool {
			return at
		}
	}
	return ""
}

// pasteWord is s as one word of sh, in quotes only where it needs them.
func pasteWord(s string) string {
	plain := s != "" && s[0] != '~' && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r < 0x80 && isNameByte(byte(r)) || strings.ContainsRune("/@:,+%=", r))
	})
	if plain {
		return s
	}
	return transport.Quote(s)
}

// homeWord is a folder on a host as one word of its shell: a leading ~ stays out
// of the quotes, so that it means the home there.
func homeWord(dir string) string {
	if dir == "~" {
		return dir
	}
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		return "~/" + pasteWord(rest)
	}
	return pasteWord(dir)
}

// installers are the package managers that a remedy may call, in the order of
// preference, and the words with which each installs.
var installers = []struct{ tool, words string }{
	{"brew", "brew install"}, {"apt-get", "apt-get install -y"}, {"dnf", "dnf install -y"}, {"yum", "yum install -y"},
	{"zypper", "zypper install -y"}, {"pacman", "pacman -S --noconfirm"}, {"apk", "apk add"},
}

// install is the remedy that installs a package on the host; empty where none of
// the package managers is there.
func (x examined) install(h Host, name string) string {
	for _, i := range installers {
		if !x.account.has("tool", i.tool) {
			continue
		}
		command := calling(x.beyond(i.tool), i.words+" "+name)
		if i.tool == "brew" { // it refuses to run as root
			return h.there(command)
		}
		return h.thereAsRoot(x.root(), command)
	}
	return ""
}

// root is whether the account on the host is root.
func (x examined) root() bool { return x.account.get("uid") == "0" }

// selfCommand is claude-fleet as a remedy calls it, so that it reads this table
// whatever the environment says, and the table's file; the latter is empty where
// no row in TOML can be put behind it.
func (t *Table) selfCommand() (command, appendable string) {
	command = ownName
	path, err := filepath.Abs(t.Path)
	if t.Path == "" || err != nil || checkLine(path) != nil {
		return command, ""
	}
	if path != defaultConfigPath() || os.Getenv(ConfigEnv) != "" {
		command += " --config " + pasteWord(path)
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return command, ""
	}
	data, err := readConfig(path)
	if err != nil || !formOf(checkText(&problems{}, data)).toml {
		return command, ""
	}
	return command, path
}

// ownName is what this program is called.
const ownName = "claude-fleet"
