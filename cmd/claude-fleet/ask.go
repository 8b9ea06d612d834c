package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// asker gives the way to the person at the terminal, or nil where there is
// none: standard error must be the terminal, so that cron and a program that
// runs us are never asked. Standard input may be a pipe with a prompt in it.
func (a *app) asker() func(context.Context, transport.Question) (string, error) {
	if a.batch || terminalOf(a.err) == nil {
		return nil
	}
	return func(ctx context.Context, q transport.Question) (string, error) {
		if w := a.watching.Load(); w != nil {
			return w.ask(ctx, q)
		}
		return a.askNow(ctx, q)
	}
}

// askNow asks on the terminal, on which nothing is written meanwhile.
func (a *app) askNow(ctx context.Context, q transport.Question) (string, error) {
	a.turn.Lock()
	defer a.turn.Unlock()
	a.line.wipe()
	return ask(ctx, q)
}

var errNoAnswer = errors.New("the question was not answered")

// ask shows a question on the terminal and reads one line. What was typed ahead
// is dropped: it was not meant as an answer. The terminal is put back into the
// mode that it was found in, raw or not.
func ask(ctx context.Context, q transport.Question) (string, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = tty.Close() }()
	fd := int(tty.Fd())
	if fd >= unix.FD_SETSIZE { // of a large fleet, each with a connection
		return "", errors.New("too many files are open to ask on the terminal; name fewer hosts")
	}
	before, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return "", err
	}
	mode := *before
	mode.Iflag |= unix.ICRNL
	mode.Oflag |= unix.OPOST | unix.ONLCR
	mode.Lflag |= unix.ICANON | unix.ISIG | unix.ECHO | unix.ECHONL
	if !q.Echo {
		mode.Lflag &^= unix.ECHO
	}
	defer func() { _ = unix.IoctlSetTermios(fd, setTermios, before) }()
	if err := unix.IoctlSetTermios(fd, setTermiosFlush, &mode); err != nil {
		return "", err
	}
	// A shell that we were suspended from has its own mode.
	resumed := make(chan os.Signal, 1)
	signal.Notify(resumed, syscall.SIGCONT)
	defer signal.Stop(resumed)
	again := func() { _ = unix.IoctlSetTermios(fd, setTermiosFlush, &mode); showQuestion(tty, q) }

	showQuestion(tty, q)
	line, err := readLine(ctx, fd, resumed, again)
	if err != nil {
		fmt.Fprintln(tty)
	}
	return line, err
}

// showQuestion writes the question by the rules of the terminal (term.go).
func showQuestion(w io.Writer, q transport.Question) {
	text := "claude-fleet: "
	if q.Kind != 0 { // one that a login came to, on a machine
		text += q.Endpoint.String() + ": "
	}
	if q.Detail != "" {
		text += strings.ReplaceAll(transport.NeutraliseLines(q.Detail), "\n", "\n  ") + "\n  "
	}
	fmt.Fprintf(w, "%s%s ", text, transport.Neutralise(q.Text))
}

// readLine reads the line that the terminal gives in canonical mode. It looks
// for one only when there is something to read, and ten times a second whether
// the answer is still wanted: a read under way could not be called off.
func readLine(ctx context.Context, fd int, resumed <-chan os.Signal, again func()) (string, error) {
	buf := make([]byte, 4096) // a terminal's line has 4095 bytes at most
	for {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-resumed:
			again()
		default:
		}
		var set unix.FdSet
		set.Zero()
		set.Set(fd)
		tenth := unix.NsecToTimeval(int64(100 * time.Millisecond))
		n, err := unix.Select(fd+1, &set, nil, nil, &tenth)
		switch {
		case errors.Is(err, syscall.EINTR), err == nil && n == 0:
			continue
		case err != nil:
			return "", err
		}
		n, err = unix.Read(fd, buf)
		switch {
		case errors.Is(err, syscall.EINTR), errors.Is(err, syscall.EAGAIN):
		case err != nil:
			return "", err
		case n == 0: // Ctrl-D
			return "", errNoAnswer
		default:
			return strings.TrimRight(string(buf[:n]), "\n"), nil
		}
	}
}
