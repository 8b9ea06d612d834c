package transport

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1" // known_hosts hashes names with nothing else
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// mark is what stands before an entry of known_hosts.
type mark string

const (
	markNone      mark = ""
	markAuthority mark = "@cert-authority" // its key signs host certificates
	markRevoked   mark = "@revoked"
)

// knownEntry is one line of a known_hosts file. Its key is parsed only where
// its names match: a file may have thousands.
type knownEntry struct {
	file  string
	line  int
	mark  mark
	hosts string // patterns between commas, or one hashed name
	kind  string // the type of the key
	blob  string // the key, in base64
}

// at is where the entry stands.
func (e *knownEntry) at() string { return fmt.Sprintf("%s:%d", e.file, e.line) }

// parseKnownLine reads a line as OpenSSH does; ok is false for one that is
// empty, a comment or broken, all of which are passed over.
func parseKnownLine(text string) (e knownEntry, ok bool) {
	fields := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' })
	if len(fields) > 0 && strings.HasPrefix(fields[0], "@") {
		e.mark = mark(fields[0])
		if e.mark != markAuthority && e.mark != markRevoked {
			return knownEntry{}, false
		}
		fields = fields[1:]
	}
	// A second mark is no name of a host.
	if len(fields) < 3 || fields[0][0] == '#' || fields[0][0] == '@' {
		return knownEntry{}, false
	}
	e.hosts, e.kind, e.blob = fields[0], fields[1], fields[2]
	return e, true
}

// names is whether the entry is for name, which is in lower case and has its
// port, if not 22, as [name]:port.
func (e *knownEntry) names(name string) bool {
	if strings.HasPrefix(e.hosts, "|") {
		part := strings.Split(e.hosts, "|")
		if len(part) != 4 || part[1] != "1" {
			return false
		}
		salt, err := base64.StdEncoding.DecodeString(part[2])
		if err != nil {
			return false
		}
		want, err := base64.StdEncoding.DecodeString(part[3])
		if err != nil {
			return false
		}
		mac := hmac.New(sha1.New, salt)
		mac.Write([]byte(name))
		return hmac.Equal(mac.Sum(nil), want)
	}
	return matchHost(name, e.hosts)
}

// key parses the entry's key, which must be of the type that the line says.
func (e *knownEntry) key() (ssh.PublicKey, error) {
	blob, err := base64.StdEncoding.DecodeString(e.blob)
	if err != nil {
		return nil, err
	}
	k, err := ssh.ParsePublicKey(blob)
	if err != nil {
		return nil, err
	}
	if k.Type() != e.kind {
		return nil, errors.New("the key is of another type")
	}
	return k, nil
}

// readKnownHosts reads the files that exist; each is read once. As OpenSSH
// does, it goes on without one that cannot be read, and says so: that can only
// make fewer hosts known.
func readKnownHosts(files []string, say func(string)) []knownEntry {
	var all []knownEntry
	for i, file := range files {
		if slices.Contains(files[:i], file) {
			continue
		}
		entries, err := readKnownFile(file)
		if err != nil {
			say("known_hosts is not used: " + Neutralise(err.Error()))
			continue
		}
		all = append(all, entries...)
	}
	return all
}

func readKnownFile(file string) ([]knownEntry, error) {
	st, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case st.IsDir():
		return nil, fmt.Errorf("%s is a directory", file)
	case !st.Mode().IsRegular():
		return nil, nil // /dev/null: nothing is known, by the user's own choice
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var entries []knownEntry
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if e, ok := parseKnownLine(strings.TrimRight(string(line), "\r\n")); ok {
			e.file, e.line = file, n
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// knownKey is an entry with its key.
type knownKey struct {
	knownEntry
	pub ssh.PublicKey
}

// lookUp gives the entries for name whose key can be parsed.
func lookUp(entries []knownEntry, name string) []knownKey {
	var out []knownKey
	for _, e := range entries {
		if !e.names(name) {
			continue
		}
		if k, err := e.key(); err == nil {
			out = append(out, knownKey{e, k})
		}
	}
	return out
}

// marked gives the entries of one mark.
func marked(entries []knownKey, m mark) []knownKey {
	var out []knownKey
	for _, e := range entries {
		if e.mark == m {
			out = append(out, e)
		}
	}
	return out
}

// sameKey is whether two keys are one. A certificate is another key than the
// one that it certifies.
func sameKey(a, b ssh.PublicKey) bool { return bytes.Equal(a.Marshal(), b.Marshal()) }
