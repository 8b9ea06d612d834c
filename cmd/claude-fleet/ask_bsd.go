//go:build darwin || freebsd || netbsd || openbsd

package main

import "golang.org/x/sys/unix"

// How macOS and the BSDs read and set the mode of a terminal.
const (
	getTermios      = unix.TIOCGETA
	setTermios      = unix.TIOCSETA
	setTermiosFlush = unix.TIOCSETAF
)
