package transport

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestClock holds that a deadline stands still while a question shows, and only
// then.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		passed := func() time.Duration { return time.Since(start) }
		answer := make(chan struct{})
		p := NewPool(Options{Ask: func(ctx context.Context, q Question) (string, error) {
			select {
			case <-answer:
				return q.Text, nil
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		}})
		defer func() { _ = p.Close() }()
		before, cancelBefore := p.WithTimeout(t.Context(), 10*time.Second)
		defer cancelBefore()
		dead, cancelDead := p.WithTimeout(t.Context(), time.Second)
		defer cancelDead()
		<-dead.Done()
		if passed() != time.Second || !errors.Is(context.Cause(dead), context.DeadlineExceeded) {
			t.Fatalf("a second took %v: %v", passed(), context.Cause(dead))
		}
		got := make(chan string)
		for _, text := range []string{"a", "b"} {
			go func() {
				s, _ := p.ask(t.Context(), Question{Text: text})
				got <- s
			}()
		}
		synctest.Wait()
		during, cancelDuring := p.WithTimeout(t.Context(), time.Second)
		defer cancelDuring()
		late := time.NewTimer(time.Hour)
		<-late.C
		if before.Err() != nil || during.Err() != nil {
			t.Fatal("the clock ran while a question was open")
		}
		answer <- struct{}{}
		first := <-got
		answer <- struct{}{} // the second shows only now
		if second := <-got; first == second {
			t.Errorf("%q twice", first)
		}
		<-during.Done()
		if want := time.Hour + 2*time.Second; passed() != want {
			t.Errorf("one second more ended after %v, want %v", passed(), want)
		}
		<-before.Done()
		if want := time.Hour + 10*time.Second; passed() != want {
			t.Errorf("the rest ended after %v, want %v", passed(), want)
		}
		cancelled, cancel := p.WithTimeout(t.Context(), time.Second)
		cancel()
		if <-cancelled.Done(); !errors.Is(context.Cause(cancelled), context.Canceled) {
			t.Errorf("cancelled: %v", context.Cause(cancelled))
		}
		if len(p.clock.waits) != 4-1 { // what has ended of itself goes with its own cancel
			t.Errorf("%d deadlines are kept", len(p.clock.waits))
		}
	})
}

// TestAskNobody holds that a pool without a person asks nothing.
func TestAskNobody(t *testing.T) {
	if _, err := newPool(t, Options{}).ask(t.Context(), Question{Kind: QuestionPassword}); !errors.Is(err, errNobody) {
		t.Error(err)
	}
}

// TestQuestionKinds holds that each kind has a word of its own, and no other
// number has one.
func TestQuestionKinds(t *testing.T) {
	seen := map[string]bool{}
	for k := QuestionHostKey; k <= QuestionKeyboard; k++ {
		if s := k.String(); s == "" || strings.HasPrefix(s, "question kind") || seen[s] {
			t.Errorf("kind %d is called %q", int(k), s)
		}
		seen[k.String()] = true
	}
	if s := (QuestionKeyboard + 1).String(); s != "question kind 5" {
		t.Errorf("a kind that is none is called %q", s)
	}
}
