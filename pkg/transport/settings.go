package transport

import (
	"fmt"
	"os/user"
	"strconv"
	"strings"
	"time"
)

// settings is what ssh_config says about one endpoint, in the few keywords that
// this package acts on.
type settings struct {
	alias         string // the host as written, for %n and for known_hosts hints
	host, user    string
	port          int
	family        string // any, inet, inet6
	bind          string
	timeout       time.Duration // ConnectTimeout; 0 = not set
	attempts      int
	aliveEvery    time.Duration // ServerAliveInterval; 0 = not set
	aliveCount    int
	hostKeyAlias  string
	hostKeyAlgos  []string
	strict        string // yes, accept-new, ask, no
	userKnown     []string
	globalKnown   []string
	hashKnown     bool
	identities    []string
	certificates  []string
	onlyIdentity  bool
	agent         string // socket; empty = none
	pubkey        bool
	proxyJump     string
	proxyCommand  string
	batch         bool     // BatchMode: nobody is to be asked
	preferred     []string // PreferredAuthentications; nil = OpenSSH's order
	password      bool     // PasswordAuthentication
	keyboard      bool     // KbdInteractiveAuthentication
	prompts       int      // NumberOfPasswordPrompts
	pubkeyAlgos   []string // PubkeyAcceptedAlgorithms; nil = not set
	kex           []string // KexAlgorithms, likewise
	ciphers       []string
	macs          []string
	revoked       string   // RevokedHostKeys, a file
	forwardAgent  string   // the agent's socket; empty = not forwarded
	sendEnv       []string // patterns of names, with - before those to be taken back
	setEnv        []string // NAME=value
	unhonoured    []string // set keywords that are not acted on, by name
	identityIsSet bool     // false: identities are the default list
}

func (s *settings) addr() string { return joinHostPort(s.host, s.port) }

func joinHostPort(host string, port int) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]:" + strconv.Itoa(port)
	}
	return host + ":" + strconv.Itoa(port)
}

// dump is the output of ssh -G: lower-case keyword to its values in order.
type dump map[string][]string

func parseDump(out string) dump {
	d := dump{}
	for line := range strings.Lines(out) {
		k, v, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		if k = strings.ToLower(k); k != "" {
			d[k] = append(d[k], v)
		}
	}
	return d
}

func (d dump) first(k, unset string) string {
	if v := d[k]; len(v) > 0 {
		return v[0]
	}
	return unset
}

func (d dump) yes(k string, unset bool) bool {
	switch strings.ToLower(d.first(k, "")) {
	case "yes", "true":
		return true
	case "no", "false":
		return false
	}
	return unset
}

// settingsFrom reads a dump. ssh -G has expanded Host, Match and Include; what
// it leaves to the connection (~ and tokens in file names) is expanded here.
func settingsFrom(d dump, t target) (*settings, error) {
	if err := refuseSettings(d); err != nil {
		return nil, err
	}
	s := &settings{
		alias:        t.host,
		host:         d.first("hostname", t.host),
		user:         d.first("user", t.user),
		family:       d.first("addressfamily", "any"),
		bind:         d.first("bindaddress", ""),
		hostKeyAlias: d.first("hostkeyalias", ""),
		hashKnown:    d.yes("hashknownhosts", false),
		onlyIdentity: d.yes("identitiesonly", false),
		pubkey:       d.yes("pubkeyauthentication", true),
		proxyJump:    none(d.first("proxyjump", "")),
		proxyCommand: none(d.first("proxycommand", "")),
	}
	if t.user != "" {
		s.user = t.user
	}
	if s.user == "" {
		u, err := user.Current()
		if err != nil {
			return nil, fmt.Errorf("no user is configured and the local one is not known: %w", err)
		}
		s.user = u.Username
	}
	var err error
	if s.port, err = strconv.Atoi(d.first("port", "22")); err != nil || s.port < 1 || s.port > 65535 {
		return nil, fmt.Errorf("port %q is none", d.first("port", ""))
	}
	if t.port != 0 {
		s.port = t.port
	}
	if s.timeout, err = seconds(d.first("connecttimeout", "")); err != nil {
		return nil, fmt.Errorf("ConnectTimeout: %w", err)
	}
	if s.aliveEvery, err = seconds(d.first("serveraliveinterval", "")); err != nil {
		return nil, fmt.Errorf("ServerAliveInterval: %w", err)
	}
	s.aliveCount, _ = strconv.Atoi(d.first("serveralivecountmax", "3"))
	s.attempts, _ = strconv.Atoi(d.first("connectionattempts", "1"))
	if a := d.first("hostkeyalgorithms", ""); a != "" {
		s.hostKeyAlgos = strings.Split(a, ",")
	}
	switch v := strings.ToLower(d.first("stricthostkeychecking", "ask")); v {
	case "yes", "true":
		s.strict = "yes"
	case "no", "false", "off":
		s.strict = "no"
	case "accept-new", "ask":
		s.strict = v
	default:
		return nil, fmt.Errorf("StrictHostKeyChecking %q is none of yes, accept-new, ask, no", v)
	}
	x := newExpander(s)
	s.userKnown = x.files(splitWords(d.first("userknownhostsfile", "~/.ssh/known_hosts ~/.ssh/known_hosts2")))
	s.globalKnown = x.files(splitWords(d.first("globalknownhostsfile", "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2")))
	s.identities, s.identityIsSet = x.files(d["identityfile"]), len(d["identityfile"]) > 0
	if !s.identityIsSet {
		s.identities = x.files(defaultIdentities)
	}
	s.certificates = x.files(d["certificatefile"])
	s.agent = x.agent(d.first("identityagent", ""))
	s.unhonoured = unhonoured(d)
	return s, x.err
}

// defaultIdentities is what OpenSSH tries where nothing is set, less what Go
// cannot use from a file (security keys: those go through the agent).
var defaultIdentities = []string{"~/.ssh/id_rsa", "~/.ssh/id_ecdsa", "~/.ssh/id_ed25519"}

func none(s string) string {
	if strings.EqualFold(s, "none") {
		return ""
	}
	return s
}

// seconds reads a time as ssh_config has it: 30, 1m, 1h30m.
func seconds(s string) (time.Duration, error) {
	if s = none(s); s == "" {
		return 0, nil
	}
	if n, err := strconv.Atoi(s); err == nil {
		if n < 0 {
			return 0, fmt.Errorf("%q is negative", s)
		}
		return time.Duration(n) * time.Second, nil
	}
	total, digits := time.Duration(0), ""
	for _, r := range strings.ToLower(s) {
		if r >= '0' && r <= '9' {
			digits += string(r)
			continue
		}
		unit, ok := map[rune]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 168 * time.Hour}[r]
		n, err := strconv.Atoi(digits)
		if !ok || err != nil {
			return 0, fmt.Errorf("%q is no time", s)
		}
		total, digits = total+time.Duration(n)*unit, ""
	}
	if digits != "" {
		n, err := strconv.Atoi(digits)
		if err != nil {
			return 0, fmt.Errorf("%q is no time", s)
		}
		total += time.Duration(n) * time.Second
	}
	return total, nil
}

// splitWords splits a value at spaces, with double quotes for names that hold one.
func splitWords(s string) []string {
	var out []string
	var b strings.Builder
	quoted, word := false, false
	for _, r := range s {
		switch {
		case r == '"':
			quoted, word = !quoted, true
		case (r == ' ' || r == '\t') && !quoted:
			if word {
				out = append(out, b.String())
			}
			b.Reset()
			word = false
		default:
			b.WriteRune(r)
			word = true
		}
	}
	if word {
		out = append(out, b.String())
	}
	return out
}
