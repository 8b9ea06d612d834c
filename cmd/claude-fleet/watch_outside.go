package main

import (
	"bytes"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// maxNotices bounds the notices that are kept to be told at the end.
const maxNotices = 50

// saw keeps what a look found, the last of each host, until the table takes it.
func (w *watching) saw(s fleet.Watched) {
	w.mu.Lock()
	w.seen[s.Host.Name] = s
	w.mu.Unlock()
	w.wake()
}

// hear keeps what was written to standard error while the table was up.
func (w *watching) hear(text string) {
	w.mu.Lock()
	for _, l := range strings.Split(strings.TrimSpace(text), "\n") {
		w.notice = transport.Neutralise(l)
		w.notices = append(w.notices, w.notice)
	}
	w.notices = w.notices[max(0, len(w.notices)-maxNotices):]
	w.mu.Unlock()
	w.wake()
}

// wake tells the table that there is news. Without a table, the next one takes it.
func (w *watching) wake() {
	w.mu.Lock()
	p := w.program
	w.mu.Unlock()
	if p != nil {
		p.Send(wakeMsg{})
	}
}

// news implements outside.
func (w *watching) news() (seen []fleet.Watched, notice string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.seen {
		seen = append(seen, s)
	}
	clear(w.seen)
	notice, w.notice = w.notice, ""
	return seen, notice
}

// lookAgain implements outside. Questions that were left open are asked again.
func (w *watching) lookAgain() {
	w.mu.Lock()
	clear(w.refused)
	w.mu.Unlock()
	select {
	case w.again <- struct{}{}:
	default:
	}
}

// writing implements outside.
func (w *watching) writing(now bool) { w.typing.Store(now) }

// question implements outside. The answer comes while this table is up, or not.
func (w *watching) question(host string) {
	w.mu.Lock()
	p := w.program
	w.mu.Unlock()
	ctx := w.up
	w.dialogs.Go(func() {
		q, err := w.fleet.Question(ctx, host)
		if ctx.Err() == nil {
			p.Send(questionMsg{host: host, q: q, err: err})
		}
	})
}

// tellNotices prints at the end what was shown in the foot.
func (w *watching) tellNotices() {
	for _, n := range w.notices {
		_, _ = w.app.err.Write([]byte(n + "\n"))
	}
}

// quietTerminal is standard output without the terminal queries that the table's
// program begins with: a reply that comes late would be typed into whatever has the
// terminal next, and that may be a session.
type quietTerminal struct{ *os.File }

// terminalQueries are the keyboard's flags, and the modes 2026 and 2027.
var terminalQueries = [][]byte{[]byte("\x1b[?u"), []byte("\x1b[?2026$p"), []byte("\x1b[?2027$p")}

// Write implements io.Writer. The program writes a frame at once, so that no query
// is cut in two.
func (t quietTerminal) Write(p []byte) (int, error) {
	out := p
	for _, q := range terminalQueries {
		out = bytes.ReplaceAll(out, q, nil)
	}
	if n, err := t.File.Write(out); err != nil {
		return min(n, len(p)), err
	}
	return len(p), nil
}

// dropTyped drops the keys that were typed before the table is back: they were
// meant for what had the terminal then.
func dropTyped(tty *os.File) {
	fd := int(tty.Fd())
	if mode, err := unix.IoctlGetTermios(fd, getTermios); err == nil {
		_ = unix.IoctlSetTermios(fd, setTermiosFlush, mode)
	}
}
