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
