package main

// The rules of the terminal:
//
//   - results go to standard output, everything else to standard error;
//   - a line of ours on standard error begins with "claude-fleet: ", is lower
//     case and ends without a period; what to do next stands indented below it;
//   - nothing from a host reaches the terminal before it is neutralised;
//   - colour is for a terminal only, and says nothing that the words do not;
//   - whatever way a command ends, the terminal is as it was.

import (
	"context"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/term"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// width is how many cells a line of standard output may have, and 0 where that
// is no terminal: a program that reads it, or a file, gets everything.
func (a *app) width() int { return widthOf(terminalOf(a.out)) }

// clip is a row of text that fits standard output.
func (a *app) clip(row string) string {
	if width := a.width(); width > 0 {
		return cutEnd(row, width)
	}
	return row
}

// widthOf is the width of a terminal in cells: its own, else what COLUMNS says,
// as where it runs over a serial line and does not know, else 80. No terminal has 0.
func widthOf(f *os.File) int {
	if f == nil {
		return 0
	}
	if cols, _, err := term.GetSize(int(f.Fd())); err == nil && cols > 0 {
		return cols
	}
	if cols, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && cols > 0 {
		return cols
	}
	return 80
}

// onTerminal runs fn with the caller's terminal in raw mode and its size
// followed, and restores it whatever way fn ends.
func onTerminal(ctx context.Context, fn func(context.Context, transport.Terminal) error) error {
	if !isTerminal(os.Stdin) || !isTerminal(os.Stdout) {
		return usagef("attach needs a terminal on standard input and output; use read and send without one")
	}
	// Opened anew for reading, since a file of our own can be told to stop: the
	// first key after the detach is then not eaten. A local tmux is handed
	// standard input itself, because it refuses /dev/tty.
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		tty = os.Stdin
	} else {
		defer func() { _ = tty.Close() }()
	}
	fd := int(tty.Fd())
	old, err := term.MakeRaw(fd)
	if err != nil {
		return err
	}
	defer func() { _ = term.Restore(fd, old) }()

	size := func() transport.Size {
		cols, rows, err := term.GetSize(fd)
		if err != nil {
			return transport.Size{}
		}
		return transport.Size{Cols: cols, Rows: rows}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	winch := make(chan os.Signal, 1)
	signal.Notify(winch, syscall.SIGWINCH)
	defer signal.Stop(winch)
	resize := make(chan transport.Size)
	go func() {
		for {
			select {
			case <-winch:
				select {
				case resize <- size():
				case <-ctx.Done():
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return fn(ctx, transport.Terminal{In: tty, Out: tty, File: os.Stdin, Term: os.Getenv("TERM"), Size: size(), Resize: resize})
}
