package fleet

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

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
