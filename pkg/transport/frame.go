package transport

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

const (
	// shellCommand is the command string that every Run sends. It reads the
	// same in sh, bash, zsh, fish and csh, keeps the script out of the
	// argument list, and leaves the script's commands an empty standard input.
	shellCommand = `exec /bin/sh -c 'eval "$(cat)"'`

	// maxOutput is how much of each stream of a script is taken, in bytes.
	maxOutput = 32 << 20
	// maxSeen is how much of what came before a frame is kept, for an error.
	maxSeen = 2 << 10
	// maxHead bounds the number behind a frame mark.
	maxHead = 20

	// pathPrologue appends what a non-login shell lacks. Appended, never
	// replaced: the order of the host's own PATH (as on NixOS) is its owner's.
	pathPrologue = `PATH="${PATH:-/usr/local/bin:/usr/bin:/bin}:/opt/homebrew/bin:/usr/local/bin:/opt/local/bin:$HOME/.local/bin:$HOME/bin:$HOME/.nix-profile/bin"
export PATH
`
)

// newNonce gives 128 random bits in hexadecimal.
func newNonce() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand documents that it never fails
	return hex.EncodeToString(b[:])
}

// frameScript puts text between marks, on both streams, that tell where its
// output begins and ends, under which process id, and with which exit code.
//
// The braces make the shell read all of it before it runs any of it: a script
// that was cut on its way is a syntax error and does nothing. A caller who has
// gone by the time the login shell is ready has closed the pipe, on which the
// first printf then fails: nothing runs either. The inner subshell lets text
// exit without losing the closing marks, and the colon lets it be empty.
func frameScript(nonce, text string) string {
	var b strings.Builder
	b.WriteString("{\n" + pathPrologue)
	fmt.Fprintf(&b, "printf '%%s%%s\\n' %sb \"$$\" || exit 255\nprintf '%%s%%s\\n' %sb \"$$\" >&2\n(\n:\n", nonce, nonce)
	b.WriteString(text)
	fmt.Fprintf(&b, "\n)\nfleet_code=$?\nprintf '%%s%%s\\n' %se \"$fleet_code\"\nprintf '%%s%%s\\n' %se \"$fleet_code\" >&2\nexit \"$fleet_code\"\n}\n", nonce, nonce)
	return b.String()
}

// frameReader takes one stream of a framed script, in pieces of any size, and
// keeps what stands between the marks. It is safe for concurrent use.
type frameReader struct {
	begin, end []byte
	// settled is called once, when the frame is complete or can no longer
	// become so (err).
	settled func(err error)
	// began is closed when the process id is known.
	began chan struct{}

	mu      sync.Mutex
	phase   framePhase
	buf     []byte
	scanned int // bytes of buf that hold no whole mark
	skipped int // bytes before the frame
	seen    []byte
	body    []byte
	pid     int
	code    int
	err     error
}

type framePhase int

const (
	beforeFrame framePhase = iota
	readingPID
	inFrame
	readingCode
	frameDone
	frameFailed
)

func newFrameReader(nonce string, settled func(error)) *frameReader {
	return &frameReader{begin: []byte(nonce + "b"), end: []byte(nonce + "e"), settled: settled, began: make(chan struct{})}
}

// Write takes the next piece. It fails only when the frame has; what comes
// after a complete frame is dropped.
func (f *frameReader) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.phase < frameDone {
		if len(f.buf)+len(p) > cap(f.buf) {
			f.buf = slices.Grow(f.buf, len(f.buf)+len(p)) // double: append alone copies more often
		}
		f.buf = append(f.buf, p...)
		for f.phase < frameDone && f.step() {
		}
		if f.phase >= frameDone {
			f.buf = nil
			f.settled(f.err)
		}
	}
	if f.phase == frameFailed {
		return 0, f.err
	}
	return len(p), nil
}

// step moves one phase on; false means that more input is needed.
func (f *frameReader) step() bool {
	switch f.phase {
	case beforeFrame:
		i := bytes.Index(f.buf, f.begin)
		if i < 0 {
			f.skip(max(0, len(f.buf)-len(f.begin)+1))
			return false
		}
		f.skip(i)
		f.buf = f.buf[len(f.begin):]
		f.phase = readingPID
	case readingPID:
		n, ok := f.number()
		if !ok {
			return false
		}
		f.pid, f.phase = n, inFrame
		close(f.began)
	case inFrame:
		from := max(0, f.scanned-len(f.end)+1)
		i := bytes.Index(f.buf[from:], f.end)
		if i < 0 {
			f.scanned = len(f.buf)
			if f.scanned > maxOutput+len(f.end) {
				f.fail(fmt.Errorf("more than %d MiB of output", maxOutput>>20))
			}
			return false
		}
		if from+i > maxOutput {
			f.fail(fmt.Errorf("more than %d MiB of output", maxOutput>>20))
			return false
		}
		f.body = f.buf[: from+i : from+i]
		f.buf = f.buf[from+i+len(f.end):]
		f.phase = readingCode
	case readingCode:
		n, ok := f.number()
		if !ok {
			return false
		}
		f.code, f.phase = n, frameDone
	}
	return true
}

// skip drops n bytes from before the frame, keeping the first of them.
func (f *frameReader) skip(n int) {
	if room := maxSeen - len(f.seen); room > 0 {
		f.seen = append(f.seen, f.buf[:min(n, room)]...)
	}
	f.buf = f.buf[n:]
	if f.skipped += n; f.skipped > maxOutput {
		f.fail(fmt.Errorf("more than %d MiB of output before the script began", maxOutput>>20))
	}
}

// number reads the line behind a mark.
func (f *frameReader) number() (int, bool) {
	i := bytes.IndexByte(f.buf, '\n')
	if i < 0 && len(f.buf) <= maxHead {
		return 0, false
	}
	head := f.buf[:min(max(i, 0), maxHead)]
	n, err := strconv.ParseUint(string(head), 10, 31)
	if i > maxHead || err != nil {
		f.fail(fmt.Errorf("a frame mark is followed by %q", excerpt(f.buf, maxHead)))
		return 0, false
	}
	f.buf = f.buf[i+1:]
	return int(n), true
}

func (f *frameReader) fail(err error) {
	if f.phase != frameFailed {
		f.phase, f.err = frameFailed, err
	}
}

// frameState is what a frameReader has come to.
type frameState struct {
	begun, done bool
	pid, code   int
	body        []byte // all there is so far, if not done
	seen        []byte // what came before the frame
	err         error
}

func (f *frameReader) state() frameState {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := frameState{
		begun: isClosed(f.began), done: f.phase == frameDone,
		pid: f.pid, code: f.code, body: f.body, seen: f.seen, err: f.err,
	}
	switch f.phase {
	case beforeFrame:
		s.seen = bytes.Join([][]byte{f.seen, f.buf}, nil)
	case inFrame:
		s.body = bytes.Clone(f.buf)
	}
	return s
}
