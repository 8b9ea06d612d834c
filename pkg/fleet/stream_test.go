package fleet

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestStreamDeliversAsTheyCome(t *testing.T) {
	defer goleak.VerifyNone(t)
	gate := make(chan struct{})
	// The first item can only end once the second's result has been consumed:
	// nothing waits for the slowest.
	var got []int
	for r := range stream(t.Context(), []int{1, 2}, func(_ context.Context, i int, emit func(int)) {
		if i == 1 {
			<-gate
		}
		emit(i)
	}) {
		if len(got) == 0 {
			close(gate)
		}
		got = append(got, r)
	}
	if !slices.Equal(got, []int{2, 1}) {
		t.Errorf("got %v", got)
	}
}

func TestStreamStops(t *testing.T) {
	defer goleak.VerifyNone(t)
	var cancelled atomic.Int32
	for range stream(t.Context(), []int{0, 1, 2, 3, 4, 5, 6, 7}, func(ctx context.Context, i int, emit func(int)) {
		if i > 0 {
			<-ctx.Done() // ends only because the consumer stopped
			cancelled.Add(1)
		}
		emit(i)
	}) {
		break
	}
	if cancelled.Load() != 7 {
		t.Errorf("%d of 7 were cancelled and waited for", cancelled.Load())
	}
}

func TestStreamOfNothing(t *testing.T) {
	defer goleak.VerifyNone(t)
	for range stream(t.Context(), nil, func(_ context.Context, _ int, emit func(int)) { emit(1) }) {
		t.Error("something came of nothing")
	}
}

// TestStreamSilent has far more silent machines than may be spoken to at once before
// one that answers: that one's turn comes as those before are overdue, and no sooner.
func TestStreamSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const silent = 3*maxParallel + 7
		began, at := time.Now(), time.Duration(0)
		var begun, early atomic.Int32
		items := make([]int, silent+1)
		items[silent] = 1
		n := 0
		for range stream(t.Context(), items, func(ctx context.Context, i int, emit func(int)) {
			if begun.Add(1) > maxParallel && time.Since(began) < overdue {
				early.Add(1)
			}
			if i == 0 {
				select {
				case <-time.After(time.Minute):
				case <-ctx.Done():
				}
			}
			emit(i)
		}) {
			if n++; n == 1 {
				at = time.Since(began)
			}
		}
		if at != 3*overdue || n != silent+1 || early.Load() != 0 {
			t.Errorf("the first of %d answers came after %v; %d began too early", n, at, early.Load())
		}
		if all := time.Since(began); all != 3*overdue+time.Minute {
			t.Errorf("all took %v", all)
		}
	})
}

// TestTurnAt gives a turn back once, whichever comes first: its end, or its time.
func TestTurnAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, late := range []bool{false, true} {
			free := make(chan struct{}, 2)
			free <- struct{}{}
			free <- struct{}{} // another's, which is to stay
			done := turnAt(free)
			if late {
				<-time.After(2 * overdue)
				synctest.Wait()
			}
			done()
			done()
			<-time.After(2 * overdue)
			if len(free) != 1 {
				t.Errorf("late: %v: %d turns are held, want the other's", late, len(free))
			}
		}
	})
}
