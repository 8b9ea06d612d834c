package transport

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"
	xknownhosts "golang.org/x/crypto/ssh/knownhosts"
)

// hostKeys decides for one handshake whether the host is who it should be.
type hostKeys struct {
	e    Endpoint
	s    *settings
	warn func(Endpoint, string)
	db   *knownhosts.HostKeyDB
	// names are the names to look up, best first: [h]:port and then h, as
	// OpenSSH does, or the HostKeyAlias alone, which has no port.
	names []string
	// err is the verdict of the callback, which the handshake would wrap.
	err *Error
	// seen is set once the server has shown a key.
	seen bool
}

// newHostKeys reads the known_hosts files that exist.
func newHostKeys(e Endpoint, s *settings, warn func(Endpoint, string)) (*hostKeys, *Error) {
	h := &hostKeys{e: e, s: s, warn: warn}
	var files []string
	for _, f := range existing(append(slices.Clone(s.userKnown), s.globalKnown...)) {
		// As OpenSSH does, go on without a file that cannot be read or has no
		// entry at all. It can only make fewer hosts known.
		if _, err := xknownhosts.New(f); err != nil {
			h.say("known_hosts is not used: " + Neutralise(err.Error()))
			continue
		}
		files = append(files, f)
	}
	db, err := knownhosts.NewDB(files...)
	if err != nil {
		return nil, &Error{Kind: KindConfig, Endpoint: e, Err: fmt.Errorf("reading known_hosts: %w", err)}
	}
	h.db = db
	switch name := strings.ToLower(s.host); {
	case s.hostKeyAlias != "":
		h.names = []string{net.JoinHostPort(strings.ToLower(s.hostKeyAlias), "22")}
	case s.port == 22:
		h.names = []string{net.JoinHostPort(name, "22")}
	default:
		h.names = []string{net.JoinHostPort(name, fmt.Sprint(s.port)), net.JoinHostPort(name, "22")}
	}
	return h, nil
}

// existing drops missing files, on which the reader would fail, and devices:
// /dev/null as UserKnownHostsFile means that nothing is known.
func existing(files []string) []string {
	var out []string
	for _, f := range files {
		if st, err := os.Stat(f); err == nil && st.Mode().IsRegular() && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// algorithms is the order in which to ask for key types: those that
// known_hosts has first. A server with more types than were ever recorded would
// otherwise show one that is not known, which reads like an attack.
// Certificates are asked for only where a @cert-authority line could vouch for one.
func (h *hostKeys) algorithms() []string {
	supported := ssh.SupportedAlgorithms().HostKeys
	allowed := supported
	if len(h.s.hostKeyAlgos) > 0 {
		allowed = nil
		for _, a := range h.s.hostKeyAlgos {
			if slices.Contains(supported, a) {
				allowed = append(allowed, a)
			}
		}
	}
	var known []string
	for _, n := range h.names {
		if known = h.db.HostKeyAlgorithms(n); len(known) > 0 {
			break
		}
	}
	var first, rest []string
	for _, a := range allowed {
		switch {
		case slices.Contains(known, a):
			first = append(first, a)
		case !strings.Contains(a, "-cert-v01@"):
			rest = append(rest, a)
		}
	}
	return append(first, rest...)
}

// check is the ssh.HostKeyCallback.
func (h *hostKeys) check(_ string, _ net.Addr, key ssh.PublicKey) error {
	h.seen = true
	if err := h.verdict(key); err != nil {
		h.err = err
		return err
	}
	return nil
}

func (h *hostKeys) verdict(key ssh.PublicKey) *Error {
	// The address that is connected to says nothing more than the name does.
	nowhere := &net.TCPAddr{IP: net.IPv4zero}
	for _, name := range h.names {
		err := h.db.HostKeyCallback()(name, nowhere, key)
		if err == nil {
			return nil
		}
		var revoked *xknownhosts.RevokedError
		if errors.As(err, &revoked) {
			return &Error{
				Kind: KindHostKeyChanged, Endpoint: h.e,
				Err: fmt.Errorf("%s shows the %s key %s, which %s:%d revokes", h.where(), key.Type(),
					ssh.FingerprintSHA256(key), revoked.Revoked.Filename, revoked.Revoked.Line),
				Hint: "do not connect: whoever wrote that line holds this key to be stolen",
			}
		}
		var mismatch *xknownhosts.KeyError
		if !errors.As(err, &mismatch) { // a certificate that is not valid here
			return &Error{Kind: KindHostKeyUnknown, Endpoint: h.e, Err: fmt.Errorf("%s: %s", h.where(), Neutralise(err.Error()))}
		}
		if len(mismatch.Want) > 0 {
			return h.changed(name, key, mismatch.Want)
		}
	}
	return h.unknown(key)
}

// where is the host as its owner knows it.
func (h *hostKeys) where() string {
	if h.s.hostKeyAlias != "" {
		return h.s.hostKeyAlias
	}
	return h.s.addr()
}

// changed is the refusal of a key that is not the recorded one. It holds
// whatever StrictHostKeyChecking says.
func (h *hostKeys) changed(name string, key ssh.PublicKey, want []xknownhosts.KnownKey) *Error {
	w := want[0]
	for _, k := range want {
		if k.Key.Type() == key.Type() {
			w = k
		}
	}
	return &Error{
		Kind: KindHostKeyChanged, Endpoint: h.e,
		Err: fmt.Errorf("%s shows the %s key %s, but %s:%d has the %s key %s", h.where(),
			key.Type(), ssh.FingerprintSHA256(key), w.Filename, w.Line, w.Key.Type(), ssh.FingerprintSHA256(w.Key)),
		Hint: "somebody may be between you and the host. If you know that its key was replaced, remove the old one:\n" +
			fmt.Sprintf("ssh-keygen -f %s -R %s", Quote(w.Filename), Quote(xknownhosts.Normalize(name))),
	}
}

// unknown applies StrictHostKeyChecking to a host that no file names.
func (h *hostKeys) unknown(key ssh.PublicKey) *Error {
	switch h.s.strict {
	case "accept-new", "no":
		if len(h.s.userKnown) == 0 {
			h.say(fmt.Sprintf("%s: accepted the unknown %s key %s and kept no record of it (UserKnownHostsFile none)",
				h.where(), key.Type(), ssh.FingerprintSHA256(key)))
			return nil
		}
		if err := recordHostKey(h.s.userKnown[0], h.names[0], key, h.s.hashKnown); err != nil {
			if h.s.strict == "accept-new" {
				return &Error{Kind: KindHostKeyUnknown, Endpoint: h.e, Err: fmt.Errorf("%s: its new key cannot be recorded: %w", h.where(), err)}
			}
			h.say(fmt.Sprintf("%s: its key cannot be recorded: %v", h.where(), err))
		}
		h.say(fmt.Sprintf("%s: accepted the unknown %s key %s (StrictHostKeyChecking %s)",
			h.where(), key.Type(), ssh.FingerprintSHA256(key), h.s.strict))
		return nil
	}
	return &Error{
		Kind: KindHostKeyUnknown, Endpoint: h.e,
		Err: fmt.Errorf("no known_hosts file has %s, which shows the %s key %s", h.where(), key.Type(), ssh.FingerprintSHA256(key)),
		Hint: "compare the fingerprint with the host's own (ssh-keygen -lf /etc/ssh/ssh_host_*_key.pub there), then connect once with: ssh " +
			Quote(h.e.Destination),
	}
}

func (h *hostKeys) say(text string) {
	if h.warn != nil {
		h.warn(h.e, text)
	}
}
