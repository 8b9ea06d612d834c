package transport

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// algorithmList is one of the keywords that hold algorithms.
type algorithmList struct {
	name string
	// base is what OpenSSH takes by default, in its order, as far as the
	// library can do it.
	base []string
	// all is what the library can do, with what only an explicit setting may
	// bring back.
	all []string
}

var (
	kexList = newAlgorithmList("KexAlgorithms", func(a ssh.Algorithms) []string { return a.KeyExchanges },
		mlkem+" curve25519-sha256 ecdh-sha2-nistp256 ecdh-sha2-nistp384 ecdh-sha2-nistp521 "+
			"diffie-hellman-group-exchange-sha256 diffie-hellman-group16-sha512 diffie-hellman-group14-sha256")
	cipherList = newAlgorithmList("Ciphers", func(a ssh.Algorithms) []string { return a.Ciphers },
		"chacha20-poly1305@openssh.com aes128-ctr aes192-ctr aes256-ctr aes128-gcm@openssh.com aes256-gcm@openssh.com")
	macList = newAlgorithmList("MACs", func(a ssh.Algorithms) []string { return a.MACs },
		"hmac-sha2-256-etm@openssh.com hmac-sha2-512-etm@openssh.com hmac-sha2-256 hmac-sha2-512 hmac-sha1")
	hostKeyList = newAlgorithmList("HostKeyAlgorithms", func(a ssh.Algorithms) []string { return a.HostKeys }, keyAlgorithms)
	pubkeyList  = newAlgorithmList("PubkeyAcceptedAlgorithms", func(a ssh.Algorithms) []string {
		// The library lists the certificates under the host keys alone.
		return append(slices.Clone(a.PublicKeyAuths), append(a.HostKeys, ssh.CertAlgoSKED25519v01, ssh.CertAlgoSKECDSA256v01)...)
	}, keyAlgorithms)
)

const keyAlgorithms = "ssh-ed25519-cert-v01@openssh.com ecdsa-sha2-nistp256-cert-v01@openssh.com ecdsa-sha2-nistp384-cert-v01@openssh.com " +
	"ecdsa-sha2-nistp521-cert-v01@openssh.com sk-ssh-ed25519-cert-v01@openssh.com sk-ecdsa-sha2-nistp256-cert-v01@openssh.com " +
	"rsa-sha2-512-cert-v01@openssh.com rsa-sha2-256-cert-v01@openssh.com " +
	"ssh-ed25519 ecdsa-sha2-nistp256 ecdsa-sha2-nistp384 ecdsa-sha2-nistp521 sk-ssh-ed25519@openssh.com " +
	"sk-ecdsa-sha2-nistp256@openssh.com rsa-sha2-512 rsa-sha2-256"

const keyTypes = "ssh-ed25519 ssh-ed25519-cert-v01@openssh.com sk-ssh-ed25519@openssh.com sk-ssh-ed25519-cert-v01@openssh.com " +
	"ecdsa-sha2-nistp256 ecdsa-sha2-nistp256-cert-v01@openssh.com ecdsa-sha2-nistp384 ecdsa-sha2-nistp384-cert-v01@openssh.com " +
	"ecdsa-sha2-nistp521 ecdsa-sha2-nistp521-cert-v01@openssh.com sk-ecdsa-sha2-nistp256@openssh.com sk-ecdsa-sha2-nistp256-cert-v01@openssh.com " +
	"ssh-rsa ssh-rsa-cert-v01@openssh.com rsa-sha2-256 rsa-sha2-256-cert-v01@openssh.com rsa-sha2-512 rsa-sha2-512-cert-v01@openssh.com"

func newAlgorithmList(name string, pick func(ssh.Algorithms) []string, order string) *algorithmList {
	l := &algorithmList{name: name, all: append(pick(ssh.SupportedAlgorithms()), pick(ssh.InsecureAlgorithms())...)}
	l.base = l.supported(strings.Fields(order))
	// Patterns stand for what they match in OpenSSH's other order, in which
	// each type of key is followed by its certificates.
	inOrder := strings.Fields(keyTypes)
	slices.SortStableFunc(l.all, func(a, b string) int { return slices.Index(inOrder, a) - slices.Index(inOrder, b) })
	return l
}

// supported gives what of names the library can do, in their order.
func (l *algorithmList) supported(names []string) []string {
	var out []string
	alone := true // but for the stand-in
	for _, n := range names {
		// The library has one of OpenSSH's two key exchanges that withstand a
		// quantum computer. Who takes the older, as every default from 9.0 does,
		// takes the other, which an ssh before 9.9 cannot even name.
		standIn := l.name == "KexAlgorithms" && strings.HasPrefix(n, "sntrup761x25519-sha512")
		if standIn {
			n = mlkem
		}
		if !slices.Contains(l.all, n) {
			continue
		}
		alone = alone && standIn
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	if alone {
		return nil
	}
	return out
}

const mlkem = "mlkem768x25519-sha256"

// of gives what a configuration says, or the default.
func (l *algorithmList) of(d dump) ([]string, error) {
	v, set := d[strings.ToLower(l.name)]
	if !set {
		return slices.Clone(l.base), nil
	}
	if v[0] == "" { // as ssh -G prints the rest of a list that lost all
		return nil, fmt.Errorf("%s: nothing is left in the list", l.name)
	}
	return l.expand(v[0])
}

// expand gives the algorithms that spec, an argument of the keyword, stands
// for: a list, or one that + adds to, - takes from, or ^ puts before the
// default. Nothing of it that the library can do is an error.
func (l *algorithmList) expand(spec string) ([]string, error) {
	list := l.base
	switch spec[0] {
	case '+':
		list = append(slices.Clone(list), l.named(spec[1:])...)
	case '^':
		list = append(l.named(spec[1:]), list...)
	case '-':
		list = slices.DeleteFunc(slices.Clone(list), func(a string) bool { return matchList(a, spec[1:]) })
	default:
		list = l.named(spec)
	}
	if list = l.supported(list); len(list) == 0 {
		return nil, fmt.Errorf("%s %s: this program supports none of them; it has %s", l.name, Neutralise(spec), strings.Join(l.all, ","))
	}
	return list, nil
}

// named gives the names of a list, whose patterns stand for what they match.
func (l *algorithmList) named(list string) []string {
	var out []string
	for n := range strings.SplitSeq(list, ",") {
		if !strings.ContainsAny(n, "*?") {
			out = append(out, n)
			continue
		}
		out = append(out, slices.DeleteFunc(slices.Clone(l.all), func(a string) bool { return !matchPattern(a, n) })...)
	}
	return out
}
