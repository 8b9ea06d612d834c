package transport

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
	xknownhosts "golang.org/x/crypto/ssh/knownhosts"
)

// recordLockDeadline bounds the wait for another process that writes known_hosts.
const recordLockDeadline = 5 * time.Second

// errOtherKey is why a key that was unknown a moment ago is not recorded.
var errOtherKey = errors.New("another key was recorded for the host meanwhile")

// recordHostKey appends a line to a known_hosts file, under a lock, unless
// another process has meanwhile recorded the host: then the key must be the same.
// name is as the file has it. kept is false where file is a device.
func recordHostKey(file, name string, key ssh.PublicKey, hash bool) (kept bool, _ error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return false, err
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return false, err // nothing is kept, by the user's own choice
	}
	if err := lockFile(f, recordLockDeadline); err != nil {
		return false, fmt.Errorf("%s: %w", file, err)
	}
	entries, err := readKnownFile(file)
	if err != nil {
		return false, err
	}
	for _, k := range marked(lookUp(entries, name), markNone) {
		if sameKey(k.pub, key) {
			return true, nil
		}
		if k.kind == key.Type() {
			return false, fmt.Errorf("%s: %w", k.at(), errOtherKey)
		}
	}
	entry := name
	if hash {
		entry = xknownhosts.HashHostname(entry)
	}
	line := entry + " " + string(ssh.MarshalAuthorizedKey(key))
	if cut, err := lacksNewline(f); err != nil {
		return false, err
	} else if cut {
		line = "\n" + line
	}
	_, err = f.WriteString(line)
	return true, err
}

// lacksNewline is whether f's last line is open: appending to it would spoil two entries.
func lacksNewline(f *os.File) (bool, error) {
	st, err := f.Stat()
	if err != nil || st.Size() == 0 {
		return false, err
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], st.Size()-1); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return last[0] != '\n', nil
}

// lockFile takes an exclusive lock, which ends with the file's being closed.
func lockFile(f *os.File, patience time.Duration) error {
	for end := time.Now().Add(patience); ; {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return err
		}
		if time.Now().After(end) {
			return errors.New("another process has held the lock for too long")
		}
		time.Sleep(20 * time.Millisecond)
	}
}
