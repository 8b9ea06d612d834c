package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// watchQuestion is a question of a login that waits for the table to go away.
type watchQuestion struct {
	ctx    context.Context
	q      transport.Question
	answer chan watchAnswer // holds one
}

type watchAnswer struct {
	text string
	err  error
}

// offstage tells when a verb has the terminal.
type offstage struct {
	began chan struct{}
	once  sync.Once
}

func newOffstage() *offstage { return &offstage{began: make(chan struct{})} }

// has tells whether a verb has the terminal now.
func (o *offstage) has() bool {
	select {
	case <-o.began:
		return true
	default:
		return false
	}
}

func (o *offstage) begin() { o.once.Do(func() { close(o.began) }) }

// errLeftOpen answers a question that a person has left open: the next look would
// only ask it again, and the table would never be seen.
var errLeftOpen = errors.New("it was asked and not answered; u in the table looks again, and asks")

// ask puts a question of a login to the person: the table goes away for it. Where a
// verb has the terminal, it is asked there at once.
func (w *watching) ask(ctx context.Context, q transport.Question) (string, error) {
	w.mu.Lock()
	open := w.refused[questionKey(q)]
	w.mu.Unlock()
	off := w.offstage.Load()
	switch {
	case off.has():
		return w.app.askNow(ctx, q)
	case open:
		return "", errLeftOpen
	}
	wq := watchQuestion{ctx: ctx, q: q, answer: make(chan watchAnswer, 1)}
	select {
	case w.questions <- wq:
	case <-off.began:
		return w.app.askNow(ctx, q)
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	select {
	case a := <-wq.answer:
		return a.text, a.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// put asks a question that the table went away for. Ctrl+C leaves it open.
func (w *watching) put(ctx context.Context, q watchQuestion) {
	qctx, cancel := context.WithCancelCause(q.ctx)
	defer cancel(nil)
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	defer stop()
	var text string
	var err error
	w.untilInterrupt(qctx, func(ctx context.Context) { text, err = w.app.askNow(ctx, q.q) })
	if err != nil && q.ctx.Err() == nil {
		w.mu.Lock()
		w.refused[questionKey(q.q)] = true
		w.mu.Unlock()
	}
	q.answer <- watchAnswer{text, err}
}

// questionKey names a question by who asks. A machine that asks in words of its own may
// choose others each time, and is asked about once all the same.
func questionKey(q transport.Question) string {
	if q.Kind == transport.QuestionKeyboard {
		return fmt.Sprintf("%v %s", q.Kind, q.Endpoint)
	}
	return fmt.Sprintf("%v %s %s", q.Kind, q.Endpoint, q.Text)
}

// terminalFree tells whether an ssh in a ProxyCommand may ask on the terminal: not
// into the live table, where it could not be told from it and would take its keys.
func (a *app) terminalFree() bool {
	w := a.watching.Load()
	return w == nil || w.offstage.Load().has()
}
