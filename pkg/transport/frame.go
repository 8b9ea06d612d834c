package transport

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

const (
	// maxOutput is how much of each stream of a script is taken, in bytes.
	maxOutput = 32 << 20
	// maxSeen is how much of what came before a frame is kept, for an error.
	maxSeen = 2 << 10
	// maxHead bounds the numbers behind a frame mark, in characters.
	maxHead = 30
)

// runID is one run of a script on its host: its shell, and the process group
// that it ends with.
type runID struct{ pid, group int }

// known is whether there is a group to end. Never 0 or 1: to kill, these mean
// one's own group and every process there is.
func (r runID) known() bool { return r.pid > 1 && r.group > 1 }

// frameReader takes one stream of a framed script, in pieces of any size, and
// keeps what stands between the marks. It is safe for concurrent use.
type frameReader struct {
	begin, end []byte
	// settled is called once, when the frame is complete or can no longer
	// become so (err).
	settled func(err error)
	// began is closed when the process ids are known.
	began chan struct{}

	mu      sync.Mutex
	phase   framePhase
	buf     []byte
	scanned int // bytes of buf that hold no whole mark
	skipped int // bytes before the frame
	seen    []byte
	body    []byte
	run     runID
	code    int
	err     error
}

type framePhase int

const (
	beforeFrame framePhase = iota
	readingIDs
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
		f.phase = readingIDs
	case readingIDs:
		n, ok := f.numbers(2)
		if !ok {
			return false
		}
		f.run, f.phase = runID{n[0], n[1]}, inFrame
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
		n, ok := f.numbers(1)
		if !ok {
			return false
		}
		f.code, f.phase = n[0], frameDone
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

// numbers reads the line of n numbers behind a mark.
func (f *frameReader) numbers(n int) ([]int, bool) {
	i := bytes.IndexByte(f.buf, '\n')
	if i < 0 && len(f.buf) <= maxHead {
		return nil, false
	}
	var got []int
	ok := i >= 0 && i <= maxHead
	if ok {
		for word := range strings.SplitSeq(string(f.buf[:i]), " ") {
			v, err := strconv.ParseUint(word, 10, 31)
			ok = ok && err == nil
			got = append(got, int(v))
		}
	}
	if !ok || len(got) != n {
		f.fail(fmt.Errorf("a frame mark is followed by %q", excerpt(f.buf, maxHead)))
		return nil, false
	}
	f.buf = f.buf[i+1:]
	return got, true
}

// torn is how many bytes have come of a frame that is begun and not complete, or -1.
func (f *frameReader) torn() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.phase != inFrame && f.phase != readingCode {
		return -1
	}
	return len(f.buf)
}

func (f *frameReader) fail(err error) {
	if f.phase != frameFailed {
		f.phase, f.err = frameFailed, err
	}
}

func (f *frameReader) id() runID {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.run
}

// frameState is what a frameReader has come to.
type frameState struct {
	begun, done bool
	run         runID
	code        int
	body        []byte // all there is so far, if not done
	seen        []byte // what came before the frame
	err         error
}

func (f *frameReader) state() frameState {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := frameState{
		begun: isClosed(f.began), done: f.phase == frameDone,
		run: f.run, code: f.code, body: f.body, seen: f.seen, err: f.err,
	}
	switch f.phase {
	case beforeFrame:
		s.seen = bytes.Join([][]byte{f.seen, f.buf}, nil)
	case inFrame:
		s.body = bytes.Clone(f.buf)
	}
	return s
}
