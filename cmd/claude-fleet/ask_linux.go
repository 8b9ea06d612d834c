package main

import "golang.org/x/sys/unix"

// How Linux reads and sets the mode of a terminal.
const (
	getTermios      = unix.TCGETS
	setTermios      = unix.TCSETS
	setTermiosFlush = unix.TCSETSF
)
