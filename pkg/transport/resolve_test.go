package transport

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// resolved gives what p makes of a destination in a config file of text.
func resolved(t *testing.T, p *Pool, text, destination string) (*settings, *Error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ssh_config")
	write(t, file, text)
	return p.resolve(within(t, 20*time.Second), routeKey{Endpoint: Endpoint{Destination: destination, ConfigFile: file}})
}

// TestResolvers holds the reading of ssh_config to what ssh -G says of it, with
// a few spot checks that the oracle itself is read right.
func TestResolvers(t *testing.T) {
	t.Setenv("FLEET_TEST_DIR", "/from/environment")
	bySSH, byFile := newPool(t, Options{}), newPool(t, Options{SSHBinary: NoSSHBinary})
	home := homeDir()
	for _, tc := range []struct {
		name, text, dest string
		check            func(s *settings) bool
	}{
		{"nothing set", "", "box", func(s *settings) bool {
			return s.host == "box" && s.port == 22 && s.user == userName(t) && s.strict == "ask" && s.pubkey && len(s.unhonoured) == 0
		}},
		{"alias", "Host box\n HostName example.org\n User me\n Port 2222\n", "box", func(s *settings) bool {
			return s.addr() == "example.org:2222" && s.user == "me"
		}},
		{"another alias", "Host box\n HostName example.org\n", "other", func(s *settings) bool { return s.host == "other" }},
		{"destination goes first", "Host box\n User me\n Port 2222\n", "you@box:23", func(s *settings) bool { return s.user == "you" && s.port == 23 }},
		{"first value wins", "Host box\n Port 1\nHost *\n Port 2\n User all\n", "box", func(s *settings) bool { return s.port == 1 && s.user == "all" }},
		{"wildcards and negation", "Host web* !webx\n User w\nHost *\n User o\n", "webx", func(s *settings) bool { return s.user == "o" }},
		{"wildcard matches", "Host web* !webx\n User w\nHost *\n User o\n", "weby", func(s *settings) bool { return s.user == "w" }},
		{"HostName with a token", "Host box\n HostName %h.example.org\n", "box", func(s *settings) bool { return s.host == "box.example.org" }},
		{"several identities", "Host *\n IdentityFile ~/a\n IdentityFile /b\n", "box", func(s *settings) bool {
			return reflect.DeepEqual(s.identities, []string{home + "/a", "/b"})
		}},
		{"tokens in file names", "Host *\n IdentityFile ~/%r@%h:%p%%\n User u\n", "box", func(s *settings) bool {
			return s.identities[0] == home+"/u@box:22%"
		}},
		{"environment in file names", "Host *\n IdentityFile ${FLEET_TEST_DIR}/id\n", "box", func(s *settings) bool {
			return s.identities[0] == "/from/environment/id"
		}},
		{"no identity", "Host *\n IdentityFile none\n", "box", func(s *settings) bool { return len(s.identities) == 0 }},
		{"known hosts", "Host *\n UserKnownHostsFile /a /b\n GlobalKnownHostsFile /c\n HashKnownHosts yes\n", "box", func(s *settings) bool {
			return reflect.DeepEqual(s.userKnown, []string{"/a", "/b"}) && reflect.DeepEqual(s.globalKnown, []string{"/c"}) && s.hashKnown
		}},
		{"strict", "Host *\n StrictHostKeyChecking yes\n", "box", func(s *settings) bool { return s.strict == "yes" }},
		{"accept-new", "Host *\n StrictHostKeyChecking accept-new\n", "box", func(s *settings) bool { return s.strict == "accept-new" }},
		{"off", "Host *\n StrictHostKeyChecking off\n", "box", func(s *settings) bool { return s.strict == "no" }},
		{"times", "Host *\n ConnectTimeout 7\n ServerAliveInterval 90\n ServerAliveCountMax 5\n", "box", func(s *settings) bool {
			return s.timeout == 7*time.Second && s.aliveEvery == 90*time.Second && s.aliveCount == 5
		}},
		{"only these", "Host *\n IdentitiesOnly yes\n IdentityAgent none\n PubkeyAuthentication no\n", "box", func(s *settings) bool {
			return s.onlyIdentity && s.agent == "" && !s.pubkey
		}},
		{"agent", "Host *\n IdentityAgent ~/agent.sock\n", "box", func(s *settings) bool { return s.agent == home+"/agent.sock" }},
		{"agent of the environment", "Host *\n IdentityAgent $FLEET_TEST_DIR\n", "box", func(s *settings) bool { return s.agent == "/from/environment" }},
		{"jump", "Host box\n ProxyJump me@hop:2222,far\n", "box", func(s *settings) bool { return s.proxyJump == "me@hop:2222,far" }},
		{"no jump", "Host box\n ProxyJump none\nHost *\n ProxyJump hop\n", "box", func(s *settings) bool { return s.proxyJump == "" }},
		{"command", "Host box\n ProxyCommand nc -x p:1 %h %p\n", "box", func(s *settings) bool { return s.proxyCommand == "nc -x p:1 %h %p" }},
		{"family and address", "Host *\n AddressFamily inet6\n BindAddress ::1\n", "box", func(s *settings) bool { return s.family == "inet6" && s.bind == "::1" }},
		{"alias of the host key", "Host *\n HostKeyAlias other\n", "box", func(s *settings) bool { return s.hostKeyAlias == "other" }},
		{"what is not acted on", "Host *\n ForwardAgent yes\n Compression yes\n ControlMaster auto\n ControlPath /tmp/x\n", "box", func(s *settings) bool {
			return reflect.DeepEqual(s.unhonoured, []string{"Compression", "ControlMaster", "ControlPath"})
		}},
		{"commands and forwards", "Host *\n RemoteCommand top\n LocalForward 1 h:2\n LocalCommand x\n", "box", func(s *settings) bool {
			return reflect.DeepEqual(s.unhonoured, []string{"LocalForward", "RemoteCommand"})
		}},
		{"a local command", "Host *\n LocalCommand x\n PermitLocalCommand yes\n", "box", func(s *settings) bool {
			return reflect.DeepEqual(s.unhonoured, []string{"PermitLocalCommand"})
		}},
		{"nothing that is not acted on", "Host *\n ForwardAgent yes\n SetEnv A=b\n SendEnv C\n PreferredAuthentications password\n RevokedHostKeys /r\n", "box", func(s *settings) bool {
			return len(s.unhonoured) == 0
		}},
		{"who may be asked", "Host *\n BatchMode yes\n NumberOfPasswordPrompts 2\n PasswordAuthentication no\n PreferredAuthentications password,publickey\n", "box", func(s *settings) bool {
			return s.batch && s.prompts == 2 && !s.password && s.keyboard && reflect.DeepEqual(s.preferred, []string{"password", "publickey"})
		}},
		{"nobody said", "", "box", func(s *settings) bool {
			return !s.batch && s.prompts == 3 && s.password && s.keyboard && s.preferred == nil && s.revoked == "" && s.forwardAgent == "" && !s.identityIsSet
		}},
		{"environment", "Host *\n SendEnv A B C*\n SendEnv -B* D\n SetEnv X=1 Y=2 X=3\n SetEnv Z=4\n", "box", func(s *settings) bool {
			return reflect.DeepEqual(s.sendEnv, []string{"A", "C*", "D"}) && reflect.DeepEqual(s.setEnv, []string{"X=1", "Y=2"})
		}},
		{"the agent goes along", "Host *\n ForwardAgent yes\n IdentityAgent /a\n", "box", func(s *settings) bool { return s.forwardAgent == "/a" }},
		{"another agent goes along", "Host *\n ForwardAgent $FLEET_TEST_DIR\n IdentityAgent /a\n", "box", func(s *settings) bool {
			return s.forwardAgent == "/from/environment" && s.agent == "/a"
		}},
		{"no before a path", "Host box\n ForwardAgent no\nHost *\n ForwardAgent /b\n", "box", func(s *settings) bool { return s.forwardAgent == "" }},
		{"no for another", "Host x\n ForwardAgent no\nHost *\n ForwardAgent /b\n", "box", func(s *settings) bool { return s.forwardAgent == "/b" }},
		{"no agent to go along", "Host *\n ForwardAgent yes\n IdentityAgent none\n", "box", func(s *settings) bool { return s.forwardAgent == "" }},
		{"algorithms", "Host *\n Ciphers aes256-ctr,3des-cbc\n MACs -*etm*\n HostKeyAlgorithms ^rsa-sha2-256\n KexAlgorithms +diffie-hellman-group14-sha1\n", "box", func(s *settings) bool {
			return reflect.DeepEqual(s.ciphers, []string{"aes256-ctr", "3des-cbc"}) && reflect.DeepEqual(s.macs, []string{"hmac-sha2-256", "hmac-sha2-512", "hmac-sha1"}) &&
				s.hostKeyAlgos[0] == "rsa-sha2-256" && s.hostKeyAlgos[1] == "ssh-ed25519-cert-v01@openssh.com" && slices.Contains(s.kex, "diffie-hellman-group14-sha1")
		}},
		{"a key exchange of the future", "", "box", func(s *settings) bool { return s.kex[0] == mlkem && len(s.kex) == 8 }},
		{"none of the future, if so said", "KexAlgorithms -sntrup*,mlkem*\n", "box", func(s *settings) bool { return !slices.Contains(s.kex, mlkem) }},
		{"its place in the list", "KexAlgorithms curve25519-sha256,sntrup761x25519-sha512@openssh.com\n", "box", func(s *settings) bool {
			return slices.Equal(s.kex, []string{"curve25519-sha256", mlkem})
		}},
		{"no MAC that is known, and no need of one", "Host *\n MACs umac-128@openssh.com\n", "box", func(s *settings) bool {
			return s.macs == nil && !slices.Contains(s.ciphers, "aes128-ctr") && slices.Contains(s.ciphers, "aes128-gcm@openssh.com")
		}},
		{"a revoked file", "Host *\n RevokedHostKeys ~/r\n", "box", func(s *settings) bool { return s.revoked == home+"/r" }},
		{"ssh into the background", "Host box\n ForkAfterAuthentication yes\n User me\n", "box", func(s *settings) bool { return s.user == "me" && len(s.unhonoured) == 0 }},
		{"IPv6", "", "[::1]:2222", func(s *settings) bool { return s.addr() == "[::1]:2222" }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want, err := resolved(t, bySSH, tc.text, tc.dest)
			if err != nil {
				t.Fatalf("ssh -G: %v", err)
			}
			if !tc.check(want) {
				t.Errorf("ssh -G is read as %+v", want)
			}
			got, err := resolved(t, byFile, tc.text, tc.dest)
			if err != nil {
				t.Fatalf("the file: %v", err)
			}
			if d := differences(want, got); len(d) > 0 {
				t.Error(strings.Join(d, "\n"))
			}
		})
	}
}

func TestResolveRefusals(t *testing.T) {
	bySSH, byFile := newPool(t, Options{}), newPool(t, Options{SSHBinary: NoSSHBinary})
	for _, tc := range []struct {
		name, text, says string
		ssh, file        bool // refused
	}{
		{"Match exec", "Match exec true\n User x\n", "", false, false},
		{"Match that no file can answer", "Match version 9*\n User x\n", "version cannot be evaluated", true, true},
		{"a comment about Match", "# Match host\nHost *\n User x\n", "", false, false},
		{"a keyword that is none", "Host *\n NoSuchKeyword yes\n", "nosuchkeyword", true, true},
		{"ciphers that only OpenSSH has", "Host *\n Ciphers aes192-cbc\n", "Ciphers aes192-cbc", true, true},
		{"kex that only OpenSSH has", "Host *\n KexAlgorithms sntrup761x25519-sha512@openssh.com\n", "KexAlgorithms", true, true},
		{"MACs that only OpenSSH has, and a cipher that needs one", "Host *\n MACs umac-64@openssh.com\n Ciphers aes128-ctr\n", "MACs", true, true},
		{"a token that is unknown", "Host *\n CertificateFile /%Z\n", "%Z", true, true},
		{"a variable that is not there", "Host *\n IdentityFile ${FLEET_TEST_NONE}/x\n", "FLEET_TEST_NONE", true, true},
		{"a host name with a command in it", "Host box\n HostName x;id\n", "", true, true},
		{"a user name of Windows", "Host box\n User CORP\\alice\n", "", false, false},
		{"a user name with a blank and more", "Host box\n User \"a $b\"\n", "", false, false},
		{"a descriptor passed on", "Host *\n ProxyCommand x\n ProxyUseFdpass yes\n", "ProxyUseFdpass", true, true},
		{"a descriptor passed on by nobody", "Host *\n ProxyUseFdpass yes\n", "", false, false},
		{"a port that is none", "Host box\n Port 70000\n", "", true, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for p, refused := range map[*Pool]bool{bySSH: tc.ssh, byFile: tc.file} {
				_, err := resolved(t, p, tc.text, "box")
				if (err != nil) != refused {
					t.Errorf("with %q: %v, want refused %t", p.opts.SSHBinary, err, refused)
				}
				if err != nil && (err.Kind != KindConfig || err.Hint == "" || p == byFile && !strings.Contains(err.Error(), tc.says)) {
					t.Errorf("with %q: %v", p.opts.SSHBinary, err)
				}
			}
		})
	}
}

// TestNoSSHBinary logs in without one.
func TestNoSSHBinary(t *testing.T) {
	s := startServer(t)
	succeed(t, newPool(t, Options{SSHBinary: NoSSHBinary}), s.endpoint())
}

func TestHungSSHBinary(t *testing.T) {
	s := startServer(t)
	bin := s.path("ssh")
	write(t, bin, "#!/bin/sh\nsleep 60\n")
	if err := os.Chmod(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	_, err := newPool(t, Options{SSHBinary: bin}).Conn(s.endpoint()).Run(within(t, 300*time.Millisecond), Script{Text: ":"})
	if k, _ := KindOf(err); k != KindTimeout || time.Since(begin) > 5*time.Second {
		t.Errorf("got %v after %v", err, time.Since(begin))
	}
}

func TestSeconds(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want time.Duration
		bad  bool
	}{
		{"", 0, false}, {"none", 0, false}, {"99999999999", 0, true}, {"9999w", 0, true}, {"0", 0, false}, {"30", 30 * time.Second, false}, {"1m", time.Minute, false},
		{"1h30m", 90 * time.Minute, false}, {"1M5", 65 * time.Second, false}, {"1w", 168 * time.Hour, false},
		{"-1", 0, true}, {"x", 0, true}, {"1y", 0, true}, {"m", 0, true},
	} {
		if got, err := seconds(tc.in); got != tc.want || (err != nil) != tc.bad {
			t.Errorf("%q: got %v, %v", tc.in, got, err)
		}
	}
}

func TestSplitWords(t *testing.T) {
	for in, want := range map[string][]string{
		"": nil, "a": {"a"}, " a\tb ": {"a", "b"}, `"a b" c`: {"a b", "c"}, `a"b c"`: {"ab c"}, `""`: {""},
	} {
		if got := splitWords(in); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func FuzzParseDump(f *testing.F) {
	f.Add("hostname h\nport 22\nuser u\nidentityfile ~/x\n", "box")
	f.Add("userknownhostsfile \"a b\" c\nconnecttimeout 1h\n", "u@h:1")
	f.Fuzz(func(t *testing.T, text, dest string) {
		target, err := parseDestination(dest)
		if err != nil {
			return
		}
		if s, err := settingsFrom(&reading{dump: parseDump(text)}, target); err == nil && (s.port < 1 || s.port > 65535 || s.user == "") {
			t.Fatalf("%+v", s)
		}
	})
}
