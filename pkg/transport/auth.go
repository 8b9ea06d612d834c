package transport

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/crypto/ssh"
)

// The methods of logging in that this package knows, as RFC 4252 names them.
const (
	byKey      = "publickey"
	byKeyboard = "keyboard-interactive"
	byPassword = "password"
)

// loginOrder is OpenSSH's default of PreferredAuthentications, less the methods
// that are not known here (hostbased, gssapi-with-mic).
var loginOrder = []string{byKey, byKeyboard, byPassword}

// login leads one handshake through authentication, and knows what there is to
// say if it fails. close it after the handshake.
type login struct {
	ctx    context.Context // ends with the connection, too
	cancel context.CancelCauseFunc
	pool   *Pool
	e      Endpoint
	s      *settings

	agent   agentConn
	keys    []*candidate // to offer, in order
	listed  bool         // keys has been made
	offered []offer
	locked  []lockedKey     // the files that were wanted and stayed locked
	exposed []string        // the files that others may read
	done    map[string]bool // the keys that were offered

	passwords bool           // the password has been asked for
	keyboards int            // how often keyboard-interactive was begun
	talked    bool           // the server asked something in the last of them
	given     map[string]int // how many logins by password or keyboard-interactive were answered
	silent    bool           // the person did not answer: nothing more is asked

	asked    bool     // the server got as far as asking who we are
	allowed  []string // the methods it takes now
	accepted []string // those that it took, and wanted more
	notes    []string // why something was not tried
	said     string   // by the server; hostile
	heard    bool     // the user will be told of it
}

func newLogin(ctx context.Context, p *Pool, e Endpoint, s *settings) *login {
	l := &login{pool: p, e: e, s: s, done: map[string]bool{}, given: map[string]int{}}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	return l
}

func (l *login) note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(l.notes, n) {
		l.notes = append(l.notes, n)
	}
}

// next is the ssh.ClientAuthCallback: it gives what to try now, in the order of
// OpenSSH. Nothing, to the library, is the end of the login.
func (l *login) next(c *ssh.ClientAuthContext) (ssh.AuthMethod, error) {
	if l.ctx.Err() != nil {
		return nil, context.Cause(l.ctx)
	}
	l.asked = true
	l.allowed, l.accepted = c.AllowedMethods, c.PartialSuccessMethods
	for _, name := range l.order() {
		if !slices.Contains(c.AllowedMethods, name) {
			continue
		}
		var m ssh.AuthMethod
		switch name {
		case byKey:
			m = l.nextKey()
		case byKeyboard:
			m = l.nextKeyboard()
		case byPassword:
			m = l.nextPassword()
		}
		if m != nil {
			return m, nil
		}
	}
	return nil, nil
}

// order is that in which ssh_config wants the methods tried.
func (l *login) order() []string {
	if l.s.preferred == nil {
		return loginOrder
	}
	return l.s.preferred
}

// nextKey offers one key, so that a key that can't sign after all is no end of
// the others.
func (l *login) nextKey() ssh.AuthMethod {
	if !l.s.pubkey {
		l.note("PubkeyAuthentication is off")
		return nil
	}
	if !l.listed {
		l.keys, l.listed = l.candidates(), true
	}
	for len(l.keys) > 0 {
		k := l.keys[0]
		l.keys = l.keys[1:]
		signer := l.signer(k)
		if signer == nil || l.done[string(signer.PublicKey().Marshal())] {
			continue // of a locked file it shows only now which key it holds
		}
		return ssh.PublicKeysCallback(func() ([]ssh.Signer, error) {
			l.done[string(signer.PublicKey().Marshal())] = true
			l.offered = append(l.offered, offer{key: k.from, name: k.from + " " + ssh.FingerprintSHA256(signer.PublicKey())})
			return []ssh.Signer{signer}, nil
		})
	}
	return nil
}

// offer is a key that was offered.
type offer struct {
	key  string // where it is from
	name string // that and its fingerprint
	// unsigned is why it did not sign although the server would have taken it;
	// empty if the server refused it.
	unsigned string
}

// unsigned records that the key which was offered last did not sign. Only
// a key that the server takes is asked to.
func (l *login) unsigned(why string) {
	if n := len(l.offered); n > 0 {
		l.offered[n-1].unsigned = Neutralise(why)
	}
}

// close ends what the login holds.
func (l *login) close() {
	l.cancel(context.Canceled)
	l.agent.close()
}

// canAsk is whether there is a person; why is the reason if not.
func (l *login) canAsk() (ok bool, why string) {
	switch {
	case l.s.batch:
		return false, "BatchMode is set"
	case !l.pool.canAsk(l.ctx):
		return false, "nobody can be asked here"
	case l.silent:
		return false, "an earlier question was not answered"
	}
	return true, ""
}

// ask puts a question, of which which says, after "the question", what it is
// for. A person who gives no answer to one is not asked more.
func (l *login) ask(which string, q Question) (string, error) {
	if ok, _ := l.canAsk(); !ok {
		return "", errNobody
	}
	q.Endpoint, q.Text, q.Detail = l.e, Neutralise(q.Text), NeutraliseLines(q.Detail)
	answer, err := l.pool.ask(l.ctx, q)
	switch {
	case l.ctx.Err() != nil:
		return "", context.Cause(l.ctx)
	case err != nil:
		l.silent = true
		l.note("%s", Neutralise(unanswered(which, err).Error()))
		return "", errUnanswered
	}
	return answer, nil
}

// account is whose login it is, for a question.
func (l *login) account() string { return l.s.user + "@" + l.s.host }
