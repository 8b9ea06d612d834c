package transport

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// hostKeys decides for one handshake whether the host is who it should be.
type hostKeys struct {
	ctx     context.Context // of the connection that is being made
	pool    *Pool
	e       Endpoint
	s       *settings
	entries []knownEntry
	// names are the names to look up, best first: [h]:port and then h, as
	// OpenSSH does, or the HostKeyAlias alone, which has no port.
	names   []string
	revoked []ssh.PublicKey // of RevokedHostKeys
	// err is the verdict of the callback, which the handshake would wrap.
	err *Error
	// fault is of the host's certificate, if its authority is known.
	fault *certFault
	// seen is set once the server has shown a key, which then is shown.
	seen  bool
	shown ssh.PublicKey
	// stamps are of the files, as they were before they were read.
	stamps []stamp
	// judging is whether this is about a key that was shown before: nobody is
	// asked, and nothing is recorded.
	judging bool
}

// newHostKeys reads the known_hosts files that exist.
func newHostKeys(ctx context.Context, p *Pool, e Endpoint, s *settings) (*hostKeys, *Error) {
	h := &hostKeys{ctx: ctx, pool: p, e: e, s: s}
	h.stampFiles()
	var err *Error
	if h.revoked, err = readRevoked(e, s.revoked); err != nil {
		return nil, err
	}
	h.read()
	switch name := strings.ToLower(s.host); {
	case s.hostKeyAlias != "":
		h.names = []string{strings.ToLower(s.hostKeyAlias)}
	case s.port == 22:
		h.names = []string{name}
	default:
		h.names = []string{fmt.Sprintf("[%s]:%d", name, s.port), name}
	}
	return h, nil
}

func (h *hostKeys) read() {
	h.entries = readKnownHosts(append(slices.Clone(h.s.userKnown), h.s.globalKnown...), h.say)
}

// algorithms is the order in which to ask for key types: those that
// known_hosts has first. A server with more types than were ever recorded would
// otherwise show one that is not known, which reads like an attack.
// Certificates come first where a @cert-authority line could vouch for one, and
// else last: what they certify is then judged as a bare key anyway.
func (h *hostKeys) algorithms() []string {
	var known []knownKey
	for _, n := range h.names {
		if known = lookUp(h.entries, n); len(known) > 0 {
			break
		}
	}
	authority := len(marked(known, markAuthority)) > 0
	var first, rest, last []string
	for _, a := range h.s.hostKeyAlgos {
		certified := isCertAlgo(a)
		switch {
		case certified && authority:
			first = append(first, a)
		case certified:
			last = append(last, a)
		case slices.ContainsFunc(marked(known, markNone), func(k knownKey) bool { return k.kind == keyTypeOf(a) }):
			first = append(first, a)
		default:
			rest = append(rest, a)
		}
	}
	return slices.Concat(first, rest, last)
}

// check is the ssh.HostKeyCallback.
func (h *hostKeys) check(_ string, _ net.Addr, key ssh.PublicKey) error {
	h.seen, h.shown = true, key
	if err := h.verdict(key); err != nil {
		h.err = err
		return err
	}
	return nil
}

func (h *hostKeys) verdict(key ssh.PublicKey) *Error {
	if err := h.revocation(key); err != nil {
		return err
	}
	var notes []string
	if cert, ok := key.(*ssh.Certificate); ok {
		why, fault := h.certified(cert)
		if why == "" {
			return nil
		}
		// As OpenSSH does, go on with the key that it certifies.
		if h.fault = fault; fault == nil {
			notes = append(notes, why)
		}
		key = cert.Key
	}
	for i, name := range h.names {
		plain := marked(lookUp(h.entries, name), markNone)
		if slices.ContainsFunc(plain, func(k knownKey) bool { return sameKey(k.pub, key) }) {
			return nil
		}
		switch {
		case len(plain) == 0:
		case i == 0:
			return h.changed(name, key, plain)
		default:
			// What is known without the port may well be another machine, of which
			// this is a forwarded port: OpenSSH takes the key for a new one.
			notes = append(notes, fmt.Sprintf("%s has the %s key %s for %s without the port",
				plain[0].at(), plain[0].kind, ssh.FingerprintSHA256(plain[0].pub), name))
		}
	}
	return h.unknown(key, notes)
}

// where is the host as its owner knows it.
func (h *hostKeys) where() string {
	if h.s.hostKeyAlias != "" {
		return h.s.hostKeyAlias
	}
	return h.s.addr()
}

// changed is the refusal of a key that is not the recorded one. It holds
// whatever StrictHostKeyChecking says, and for a key of another type too, as
// with OpenSSH: the recorded types are asked for first, so the host has lost
// them.
func (h *hostKeys) changed(name string, key ssh.PublicKey, want []knownKey) *Error {
	w := want[0]
	for _, k := range want {
		if k.kind == key.Type() {
			w = k
		}
	}
	return &Error{
		Kind: KindHostKeyChanged, Endpoint: h.e,
		Err: fmt.Errorf("%s shows the %s key %s, but %s has the %s key %s", h.where(),
			key.Type(), ssh.FingerprintSHA256(key), w.at(), w.kind, ssh.FingerprintSHA256(w.pub)),
		Hint: "somebody may be between you and the host. If you know that its key was replaced, remove the old one:\n" +
			fmt.Sprintf("ssh-keygen -f %s -R %s", Quote(w.file), Quote(name)),
	}
}

func (h *hostKeys) say(text string) {
	h.pool.warn(h.ctx, h.e, text)
}
