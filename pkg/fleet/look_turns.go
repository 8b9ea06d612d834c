package fleet

import "context"

// lookTurns bounds the looks that go on at once and are not overdue. Machines that did
// not answer when they were last looked at have turns of their own: those that answer
// would wait for them. So have those that were not looked at yet.
type lookTurns struct{ first, answering, silent chan struct{} }

func newLookTurns() lookTurns {
	return lookTurns{first: make(chan struct{}, maxParallel), answering: make(chan struct{}, maxParallel), silent: make(chan struct{}, maxParallel)}
}

// take waits for a turn and gives what ends it; false is that ctx ended first.
// looked is whether the machine was looked at before, and answered whether it did.
func (t lookTurns) take(ctx context.Context, looked, answered bool) (done func(), ok bool) {
	free := t.first
	switch {
	case looked && answered:
		free = t.answering
	case looked:
		free = t.silent
	}
	select {
	case free <- struct{}{}:
		return turnAt(free), true
	case <-ctx.Done():
		return nil, false
	}
}
