package transport

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
	xknownhosts "golang.org/x/crypto/ssh/knownhosts"
)

// recordLockDeadline bounds the wait for another process that writes known_hosts.
const recordLockDeadline = 5 * time.Second

// recordHostKey appends a line to a known_hosts file, under a lock, unless
// another process has meanwhile recorded the host: then the key must be the same.
func recordHostKey(file, name string, key ssh.PublicKey, hash bool) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return err // a device: nothing is kept, by the user's own choice
	}
	if err := lockFile(f, recordLockDeadline); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	var known []string
	if _, err := xknownhosts.New(file); err == nil { // else it has no entry at all
		known = []string{file}
	}
	check, err := xknownhosts.New(known...)
	if err != nil {
		return err
	}
	err = check(name, &net.TCPAddr{IP: net.IPv4zero}, key)
	var mismatch *xknownhosts.KeyError
	if err == nil {
		return nil
	} else if !errors.As(err, &mismatch) || len(mismatch.Want) > 0 {
		return fmt.Errorf("%s was given another key for the host meanwhile: %w", file, err)
	}
	entry := xknownhosts.Normalize(name)
	if hash {
		entry = xknownhosts.HashHostname(entry)
	}
	line := entry + " " + string(ssh.MarshalAuthorizedKey(key))
	if cut, err := lacksNewline(f); err != nil {
		return err
	} else if cut {
		line = "\n" + line
	}
	_, err = f.WriteString(line)
	return err
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
