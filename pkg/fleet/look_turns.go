package fleet

import "context"

// lookTurns bounds the looks that go on at once. Machines that did not answer when they
// were last looked at have turns of their own: each of theirs may last a whole
// deadline, and those that answer would wait for it.
type lookTurns struct{ answering, silent chan struct{} }

func newLookTurns() lookTurns {
	return lookTurns{answering: make(chan struct{}, maxParallel), silent: make(chan struct{}, maxParallel)}
}

// take waits for a turn and gives what ends it; false is that ctx ended first. A
// machine that was never looked at has not answered.
func (t lookTurns) take(ctx context.Context, answers bool) (done func(), ok bool) {
	free := t.silent
	if answers {
		free = t.answering
	}
	select {
	case free <- struct{}{}:
		return func() { <-free }, true
	case <-ctx.Done():
		return nil, false
	}
}
