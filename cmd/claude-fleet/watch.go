package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// watching is the live table of status --watch. Two things take turns on the
// terminal: the table, a program of its own that ends with what a key asked for, and
// whatever was asked for, which has the terminal as any command does. So no verb
// knows of the table, and no key of one is ever taken by the other.
type watching struct {
	app   *app
	fleet *fleet.Fleet
	hosts []fleet.Host
	every time.Duration
	model *watchModel

	in, screen *os.File // the terminal

	again     chan struct{}            // look anew; holds one
	questions chan watchQuestion       // of logins, while the table is up
	offstage  atomic.Pointer[offstage] // closed while a verb has the terminal
	interrupt chan os.Signal
	typing    atomic.Bool // the keys are somebody's prompt or answer

	mu      sync.Mutex
	program *tea.Program // that is up, or about to be
	seen    map[string]fleet.Watched
	notices []string
	notice  string          // the last one that the table has not shown
	refused map[string]bool // questions that a person did not answer

	dialogs sync.WaitGroup  // that are being asked for
	up      context.Context // while the program is
}

// watch shows the hosts in a table that is kept up to date until a person quits it
// or ctx ends. Standard input and output must be a terminal that can move its
// cursor. It looks at each machine once an interval (0: the library's), types
// nothing into a session by itself, and leaves the terminal as it was.
func (a *app) watch(ctx context.Context, f *fleet.Fleet, hosts []fleet.Host, interval time.Duration) error {
	if interval <= 0 {
		interval = fleet.DefaultInterval
	}
	w := &watching{
		app: a, fleet: f, hosts: hosts, every: interval, in: terminalOf(a.in), screen: terminalOf(a.out),
		again: make(chan struct{}, 1), questions: make(chan watchQuestion),
		interrupt: make(chan os.Signal, 1), seen: map[string]fleet.Watched{}, refused: map[string]bool{},
	}
	if w.in == nil || w.screen == nil {
		return usagef("the live table needs a terminal on standard input and output; use --json without one")
	}
	w.model = newWatchModel(a, f, hosts, interval, w)

	// Ctrl+C ends what has the terminal, which is not always the table.
	signal.Reset(os.Interrupt)
	signal.Notify(w.interrupt, os.Interrupt)
	defer signal.Stop(w.interrupt)
	w.offstage.Store(newOffstage())
	a.fleet = f
	a.watching.Store(w)
	defer a.watching.Store(nil)
	defer w.tellNotices()
	return w.run(ctx)
}

// run has the table and the verbs take their turns.
func (w *watching) run(ctx context.Context) error {
	for ctx.Err() == nil { // to be ended by a signal is how it ends
		do, err := w.onstage(ctx)
		switch {
		case err != nil:
			return err
		case do.verb == verbQuit:
			return nil
		case do.verb == verbSuspend:
			suspend(ctx)
		case do.verb == verbNone: // ctx ended
		default:
			if w.perform(ctx, do) {
				return nil
			}
		}
		dropTyped(w.in)
	}
	return nil
}

// onstage looks at the hosts and shows the table until a key asks for something
// that needs the terminal. A question of a login has it in between, while the looks
// that wait for it go on.
func (w *watching) onstage(ctx context.Context) (action, error) {
	looking, stop := context.WithCancel(ctx)
	off := newOffstage()
	w.offstage.Store(off)
	var looks sync.WaitGroup
	looks.Go(func() { w.look(looking) })
	defer looks.Wait()
	defer off.begin() // what still asks then asks by itself, or the looks might wait for it
	defer stop()
	for {
		q, err := w.show(looking)
		do := w.model.do
		switch {
		case q != nil && (err != nil || do.verb == verbQuit):
			q.answer <- watchAnswer{err: errNoAnswer}
		case q != nil:
			w.put(ctx, *q)
			dropTyped(w.in)
			continue
		}
		w.model.do = action{}
		return do, err
	}
}

// show has the table on the terminal until it ends for an action of the model, for
// ctx, or for a question.
func (w *watching) show(ctx context.Context) (*watchQuestion, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := tea.NewProgram(w.model, tea.WithInput(w.in), tea.WithOutput(quietTerminal{w.screen}), tea.WithEnvironment(w.environment()),
		tea.WithoutSignalHandler(), tea.WithFPS(20))
	w.up = ctx
	w.mu.Lock()
	w.program = p
	w.mu.Unlock()
	w.app.putAside(w.hear)
	w.model.hear()
	w.model.now = time.Now()

	var asked *watchQuestion
	var beside sync.WaitGroup
	beside.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			// A question of a login would take the rest of what is being typed for its
			// answer, and so give it to the machine that asks: it waits.
			questions := w.questions
			if w.typing.Load() {
				questions = nil
			}
			select {
			case now := <-tick.C:
				p.Send(tickMsg(now))
			case q := <-questions:
				asked = &q
				p.Quit()
				return
			case <-w.interrupt:
				w.quit(p)
				return
			case <-ctx.Done():
				p.Quit()
				return
			}
		}
	})
	_, err := p.Run()
	w.mu.Lock()
	w.program = nil
	w.mu.Unlock()
	cancel()
	beside.Wait()
	w.dialogs.Wait()
	w.app.putAside(nil)
	if w.model.mode == modeFetch {
		w.model.mode = modeTable
	}
	if err != nil {
		return nil, fmt.Errorf("the table: %w", err)
	}
	return asked, nil
}

// quit ends the program as its key would.
func (w *watching) quit(p *tea.Program) {
	p.Send(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl})
}

// environment is ours. What --color says goes before NO_COLOR there.
func (w *watching) environment() []string {
	env := os.Environ()
	if w.app.colours() {
		env = append(env, "NO_COLOR=")
	}
	return env
}

// perform runs a verb as its command does, keeps what it printed in sight until
// Enter, and tells whether the table is over. Ctrl+C ends the verb, and behind it the
// table.
func (w *watching) perform(ctx context.Context, do action) (over bool) {
	var err error
	w.untilInterrupt(ctx, func(ctx context.Context) { err = w.app.perform(ctx, w.fleet, do) })
	if err != nil && !errors.Is(err, errShown) {
		w.app.showError(err)
	}
	if do.verb == verbSend {
		w.model.sent(do, err)
	}
	if ctx.Err() != nil || do.verb == verbAttach && err == nil {
		return false
	}
	return w.untilInterrupt(ctx, func(ctx context.Context) {
		_, _ = w.app.askNow(ctx, transport.Question{Text: "Enter: back to the table"})
	})
}

// untilInterrupt calls fn with a context that Ctrl+C ends, and tells whether it did.
// A second one kills, as it does everywhere.
func (w *watching) untilInterrupt(ctx context.Context, fn func(context.Context)) (interrupted bool) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan struct{})
	var beside sync.WaitGroup
	beside.Go(func() {
		select {
		case <-w.interrupt:
			interrupted = true
			signal.Stop(w.interrupt)
			cancel(errNoAnswer)
			<-ended
			signal.Notify(w.interrupt, os.Interrupt)
		case <-ended:
		}
	})
	fn(ctx)
	close(ended)
	beside.Wait()
	return interrupted
}

// look watches the hosts until ctx ends, beginning anew when that is wanted.
func (w *watching) look(ctx context.Context) {
	for ctx.Err() == nil {
		round, cancel := context.WithCancel(ctx)
		var beside sync.WaitGroup
		beside.Go(func() {
			select {
			case <-w.again:
				cancel()
			case <-round.Done():
			}
		})
		for s := range w.fleet.Watch(round, fleet.WatchOptions{Interval: w.every}, w.hosts...) {
			w.saw(s)
		}
		cancel()
		beside.Wait()
	}
}

// suspend stops us as the terminal would have, whose keys the table has taken over.
// Nobody may be there to continue us (no shell with job control): then nothing
// stops, and we go on.
func suspend(ctx context.Context) {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	_ = syscall.Kill(0, syscall.SIGTSTP)
	select {
	case <-continued:
	case <-time.After(300 * time.Millisecond): // it is stopped in far less
	case <-ctx.Done():
	}
}
