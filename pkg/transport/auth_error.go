package transport

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// refusal is the error of a login that the server, or the lack of anything more
// to try, has ended.
func (l *login) refusal(err error) *Error {
	said := fmt.Errorf("%s refused the login of %s%s", l.s.addr(), l.s.user, l.outcome(err))
	if i := slices.IndexFunc(l.offered, func(o offer) bool { return o.unsigned != "" }); i >= 0 && !disconnected(err) && !wantsNewPassword(err) {
		o := l.offered[i]
		said = fmt.Errorf("%s takes the key %s for %s, but %s%s", l.s.addr(), Neutralise(o.key), l.s.user, o.unsigned, l.answersRefused())
	}
	return &Error{Kind: KindAuth, Endpoint: l.e, Hint: l.hint(err), Err: said}
}

// outcome says in one line what the server wants.
func (l *login) outcome(err error) string {
	takes := Neutralise(clip(strings.Join(l.allowed, ",")))
	switch {
	case tooMany(err):
		return fmt.Sprintf(": too many tries, after %s offered", plural(len(l.offered), "key was", "keys were"))
	case wantsNewPassword(err):
		return ": the password has expired, and the server wants a new one"
	case disconnected(err):
		return ": " + Neutralise(clip(strings.TrimPrefix(err.Error(), "ssh: handshake failed: ssh: ")))
	case len(l.accepted) > 0:
		return fmt.Sprintf(": it accepted %s and wants %s as well%s", Neutralise(strings.Join(l.accepted, ",")), takes, l.answersRefused())
	}
	out := fmt.Sprintf(": permission denied (%s)%s", takes, l.answersRefused())
	for _, k := range l.locked { // those that were offered are told of elsewhere
		out += fmt.Sprintf("; the key %s stays locked: %s", Neutralise(k.path), Neutralise(k.why))
	}
	return out
}

// answersRefused says how often the server said no to what the person answered;
// empty if it never did.
func (l *login) answersRefused() string {
	out := ""
	for _, m := range []struct{ name, one, many string }{
		{byKeyboard, "answer was", "answers were"}, {byPassword, "password was", "passwords were"},
	} {
		if l.refusedAnswers(m.name) > 0 {
			out += "; " + plural(l.refusedAnswers(m.name), m.one, m.many) + " refused"
		}
	}
	return out
}

// refusedAnswers counts the logins by a method that the person answered in vain.
func (l *login) refusedAnswers(method string) int {
	n := l.given[method]
	for _, a := range l.accepted {
		if a == method && n > 0 {
			n--
		}
	}
	return n
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// disconnected is whether the server said goodbye. The library's type for that
// is its own.
func disconnected(err error) bool {
	return err != nil && strings.Contains(err.Error(), "ssh: disconnect, reason ")
}

// tooMany is whether the server has had enough (RFC 4253: reason 2 with OpenSSH,
// 14 by the book).
func tooMany(err error) bool {
	return disconnected(err) && (strings.Contains(err.Error(), "Too many authentication failures") || strings.Contains(err.Error(), "reason 14:"))
}

// wantsNewPassword is whether the server answered a password by message 60,
// SSH_MSG_USERAUTH_PASSWD_CHANGEREQ, which the library does not know.
func wantsNewPassword(err error) bool {
	return err != nil && strings.Contains(err.Error(), "unexpected message type 60 (expected 52)")
}

// handshakeError says why a handshake failed. dropped is whether the server hung
// up before it had shown a key.
func handshakeError(keys *hostKeys, l *login, err error, dropped bool) *Error {
	e, s := l.e, l.s
	var algo *ssh.AlgorithmNegotiationError
	plain := errors.New(Neutralise(clip(err.Error())))
	switch {
	case keys.err != nil:
		return keys.err
	case dropped:
		return &Error{
			Kind: KindConnect, Endpoint: e, Err: fmt.Errorf("%s closed the connection before login: %w", s.addr(), err),
			Hint: "sshd may have had too many logins at once (MaxStartups), or refuse this address, perhaps for a while (PerSourcePenalties)",
		}
	case errors.As(err, &algo):
		return &Error{
			Kind: KindProtocol, Endpoint: e, Err: fmt.Errorf("%s and this program have no %s algorithm in common", s.addr(), Neutralise(algo.What)),
			Hint: negotiationHint(algo),
		}
	case l.asked && hungUp(err):
		return &Error{
			Kind: KindConnect, Endpoint: e, Err: fmt.Errorf("%s closed the connection during login: %w", s.addr(), err),
			Hint: "a server waits for a login only so long (LoginGraceTime); else its log has the reason",
		}
	case l.asked:
		return l.refusal(err)
	case hungUp(err):
		return &Error{
			Kind: KindConnect, Endpoint: e, Err: fmt.Errorf("%s closed the connection during login: %w", s.addr(), err),
			Hint: "the server's log has the reason",
		}
	}
	return &Error{Kind: KindProtocol, Endpoint: e, Err: plain, Hint: "see whether an SSH server listens at " + s.addr()}
}
