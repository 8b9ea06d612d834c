package transport

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// certFault is what is wrong with a certificate whose authority is known.
type certFault struct{ what, hint string }

// certified is why a host certificate proves nothing here; empty if it does.
// fault is set if that is the certificate's own fault.
func (h *hostKeys) certified(cert *ssh.Certificate) (why string, fault *certFault) {
	var authority *knownKey
	for _, name := range h.names {
		for _, k := range marked(lookUp(h.entries, name), markAuthority) {
			if authority == nil && sameKey(k.pub, cert.SignatureKey) {
				authority = &k
			}
		}
	}
	if authority == nil {
		return fmt.Sprintf("no @cert-authority line has the authority of its certificate, %s", ssh.FingerprintSHA256(cert.SignatureKey)), nil
	}
	principal := h.s.hostKeyAlias
	if principal == "" {
		principal = strings.ToLower(h.s.host)
	}
	now := time.Now()
	if err := checkHostCert(cert, principal, now); err != nil {
		what := Neutralise(clip(err.Error()))
		return what, &certFault{what, certHint(cert, principal, now) + "\nits authority is the one of " + authority.at() + ", " + ssh.FingerprintSHA256(cert.SignatureKey)}
	}
	return "", nil
}

// certHint says what to do about a certificate that checkHostCert refuses.
func certHint(cert *ssh.Certificate, principal string, now time.Time) string {
	switch {
	case cert.CertType == ssh.HostCert && !slices.Contains(cert.ValidPrincipals, principal):
		return "have the host's certificate issued for " + Neutralise(principal) + ", or reach the host by a name that it is for (HostName or HostKeyAlias in ssh_config)"
	case expired(cert, now):
		return "have the host's certificate renewed by those who run its authority"
	case cert.ValidAfter > uint64(now.Unix()):
		return "see the clock of this machine; if it is right, have the host's certificate issued anew by those who run its authority"
	}
	return "have the host's certificate issued anew by those who run its authority"
}

// checkHostCert says what is wrong with a certificate of a known authority.
func checkHostCert(cert *ssh.Certificate, principal string, now time.Time) error {
	switch {
	case cert.CertType != ssh.HostCert:
		return errors.New("its certificate is for a user, not for a host")
	case cert.Signature.Format == ssh.KeyAlgoRSA:
		return errors.New("its certificate is signed with SHA-1") // as CASignatureAlgorithms has it
	case len(cert.ValidPrincipals) == 0:
		// Up to OpenSSH 9.2 at least that means every host; the library, like this
		// package, takes it for a certificate that somebody forgot to limit.
		return errors.New("its certificate names no host")
	case !slices.Contains(cert.ValidPrincipals, principal):
		return fmt.Errorf("its certificate is for %s, not for %s", strings.Join(cert.ValidPrincipals, ","), principal)
	case expired(cert, now):
		return fmt.Errorf("its certificate expired on %s", certTime(cert.ValidBefore))
	case cert.ValidAfter > uint64(now.Unix()):
		return fmt.Errorf("its certificate is not valid before %s", certTime(cert.ValidAfter))
	}
	checker := ssh.CertChecker{Clock: func() time.Time { return now }}
	if err := checker.CheckCert(principal, cert); err != nil {
		return fmt.Errorf("its certificate is not valid: %w", err)
	}
	return nil
}

// expired is whether a certificate's time is over.
func expired(cert *ssh.Certificate, now time.Time) bool {
	return cert.ValidBefore != ssh.CertTimeInfinity && uint64(now.Unix()) >= cert.ValidBefore
}

func certTime(t uint64) string {
	return time.Unix(int64(min(t, 1<<40)), 0).UTC().Format(time.RFC3339)
}
