package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// agentListDeadline bounds what an agent may take to say which keys it has. A
// signature is bounded by the dial alone: the user may have to touch a key.
const agentListDeadline = 5 * time.Second

// login gathers the keys for one handshake and what there is to say about them
// if none is accepted. close it after the handshake.
type login struct {
	ctx   context.Context
	s     *settings
	conn  net.Conn // to the agent
	stop  func() bool
	notes []string // why a key was not offered
	asked bool     // the server got as far as asking for keys
	tried []string // fingerprints and where each came from
}

func newLogin(ctx context.Context, s *settings) *login { return &login{ctx: ctx, s: s} }

// methods is one method for agent and files together: of two methods of one
// name, x/crypto/ssh only ever uses the first.
func (l *login) methods() []ssh.AuthMethod {
	if !l.s.pubkey {
		l.note("PubkeyAuthentication is off, and nothing else is supported")
		return nil
	}
	return []ssh.AuthMethod{ssh.PublicKeysCallback(l.signers)}
}

func (l *login) note(format string, args ...any) {
	l.notes = append(l.notes, fmt.Sprintf(format, args...))
}

// identity is one IdentityFile.
type identity struct {
	path   string
	pub    ssh.PublicKey // nil if not known
	signer ssh.Signer    // nil if there is no usable private key
	why    string        // of a missing signer; empty if the file does not exist
}

// signers is every key to offer, in OpenSSH's order: agent keys that an
// IdentityFile names, the agent's other keys (unless IdentitiesOnly), files.
func (l *login) signers() ([]ssh.Signer, error) {
	l.asked = true
	held := l.agentSigners()
	var ids []identity
	for _, path := range l.s.identities {
		ids = append(ids, loadIdentity(path))
	}
	var out []ssh.Signer
	used := map[string]bool{}
	add := func(s ssh.Signer, from string) {
		key := string(s.PublicKey().Marshal())
		if used[key] {
			return
		}
		used[key] = true
		l.tried = append(l.tried, from+" "+ssh.FingerprintSHA256(s.PublicKey()))
		out = append(out, s)
	}
	inAgent := map[string]ssh.Signer{}
	for _, s := range held {
		inAgent[string(s.PublicKey().Marshal())] = s
	}
	for i, id := range ids {
		if id.pub == nil {
			continue
		}
		if s := inAgent[string(id.pub.Marshal())]; s != nil {
			ids[i].signer = s
			l.addCertificates(s, id.path, add)
			add(s, id.path+" (agent)")
		}
	}
	if !l.s.onlyIdentity {
		for _, s := range held {
			add(s, "agent")
		}
	}
	for _, id := range ids {
		switch {
		case id.signer != nil:
			l.addCertificates(id.signer, id.path, add)
			add(id.signer, id.path)
		case id.why != "":
			l.note("%s %s", id.path, id.why)
		case l.s.identityIsSet && l.s.explicit(id.path):
			l.note("%s does not exist", id.path)
		}
	}
	return out, nil
}

// explicit is whether path is not one that OpenSSH tries by default.
func (s *settings) explicit(path string) bool {
	base := strings.TrimPrefix(path, homeDir()+"/.ssh/id_")
	return base == path || strings.Contains(base, "/")
}

// addCertificates offers the certificates of a key before the bare key.
func (l *login) addCertificates(s ssh.Signer, path string, add func(ssh.Signer, string)) {
	for _, f := range append(l.s.certificates, strings.TrimSuffix(path, ".pub")+"-cert.pub") {
		text, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		pub, _, _, _, err := ssh.ParseAuthorizedKey(text)
		cert, ok := pub.(*ssh.Certificate)
		if err != nil || !ok || !bytes.Equal(cert.Key.Marshal(), s.PublicKey().Marshal()) {
			continue
		}
		if now := uint64(time.Now().Unix()); cert.ValidBefore != ssh.CertTimeInfinity && now >= cert.ValidBefore {
			l.note("%s expired %s", f, time.Unix(int64(cert.ValidBefore), 0).UTC().Format(time.RFC3339))
		}
		if cs, err := ssh.NewCertSigner(cert, s); err == nil {
			add(cs, f)
		}
	}
}

// agentSigners lists the agent's keys. An agent that is absent, silent or
// broken is a note, not an error: files may do.
func (l *login) agentSigners() []ssh.Signer {
	if l.s.agent == "" || l.conn != nil {
		return nil
	}
	d := net.Dialer{Timeout: agentListDeadline}
	conn, err := d.DialContext(l.ctx, "unix", l.s.agent)
	if err != nil {
		l.note("the agent cannot be reached: %v", err)
		return nil
	}
	l.conn = conn
	l.stop = context.AfterFunc(l.ctx, func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(agentListDeadline))
	signers, err := agent.NewClient(conn).Signers()
	if err != nil {
		l.note("the agent at %s did not list its keys: %v", l.s.agent, err)
		return nil
	}
	_ = conn.SetDeadline(time.Time{})
	return signers
}

func (l *login) close() {
	if l.conn != nil {
		l.stop()
		_ = l.conn.Close()
	}
}

// loadIdentity reads a private key, or, of an IdentityFile that is a public
// key or whose private half is out of reach, the public one.
func loadIdentity(path string) identity {
	id := identity{path: path}
	text, err := readKeyFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		id.why = "cannot be read: " + err.Error()
	default:
		if pub, _, _, _, err := ssh.ParseAuthorizedKey(text); err == nil {
			id.pub, id.why = pub, "is a public key that no agent holds"
			return id
		}
		signer, err := ssh.ParsePrivateKey(text)
		var locked *ssh.PassphraseMissingError
		switch {
		case err == nil:
			id.signer, id.pub = signer, signer.PublicKey()
			return id
		case errors.As(err, &locked):
			id.pub = locked.PublicKey
			id.why = "needs its passphrase: add it to an agent with ssh-add"
		default:
			id.why = "is no key that can be used from a file: " + err.Error()
		}
	}
	if id.pub == nil {
		if text, err := readKeyFile(path + ".pub"); err == nil {
			if pub, _, _, _, err := ssh.ParseAuthorizedKey(text); err == nil {
				id.pub = pub
			}
		}
	}
	return id
}

// readKeyFile reads at most what a key can be, in case the name is that of a
// device or of something huge.
func readKeyFile(path string) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, errors.New("is no regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, 1<<20))
}

// hint says what was offered and what was not, after a refusal.
func (l *login) hint() string {
	var b strings.Builder
	if len(l.tried) == 0 {
		b.WriteString("no key was offered: name one with IdentityFile, or load one into an agent with ssh-add")
	} else {
		b.WriteString("the server accepted none of: " + strings.Join(l.tried, ", "))
	}
	for _, n := range l.notes {
		b.WriteString("\n" + n)
	}
	return b.String()
}
