package transport

import (
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// candidate is a key, or a certificate, to offer.
type candidate struct {
	pub  ssh.PublicKey // nil: of a locked file whose public half is not known
	from string        // where it is from, for the user
	held ssh.Signer    // by an agent; nil if it is not
	file *keyFile      // with the private half; nil if there is none
}

// candidates lists the keys to try, in the order of OpenSSH's pubkey_prepare,
// as measured in TestOfferOrder: certificates of CertificateFile; what the agent
// holds of IdentityFile's keys, in the agent's order; the agent's other keys,
// unless IdentitiesOnly; the other files. Of each file the key goes before the
// certificate beside it. OpenSSH also offers keys that nothing here can sign
// with, which wins nothing and uses up MaxAuthTries; those are left out.
func (l *login) candidates() []*candidate {
	var files, list, others []*candidate
	for _, path := range l.s.identities {
		f := readKey(path)
		files = append(files, &candidate{pub: f.pub, from: path, file: f})
		if cert := readCert(path + "-cert"); cert != nil {
			l.checkDate(path+"-cert.pub", cert)
			files = append(files, &candidate{pub: cert, from: path + "-cert.pub", file: f})
		}
	}
	for _, path := range l.s.certificates {
		if cert := readCert(path); cert != nil {
			l.checkDate(path, cert)
			list = append(list, &candidate{pub: cert, from: path})
		} else {
			l.note("%s holds no certificate for a user", path)
		}
	}
	for _, held := range l.agentKeys() {
		i := slices.IndexFunc(files, func(c *candidate) bool { return c.pub != nil && sameKey(c.pub, held.PublicKey()) })
		switch {
		case i >= 0:
			c := files[i]
			files = slices.Delete(files, i, i+1)
			c.held, c.from = held, c.from+" (agent)"
			list = append(list, c)
		case !l.s.onlyIdentity:
			others = append(others, &candidate{pub: held.PublicKey(), from: "agent", held: held})
		}
	}
	list = slices.Concat(list, others, files)
	l.pairCertificates(list)
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(c *candidate) bool {
		if !l.usable(c) {
			return true
		}
		if c.pub == nil {
			return false
		}
		blob := string(c.pub.Marshal())
		twice := seen[blob]
		seen[blob] = true
		return twice
	})
}

// pairCertificates finds, for each certificate that the agent does not hold,
// the key that it certifies.
func (l *login) pairCertificates(list []*candidate) {
	for _, c := range list {
		cert, ok := c.pub.(*ssh.Certificate)
		if !ok || c.held != nil {
			continue
		}
		for _, k := range list {
			if k.pub != nil && sameKey(k.pub, cert.Key) && (k.held != nil || k.file.signs()) {
				c.held, c.file = k.held, k.file
				break
			}
		}
	}
}

// usable is whether c could sign, with an algorithm that is wanted.
func (l *login) usable(c *candidate) bool {
	switch {
	case c.held != nil:
	case c.file == nil:
		l.note("%s: nothing holds the key that it certifies", c.from)
		return false
	case !c.file.signs():
		if why := c.file.why; why != "" {
			if c.file.exposed {
				l.tellExposed(c.file)
			} else {
				l.note("%s %s", c.file.path, why)
			}
		} else if l.s.identityIsSet && l.s.explicit(c.file.path) {
			l.note("%s does not exist", c.file.path)
		}
		return false
	}
	if c.pub != nil && len(l.signatures(c.pub)) == 0 {
		l.note("%s is a %s key, which PubkeyAcceptedAlgorithms leaves out", c.from, c.pub.Type())
		return false
	}
	return true
}

// tellExposed says, in this login's error and once for the pool, that f is not
// used.
func (l *login) tellExposed(f *keyFile) {
	said := Neutralise(f.path + " " + f.why)
	if !slices.Contains(l.exposed, said) {
		l.exposed = append(l.exposed, said)
	}
	if l.pool.keys.tellOnce(f.path) {
		l.pool.warn(l.ctx, l.e, "the private key "+said)
	}
}

// explicit is whether path is not one that OpenSSH tries by default.
func (s *settings) explicit(path string) bool {
	base := strings.TrimPrefix(path, homeDir()+"/.ssh/id_")
	return base == path || strings.Contains(base, "/")
}

// checkDate names a certificate that is no longer valid. It is offered all the
// same: the server's clock decides.
func (l *login) checkDate(file string, cert *ssh.Certificate) {
	if expired(cert, time.Now()) {
		l.note("%s expired on %s", file, certTime(cert.ValidBefore))
	}
}

// signatures gives the algorithms with which a key of this type may sign, by
// PubkeyAcceptedAlgorithms, in its order. Only RSA keys have more than one.
func (l *login) signatures(pub ssh.PublicKey) []string {
	plain, suffix := pub.Type(), ""
	if isCertAlgo(plain) {
		plain, suffix = strings.TrimSuffix(plain, certSuffix), certSuffix
		if strings.HasPrefix(plain, "sk-") {
			plain += "@openssh.com"
		}
	}
	own := []string{plain}
	if plain == ssh.KeyAlgoRSA {
		// SHA-1 is in the list only where the user wrote it.
		own = []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256, ssh.KeyAlgoRSA}
	}
	var out []string
	for _, accepted := range l.s.pubkeyAlgos {
		for _, a := range own {
			name := a
			if suffix != "" {
				name = strings.TrimSuffix(a, "@openssh.com") + suffix
			}
			if accepted == name {
				out = append(out, a)
			}
		}
	}
	return out
}

// signer gives what offers c and signs with it, or nil where c turns out to be
// of no use. It asks for a passphrase only if the public half is not known; else
// that waits until the server would take the key.
func (l *login) signer(c *candidate) ssh.Signer {
	var s ssh.Signer
	switch {
	case c.held != nil:
		s = &agentSigner{Signer: c.held, l: l, from: c.from}
	case c.pub == nil:
		opened, err := l.open(c.file)
		if err != nil {
			return nil
		}
		s = opened
	default:
		s = &fileSigner{l: l, file: c.file}
	}
	if cert, ok := c.pub.(*ssh.Certificate); ok && !sameKey(s.PublicKey(), cert) {
		certified, err := ssh.NewCertSigner(cert, s)
		if err != nil {
			l.note("%s: %v", c.from, err)
			return nil
		}
		s = certified
	}
	as, ok := s.(ssh.AlgorithmSigner)
	if !ok {
		return s
	}
	limited, err := ssh.NewSignerWithAlgorithms(as, l.signatures(s.PublicKey()))
	if err != nil {
		l.note("%s: %v", c.from, err)
		return nil
	}
	return limited
}
