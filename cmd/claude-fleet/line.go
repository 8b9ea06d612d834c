package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// liveLine is a line on the terminal that is drawn over and over in one place,
// and is gone before anything else is written. Whoever calls it holds app.turn.
type liveLine struct {
	tty   *os.File // where it stands; nil when it does not
	text  string
	broke bool // what was written last did not end its line
}

// show draws the line, unless text that is not at its end stands in its place.
func (l *liveLine) show(tty *os.File, text string) {
	if l.broke || l.tty != nil && l.text == text || !inForeground(tty) {
		return
	}
	fmt.Fprint(tty, "\r"+text+"\x1b[K")
	l.tty, l.text = tty, text
}

// wipe leaves an empty line and the cursor at its beginning.
func (l *liveLine) wipe() {
	// In the background the line that the cursor stands in is the shell's.
	if l.tty != nil && inForeground(l.tty) {
		fmt.Fprint(l.tty, "\r\x1b[K")
	}
	l.tty = nil
}

// wrote notes how far a stream that is a terminal has come.
func (l *liveLine) wrote(stream io.Writer, p []byte) {
	if len(p) > 0 && terminalOf(stream) != nil {
		l.broke = p[len(p)-1] != '\n'
	}
}

// inForeground tells whether the terminal is ours to draw on, and not that of a
// shell which has us run in the background.
func inForeground(tty *os.File) bool {
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
