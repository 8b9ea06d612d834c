package transport

import (
	"context"
	"io"
	"sync"
	"time"
)

// shell is a /bin/sh that is given scripts, on a channel or on this machine.
type shell struct {
	stdin   io.WriteCloser // feed's alone: open as long as the script is wanted
	scripts chan piece     // what feed is to send
	left    chan struct{}  // closed by leave
	once    sync.Once
	over    chan struct{} // closed when the shell, and the way to it, are over
	out     [2]stream     // standard output and standard error

	lasting bool    // it runs one script after another, see loopScript
	looping bool    // it was told how
	prelude string  // that it was given last
	frames  *frames // of the script that it has
	id      runID   // known once a script was answered
}

// sharesShell is whether s may run in a persistent shell.
func (s Script) sharesShell() bool { return s.Repeatable && !s.Alone && !s.Finish }

// piece is text for a shell's standard input.
type piece struct {
	text string
	fed  chan struct{} // closed when all of it was sent
}

// give hands s to the shell, which must have none, and gives its answer to be.
func (sh *shell) give(s Script) *frames {
	fr := newFrames()
	text, prelude := "", ""
	if s.Prelude != sh.prelude && s.Prelude != "" {
		prelude, sh.prelude = s.Prelude, s.Prelude
	}
	switch {
	case !sh.lasting:
		text = sized(frameScript(fr.nonce, s))
	case !sh.looping:
		sh.looping = true
		text = sized(loopScript(fr.nonce, prelude, s.Text))
	default:
		text = request(fr.nonce, prelude, s.Text)
	}
	sh.frames = fr
	sh.out[0].pass(fr.stdout)
	sh.out[1].pass(fr.stderr)
	sh.scripts <- piece{text, fr.fed} // there is room: feed has sent the one before
	return fr
}

// answered lets go of a script that was answered. whole is whether both streams
// came back in frames: where one is lost, only the shell's end tells that nothing
// more comes of it. ready is whether the shell waits for its next script.
func (sh *shell) answered(ctx context.Context) (whole, ready bool) {
	fr := sh.frames
	ready = sh.lasting
	if sh.lasting {
		wait, cancel := context.WithTimeout(ctx, drainGrace)
		defer cancel()
		select {
		case <-fr.fed:
		case <-wait.Done():
			ready = false // an answer to what was not sent is none of our loop's
		}
	}
	sh.id, sh.frames = fr.run(), nil // which may be large
	sh.out[0].pass(nil)
	sh.out[1].pass(nil)
	whole = fr.stderr.state().done
	return whole, ready && whole
}

// await waits for the answer to the script, or for the end of its shell;
// false means that ctx ended first.
func (sh *shell) await(ctx context.Context) bool {
	printed := sh.frames.printed
	if !sh.lasting {
		printed = nil
	}
	var late <-chan time.Time
	had := -1
	for {
		select {
		case <-sh.frames.settled:
			return true
		case <-sh.over:
			return true
		case <-late:
			now := sh.frames.stderr.torn()
			if now <= had {
				return true
			}
			had, late = now, time.After(drainGrace) // more of it comes, late
		case <-ctx.Done():
			return false
		case <-printed:
			// A forced command may drop standard error, or join it to the other.
			printed, late = nil, time.After(drainGrace)
		}
	}
}

// begins waits up to d for the script to begin, which is whether there is nothing
// left to wait for here.
func (sh *shell) begins(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-sh.frames.stdout.began:
	case <-sh.frames.settled:
	case <-sh.over:
	case <-ctx.Done():
	case <-t.C:
		return false
	}
	return true
}

// wakeTime is how long a shell that was idle may take to begin a script.
func wakeTime(ctx context.Context) time.Duration {
	if end, ok := ctx.Deadline(); ok {
		return min(maxWake, time.Until(end)/4)
	}
	return maxWake
}

// maxWake is generous: what it is beyond costs a repeatable script another shell.
const maxWake = 2 * time.Second

// feed passes scripts on, and the news that they are not wanted any more: the end
// of the input. It ends at the latest with the shell.
func (sh *shell) feed() {
	for {
		select {
		case p := <-sh.scripts:
			if _, err := io.WriteString(sh.stdin, p.text); err != nil {
				return
			}
			close(p.fed)
		case <-sh.left:
			_ = sh.stdin.Close()
			return
		case <-sh.over:
			return
		}
	}
}

// leave tells the host that the script is not wanted any more.
func (sh *shell) leave() {
	if sh.left != nil {
		sh.once.Do(func() { close(sh.left) })
	}
}

func newShell() shell { return shell{over: make(chan struct{})} }

// open makes it one that takes scripts: one, or, if it is to last, one after
// another.
func (sh *shell) open(lasting bool) {
	sh.lasting = lasting
	sh.scripts, sh.left = make(chan piece, 1), make(chan struct{})
}

// stream passes a shell's output on to whoever waits for it, if anybody does: what
// a host prints between two answers is dropped.
type stream struct {
	mu sync.Mutex
	to *frameReader
}

// Write implements io.Writer.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.to == nil {
		return len(p), nil
	}
	return s.to.Write(p)
}

func (s *stream) pass(to *frameReader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to = to
}
