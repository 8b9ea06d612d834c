//go:build darwin || freebsd

package relay

import (
	"net"

	"golang.org/x/sys/unix"
)

// maxSocketPath is how long the path of a unix socket may be, in bytes.
const maxSocketPath = 103

// peerUID is the account of the process at the other end, as it was when that
// connected or listened.
func peerUID(c *net.UnixConn) (int, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, err
	}
	uid, failed := -1, error(nil)
	err = raw.Control(func(fd uintptr) {
		cred, err := unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		if failed = err; err == nil {
			uid = int(cred.Uid)
		}
	})
	if err == nil {
		err = failed
	}
	return uid, err
}

// checkPlace is nil: this system has no namespaces.
func checkPlace(*net.UnixConn) error { return nil }
