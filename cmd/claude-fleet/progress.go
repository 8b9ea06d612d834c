package main

import (
	"context"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// How long a command waits in silence, and how often the line is drawn anew.
const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 250 * time.Millisecond
)

// progressTerminal is the terminal that progress is shown on, or nil: standard
// error, where it is one that can move its cursor. A program that reads standard
// output may write to the same terminal, where we could not clear the way.
func (a *app) progressTerminal() *os.File {
	tty := terminalOf(a.err)
	if tty == nil || a.json || dumb() || piped(a.out) {
		return nil
	}
	return tty
}

// piped tells whether a program reads what is written to the stream.
func piped(stream any) bool {
	if w, ok := stream.(turnWriter); ok {
		stream = w.Writer
	}
	f, ok := stream.(*os.File)
	if !ok {
		return true
	}
	info, err := f.Stat()
	return err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}

// progress tells on a terminal which hosts are waited for. Its goroutine ends
// with end.
type progress struct {
	a       *app
	tty     *os.File
	total   int
	waiting []string // in the order of the table; app.turn guards it
	start   time.Time
	cancel  context.CancelFunc
	ended   chan struct{}
}

// follow yields the results of a verb over hosts, and meanwhile tells on the
// terminal, if there is one, which of them are waited for.
func follow[R any](ctx context.Context, a *app, f *fleet.Fleet, hosts []fleet.Host, results iter.Seq[R], name func(R) string) iter.Seq[R] {
	return func(yield func(R) bool) {
		p := a.progress(ctx, f, hosts, labels(hosts), len(hosts))
		defer p.end()
		for r := range results {
			p.answered(name(r))
			if !yield(r) {
				return
			}
		}
	}
}

// progress begins to tell what is waited for, once half a second is over. A total
// of 0 counts nothing: all is answered at once. hosts are those that may be
// connected to meanwhile.
func (a *app) progress(ctx context.Context, f *fleet.Fleet, hosts []fleet.Host, waiting []string, total int) *progress {
	tty := a.progressTerminal()
	if tty == nil {
		return nil
	}
	p := &progress{a: a, tty: tty, total: total, waiting: waiting, start: time.Now(), ended: make(chan struct{})}
	ctx, p.cancel = context.WithCancel(ctx)
	go p.run(ctx, f, hosts)
	return p
}

// answered takes a host off those that are waited for.
func (p *progress) answered(name string) {
	if p == nil {
		return
	}
	p.a.turn.Lock()
	defer p.a.turn.Unlock()
	p.waiting = slices.DeleteFunc(p.waiting, func(n string) bool { return n == name })
}

// end wipes the line and waits for the goroutine.
func (p *progress) end() {
	if p == nil {
		return
	}
	p.cancel()
	<-p.ended
	p.a.turn.Lock()
	defer p.a.turn.Unlock()
	p.a.line.wipe()
}

func (p *progress) run(ctx context.Context, f *fleet.Fleet, hosts []fleet.Host) {
	defer close(p.ended)
	select {
	case <-time.After(progressAfter):
	case <-ctx.Done():
		return
	}
	may := p.a.mayAsk(ctx, f, hosts)
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		p.draw(may)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// mayAsk names the hosts whose login may ask on the terminal without our doing:
// an ssh in a ProxyCommand does. ssh_config is not read for it a second time.
func (a *app) mayAsk(ctx context.Context, f *fleet.Fleet, hosts []fleet.Host) map[string]bool {
	names := map[string]bool{}
	if a.asker() == nil || len(hosts) == 0 {
		return names
	}
	for r := range f.Resolve(ctx, hosts...) {
		if r.SSH != nil && r.SSH.ProxyCommand != "" {
			names[r.Host.Name] = true
		}
	}
	return names
}

// draw shows how it stands, unless somebody writes or asks just now, or a host
// that is waited for may be asking.
func (p *progress) draw(may map[string]bool) {
	if !p.a.turn.TryLock() {
		return
	}
	defer p.a.turn.Unlock()
	if slices.ContainsFunc(p.waiting, func(n string) bool { return may[n] }) {
		return
	}
	// The last cell of a row stays free: some terminals begin a new row behind it.
	p.a.line.show(p.tty, progressText(p.total, p.waiting, time.Since(p.start), widthOf(p.tty)-1))
}

// progressText says in a line of that many cells how many of a total have
// answered, which have not, as many as it has room for, and since when.
func progressText(total int, waiting []string, since time.Duration, width int) string {
	head := fmt.Sprintf("%d of %d hosts", total-len(waiting), total)
	tail := " (" + since.Round(time.Second).String() + ")"
	switch {
	case len(waiting) == 0:
		return cutEnd(head+tail, width)
	case total <= 1:
		head = "waiting for "
	default:
		head += "; waiting for "
	}
	for n := len(waiting); n > 0; n-- {
		names := strings.Join(waiting[:n], ", ")
		if n < len(waiting) {
			names += ellipsis
		}
		if ansi.StringWidth(head+names+tail) <= width {
			return head + names + tail
		}
	}
	// Who is waited for tells more than for how long.
	return cutEnd("waiting for "+strings.Join(waiting, ", "), width)
}
