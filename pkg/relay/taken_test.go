package relay

import (
	"context"
	"os"
	"testing"
	"time"
)

// TestTaken ends a server that nobody finds any more, or beside which another one may
// begin; where that has begun, its socket is left alone.
func TestTaken(t *testing.T) {
	for _, c := range []struct {
		remove string
		why    string
		second bool
	}{
		{"", "its socket was taken away", false},
		{".lock", "its lock was taken away", false},
		{".lock", "its socket was taken away", true},
	} {
		path := socket(t)
		s, err := Listen(Options{}, path)
		if err != nil {
			t.Fatal(err)
		}
		why := make(chan string, 1)
		ticks := make(chan time.Time)
		go func() { why <- s.serveEvery(context.Background(), ticks) }()
		there(t, path)
		if err := os.Remove(path + c.remove); err != nil {
			t.Fatal(err)
		}
		if c.second {
			serving(t, Options{}, path)
		}
		ticks <- time.Now() // the first: with one before it nobody knows whether that was dealt with
		select {
		case got := <-why:
			if got != c.why {
				t.Errorf("without %q, another one there %t: ended since %q", c.remove, c.second, got)
			}
		case <-within(t, 20*time.Second).Done():
			t.Fatalf("without %q, another one there %t: it goes on", c.remove, c.second)
		}
		if c.second {
			there(t, path)
		} else if _, err := os.Lstat(path); err == nil {
			t.Errorf("without %q: the socket is still there", c.remove)
		}
	}
}

// TestStanding goes on while all is there.
func TestStanding(t *testing.T) {
	path := socket(t)
	s, err := Listen(Options{}, path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	why := make(chan string, 1)
	ticks := make(chan time.Time)
	go func() { why <- s.serveEvery(ctx, ticks) }()
	there(t, path)
	for range 3 { // a tick is taken when the one before it was dealt with
		select {
		case ticks <- time.Now():
		case got := <-why:
			t.Fatalf("it ends while all is there, since %q", got)
		}
	}
	if s.info().Ending {
		t.Error("it ends while all is there")
	}
	cancel()
	select {
	case <-why:
	case <-within(t, 20*time.Second).Done():
		t.Fatal("it does not end with its context")
	}
}
