package transport

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// krlMagic begins a key revocation list in OpenSSH's binary form.
const krlMagic = "SSHKRL\n\x00"

// readRevoked reads the file of RevokedHostKeys, a public key a line; none is
// set if file is empty. What cannot be read revokes every key, as with OpenSSH.
func readRevoked(e Endpoint, file string) ([]ssh.PublicKey, *Error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err == nil {
		var keys []ssh.PublicKey
		if keys, err = parseRevoked(text); err == nil {
			return keys, nil
		}
	}
	return nil, &Error{
		Kind: KindConfig, Endpoint: e, Err: fmt.Errorf("RevokedHostKeys %s: %w", file, err),
		Hint: "while the list of revoked keys cannot be read, every host key counts as revoked: mend the file, or RevokedHostKeys in ssh_config",
	}
}

func parseRevoked(text []byte) ([]ssh.PublicKey, error) {
	if bytes.HasPrefix(text, []byte(krlMagic)) {
		return nil, errors.New("is a binary key revocation list, which is not supported; a text file with a public key on each line is")
	}
	var keys []ssh.PublicKey
	n := 0
	for line := range bytes.Lines(text) {
		n++
		e, ok := parseKnownLine("* " + string(bytes.TrimSpace(line)))
		if !ok {
			if t := bytes.TrimSpace(line); len(t) > 0 && t[0] != '#' {
				return nil, fmt.Errorf("line %d is no public key", n)
			}
			continue
		}
		if e.kind[0] == '#' {
			continue
		}
		k, err := e.key()
		if err != nil {
			return nil, fmt.Errorf("line %d is no public key: %w", n, err)
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// revocation is the refusal of a key that is revoked, or certified by one that
// is, by a line of known_hosts for this host or by RevokedHostKeys.
func (h *hostKeys) revocation(key ssh.PublicKey) *Error {
	keys := []ssh.PublicKey{key}
	if cert, ok := key.(*ssh.Certificate); ok {
		keys = []ssh.PublicKey{cert.Key, cert.SignatureKey}
	}
	for _, k := range keys {
		if slices.ContainsFunc(h.revoked, func(r ssh.PublicKey) bool { return sameKey(r, k) }) {
			return h.refuseRevoked(k, h.s.revoked)
		}
		// The name without the port counts even where the name with it is known:
		// a revocation is a warning, and one too many does no harm.
		for _, name := range h.names {
			for _, r := range marked(lookUp(h.entries, name), markRevoked) {
				if sameKey(r.pub, k) {
					return h.refuseRevoked(k, r.at())
				}
			}
		}
	}
	return nil
}

func (h *hostKeys) refuseRevoked(key ssh.PublicKey, by string) *Error {
	return &Error{
		Kind: KindHostKeyChanged, Endpoint: h.e,
		Err:  fmt.Errorf("%s shows the %s key %s, which %s revokes", h.where(), key.Type(), ssh.FingerprintSHA256(key), strings.TrimSpace(by)),
		Hint: "do not connect: whoever wrote that line holds this key to be stolen",
	}
}
