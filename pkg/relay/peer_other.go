//go:build !linux && !darwin && !freebsd

package relay

import (
	"errors"
	"net"
)

const maxSocketPath = 103

// peerUID has no answer here, so that nobody is let in.
func peerUID(*net.UnixConn) (int, error) {
	return -1, errors.New("this system does not tell whose process is at the other end of a socket")
}

// checkPlace is nil: this system has no namespaces.
func checkPlace(*net.UnixConn) error { return nil }
