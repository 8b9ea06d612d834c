package transport

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// refuseSettings refuses what would be unsafe, or could not work, if it were
// merely left out.
func refuseSettings(d dump) error {
	if d.yes("proxyusefdpass", false) && none(d.first("proxycommand", "")) != "" {
		return errors.New("ProxyUseFdpass is not supported; let the ProxyCommand copy its standard streams")
	}
	if v := none(d.first("refuseconnection", "")); v != "" {
		return fmt.Errorf("RefuseConnection: %s", Neutralise(v))
	}
	return nil
}

// unhonoured names, as ssh_config(5) spells them, the keywords that are set to
// something which this package does not do.
func unhonoured(d dump, env *environment) []string {
	var out []string
	for i := range keywords {
		k := &keywords[i]
		if k.fate == named && slices.ContainsFunc(d[strings.ToLower(k.name)], func(v string) bool { return k.asks(v, d, env) }) {
			out = append(out, k.name)
		}
	}
	return out
}

// asks is whether the value v of the named keyword k asks for something.
func (k *keyword) asks(v string, d dump, env *environment) bool {
	if v == "" || slices.ContainsFunc(strings.Split(k.idle, "|"), func(w string) bool { return strings.EqualFold(v, w) }) {
		return false
	}
	switch k.name {
	case "GSSAPIAuthentication":
		// Distributions turn it on for everybody, and without a ticket it does
		// nothing in ssh either.
		return hasTicket(env)
	case "PermitLocalCommand":
		return none(d.first("localcommand", "")) != ""
	case "CASignatureAlgorithms":
		return restrictsCA(v)
	}
	return true
}

// hasTicket is whether the account may hold a Kerberos ticket.
func hasTicket(env *environment) bool {
	if env.get("KRB5CCNAME") != "" {
		return true
	}
	_, err := os.Stat(fmt.Sprintf("/tmp/krb5cc_%d", os.Getuid()))
	return err == nil
}

// restrictsCA is whether v leaves out one of the algorithms that every
// OpenSSH since 8.2 takes for the signature of a certificate by default.
func restrictsCA(v string) bool {
	if strings.HasPrefix(v, "+") || strings.HasPrefix(v, "^") {
		return false
	}
	for _, a := range []string{"ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "rsa-sha2-512", "rsa-sha2-256"} {
		if !slices.Contains(strings.Split(v, ","), a) {
			return true
		}
	}
	return false
}
