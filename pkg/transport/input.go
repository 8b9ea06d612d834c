package transport

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// input copies what a user types, until it is stopped.
type input struct {
	once sync.Once
	wake func()        // ends a read that is under way
	done chan struct{} // closed when nothing more will be read
	wait bool          // whether wake is known to work
}

// copyInput copies from to to in a goroutine, which calls ended at from's end. A
// plain reader cannot be interrupted; stop does not wait for it then, and the
// goroutine ends with the Read that is under way.
func copyInput(from io.Reader, to io.Writer, ended func()) *input {
	in := &input{done: make(chan struct{}), wake: func() {}}
	if from == nil {
		close(in.done)
		return in
	}
	read := from.Read
	stopped := make(chan struct{})
	in.wake = func() { close(stopped) }
	switch f := from.(type) {
	case *os.File:
		if p, err := newPoller(f); err == nil {
			read, in.wait = p.read, true
			in.wake = func() { close(stopped); p.interrupt() }
			defer func() {
				go func() { // ends with the copy
					<-in.done
					p.close()
				}()
			}()
		}
	case interface{ SetReadDeadline(time.Time) error }:
		in.wait = true
		in.wake = func() {
			close(stopped)
			_ = f.SetReadDeadline(time.Unix(1, 0))
		}
	}
	go func() { // ends at from's end, at a failed write, or by stop
		defer close(in.done)
		buf := make([]byte, 4<<10)
		for {
			n, err := read(buf)
			if isClosed(stopped) {
				return
			}
			if n > 0 {
				if _, werr := to.Write(buf[:n]); werr != nil {
					return
				}
			}
			if err != nil {
				ended()
				return
			}
		}
	}()
	return in
}

// stop ends the copying. What is typed from now on is left for the next reader.
func (in *input) stop() {
	in.once.Do(in.wake)
	if in.wait {
		<-in.done
	}
}

// errInterrupted is poller.read's error after interrupt.
var errInterrupted = errors.New("interrupted")

// poller reads a file only when there is something to read, so that a read can
// be called off without eating the next key. Deadlines would not do: a terminal
// that was inherited is mostly in blocking mode, where they do not work.
type poller struct {
	file           *os.File
	wakeR, wakeW   *os.File
	fd, wakeReadFD int
}

func newPoller(f *os.File) (*poller, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := &poller{file: f, wakeR: r, wakeW: w, fd: rawFD(f), wakeReadFD: rawFD(r)}
	// select(2) and not poll(2), which on macOS does not know terminals.
	if p.fd < 0 || p.fd >= unix.FD_SETSIZE || p.wakeReadFD >= unix.FD_SETSIZE {
		p.close()
		return nil, errors.New("file number out of range")
	}
	return p, nil
}

// rawFD gives the file's number without putting it into blocking mode, as Fd does.
func rawFD(f *os.File) int {
	fd := -1
	if c, err := f.SyscallConn(); err == nil {
		_ = c.Control(func(n uintptr) { fd = int(n) })
	}
	return fd
}

func (p *poller) read(b []byte) (int, error) {
	for {
		var set unix.FdSet
		set.Zero()
		set.Set(p.fd)
		set.Set(p.wakeReadFD)
		_, err := unix.Select(max(p.fd, p.wakeReadFD)+1, &set, nil, nil, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return 0, err
		case set.IsSet(p.wakeReadFD):
			return 0, errInterrupted
		}
		return p.file.Read(b)
	}
}

func (p *poller) interrupt() { _, _ = p.wakeW.Write([]byte{0}) }

func (p *poller) close() {
	_ = p.wakeR.Close()
	_ = p.wakeW.Close()
}
