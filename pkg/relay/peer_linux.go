package relay

import (
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
	return samePlace(int(cred.Pid))
}

func samePlace(pid int) error {
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
	return nil
}
