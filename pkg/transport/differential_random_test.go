package transport

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// configMaker makes random ssh_configs from a grammar: valid for the most part,
// oddly spaced and quoted, with patterns that often match.
type configMaker struct {
	*rand.Rand
	files map[string]string
}

func (m *configMaker) pick(from ...string) string { return from[m.IntN(len(from))] }

// some is true in one of n cases.
func (m *configMaker) some(n int) bool { return m.IntN(n) == 0 }

func newConfigMaker(seed uint64) *configMaker {
	return &configMaker{Rand: rand.New(rand.NewPCG(seed, 1)), files: map[string]string{}}
}

// makeConfig gives the case of a seed.
func makeConfig(seed uint64) configCase {
	m := newConfigMaker(seed)
	c := configCase{name: fmt.Sprint(seed), files: m.files}
	c.dest = m.pick("box", "box", "box", "web", "BOX", "db1.example.com", "bob@box", "box:77", "bob@web:77", "10.0.0.1", "[::1]:22")
	c.text = m.file(0)
	return c
}

func (m *configMaker) file(depth int) string {
	var b strings.Builder
	for range m.IntN(12) {
		switch n := m.IntN(12); {
		case n < 2:
			b.WriteString(m.line("Host", m.patterns(" ")))
		case n < 4:
			b.WriteString(m.line("Match", m.criteria()))
		case n == 4 && depth < 3:
			name := fmt.Sprintf("inc%d", len(m.files))
			m.files[name] = "" // taken
			m.files[name] = m.file(depth + 1)
			b.WriteString(m.line("Include", m.pick("DIR/"+name, "DIR/"+name, "DIR/none", "DIR/"+name+"*", "no/such")))
		case n == 5:
			b.WriteString(m.pick("", " ", "\t", "# User x", "  # Host box", "#") + "\n")
		default:
			k, v := m.setting()
			b.WriteString(m.line(k, v))
		}
	}
	return b.String()
}

// line writes a keyword and its value in one of the ways that there are.
func (m *configMaker) line(keyword, value string) string {
	keyword = m.pick(keyword, keyword, strings.ToLower(keyword), strings.ToUpper(keyword))
	between := m.pick(" ", " ", " ", "\t", "  ", "=", " = ", "= ", " =", " \t ")
	before, after := m.pick("", "", "  ", "\t", " \t"), m.pick("", "", "", " ", "\t", "\r", " # c", " #", "\t# User x")
	if m.some(40) {
		keyword = `"` + keyword + `"`
	}
	return before + keyword + between + value + after + "\n"
}

// quoted puts quotes around a word, or not.
func (m *configMaker) quoted(s string) string {
	return m.pick(s, s, s, s, s, `"`+s+`"`, `"`+s+`"`, `'`+s+`'`, s[:1]+`"`+s[1:]+`"`)
}

func (m *configMaker) pattern() string {
	return m.pick("", "", "", "", "!") + m.pick("box", "box", "b*", "bo?", "*", "*", "web", "w?b", "BOX", "*.example.com", "db?.example.com", "10.0.*", "::1", "box?", "b**x", "?", "z", "*b*")
}

func (m *configMaker) patterns(sep string) string {
	var out []string
	for range 1 + m.IntN(3) {
		p := m.pattern()
		if sep == " " {
			p = m.quoted(p)
		}
		out = append(out, p)
	}
	return strings.Join(out, sep)
}

func (m *configMaker) criteria() string {
	if m.some(6) {
		return m.pick("all", "all", "!all", "final all", "canonical all", "all # host x", "all host box", "host box all")
	}
	var out []string
	for range 1 + m.IntN(3) {
		not := m.pick("", "", "", "!")
		if m.some(8) {
			out = append(out, not+m.pick("final", "canonical"))
			continue
		}
		name := m.pick("host", "host", "originalhost", "user", "localuser", "exec")
		value := m.patterns(",")
		switch name {
		case "user", "localuser":
			value = m.pick("root", "bob", "r*", "root,bob", "!root,*", "x", "*")
		case "exec":
			value = m.pick("true", "false", `"test %p = 77"`, `"test %h = web"`, `"test %n = box"`, `"test %r = bob"`, `"exit 3"`)
		default:
			if m.some(4) {
				value = `"` + value + `"`
			}
		}
		if m.some(40) {
			value = "'" + value + "'"
		}
		out = append(out, not+m.pick(name, strings.ToUpper(name))+m.pick(" ", " ", "=", "  ", " = ")+value)
	}
	if m.some(60) {
		out = append(out, m.pick("bogus x", "host", "moonphase full"))
	}
	return strings.Join(out, " ")
}

// setting is a keyword and a value for it, sometimes one that is wrong.
func (m *configMaker) setting() (keyword, value string) {
	if m.some(60) {
		return m.pick("NoSuchKeyword", "Compression", "Port", "User", "ConnectTimeout"), m.pick("x y", `"`, "#", "''", "-1", "1y")
	}
	word := func(keyword string, values ...string) func() (string, string) {
		return func() (string, string) { return keyword, m.quoted(m.pick(values...)) }
	}
	raw := func(keyword string, values ...string) func() (string, string) {
		return func() (string, string) { return keyword, m.pick(values...) }
	}
	all := []func() (string, string){
		word("User", "bob", "alice", "root", "a b", "a#b", "u@v"), word("User", "bob", "carol"),
		word("HostName", "web", "%h.example.com", "Web.Example.Com", "10.0.0.1", "::1", "a%%b", "box"), word("HostName", "web", "db1.example.com"),
		word("Port", "77", "2222", "22", "ssh"), word("IdentityFile", "~/a", "/b", "/k-%r@%h:%p", "none", "/%n", "/a b", "${FLEET_TEST_DIR}/x"),
		word("IdentityFile", "~/a", "/b", "/c"), word("CertificateFile", "/c", "~/d"), word("IdentitiesOnly", "yes", "no", "TRUE"),
		word("IdentityAgent", "none", "~/s", "$FLEET_TEST_DIR", "SSH_AUTH_SOCK", "/%h"), word("ForwardAgent", "yes", "no", "YES"),
		word("StrictHostKeyChecking", "yes", "no", "ask", "accept-new", "off"), word("HashKnownHosts", "yes", "no"),
		raw("UserKnownHostsFile", "/a", "/a ~/b", "none", `"/c" /%h`, `"/e f" /g`, "'/d'"), raw("GlobalKnownHostsFile", "/g", "/g /h", "none"),
		word("RevokedHostKeys", "/r", "none"), word("HostKeyAlias", "alias", "%h"), word("ConnectTimeout", "5", "1m", "none", "0"),
		word("ServerAliveInterval", "30", "1m"), word("ServerAliveCountMax", "2", "0"), word("ConnectionAttempts", "2", "4"),
		word("AddressFamily", "inet", "inet6", "any"), word("BindAddress", "127.0.0.1"),
		raw("ProxyJump", "hop", "none", "a,b", "u@h:22", "10.0.0.1", "[::1]:5", "hop # c", "a b", "j-%h,%r@j"), raw("ProxyCommand", "nc %h %p", "none", "sh -c 'x #y'", "= x", `"a b" c`),
		raw("SendEnv", "A", "A B*", "-A", "LC_*", "-B* C", `"A" B`), raw("SetEnv", "A=1", `A="b c" B=2`, "A=1 A=2", "B=3"),
		word("Ciphers", "+aes128-cbc", "-aes1*", "^aes256-ctr", "aes128-ctr"), word("HostKeyAlgorithms", "+ssh-rsa", "^rsa-*", "-ecdsa*", "ssh-ed25519"),
		word("KexAlgorithms", "-ecdh*", "^ecdh-sha2-nistp256", "curve25519-sha256"), word("MACs", "-*etm*", "hmac-sha2-256"),
		word("PubkeyAcceptedAlgorithms", "+ssh-rsa", "-rsa*"), word("BatchMode", "yes", "no"), word("PasswordAuthentication", "yes", "no"),
		word("KbdInteractiveAuthentication", "no"), word("ChallengeResponseAuthentication", "no", "yes"), word("PubkeyAuthentication", "no", "unbound"),
		word("PreferredAuthentications", "password", "publickey,password"), word("NumberOfPasswordPrompts", "1", "2"), word("Compression", "yes", "no"),
		raw("RemoteCommand", "top # x", "none"), word("ControlMaster", "auto", "no"), word("LogLevel", "QUIET"),
		raw("IgnoreUnknown", "No*", "x,y"), word("ProxyUseFdpass", "no"), word("RequestTTY", "force"), word("Protocol", "2"),
	}
	return all[m.IntN(len(all))]()
}

// compareSeed compares the resolvers on the config of a seed, and says whether
// OpenSSH took it, and whether the second resolver was excused.
func compareSeed(t testing.TB, seed uint64) (taken, excused bool) {
	t.Helper()
	c := makeConfig(seed)
	ssh, file := resolveBoth(t, c)
	c.unclear = file.err != nil && strings.Contains(file.err.Error(), cannot) || file.s != nil && strings.Contains(fmt.Sprint(file.s.origin.warnings), cannot)
	if d := c.disagreement(ssh, file); d != "" {
		t.Errorf("seed %d, %q, with %q\n%s\n%s", seed, c.dest, c.files, c.text, d)
	}
	return ssh.err == nil, c.unclear
}

// TestRandomConfigs compares the resolvers on configs that nobody wrote.
func TestRandomConfigs(t *testing.T) {
	t.Setenv("FLEET_TEST_DIR", "/from/environment")
	const n = 60
	taken, excused := 0, 0
	for seed := range uint64(n) {
		ok, unclear := compareSeed(t, seed)
		if ok {
			taken++
		}
		if unclear {
			excused++
		}
	}
	// A grammar that OpenSSH refuses, or that the second resolver is excused
	// from, would show nothing.
	if taken < n/2 || excused > n/6 {
		t.Errorf("of %d configs, OpenSSH took %d and the second resolver was excused from %d", n, taken, excused)
	}
}

func FuzzConfigs(f *testing.F) {
	f.Setenv("FLEET_TEST_DIR", "/from/environment")
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { compareSeed(t, seed) })
}
