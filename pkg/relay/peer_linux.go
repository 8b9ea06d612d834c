package relay

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"golang.org/x/sys/unix"
)

// maxSocketPath is how long the path of a unix socket may be, in bytes.
const maxSocketPath = 107

// peerUID is the account of the process at the other end, as it was when that
// connected or listened.
func peerUID(c *net.UnixConn) (int, error) {
	cred, err := peerCred(c)
	if err != nil {
		return -1, err
	}
	return int(cred.Uid), nil
}

func peerCred(c *net.UnixConn) (cred *unix.Ucred, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	failed := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if failed != nil {
		return nil, failed
	}
	return cred, err
}

// checkPlace is nil if the process at the other end runs in the namespaces of this
// one, whatever it says of itself: one that is locked into others must not get out
// by a server outside of them.
func checkPlace(c *net.UnixConn) error {
	cred, err := peerCred(c)
	if err != nil {
		return err
	}
	handle, err := peerHandle(c)
	if err != nil {
		return err
	}
	if handle >= 0 {
		defer func() { _ = unix.Close(handle) }()
	}
	return samePlace(int(cred.Pid), handle)
}

// peerHandle is a descriptor of the process that peerCred tells, which the caller
// closes, or -1 before Linux 6.5: there its number has to do.
func peerHandle(c *net.UnixConn) (handle int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, err
	}
	failed := raw.Control(func(fd uintptr) {
		handle, err = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	})
	switch {
	case failed != nil:
		return -1, failed
	case errors.Is(err, unix.ENOPROTOOPT):
		return -1, nil
	}
	return handle, err
}

// samePlace looks at the process pid. handle is that of the process that is meant, or
// -1: if that has ended by now, another one may have its number.
func samePlace(pid, handle int) error {
	var mine, theirs place
	if err := mine.spaces("self"); err != nil {
		return err
	}
	if err := theirs.spaces(strconv.Itoa(pid)); err != nil { // 0 is one that is not seen from here
		return err
	}
	if mine != theirs {
		return fmt.Errorf("process %d runs in other namespaces", pid)
	}
	if handle < 0 {
		return nil
	}
	ended := []unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}
	n, err := unix.Poll(ended, 0)
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Poll(ended, 0)
	}
	if err == nil && n != 0 {
		err = fmt.Errorf("process %d has ended", pid)
	}
	return err
}
