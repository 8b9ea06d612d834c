package transport

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// TestBegin asks whom a call is for before a script begins, and takes no for an answer
// that leaves nothing behind.
func TestBegin(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	p := newPool(t, Options{MaxConns: 1})
	e := s.endpoint()
	c := p.Conn(e)
	no := errors.New("no")
	asked := 0
	who := &Person{ID: "a", Begin: func() error { asked++; return no }}
	for range 3 * 8 { // more than one connection has slots for
		_, err := c.Run(WithPerson(within(t, time.Minute), who), Script{Text: ": >" + Quote(s.path("ran"))})
		if k, _ := KindOf(err); k != KindCanceled || Started(err) || !errors.Is(err, no) {
			t.Fatalf("%v, started %t", err, Started(err))
		}
	}
	if asked != 3*8 {
		t.Errorf("asked %d times", asked)
	}
	ctx, cancel := context.WithCancel(WithPerson(within(t, time.Minute), &Person{ID: "a", Begin: func() error { asked = -1; return no }}))
	cancel()
	if err := begin(ctx, e); err == nil || err.Kind != KindCanceled || errors.Is(err, no) || asked == -1 {
		t.Errorf("for a call that is over: %v", err)
	}
	who.Begin = func() error { return nil }
	if res, err := c.Run(WithPerson(within(t, time.Minute), who), Script{Text: "ls " + Quote(s.path("ran"))}); err != nil || res.ExitCode == 0 {
		t.Errorf("in the end: %q, %v", res.Stdout, err)
	}
}

// TestAside ends the wait of one who is set aside, and no call that has a connection.
func TestAside(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	p := newPool(t, Options{MaxConns: 1})
	aside := make(chan struct{})
	who := &Person{ID: "a", Aside: aside}
	e := s.endpoint()
	c := p.Conn(e)
	if _, err := c.Run(WithPerson(within(t, time.Minute), who), Script{Text: "true"}); err != nil {
		t.Fatal(err)
	}
	r := p.route(routeKey{Endpoint: e})
	r.mu.Lock()
	full := r.links[0]
	full.used += full.limit
	r.mu.Unlock()
	done := make(chan error, 1)
	go func() {
		_, err := c.Run(WithPerson(within(t, time.Minute), who), Script{Text: "true"})
		done <- err
	}()
	close(aside)
	if err := <-done; !errors.Is(err, ErrAside) || Started(err) {
		t.Errorf("%v, started %t", err, Started(err))
	}
	r.mu.Lock()
	full.used -= full.limit
	r.mu.Unlock()
	if _, err := c.Run(WithPerson(within(t, time.Minute), who), Script{Text: "true"}); err != nil {
		t.Errorf("with a connection: %v", err)
	}
}

// TestOwnKeys has nobody use what another person unlocked, nor tells a person what is
// another's.
func TestOwnKeys(t *testing.T) {
	t.Parallel()
	key := func(who string) ownedKey {
		ctx := context.Background()
		if who != "" {
			ctx = WithPerson(ctx, &Person{ID: who})
		}
		l := &login{ctx: ctx}
		return l.owned(&keyFile{version: fileVersion{}})
	}
	var k keyring
	signer := new(struct{ ssh.Signer })
	own := key("")
	a := key("a")
	b := key("b")
	k.keep(a, signer)
	for v, want := range map[ownedKey]bool{own: false, a: true, b: false} {
		if got, _ := k.find(v); (got != nil) != want {
			t.Errorf("%+v: unlocked %t", v, got != nil)
		}
	}
	k.keep(b, nil)
	for v, want := range map[ownedKey]bool{own: false, b: true} {
		if _, skip := k.find(v); skip != want {
			t.Errorf("%+v: skipped %t", v, skip)
		}
	}

	var mu sync.Mutex
	var heard []string
	tell := func(who string) func(Endpoint, string) {
		return func(_ Endpoint, text string) {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, who+" "+text)
		}
	}
	p := newPool(t, Options{Warn: tell("the pool's own"), Ask: func(context.Context, Question) (string, error) { return "own", nil }})
	for _, who := range []*Person{nil, {ID: "a", Warn: tell("a"), Ask: func(context.Context, Question) (string, error) { return "a", nil }}, {ID: "b"}} {
		ctx, want := within(t, time.Minute), "own"
		if who != nil {
			ctx, want = WithPerson(ctx, who), who.ID
		}
		p.warn(ctx, Endpoint{}, "look")
		got, err := p.ask(ctx, Question{})
		if none := want == "b"; none != (err != nil) || none != !p.canAsk(ctx) || !none && got != want {
			t.Errorf("%s: %q, %v, can be asked %t", want, got, err, p.canAsk(ctx))
		}
	}
	if !slices.Equal(heard, []string{"the pool's own look", "a look"}) {
		t.Errorf("heard %q", heard)
	}
}
