package transport

import (
	"context"
	"testing"
	"time"
)

// TestTurns gives each person a turn of its own, and one at a time.
func TestTurns(t *testing.T) {
	var k keyring
	a := WithPerson(within(t, time.Minute), &Person{ID: "a"})
	b := WithPerson(within(t, time.Minute), &Person{ID: "b"})
	for _, ctx := range []context.Context{within(t, time.Minute), a, b} {
		release, err := k.take(ctx, "known_hosts")
		if err != nil {
			t.Fatal(err)
		}
		defer release()
	}
	over, cancel := context.WithCancel(a)
	cancel()
	if release, err := k.take(over, "known_hosts"); err == nil {
		release()
		t.Error("one person has two turns")
	}
}

// TestTurnsForgotten keeps nothing of a turn that nobody has or waits for, and keeps
// one that somebody waits for.
func TestTurnsForgotten(t *testing.T) {
	var k keyring
	turns := func() int {
		k.mu.Lock()
		defer k.mu.Unlock()
		return len(k.turns)
	}
	for _, who := range []string{"a", "b", "c"} {
		ctx := WithPerson(within(t, time.Minute), &Person{ID: who})
		first, err := k.take(ctx, "known_hosts")
		if err != nil {
			t.Fatal(err)
		}
		over, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := k.take(over, "known_hosts"); err == nil {
			t.Error("one person has two turns")
		}
		got := make(chan func())
		go func() {
			second, err := k.take(ctx, "known_hosts")
			if err != nil {
				t.Error(err)
			}
			got <- second
		}()
		eventually(t, "the second waits", func() bool {
			k.mu.Lock()
			defer k.mu.Unlock()
			return k.turns["known_hosts\x00"+who].wanted == 2
		})
		first()
		second := <-got
		if n := turns(); n != 1 {
			t.Errorf("%d turns while one has it", n)
		}
		if _, err := k.take(over, "known_hosts"); err == nil {
			t.Error("two have the turn")
		}
		second()
		if n := turns(); n != 0 {
			t.Errorf("%d turns are kept that nobody wants", n)
		}
	}
}
