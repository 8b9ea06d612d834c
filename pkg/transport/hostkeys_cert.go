package transport

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// certified is why a host certificate proves nothing here; empty if it does.
func (h *hostKeys) certified(cert *ssh.Certificate) string {
	authority := slices.ContainsFunc(h.names, func(name string) bool {
		return slices.ContainsFunc(marked(lookUp(h.entries, name), markAuthority), func(k knownKey) bool {
			return sameKey(k.pub, cert.SignatureKey)
		})
	})
	if !authority {
		return fmt.Sprintf("no @cert-authority line has the authority of its certificate, %s", ssh.FingerprintSHA256(cert.SignatureKey))
	}
	principal := h.s.hostKeyAlias
	if principal == "" {
		principal = strings.ToLower(h.s.host)
	}
	if err := checkHostCert(cert, principal, time.Now()); err != nil {
		return Neutralise(err.Error())
	}
	return ""
}

// checkHostCert says what is wrong with a certificate of a known authority.
func checkHostCert(cert *ssh.Certificate, principal string, now time.Time) error {
	switch {
	case cert.CertType != ssh.HostCert:
		return errors.New("its certificate is for a user, not for a host")
	case cert.Signature.Format == ssh.KeyAlgoRSA:
		return errors.New("its certificate is signed with SHA-1") // as CASignatureAlgorithms has it
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
