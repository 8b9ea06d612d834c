package transport

import (
	"errors"
	"fmt"
	"strings"
)

// notActedOn lists the keywords that this package does not act on, with the values
// with which ssh -G prints them when nobody set them.
var notActedOn = []struct {
	key, name string
	harmless  []string
}{
	{"compression", "Compression", []string{"no"}},
	{"controlmaster", "ControlMaster", []string{"no", "false"}},
	{"controlpath", "ControlPath", []string{"none"}},
	{"forwardagent", "ForwardAgent", []string{"no"}},
	{"forwardx11", "ForwardX11", []string{"no"}},
	{"gssapidelegatecredentials", "GSSAPIDelegateCredentials", []string{"no"}},
	{"hostbasedauthentication", "HostbasedAuthentication", []string{"no"}},
	{"knownhostscommand", "KnownHostsCommand", []string{"none"}},
	{"pkcs11provider", "PKCS11Provider", []string{"none"}},
	{"verifyhostkeydns", "VerifyHostKeyDNS", []string{"no", "false"}},
	{"tunnel", "Tunnel", []string{"no", "false"}},
	{"localforward", "LocalForward", nil},
	{"remoteforward", "RemoteForward", nil},
	{"dynamicforward", "DynamicForward", nil},
	{"bindinterface", "BindInterface", nil},
	{"setenv", "SetEnv", nil},
	{"preferredauthentications", "PreferredAuthentications", nil},
	{"remotecommand", "RemoteCommand", []string{"none"}},
	{"localcommand", "LocalCommand", []string{"none"}},
	{"nohostauthenticationforlocalhost", "NoHostAuthenticationForLocalhost", []string{"no"}},
}

// refuseSettings refuses what would be unsafe, or could not work, if it were
// merely left out.
func refuseSettings(d dump) error {
	if v := none(d.first("revokedhostkeys", "")); v != "" {
		return fmt.Errorf("RevokedHostKeys %s is not supported; @revoked lines in known_hosts are", v)
	}
	if d.yes("proxyusefdpass", false) && none(d.first("proxycommand", "")) != "" {
		return errors.New("ProxyUseFdpass is not supported; let the ProxyCommand copy its standard streams")
	}
	return nil
}

// unhonoured names, as ssh_config(5) spells them, the keywords that are set to
// something which this package does not do.
func unhonoured(d dump) []string {
	var out []string
	for _, k := range notActedOn {
		for _, v := range d[k.key] {
			set := v != ""
			for _, h := range k.harmless {
				set = set && !strings.EqualFold(v, h)
			}
			if set {
				out = append(out, k.name)
				break
			}
		}
	}
	return out
}
