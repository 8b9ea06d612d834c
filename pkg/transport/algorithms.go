package transport

import (
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
)

// clientConfig begins the configuration of a handshake. The lists are what this
// program can do of what ssh_config has, in the user's order; an insecure
// algorithm stands in one only because the user wrote it.
func clientConfig(s *settings) *ssh.ClientConfig {
	return &ssh.ClientConfig{
		User:   s.user,
		Config: ssh.Config{KeyExchanges: s.kex, Ciphers: s.ciphers, MACs: s.macs},
	}
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
