package transport

import (
	"errors"
	"fmt"
	"os/user"
	"slices"
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
	agentID       string // of that socket as this was read; see SocketID
	pubkey        bool
	proxyJump     string
	proxyCommand  string
	batch         bool     // BatchMode: nobody is to be asked
	preferred     []string // PreferredAuthentications; nil = OpenSSH's order
	password      bool     // PasswordAuthentication
	keyboard      bool     // KbdInteractiveAuthentication
	prompts       int      // NumberOfPasswordPrompts
	pubkeyAlgos   []string // PubkeyAcceptedAlgorithms, as far as they are supported; likewise:
	kex           []string
	ciphers       []string
	macs          []string // nil if no cipher needs one
	revoked       string   // RevokedHostKeys, a file
	forwardAgent  string   // the agent's socket; empty = not forwarded
	sendEnv       []string // patterns of names
	setEnv        []string // NAME=value
	unhonoured    []string // set keywords that are not acted on, by name
	identityIsSet bool     // false: identities are the default list
	origin        *reading // where all this was read; shared, never changed
}

func (s *settings) addr() string { return joinHostPort(s.host, s.port) }

func joinHostPort(host string, port int) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]:" + strconv.Itoa(port)
	}
	return host + ":" + strconv.Itoa(port)
}

// reading is what was read about one endpoint. Endpoints share it: it is never
// changed.
type reading struct {
	dump   dump
	source string // sourceSSH or sourceFiles
	// files are those that were read, and folders those in which an Include
	// looked for more; when one has changed, all is read again.
	files, folders []string
	// warnings are of what was left out.
	warnings []string
	// env is in whose environment all this is read.
	env *environment
	// variables is whether a file may name variables of the environment.
	variables bool
	// login is whether one may name a variable of loginVars.
	login bool
	// ran is whether a command of the configuration was run, whose answer may
	// be another one at any time.
	ran bool
	// shape is what our own reader found applies, in general: see config_alike.go.
	shape string
}

const (
	sourceSSH   = "ssh -G"
	sourceFiles = "ssh_config"
)

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

// settingsFrom gives the meaning of what was read, by ssh -G or in the files:
// Host, Match and Include are settled, and what is left to the connection, such
// as ~ and tokens in file names, is expanded here.
func settingsFrom(r *reading, t target) (*settings, error) {
	d := r.dump
	if err := refuseSettings(d); err != nil {
		return nil, err
	}
	s := &settings{
		alias:        t.host,
		host:         d.first("hostname", t.host),
		user:         d.first("user", t.user),
		family:       strings.ToLower(d.first("addressfamily", "any")),
		bind:         d.first("bindaddress", ""),
		hostKeyAlias: d.first("hostkeyalias", ""),
		hashKnown:    d.yes("hashknownhosts", false),
		onlyIdentity: d.yes("identitiesonly", false),
		pubkey:       d.yes("pubkeyauthentication", true),
		password:     d.yes("passwordauthentication", true),
		keyboard:     d.yes("kbdinteractiveauthentication", true),
		batch:        d.yes("batchmode", false),
		proxyJump:    none(d.first("proxyjump", "")),
		proxyCommand: none(d.first("proxycommand", "")),
		sendEnv:      slices.Clone(d["sendenv"]),
		setEnv:       slices.Clone(d["setenv"]),
		origin:       r,
	}
	if p := d.first("preferredauthentications", ""); p != "" {
		s.preferred = strings.Split(p, ",")
	}
	if err := s.account(d, t); err != nil {
		return nil, err
	}
	if err := s.numbers(d); err != nil {
		return nil, err
	}
	if err := s.algorithms(d); err != nil {
		return nil, err
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
	if hop, err := parseDestination(s.proxyJump[strings.LastIndexByte(s.proxyJump, ',')+1:]); err == nil && hop.host == s.host &&
		(hop.port == s.port || hop.port == 0 && s.port == 22) && (hop.user == s.user || hop.user == "") {
		return nil, fmt.Errorf("%w: %s is its own jump host", errJumpLoop, s.host)
	}
	x := newExpander(s)
	x.only("%hnpr")
	if s.proxyJump = x.expandTokens(s.proxyJump); x.err != nil {
		return nil, fmt.Errorf("ProxyJump: %w", x.err)
	}
	s.unhonoured = unhonoured(d, r.env)
	return s, s.files(d)
}

// account settles who logs in, and at which port: the destination goes first.
func (s *settings) account(d dump, t target) error {
	if t.user != "" {
		s.user = t.user
	}
	if s.user == "" {
		u, err := user.Current()
		if err != nil {
			return fmt.Errorf("no user is configured and the local one is not known: %w", err)
		}
		s.user = u.Username
	}
	if s.port = t.port; s.port == 0 {
		port, err := portNumber(d.first("port", "22"))
		if err != nil {
			return err
		}
		s.port = port
	}
	return nil
}

// numbers reads the counts and times.
func (s *settings) numbers(d dump) error {
	for name, field := range map[string]*time.Duration{"ConnectTimeout": &s.timeout, "ServerAliveInterval": &s.aliveEvery} {
		v, err := seconds(d.first(strings.ToLower(name), ""))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		*field = v
	}
	for name, field := range map[string]*int{"ServerAliveCountMax": &s.aliveCount, "NumberOfPasswordPrompts": &s.prompts, "ConnectionAttempts": &s.attempts} {
		unset := "3"
		if field == &s.attempts {
			unset = "1"
		}
		v, err := strconv.ParseInt(d.first(strings.ToLower(name), unset), 10, 32)
		if err != nil || v < 0 {
			return fmt.Errorf("%s %q is no number from 0 up", name, d.first(strings.ToLower(name), unset))
		}
		*field = int(v)
	}
	if s.attempts == 0 {
		return errors.New("ConnectionAttempts 0 would never connect")
	}
	return nil
}

// algorithms reads the lists of what the connection may be made of.
func (s *settings) algorithms(d dump) error {
	for _, l := range []struct {
		list  *algorithmList
		field *[]string
	}{{kexList, &s.kex}, {cipherList, &s.ciphers}, {hostKeyList, &s.hostKeyAlgos}, {pubkeyList, &s.pubkeyAlgos}} {
		v, err := l.list.of(d)
		if err != nil {
			return err
		}
		*l.field = v
	}
	macs, err := macList.of(d)
	if err != nil {
		// A cipher that authenticates by itself needs none of them.
		own := slices.DeleteFunc(slices.Clone(s.ciphers), func(c string) bool {
			return !strings.Contains(c, "gcm@") && !strings.Contains(c, "poly1305@")
		})
		if len(own) == 0 {
			return err
		}
		s.ciphers, macs = own, nil
	}
	s.macs = macs
	return nil
}

// files settles which files are read, and which agent is asked.
func (s *settings) files(d dump) error {
	x := newExpander(s)
	known := s.origin.names("userknownhostsfile", "~/.ssh/known_hosts ~/.ssh/known_hosts2")
	s.globalKnown = withoutNone(s.origin.names("globalknownhostsfile", "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2"))
	if v := none(d.first("revokedhostkeys", "")); v != "" {
		s.revoked = tilde(v)
	}
	s.identities, s.identityIsSet = d["identityfile"], true
	if isDefaultIdentities(s.identities) {
		s.identities, s.identityIsSet = defaultIdentities, false
	}
	s.identities = x.files(s.identities)
	s.certificates = x.files(d["certificatefile"])
	// ssh -G has expanded these once, so that a token in them is none.
	x.lenient = s.origin.source == sourceSSH
	s.userKnown = x.files(known)
	s.agent = x.agent(d.first("identityagent", ""))
	switch v := d.first("forwardagent", "no"); strings.ToLower(v) {
	case "yes", "true":
		s.forwardAgent = s.agent
	case "no", "false", "none":
	default:
		s.forwardAgent = x.agent(v)
	}
	return x.err
}

// defaultIdentities is what OpenSSH tries where nothing is set, less the types
// that it no longer has.
var defaultIdentities = []string{"~/.ssh/id_rsa", "~/.ssh/id_ecdsa", "~/.ssh/id_ecdsa_sk", "~/.ssh/id_ed25519", "~/.ssh/id_ed25519_sk"}

// isDefaultIdentities is whether list is what ssh -G prints where nothing is
// set: versions differ at its end.
func isDefaultIdentities(list []string) bool {
	if len(list) == 0 {
		return true
	}
	for _, d := range defaultIdentities {
		if !slices.Contains(list, d) {
			return false
		}
	}
	return !slices.ContainsFunc(list, func(f string) bool {
		return !slices.Contains(defaultIdentities, f) && f != "~/.ssh/id_dsa" && f != "~/.ssh/id_xmss"
	})
}
