package fleet

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// reachFault is the finding on a host that did not answer.
func reachFault(h Host, err error) Finding {
	e := unreachable(h.Name, err)
	found := faulty("reach", e.Msg, "nothing can be seen or done there, and nothing else could be looked at", "").hinted(e.Hint)
	switch kind, _ := transport.KindOf(err); kind {
	case transport.KindHostKeyUnknown:
		// ssh shows the fingerprint and asks a person, whatever ssh_config says.
		found.Remedy = h.remote("true", "-o", "StrictHostKeyChecking=ask")
	case transport.KindCanceled:
		found.Severity, found.Why = SeverityNote, ""
	}
	return found
}

// scriptFault is the finding on a host that answers, and where the script that
// looks at it did not come to its end.
func scriptFault(h Host, err error) Finding {
	found := faulty("script", "it answers, and could not be looked at: "+failed(h.Name, "looking", err).Msg, "nothing else is known of it", "")
	if kind, _ := transport.KindOf(err); kind == transport.KindCanceled {
		found.Severity = SeverityNote
	}
	return found.hinted(HintOf(err))
}

func reachWords(h Host) string {
	if h.Transport == TransportLocal {
		return "it is this machine"
	}
	return "ssh " + printable(h.SSH) + " answers"
}

// aboutAccount judges the login shell and the locale.
func (x examined) aboutAccount(h Host) []Finding {
	shell := neutral(x.account.get("shell"))
	found := []Finding{good("shell", "the login shell is "+shell)}
	switch path.Base(x.account.get("shell")) {
	case "fish", "csh", "tcsh":
		found[0] = note("shell", "the login shell is "+shell+", which reads no sh", "what is run there goes through /bin/sh, so this is all right; a profile in sh is not read", "")
	case "rbash", "rksh", "rzsh":
		found[0] = note("shell", "the login shell is "+shell+", a restricted one", "it runs only what its owner put into PATH: sh, tmux, git and the client have to be there", "")
	}
	return append(found, x.aboutLocale(h))
}

var utf8Name = lazyRegexp(`(?i)utf-?8`)

// aboutLocale goes by the login shell, which the client is started from, and by
// the plain environment where that shell could not be asked.
func (x examined) aboutLocale(h Host) Finding {
	of := x.account
	if len(x.login["lang"]) > 0 {
		of = x.login
	}
	lang := of.get("lang")
	charmap, asked := of.get("charmap"), len(of["charmap"]) > 0
	if asked && utf8Name().MatchString(charmap) || !asked && utf8Name().MatchString(lang) {
		return good("locale", "the locale is UTF-8")
	}
	if lang == "" {
		lang = "unset"
	}
	what := fmt.Sprintf("the locale (%s) is not UTF-8", neutral(lang))
	if utf8Name().MatchString(lang) {
		what = fmt.Sprintf("the locale %s is not installed there", neutral(lang))
	}
	name := x.account.get("utf8")
	if name == "" || checkSession(strings.ReplaceAll(name, ".", "")) != nil {
		name = "C.UTF-8"
	}
	variable := "LANG"
	for _, v := range []struct{ key, name string }{{"all", "LC_ALL"}, {"ctype", "LC_CTYPE"}} {
		if of.get(v.key) != "" { // it would win over LANG
			variable = v.name
			break
		}
	}
	found := warning("locale", what, "a person who attaches, and tools that the client runs, see other characters in place of those outside ASCII", "")
	switch path.Base(x.account.get("shell")) {
	case "fish": // it reads this file whenever it starts
		found.Remedy = h.there(asSh("mkdir -p ~/.config/fish && echo set -gx " + variable + " " + name + " >> ~/.config/fish/config.fish"))
	case "csh":
		found.Remedy = h.there(asSh("echo setenv " + variable + " " + name + " >> ~/.cshrc"))
	case "tcsh": // by which of its files are there
		return found.hinted("set " + variable + " to " + name + " by setenv, in the file that the shell reads there")
	default:
		found.Remedy = h.there(asSh("echo export " + variable + "=" + name + " >> ~/" + x.profile()))
	}
	return found
}

// profile is the file in the home that a login shell reads last.
func (x examined) profile() string {
	switch path.Base(x.account.get("shell")) {
	case "zsh":
		return ".zprofile"
	case "bash":
		for _, name := range []string{".bash_profile", ".bash_login"} {
			if x.account.has("profile", name) {
				return name
			}
		}
	}
	return ".profile"
}

// Oldest tmux that every script here works with: one of 3.1 reads commands from
// standard input (source-file -).
const tmuxMajor, tmuxMinor = 3, 1

var tmuxNumber = lazyRegexp(`(\d+)\.(\d+)`)

// aboutTmux judges the program and the server that runs.
func (x examined) aboutTmux(h Host) []Finding {
	if errors.Is(x.tmuxErr, tmux.ErrNotInstalled) {
		return []Finding{faulty("tmux", "tmux is not installed there, or not on the PATH", "sessions live in it", x.install(h, "tmux")).
			hinted(fmt.Sprintf("it needs to be %d.%d or newer", tmuxMajor, tmuxMinor))}
	}
	version := neutral(x.snap.Version)
	program := good("tmux", "tmux "+version)
	if m := tmuxNumber().FindStringSubmatch(x.snap.Version); m != nil && !strings.HasPrefix(x.snap.Version, "openbsd-") {
		major, _ := strconv.Atoi(m[1])
		minor, _ := strconv.Atoi(m[2])
		if major < tmuxMajor || major == tmuxMajor && minor < tmuxMinor {
			program = faulty("tmux", "tmux is "+version+", which is too old", fmt.Sprintf("screens are read in a way that came with tmux %d.%d", tmuxMajor, tmuxMinor),
				x.install(h, "tmux")).hinted(fmt.Sprintf("it needs to be %d.%d or newer; end the old server then", tmuxMajor, tmuxMinor))
		}
	}
	server := good("tmux-server", "no tmux server runs")
	if x.snap.Running {
		server.What = "the tmux server answers"
	}
	var refused *tmux.ServerError
	switch {
	case errors.As(x.tmuxErr, &refused) && strings.Contains(refused.Text, "protocol version mismatch"):
		// The socket goes aside and nothing is ended: the old program still reaches
		// its server by that name.
		server = faulty("tmux-server", "the tmux server that runs there is of another version than the program: "+neutral(refused.Text),
			"no session can be seen or reached, though they go on",
			h.there(asSh(`cd "${TMUX_TMPDIR:-/tmp}/tmux-$(id -u)" && mv default default.old`))).
			hinted("this sets the old server's socket aside; its sessions go on, and the old program reaches them by: tmux -L default.old attach")
	case x.tmuxErr != nil:
		server = faulty("tmux-server", neutral(x.tmuxErr.Error()), "no session can be seen or reached", "").hinted("see what tmux says there by: " + h.there(calling(x.beyond("tmux"), "tmux list-sessions")))
	}
	return []Finding{program, server}
}

// aboutClient judges the program of a host's command and where it was found.
func (x examined) aboutClient(h Host) []Finding {
	word := programOf(h.Command)
	c := x.clients[word]
	newest := detect.RecordedVersions()[len(detect.RecordedVersions())-1]
	if c.get("at") == "" {
		found := faulty("client", printable(word)+" is not there, or not on the PATH", "the session can't be started", "")
		if word == clientName {
			found.Remedy = h.there("curl -fsSL https://claude.ai/install.sh | bash")
			if x.account.has("tool", "npm") {
				found.Remedy = h.thereAsRoot(x.root(), calling(x.beyond("npm"), "npm install -g @anthropic-ai/claude-code"))
			}
			return []Finding{found}
		}
		return []Finding{found.hinted("install it there, or set another command for " + h.Name + " in fleet.conf")}
	}
	out := []Finding{good("client", "the client is "+neutral(c.get("at")))}
	if path.Base(word) == clientName {
		version, _, _ := strings.Cut(c.get("version"), " ")
		shown := cut(neutral(version), 40)
		beyond := ""
		if c.get("plain") == "" {
			beyond = c.get("at")
		}
		pin := h.there(calling(beyond, homeWord(word)+" install "+newest))
		switch detect.FitOf(version) {
		case detect.VersionKnown:
			out = append(out, good("client-version", "client "+shown))
		case detect.VersionNewer:
			out = append(out, warning("client-version", fmt.Sprintf("client %s is newer than %s, the newest that the rules were recorded with", shown, newest),
				"a screen that is new may read as unknown, and nothing is typed into it then", pin).hinted("a newer claude-fleet may know it; the command puts the client back to "+newest))
		case detect.VersionOlder:
			out = append(out, warning("client-version", fmt.Sprintf("client %s is older than any that the rules were recorded with", shown),
				"its screens may read as unknown, and nothing is typed into them then", pin))
		default:
			out = append(out, warning("client-version", "the client does not tell its version: "+cut(neutral(c.get("version")), 80),
				"it may not start", "").hinted("see what it says there by: "+h.there(calling(beyond, homeWord(word)+" --version"))))
		}
	}
	return append(out, x.aboutPath(h, word, c))
}

// plainDir is a folder that a profile may name without quotes.
var plainDir = lazyRegexp(`^/[A-Za-z0-9/._+@-]*$`)

// aboutPath tells whether anybody but this program finds the client.
func (x examined) aboutPath(h Host, word string, c facts) Finding {
	dir := path.Dir(c.get("at"))
	if c.get("plain") != "" || c.get("login") != "" || strings.Contains(word, "/") {
		return good("path", "the client is on the PATH")
	}
	if len(x.login["lang"]) == 0 {
		return note("path", fmt.Sprintf("%s is not on the PATH of a plain ssh", neutral(dir)), "this program looks there by itself; what the login shell makes of PATH is not known", "")
	}
	add := ""
	if plainDir().MatchString(dir) {
		add = h.there(asSh(`echo 'PATH=$PATH:` + dir + `; export PATH' >> ~/` + x.profile()))
	}
	return note("path", fmt.Sprintf("%s is on no PATH there", neutral(dir)), "this program looks there by itself, and a person who types claude does not find it", add)
}

// aboutStrangers names sessions that run a client and are not in the table.
func (x examined) aboutStrangers(h Host, unknown []string) Finding {
	var names []string
	for _, s := range unknown {
		names = append(names, quote(neutral(s)))
	}
	if len(names) == 0 {
		return good("sessions", "no claude session runs there that the table does not know")
	}
	found := note("sessions", "the table does not know of "+cut(strings.Join(names, ", "), 200), "a claude session that nobody looks after goes on spending",
		x.self+" discover "+h.Name)
	if x.appendable != "" {
		found.Remedy += " >> " + pasteWord(x.appendable)
		return found.hinted("discover prints rows of a fleet.conf, with a comment for each session that can't be one")
	}
	return found.hinted("it prints rows of a fleet.conf in TOML; claude-fleet map --toml writes an older one anew")
}
