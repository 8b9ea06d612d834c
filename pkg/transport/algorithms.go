package transport

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// algorithmConfig gives the algorithms of a connection: where ssh_config has a
// list, what of it this program can do, in the user's order.
func algorithmConfig(s *settings) (ssh.Config, error) {
	var c ssh.Config
	c.SetDefaults()
	supported, insecure := ssh.SupportedAlgorithms(), ssh.InsecureAlgorithms()
	// By default the library leaves out two key exchanges for their cost alone.
	// They go before the insecure ones, to which an old server may need to fall.
	for _, k := range supported.KeyExchanges {
		if !slices.Contains(c.KeyExchanges, k) {
			at := slices.IndexFunc(c.KeyExchanges, func(o string) bool { return slices.Contains(insecure.KeyExchanges, o) })
			if at < 0 {
				at = len(c.KeyExchanges)
			}
			c.KeyExchanges = slices.Insert(c.KeyExchanges, at, k)
		}
	}
	for _, l := range []struct {
		keyword string
		set     []string
		can     []string
		to      *[]string
	}{
		{"KexAlgorithms", s.kex, append(supported.KeyExchanges, insecure.KeyExchanges...), &c.KeyExchanges},
		{"Ciphers", s.ciphers, append(supported.Ciphers, insecure.Ciphers...), &c.Ciphers},
		{"MACs", s.macs, append(supported.MACs, insecure.MACs...), &c.MACs},
	} {
		if l.set == nil {
			continue
		}
		got, err := chosen(l.keyword, l.set, l.can)
		if err != nil {
			return c, err
		}
		*l.to = got
	}
	return c, nil
}

// clientConfig begins the configuration of a handshake.
func (r *route) clientConfig(s *settings) (*ssh.ClientConfig, *Error) {
	c, err := algorithmConfig(s)
	if err != nil {
		return nil, algorithmError(r.key.Endpoint, err)
	}
	return &ssh.ClientConfig{Config: c, User: s.user}, nil
}

func algorithmError(e Endpoint, err error) *Error {
	return &Error{Kind: KindConfig, Endpoint: e, Err: err, Hint: "change or remove that line of ssh_config"}
}

// chosen is what of a configured list is supported, in its own order. An
// insecure algorithm stands in it only because the user wrote it.
func chosen(keyword string, list, supported []string) ([]string, error) {
	var out []string
	for _, a := range list {
		if a == "curve25519-sha256@libssh.org" {
			a = ssh.KeyExchangeCurve25519 // one algorithm; the library adds the old name
		}
		if slices.Contains(supported, a) && !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s %s: nothing of it is supported; %s would be", keyword, strings.Join(list, ","), strings.Join(supported, ","))
	}
	return out, nil
}

// certSuffix ends the names of certificate types and algorithms.
const certSuffix = "-cert-v01@openssh.com"

func isCertAlgo(a string) bool { return strings.HasSuffix(a, certSuffix) }

// keyTypeOf gives the type of the keys that an algorithm, not one for
// certificates, goes with: three are for RSA keys.
func keyTypeOf(algorithm string) string {
	if algorithm == ssh.KeyAlgoRSASHA256 || algorithm == ssh.KeyAlgoRSASHA512 {
		return ssh.KeyAlgoRSA
	}
	return algorithm
}

// negotiationHint tells what a server without a common algorithm offers, and
// the keyword to change.
func negotiationHint(err *ssh.AlgorithmNegotiationError) string {
	return Neutralise(fmt.Sprintf("for the %s, this side takes %s; the server offers %s. See KexAlgorithms, Ciphers, MACs and HostKeyAlgorithms in ssh_config, or update the server",
		err.What, strings.Join(err.SupportedAlgorithms, ","), strings.Join(err.RequestedAlgorithms, ",")))
}
