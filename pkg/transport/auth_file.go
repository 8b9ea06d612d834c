package transport

import (
	"bytes"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
)

// keyFile is an IdentityFile.
type keyFile struct {
	path    string
	pub     ssh.PublicKey // nil if not known
	signer  ssh.Signer    // nil if it is locked, or of no use
	locked  []byte        // the file's text, if it needs a passphrase
	version fileVersion
	why     string // of a file that can't sign; empty if there is none
	exposed bool   // it could sign, but others may read it
}

// fileVersion tells a file from what replaced it.
type fileVersion struct {
	path string
	mod  time.Time
	size int64
	open bool // it is ours, and others may read or write it
}

// signs is whether the file holds a private key that can be used.
func (f *keyFile) signs() bool { return f != nil && (f.signer != nil || f.locked != nil) }

// readKey reads a private key, if it is one, and finds the public half where
// OpenSSH looks for it: in the file itself, if it is a public key; in the file
// beside it; in the private key, which has it in the clear.
func readKey(path string) *keyFile {
	f := &keyFile{path: path}
	text, version, err := readKeyFile(path)
	f.version = version
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		f.why = "cannot be read: " + err.Error()
	default:
		if f.pub = parsePublic(text); f.pub != nil {
			f.why = "is a public key that no agent holds"
			return f
		}
	}
	beside, _, _ := readKeyFile(path + ".pub")
	f.pub = parsePublic(beside)
	if text == nil {
		return f
	}
	inner, cipher := embedded(text)
	if f.pub == nil {
		f.pub = inner
	}
	signer, err := ssh.ParsePrivateKey(text)
	var missing *ssh.PassphraseMissingError
	usable := err == nil || errors.As(err, &missing)
	switch {
	case usable && version.open:
		// As OpenSSH does (sshkey_perm_ok); its public half still finds the key in
		// an agent.
		f.exposed, f.why = true, "is not used: others may read it; chmod 600 "+Quote(path)
	case err == nil:
		f.signer = signer
		if f.pub == nil {
			f.pub = signer.PublicKey()
		}
	case inner != nil && strings.HasPrefix(inner.Type(), "sk-"):
		f.why = "is a security key, which works through an agent only: add it with ssh-add"
	case usable && cipher != "" && !slices.Contains(readableCiphers, cipher):
		f.why = fmt.Sprintf("is encrypted by %s, which can be opened through an agent only: add it with ssh-add, or encrypt it anew by ssh-keygen -p -Z aes256-ctr -f %s", Neutralise(cipher), Quote(path))
	case usable:
		f.locked = text
	case bytes.Contains(text, []byte("-----BEGIN ENCRYPTED PRIVATE KEY-----")):
		f.why = "is an encrypted PKCS#8 key, which can be opened through an agent only: add it with ssh-add, or write it anew by ssh-keygen -p -f " + Quote(path)
	default:
		f.why = "is no key that can be used from a file: " + err.Error()
	}
	return f
}

// readCert reads a user certificate from file, or file.pub; nil if there is none.
func readCert(file string) *ssh.Certificate {
	for _, f := range []string{file, file + ".pub"} {
		text, _, err := readKeyFile(f)
		if err != nil {
			continue
		}
		if cert, ok := parsePublic(text).(*ssh.Certificate); ok && cert.CertType == ssh.UserCert {
			return cert
		}
	}
	return nil
}

// parsePublic reads the one line of a public key file; nil if it is none.
func parsePublic(text []byte) ssh.PublicKey {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		// Not ParseAuthorizedKey: it would pass over what stands before the key.
		fields := strings.Fields(string(line))
		if len(fields) < 2 {
			return nil
		}
		blob, err := base64.StdEncoding.DecodeString(fields[1])
		if err != nil {
			return nil
		}
		pub, err := ssh.ParsePublicKey(blob)
		if err != nil || pub.Type() != fields[0] {
			return nil
		}
		return pub
	}
	return nil
}

// readableCiphers are those of an OpenSSH private key file that the library knows.
// Others are told of before anybody is asked for a passphrase.
var readableCiphers = []string{"aes256-ctr", "aes256-cbc"}

// embedded reads what an OpenSSH private key file has in the clear, also of keys
// whose private half the library can't use: the public half, nil if there is
// none, and how the rest is encrypted.
func embedded(text []byte) (pub ssh.PublicKey, cipher string) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "OPENSSH PRIVATE KEY" {
		return nil, ""
	}
	rest, ok := bytes.CutPrefix(block.Bytes, []byte("openssh-key-v1\x00"))
	if !ok {
		return nil, ""
	}
	var head struct {
		Cipher, KDF, Options string
		Keys                 uint32
		Public               []byte
		Rest                 []byte `ssh:"rest"`
	}
	if err := ssh.Unmarshal(rest, &head); err != nil || head.Keys != 1 {
		return nil, ""
	}
	if pub, err := ssh.ParsePublicKey(head.Public); err == nil {
		return pub, head.Cipher
	}
	return nil, head.Cipher
}

// readKeyFile reads at most what a key can be, in case the name is that of a
// device or of something huge.
func readKeyFile(path string) ([]byte, fileVersion, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, fileVersion{}, err
	}
	if !st.Mode().IsRegular() {
		return nil, fileVersion{}, errors.New("is no regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fileVersion{}, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, 1<<20))
	return text, fileVersion{path, st.ModTime(), st.Size(), openToOthers(st)}, err
}

// openToOthers is OpenSSH's rule for private keys: a file of another owner,
// which only root reads, may have any mode.
func openToOthers(st fs.FileInfo) bool {
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(sys.Uid) == os.Getuid() && st.Mode().Perm()&0o077 != 0
}
