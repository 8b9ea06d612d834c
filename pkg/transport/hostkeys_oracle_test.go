package transport

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// hostOutcome is what becomes of a host under StrictHostKeyChecking accept-new.
type hostOutcome string

const (
	known   hostOutcome = "known"
	added   hostOutcome = "taken for new"
	refused hostOutcome = "refused"
)

// outcomes gives what real ssh and what this package make of a known_hosts text.
// Each has a copy of its own to write to. @DIR@ in a config line is that copy's
// directory.
func outcomes(t *testing.T, s *server, text string, config []string) (theirs, ours hostOutcome, said string) {
	t.Helper()
	run := func(login func(config string) (bool, string)) (hostOutcome, string) {
		dir := t.TempDir()
		file := filepath.Join(dir, "known_hosts")
		write(t, file, text)
		lines := []string{"UserKnownHostsFile " + file, "StrictHostKeyChecking accept-new", "BatchMode yes", "HashKnownHosts no"}
		for _, l := range config {
			lines = append([]string{strings.ReplaceAll(l, "@DIR@", dir)}, lines...)
		}
		ok, said := login(s.configFile(s.block("box", lines...)))
		now, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case !ok:
			return refused, said
		case string(now) != text:
			return added, said
		}
		return known, said
	}
	theirs, _ = run(func(config string) (bool, string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "ssh", "-F", config, "box", "true")
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return err == nil, string(out)
	})
	ours, said = run(func(config string) (bool, string) {
		_, err := newPool(t, Options{}).Conn(Endpoint{Destination: "box", ConfigFile: config}).Run(within(t, time.Minute), Script{Text: ":"})
		if err == nil {
			return true, ""
		}
		if k, _ := KindOf(err); k != KindHostKeyChanged && k != KindHostKeyUnknown && k != KindConfig {
			t.Errorf("neither known nor unknown: %v", err)
		}
		return false, err.Error()
	})
	return theirs, ours, said
}

// keyLine is a line of known_hosts, or part of one.
func keyLine(before string, k ssh.PublicKey) string {
	return before + " " + strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k)))
}

// TestKnownHostsAsOpenSSH compares with real ssh what a table of known_hosts
// files makes of one host.
func TestKnownHostsAsOpenSSH(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	other := newKey(t, s.path("other"))
	rsa := sshKeygen(t, s.path("other_rsa"), "-t", "rsa")
	host := s.hosts[0]
	at := fmt.Sprintf("[127.0.0.1]:%d", s.port)
	// via makes any name and port lead to the server.
	via := func(name string, port int) []string {
		return []string{
			fmt.Sprintf("Port %d", port), "HostName " + name,
			fmt.Sprintf("ProxyCommand env %s=1 %s 127.0.0.1 %d", proxyEnv, os.Args[0], s.port),
		}
	}
	hash := func(name string) string { return hashed(t, name) }

	for _, tc := range []struct {
		name   string
		known  []string
		config []string
		want   hostOutcome
	}{
		{"with port", []string{keyLine(at, host)}, nil, known},
		{"without port", []string{keyLine("127.0.0.1", host)}, nil, known},
		{"another port", []string{keyLine("[127.0.0.1]:1", host)}, nil, added},
		{"port without brackets", []string{keyLine(strings.NewReplacer("[", "", "]", "").Replace(at), host)}, nil, added},
		{"changed", []string{keyLine(at, other)}, nil, refused},
		{"changed without port", []string{keyLine("127.0.0.1", other)}, nil, added},
		{"right with port, wrong without", []string{keyLine("127.0.0.1", other), keyLine(at, host)}, nil, known},
		{"wrong with port, right without", []string{keyLine("127.0.0.1", host), keyLine(at, other)}, nil, refused},
		{"another type", []string{keyLine(at, rsa)}, nil, refused},
		{"another type without port", []string{keyLine("127.0.0.1", rsa)}, nil, added},
		{"two keys, the second right", []string{keyLine(at, other), keyLine(at, host)}, nil, known},
		{"hashed", []string{keyLine(hash(at), host)}, nil, known},
		{"hashed without port", []string{keyLine(hash("127.0.0.1"), host)}, nil, known},
		{"hashed, another", []string{keyLine(hash("elsewhere"), host)}, nil, added},
		{"hashed, broken", []string{keyLine("|1|AAAA", host)}, nil, added},
		{"hashed, of another kind", []string{keyLine(strings.Replace(hash(at), "|1|", "|2|", 1), host)}, nil, added},
		{"list", []string{keyLine("elsewhere,"+at, host)}, nil, known},
		{"list with an empty part", []string{keyLine("elsewhere,,"+at+",", host)}, nil, known},
		{"wildcard", []string{keyLine("*", host)}, nil, known},
		{"wildcard, changed", []string{keyLine("*", other)}, nil, refused},
		{"wildcard in the name", []string{keyLine("127.0.*.1", host)}, nil, known},
		{"wildcard in the name, changed", []string{keyLine("127.0.*.1", other)}, nil, added},
		{"wildcard for the port", []string{keyLine("[127.0.0.1]:*", host)}, nil, known},
		{"question mark", []string{keyLine("127.0.0.?", host)}, nil, known},
		{"question mark is one", []string{keyLine("127.0.0.1?", host)}, nil, added},
		{"negated", []string{keyLine("*,!"+at, host)}, nil, known}, // by the bare name
		{"negated by wildcard", []string{keyLine("*,!*127*", host)}, nil, added},
		{"negated first", []string{keyLine("!*127*,*", host)}, nil, added},
		{"negated, another", []string{keyLine("*,!elsewhere", host)}, nil, known},
		{"negated alone", []string{keyLine("!elsewhere", host)}, nil, added},
		{"comment", []string{"# " + keyLine(at, other), keyLine(at, host)}, nil, known},
		{"comment after spaces", []string{"   # " + keyLine(at, other), "\t" + keyLine(at, host)}, nil, known},
		{"words after the key", []string{keyLine(at, host) + " me@here # and more"}, nil, known},
		{"tabs", []string{strings.ReplaceAll(keyLine(at, host), " ", "\t\t")}, nil, known},
		{"broken lines", []string{"what", "what is", "what is this", at + " ssh-ed25519 AAAA", "@nothing " + keyLine(at, other), keyLine(at, host)}, nil, known},
		{"broken line alone", []string{at + " ssh-ed25519 AAAA"}, nil, added},
		{"type that is not the key's", []string{at + " ssh-rsa" + strings.TrimPrefix(keyLine("", host), " ssh-ed25519")}, nil, added},
		{"two marks", []string{"@revoked @cert-authority " + keyLine(at, host)}, nil, added},
		{"carriage returns", []string{keyLine(at, host) + "\r"}, nil, known},
		{"empty", nil, nil, added},
		{"authority's key alone is no host's", []string{"@cert-authority " + keyLine(at, other)}, nil, added},
		{"authority's key is shown by the host", []string{"@cert-authority " + keyLine(at, host)}, nil, added},
		{"revoked", []string{keyLine(at, host), "@revoked " + keyLine("*", host)}, nil, refused},
		{"revoked before", []string{"@revoked " + keyLine(at, host), keyLine(at, host)}, nil, refused},
		{"revoked, unknown", []string{"@revoked " + keyLine("*", host)}, nil, refused},
		{"revoked elsewhere", []string{keyLine(at, host), "@revoked " + keyLine("elsewhere", host)}, nil, known},
		{"another is revoked", []string{keyLine(at, host), "@revoked " + keyLine("*", other)}, nil, known},
		{"alias", []string{keyLine("thebox", host)}, []string{"HostKeyAlias TheBox"}, known},
		{"alias, changed", []string{keyLine("thebox", other)}, []string{"HostKeyAlias thebox"}, refused},
		{"alias has no port", []string{keyLine(fmt.Sprintf("[thebox]:%d", s.port), host)}, []string{"HostKeyAlias thebox"}, added},
		{"alias, the address is known", []string{keyLine(at, host)}, []string{"HostKeyAlias thebox"}, added},
		{"two files", []string{keyLine("elsewhere", host)}, []string{"UserKnownHostsFile @DIR@/known_hosts " + s.path("known_hosts")}, known},
		{"missing file first", []string{keyLine(at, host)}, []string{"UserKnownHostsFile @DIR@/none @DIR@/known_hosts"}, known},
		{"directory first", []string{keyLine(at, host)}, []string{"UserKnownHostsFile @DIR@ @DIR@/known_hosts"}, known},
		{"global file", nil, []string{"GlobalKnownHostsFile " + s.path("known_hosts")}, known},
		{"changed in the global file", []string{keyLine("elsewhere", host)}, []string{"GlobalKnownHostsFile @DIR@/../other_known"}, added},
		{"upper case in the config", []string{keyLine("box.example", host)}, via("BOX.Example", 22), known},
		{"upper case in the file", []string{keyLine("BOX.Example", host)}, via("box.example", 22), known},
		{"upper case, hashed", []string{keyLine(hash("box.example"), host)}, via("BOX.Example", 22), known},
		{"port 22 is bare", []string{keyLine("[box.example]:22", host)}, via("box.example", 22), added},
		{"port 22, wildcard", []string{keyLine("*.example", host)}, via("box.example", 22), known},
		{"other port, wildcard", []string{keyLine("*.example", other)}, via("box.example", 2022), added},
		{"IPv6", []string{keyLine("::1", host)}, via("::1", 22), known},
		{"IPv6, changed", []string{keyLine("::1", other)}, via("::1", 22), refused},
		{"IPv6 with port", []string{keyLine("[::1]:2022", host)}, via("::1", 2022), known},
		{"IPv6 with port, hashed", []string{keyLine(hash("[::1]:2022"), host)}, via("::1", 2022), known},
		{"IPv6 with another port", []string{keyLine("[::1]:2023", host)}, via("::1", 2022), added},
		{"IPv6 by the bare address", []string{keyLine("::1", host)}, via("::1", 2022), known},
		{"RevokedHostKeys", []string{keyLine(at, host)}, []string{"RevokedHostKeys " + fileOf(t, keyLine("", host)[1:], "")}, refused},
		{"RevokedHostKeys, another", []string{keyLine(at, host)}, []string{"RevokedHostKeys " + fileOf(t, "# a list", "", keyLine("", other)[1:]+" other", "")}, known},
		{"RevokedHostKeys, empty", []string{keyLine(at, host)}, []string{"RevokedHostKeys " + fileOf(t)}, known},
		{"RevokedHostKeys, missing", []string{keyLine(at, host)}, []string{"RevokedHostKeys /nonexistent/revoked"}, refused},
		{"RevokedHostKeys, broken", []string{keyLine(at, host)}, []string{"RevokedHostKeys " + fileOf(t, "what is this", "")}, refused},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			text := ""
			if len(tc.known) > 0 {
				text = strings.Join(tc.known, "\n") + "\n"
			}
			theirs, ours, said := outcomes(t, s, text, tc.config)
			if theirs != tc.want || ours != tc.want {
				t.Errorf("want %s; ssh: %s; this package: %s %s", tc.want, theirs, ours, said)
			}
		})
	}
}

// TestHostCertificatesAsOpenSSH compares what becomes of a host that shows a
// certificate.
func TestHostCertificatesAsOpenSSH(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		sign string   // arguments of ssh-keygen -s
		more []string // lines of known_hosts; CA, OTHER and HOST are keys, AT is the host
		conf string
		want hostOutcome
	}{
		{"valid", "-h -n 127.0.0.1", []string{"@cert-authority AT CA"}, "", known},
		{"valid, the authority for all", "-h -n 127.0.0.1", []string{"@cert-authority * CA"}, "", known},
		{"valid, the authority without port", "-h -n 127.0.0.1", []string{"@cert-authority 127.0.0.1 CA"}, "", known},
		{"valid, the bare key has changed", "-h -n 127.0.0.1", []string{"@cert-authority AT CA", "AT OTHER"}, "", known},
		{"by alias", "-h -n thebox", []string{"@cert-authority thebox CA"}, "HostKeyAlias thebox", known},
		{"one of several principals", "-h -n elsewhere,127.0.0.1", []string{"@cert-authority AT CA"}, "", known},
		{"wrong principal", "-h -n elsewhere", []string{"@cert-authority AT CA"}, "", added},
		{"wrong principal, the key is known", "-h -n elsewhere", []string{"@cert-authority AT CA", "AT HOST"}, "", known},
		{"wrong principal, the key has changed", "-h -n elsewhere", []string{"@cert-authority AT CA", "AT OTHER"}, "", refused},
		{"expired", "-h -n 127.0.0.1 -V 20200101:20200102", []string{"@cert-authority AT CA"}, "", added},
		{"not yet valid", "-h -n 127.0.0.1 -V 20990101:20990102", []string{"@cert-authority AT CA"}, "", added},
		{"authority for another host", "-h -n 127.0.0.1", []string{"@cert-authority elsewhere CA"}, "", added},
		{"another authority", "-h -n 127.0.0.1", []string{"@cert-authority AT OTHER"}, "", added},
		{"authority known as a host", "-h -n 127.0.0.1", []string{"AT CA"}, "", refused},
		{"no authority, the key is known", "-h -n 127.0.0.1", []string{"AT HOST"}, "", known},
		{"authority revoked", "-h -n 127.0.0.1", []string{"@cert-authority AT CA", "@revoked * CA"}, "", refused},
		{"authority revoked, the key is known", "-h -n 127.0.0.1", []string{"@cert-authority AT CA", "@revoked * CA", "AT HOST"}, "", refused},
		{"key revoked", "-h -n 127.0.0.1", []string{"@cert-authority AT CA", "@revoked * HOST"}, "", refused},
		{"authority in RevokedHostKeys", "-h -n 127.0.0.1", []string{"@cert-authority AT CA"}, "RevokedHostKeys CAFILE", refused},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t)
			s.stop()
			ca, other := newKey(t, s.path("ca")), newKey(t, s.path("other"))
			write(t, s.path("ca.pub"), string(ssh.MarshalAuthorizedKey(ca)))
			write(t, s.path("certified.pub"), string(ssh.MarshalAuthorizedKey(s.hosts[0])))
			args := append([]string{"-q", "-s", s.path("ca"), "-I", "box"}, strings.Fields(tc.sign)...)
			if out, err := exec.Command("ssh-keygen", append(args, s.path("certified.pub"))...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			s.config = append(s.config, "HostCertificate "+s.path("certified-cert.pub"))
			s.start()
			fill := strings.NewReplacer("AT ", fmt.Sprintf("[127.0.0.1]:%d ", s.port), "CAFILE", s.path("ca.pub"),
				"CA", keyLine("", ca)[1:], "OTHER", keyLine("", other)[1:], "HOST", keyLine("", s.hosts[0])[1:])
			var config []string
			if tc.conf != "" {
				config = []string{fill.Replace(tc.conf)}
			}
			theirs, ours, said := outcomes(t, s, fill.Replace(strings.Join(tc.more, "\n"))+"\n", config)
			if theirs != tc.want || ours != tc.want {
				t.Errorf("want %s; ssh: %s; this package: %s %s", tc.want, theirs, ours, said)
			}
		})
	}
}

// hashed is a name as ssh-keygen -H leaves it.
func hashed(t *testing.T, name string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "known_hosts")
	write(t, file, name+" ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHNvbWUga2V5IG9mIHRoaXJ0eS10d28gYnl0ZXMhISEh\n")
	if out, err := exec.Command("ssh-keygen", "-q", "-H", "-f", file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))[0]
}

// fileOf writes lines to a file of its own.
func fileOf(t *testing.T, lines ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, strings.Join(lines, "\n"))
	return file
}

// sshKeygen makes a key of any type and gives its public half, which it leaves
// beside it.
func sshKeygen(t *testing.T, file string, args ...string) ssh.PublicKey {
	t.Helper()
	args = append([]string{"-q", "-N", "", "-f", file}, args...)
	if out, err := exec.Command("ssh-keygen", args...).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v: %s", err, out)
	}
	text, err := os.ReadFile(file + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	pub, _, _, _, err := ssh.ParseAuthorizedKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return pub
}
