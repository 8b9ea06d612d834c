package transport

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// skipHolds is how long a key that the person would not unlock stays skipped:
// long enough for a fleet's logins, which come at once.
const skipHolds = time.Minute

// keyring keeps, for a whole Pool, the keys that were unlocked, and never what
// unlocked them. Its zero value is empty.
type keyring struct {
	mu       sync.Mutex
	turns    map[string]*turn // those that somebody has or waits for
	unlocked map[ownedKey]ssh.Signer
	skipped  map[ownedKey]time.Time
	told     map[string]bool // the exposed files that the user has been told of
}

// turn is what one at a time has.
type turn struct {
	held   chan struct{} // has room for the one
	wanted int           // by how many, with who has it; this is keyring.mu's
}

// ownedKey is a key file for one person: nobody uses what another unlocked.
type ownedKey struct {
	who  string
	file fileVersion
}

// owned is f for whom the login is.
func (l *login) owned(f *keyFile) ownedKey {
	if who := personOf(l.ctx); who != nil {
		return ownedKey{who.ID, f.version}
	}
	return ownedKey{file: f.version}
}

// take waits for the turn at what, which each person has alone; release ends it.
// Whoever had the turn before may have left an answer.
func (k *keyring) take(ctx context.Context, what string) (release func(), _ error) {
	if who := personOf(ctx); who != nil {
		what += "\x00" + who.ID
	}
	k.mu.Lock()
	if k.turns == nil {
		k.turns = map[string]*turn{}
	}
	t := k.turns[what]
	if t == nil {
		t = &turn{held: make(chan struct{}, 1)}
		k.turns[what] = t
	}
	t.wanted++
	k.mu.Unlock()
	leave := func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if t.wanted--; t.wanted == 0 {
			delete(k.turns, what)
		}
	}
	select {
	case t.held <- struct{}{}:
		return func() { <-t.held; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}

// find gives a key that was unlocked, or whether it is to be skipped.
func (k *keyring) find(v ownedKey) (s ssh.Signer, skip bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	at, skipped := k.skipped[v]
	return k.unlocked[v], skipped && time.Since(at) < skipHolds
}

// keep keeps s, for as long as a fleet's logins take if it is one person's of
// many; nil is a key that is to be skipped.
func (k *keyring) keep(v ownedKey, s ssh.Signer) {
	if v.who != "" {
		time.AfterFunc(skipHolds, func() {
			k.mu.Lock()
			defer k.mu.Unlock()
			delete(k.unlocked, v)
			delete(k.skipped, v)
		})
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.unlocked == nil {
		k.unlocked, k.skipped = map[ownedKey]ssh.Signer{}, map[ownedKey]time.Time{}
	}
	if s != nil {
		k.unlocked[v] = s
	} else {
		k.skipped[v] = time.Now()
	}
}

// tellOnce is whether the user has yet to be told that a file is exposed.
func (k *keyring) tellOnce(file string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.told[file] {
		return false
	}
	if k.told == nil {
		k.told = map[string]bool{}
	}
	k.told[file] = true
	return true
}

// errSkipped is why a locked key does not sign.
var errSkipped = errors.New("the key stays locked")

// lockedKey is a file that stayed locked, and why.
type lockedKey struct{ path, why string }

// staysLocked records why f does. The first reason is the one that counts: a
// key is wanted twice if there is a certificate for it.
func (l *login) staysLocked(f *keyFile, why string) error {
	if !slices.ContainsFunc(l.locked, func(k lockedKey) bool { return k.path == f.path }) {
		l.locked = append(l.locked, lockedKey{f.path, why})
	}
	return errSkipped
}

// open gives the private key of f, for which it may have to ask. Why it could
// not is recorded.
func (l *login) open(f *keyFile) (ssh.Signer, error) {
	if f.signer != nil {
		return f.signer, nil
	}
	const justNow = "it was not unlocked a moment ago"
	s, skip := l.pool.keys.find(l.owned(f))
	if s != nil {
		return s, nil
	}
	if ok, why := l.canAsk(); !ok {
		return nil, l.staysLocked(f, "its passphrase is needed, and "+why)
	}
	if skip {
		return nil, l.staysLocked(f, justNow)
	}
	release, err := l.pool.keys.take(l.ctx, f.path)
	if err != nil {
		return nil, err
	}
	defer release()
	if s, skip = l.pool.keys.find(l.owned(f)); s != nil {
		return s, nil
	} else if skip {
		return nil, l.staysLocked(f, justNow)
	}
	s, err = l.unlock(f)
	if l.ctx.Err() == nil {
		l.pool.keys.keep(l.owned(f), s) // not asked again even if that failed
	}
	return s, err
}

// unlock asks for the passphrase of f; an empty answer skips the key.
func (l *login) unlock(f *keyFile) (ssh.Signer, error) {
	detail := ""
	for range l.s.prompts {
		phrase, err := l.ask("for the passphrase of "+f.path, Question{Kind: QuestionPassphrase, Text: "Passphrase of the key " + f.path + ":", Detail: detail})
		switch {
		case errors.Is(err, errUnanswered):
			return nil, l.staysLocked(f, "the question for its passphrase was not answered")
		case err != nil:
			return nil, err
		case phrase == "":
			return nil, l.staysLocked(f, "no passphrase was given")
		}
		s, err := ssh.ParsePrivateKeyWithPassphrase(f.locked, []byte(phrase))
		if err == nil {
			return s, nil
		}
		if !errors.Is(err, x509.IncorrectPasswordError) {
			l.note("%s is no key that can be used from a file: %v", f.path, err)
			return nil, err
		}
		detail = "That was not its passphrase."
	}
	return nil, l.staysLocked(f, "no passphrase fitted")
}

// fileSigner signs with a file whose public half is known, and opens it only
// then: a key that the server would not take is nobody's business to unlock.
type fileSigner struct {
	l    *login
	file *keyFile
}

// PublicKey implements ssh.Signer.
func (s *fileSigner) PublicKey() ssh.PublicKey {
	if cert, ok := s.file.pub.(*ssh.Certificate); ok {
		return cert.Key
	}
	return s.file.pub
}

// Sign implements ssh.Signer.
func (s *fileSigner) Sign(r io.Reader, data []byte) (*ssh.Signature, error) {
	return s.SignWithAlgorithm(r, data, "")
}

// SignWithAlgorithm implements ssh.AlgorithmSigner.
func (s *fileSigner) SignWithAlgorithm(r io.Reader, data []byte, algorithm string) (*ssh.Signature, error) {
	key, err := s.l.open(s.file)
	if err != nil {
		why := "it cannot be read: " + err.Error()
		for _, k := range s.l.locked {
			if k.path == s.file.path {
				why = "it stays locked: " + k.why
			}
		}
		s.l.unsigned(why)
		return nil, err
	}
	if !sameKey(key.PublicKey(), s.PublicKey()) {
		err := fmt.Errorf("%s.pub is not the public half of %s", s.file.path, s.file.path)
		s.l.note("%v", err)
		s.l.unsigned(err.Error())
		return nil, err
	}
	as, ok := key.(ssh.AlgorithmSigner)
	if !ok || algorithm == "" {
		return key.Sign(r, data)
	}
	return as.SignWithAlgorithm(r, data, algorithm)
}
