package transport

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// QuestionKind is what a Question is about.
type QuestionKind int

// The questions that a login may come to.
const (
	// QuestionHostKey asks whether an unknown host is the right one; the answer
	// is yes or the fingerprint that Detail shows, or no. Anything else is asked
	// about again, twice at most.
	QuestionHostKey QuestionKind = iota + 1
	// QuestionPassphrase asks for what unlocks a private key file.
	QuestionPassphrase
	// QuestionPassword asks for the account's password on the host.
	QuestionPassword
	// QuestionKeyboard is one that the server asks in its own words.
	QuestionKeyboard
)

var questionNames = map[QuestionKind]string{
	QuestionHostKey:    "host key",
	QuestionPassphrase: "passphrase",
	QuestionPassword:   "password",
	QuestionKeyboard:   "keyboard-interactive",
}

// String is the word for what the question is about.
func (k QuestionKind) String() string {
	if s, ok := questionNames[k]; ok {
		return s
	}
	return fmt.Sprintf("question kind %d", int(k))
}

// Question is something that only a person can answer.
type Question struct {
	Kind     QuestionKind
	Endpoint Endpoint
	// Text is the question, one line; Detail, of any number of lines, is to be
	// shown before it. Both are neutralised.
	Text, Detail string
	// Echo is whether the answer may be seen while it is typed.
	Echo bool
}

// errUnanswered is why a question was given up.
var errUnanswered = errors.New("the question was not answered")

// unanswered says which question was not answered, and why if err says more
// than just that.
func unanswered(which string, err error) error {
	if err.Error() == errUnanswered.Error() {
		return fmt.Errorf("the question %s was not answered", which)
	}
	return fmt.Errorf("the question %s was not answered: %w", which, err)
}

// errNobody is why a question was not put: there is nobody to ask.
var errNobody = errors.New("nobody can be asked here")

// ask puts a question to the person, if there is one. One question shows at a
// time, and no clock of the pool runs meanwhile. The answer may be secret.
func (p *Pool) ask(ctx context.Context, q Question) (string, error) {
	if !p.canAsk(ctx) {
		return "", errNobody
	}
	if who := personOf(ctx); who != nil {
		p.clock.stop()
		defer p.clock.start()
		return who.Ask(ctx, q)
	}
	select {
	case p.asking <- struct{}{}:
		defer func() { <-p.asking }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	p.clock.stop()
	defer p.clock.start()
	return p.opts.Ask(ctx, q)
}

// WithTimeout is context.WithTimeout on a clock that stands still while the
// pool waits for a person's answer: the time that a person takes to find a
// password is not the machine's.
func (p *Pool) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return p.clock.withTimeout(ctx, d)
}

// clock is a set of deadlines that can all be held up. Its zero value runs.
type clock struct {
	mu      sync.Mutex
	stopped int
	waits   map[*clockWait]struct{}
}

// clockWait is one deadline.
type clockWait struct {
	timer *time.Timer
	left  time.Duration // when the clock last started or stopped
	since time.Time     // when it last started
}

func (c *clock) withTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits == nil {
		c.waits = map[*clockWait]struct{}{}
	}
	w := &clockWait{left: d, since: time.Now()}
	w.timer = time.AfterFunc(d, func() { cancel(context.DeadlineExceeded) })
	if c.stopped > 0 {
		w.timer.Stop()
	}
	c.waits[w] = struct{}{}
	return ctx, func() {
		c.mu.Lock()
		w.timer.Stop()
		delete(c.waits, w)
		c.mu.Unlock()
		cancel(context.Canceled)
	}
}

// stop holds up every deadline until start has been called as often.
func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped++; c.stopped > 1 {
		return
	}
	for w := range c.waits {
		w.timer.Stop()
		w.left -= time.Since(w.since)
	}
}

func (c *clock) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped--; c.stopped > 0 {
		return
	}
	for w := range c.waits {
		w.since = time.Now()
		w.timer.Reset(max(w.left, 0))
	}
}
